package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"

	"bitextmine/train/weights"
)

// Dir is the directory with a training's checkpoints. One training uses it at a time.
type Dir struct{ Path string }

// At is the directory of the checkpoint after a step.
func (d Dir) At(step int) string { return filepath.Join(d.Path, fmt.Sprintf("step-%08d", step)) }

// Open creates the directory, and removes the remains of checkpoints that a stopped training was writing or removing.
func (d Dir) Open() error {
	if err := os.MkdirAll(d.Path, 0o777); err != nil {
		return badinput.Errorf("the directory of the training: %w", err)
	}
	left, err := fs.Glob(os.DirFS(d.Path), "step-*"+atomicfile.Suffix)
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(filepath.Join(d.Path, name)))
	}
	return err
}

// List returns the complete checkpoints by step, ascending, and for each incomplete one a sentence that names it. A
// state that is damaged is a badinput error.
func (d Dir) List() (all []*State, incomplete []string, err error) {
	entries, err := os.ReadDir(d.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "step-") || strings.HasSuffix(e.Name(), atomicfile.Suffix) {
			continue
		}
		dir := filepath.Join(d.Path, e.Name())
		s, missing, err := readComplete(dir)
		switch {
		case err != nil:
			return nil, nil, err
		case missing != "":
			incomplete = append(incomplete,
				fmt.Sprintf("the checkpoint %s is incomplete, it has no %s: it is ignored", dir, missing))
		case d.At(s.Step) != dir:
			return nil, nil, badinput.Errorf("%s holds the checkpoint of step %d: remove it, or give it its name again",
				dir, s.Step)
		default:
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *State) int { return cmp.Compare(a.Step, b.Step) })
	return all, incomplete, nil
}

// readComplete reads the state of a checkpoint, or returns the name of a file that is missing.
func readComplete(dir string) (s *State, missing string, err error) {
	if s, err = readState(dir); errors.Is(err, os.ErrNotExist) {
		return nil, stateFile, nil
	}
	if err != nil {
		return nil, "", err
	}
	for _, file := range []string{Encoder, Heads, Optimiser} {
		if _, err := os.Stat(filepath.Join(dir, file)); errors.Is(err, os.ErrNotExist) {
			return nil, file, nil
		} else if err != nil {
			return nil, "", err
		}
	}
	return s, "", nil
}

// Save publishes a checkpoint of files; architecture is written to the encoder's file as metadata.
func (d Dir) Save(s State, architecture map[string]string, files map[string][]*weights.Tensor) (err error) {
	final := d.At(s.Step)
	tmp := final + atomicfile.Suffix
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write checkpoint %s: %w", final, err), os.RemoveAll(tmp))
		}
	}()
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o777)); err != nil {
		return err
	}
	s.Files = map[string]string{}
	for name, tensors := range files {
		var metadata map[string]string
		if name == Encoder {
			metadata = architecture
		}
		path := filepath.Join(tmp, name)
		if err := weights.WriteFile(path, tensors, metadata); err != nil {
			return err
		}
		if _, s.Files[name], err = atomicfile.Digest(path); err != nil {
			return err
		}
	}
	text, err := s.encode()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(tmp, stateFile), text); err != nil {
		return err
	}
	return atomicfile.ReplaceDir(final, tmp) // an incomplete one may be there
}

// remove removes a checkpoint, if it is there. It is renamed first, so that a process that is killed leaves no part of
// it under its name.
func (d Dir) remove(step int) error {
	old := d.At(step) + ".old" + atomicfile.Suffix
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(d.At(step), old); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return os.RemoveAll(old)
}

// Load reads a checkpoint's file into tensors, as the function Load does.
func (d Dir) Load(step int, file string, tensors []*weights.Tensor) error {
	return Load(d.At(step), file, tensors)
}

// Load reads a file of the checkpoint in a directory into tensors, which must have the same names and shapes. A file
// that is not the one that was written is a badinput error.
func Load(dir, file string, tensors []*weights.Tensor) error {
	s, err := readState(dir)
	if err != nil {
		return fmt.Errorf("read a checkpoint: %w", err)
	}
	if err := s.verify(dir, file); err != nil {
		return err
	}
	path := filepath.Join(dir, file)
	stored, _, err := weights.ReadFile(path, nil)
	if err != nil {
		return err
	}
	byName := map[string]*weights.Tensor{}
	for _, t := range stored {
		byName[t.Name] = t
	}
	for _, t := range tensors {
		s := byName[t.Name]
		if s == nil || !slices.Equal(s.Shape, t.Shape) {
			return badinput.Errorf("%s has no tensor %s of shape %v: the checkpoint was made with another preset", path,
				t.Name, t.Shape)
		}
		copy(t.Data, s.Data)
	}
	return nil
}

// Prune removes all complete checkpoints except the last and the keep best by metric.
func (d Dir) Prune(metric string, keep int) error {
	all, _, err := d.List()
	if err != nil || len(all) == 0 {
		return err
	}
	all = all[:len(all)-1]
	if metric != "" {
		slices.SortStableFunc(all, func(a, b *State) int { return cmp.Compare(b.figure(metric), a.figure(metric)) })
		all = all[min(keep, len(all)):]
	}
	for _, s := range all {
		err = errors.Join(err, d.remove(s.Step))
	}
	return err
}

// Best is the step to export: the best by metric, the earlier if several are equal, or the last if there is no metric.
func (d Dir) Best(metric string) (int, error) {
	all, _, err := d.List()
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		return 0, badinput.Errorf("%s has no checkpoint", d.Path)
	}
	best := all[len(all)-1]
	if metric != "" {
		best = slices.MaxFunc(all, func(a, b *State) int { return cmp.Compare(a.figure(metric), b.figure(metric)) })
	}
	return best.Step, nil
}
