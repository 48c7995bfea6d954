package record

import (
	"path/filepath"
	"slices"

	"bitextmine/bitext/label"
	"bitextmine/internal/badinput"
)

// RefuseOwn refuses an output in whose place a run has its report, bitext, labels or locks.
func RefuseOwn(out string) error {
	if whole, err := filepath.EvalSymlinks(out); err == nil {
		out = whole
	}
	dir, name := filepath.Split(out)
	report, err := ReadReport(dir)
	if err != nil {
		return nil // no run is there
	}
	if own := []string{ReportName, label.Name, filepath.Base(report.Bitext.Path)}; !slices.Contains(own, name) && filepath.Ext(name) != ".lock" {
		return nil
	}
	return badinput.Errorf("%s is a file of the run in %s: name another output", out, filepath.Clean(dir))
}
