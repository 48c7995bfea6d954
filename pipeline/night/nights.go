// Package night is the output directory of nightly runs: a directory a night in runs/, and a link to the latest.
//
// # Summary
//
// The package also writes what a night leaves for a person to read in the morning, and for monitoring.
package night

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/pipeline/record"
)

// RunsName is where the nights' directories are.
const RunsName = "runs"

// Directory is the output directory.
type Directory string

// Night is the final path of a night's directory, and the one that it is written in.
func (d Directory) Night(name string) (final, dir string) {
	runs := filepath.Join(string(d), RunsName)
	return filepath.Join(runs, name), filepath.Join(runs, "."+name+atomicfile.Suffix)
}

// Publish gives a night's directory its final name and makes OUT/latest lead to it.
func (d Directory) Publish(name string) error {
	final, dir := d.Night(name)
	if err := os.Rename(dir, final); err != nil {
		return fmt.Errorf("publish the night's directory: %w", err)
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(final)), d.Link(name))
}

// names lists the directories of earlier nights by number, ascending, after removing what a killed night left.
func (d Directory) names() (names []string, last int, err error) {
	entries, err := os.ReadDir(filepath.Join(string(d), RunsName))
	if err != nil {
		return nil, 0, fmt.Errorf("list the earlier nights: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), atomicfile.Suffix) {
			if err := os.RemoveAll(filepath.Join(string(d), RunsName, e.Name())); err != nil {
				return nil, 0, fmt.Errorf("remove what an earlier night left: %w", err)
			}
			continue
		}
		number, _, _ := strings.Cut(e.Name(), "-")
		if i, err := strconv.Atoi(number); err == nil && e.IsDir() {
			names = append(names, e.Name())
			last = max(last, i)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return numberOf(a) - numberOf(b) })
	return names, last, nil
}

func numberOf(name string) int {
	number, _, _ := strings.Cut(name, "-")
	i, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return i
}

// Next is the number of this night.
func (d Directory) Next() (int, error) {
	_, last, err := d.names()
	return last + 1, err
}

// Link makes OUT/latest lead to a night, at once.
func (d Directory) Link(name string) error {
	aside := filepath.Join(string(d), "."+record.LatestName+atomicfile.Suffix)
	if err := os.Remove(aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(filepath.Join(RunsName, name), aside); err != nil {
		return fmt.Errorf("link %s: %w", record.LatestName, err)
	}
	if err := os.Rename(aside, filepath.Join(string(d), record.LatestName)); err != nil {
		return fmt.Errorf("link %s: %w", record.LatestName, err)
	}
	return atomicfile.SyncDir(string(d))
}

// Prune removes the oldest nights until keep are left.
func (d Directory) Prune(keep int) error {
	names, _, err := d.names()
	if err != nil {
		return err
	}
	for _, name := range names[:max(0, len(names)-keep)] {
		path := filepath.Join(string(d), RunsName, name)
		aside := filepath.Join(string(d), RunsName, "."+name+atomicfile.Suffix)
		if err := errors.Join(os.Rename(path, aside), os.RemoveAll(aside)); err != nil {
			return fmt.Errorf("remove the old night %s: %w", path, err)
		}
	}
	return nil
}
