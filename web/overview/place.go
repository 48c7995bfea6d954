package overview

import (
	"os"
	"path/filepath"

	"bitextmine/internal/atomicfile"
	"bitextmine/pipeline/night"
	"bitextmine/pipeline/record"
)

// Place is where a run is.
type Place struct {
	Named string // the directory that was named
	Run   string // directory of run.json: Named, or its latest night
	Out   string // the output directory, which has the labels, the index and, in runs/, the nights
}

// Locate finds a run by its output directory, by that of nightly runs, or by a night's own directory.
func Locate(dir string) (p Place, report *record.Report, err error) {
	p.Named = dir
	if report, p.Run, err = record.ReadLatest(dir); err != nil {
		return p, nil, err
	}
	p.Out = dir
	resolved, err := filepath.EvalSymlinks(p.Run)
	if err != nil {
		return p, nil, err
	}
	if parent := filepath.Dir(resolved); filepath.Base(parent) == night.RunsName {
		out := filepath.Dir(parent)
		if _, err := os.Lstat(filepath.Join(out, record.LatestName)); err == nil {
			p.Run, p.Out = resolved, out
		}
	}
	return p, report, nil
}

// Night is a night's name, such as 000012-2026-11-22; empty for a run that is no night's.
func (p Place) Night() string {
	if filepath.Dir(p.Run) == filepath.Join(resolved(p.Out), night.RunsName) {
		return filepath.Base(p.Run)
	}
	return ""
}

func resolved(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}

// nightNames lists the nights of the output directory, the oldest first.
func (p Place) nightNames() []string {
	entries, err := os.ReadDir(filepath.Join(p.Out, night.RunsName))
	if err != nil || p.Night() == "" {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && filepath.Ext(e.Name()) != atomicfile.Suffix {
			names = append(names, e.Name()) // numbers have leading zeros: names are in their order
		}
	}
	return names
}

// directory returns a night's directory.
func (p Place) directory(name string) string { return filepath.Join(p.Out, night.RunsName, name) }
