// Package night is the output directory of nightly runs: a directory a night in runs/, and a link to the latest.
//
// # Summary
//
// The package also writes what a night leaves for a person to read in the morning, and for monitoring.
package night

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"bitextmine/bitext/label"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
)

// Directory is the output directory.
type Directory string

// Night is the final path of a night's directory, and the one that it is written in.
func (d Directory) Night(name string) (final, dir string) {
	runs := filepath.Join(string(d), label.RunsName)
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

// names lists the directories of earlier nights by number, ascending, and what a killed night left.
func (d Directory) names() (names, left []string, err error) {
	entries, err := os.ReadDir(filepath.Join(string(d), label.RunsName))
	if err != nil {
		return nil, nil, fmt.Errorf("list the earlier nights: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		night := strings.TrimSuffix(strings.TrimPrefix(name, "."), atomicfile.Suffix)
		switch {
		case !label.IsNight(night):
		case name == "."+night+atomicfile.Suffix:
			left = append(left, name)
		case name == night && e.IsDir():
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return numberOf(a) - numberOf(b) })
	return names, left, nil
}

// clean removes what a killed night left, and lists the directories of earlier nights as names does.
func (d Directory) clean() ([]string, error) {
	names, left, err := d.names()
	if err != nil {
		return nil, err
	}
	for _, name := range left {
		if err := os.RemoveAll(filepath.Join(string(d), label.RunsName, name)); err != nil {
			return nil, fmt.Errorf("remove what an earlier night left: %w", err)
		}
	}
	return names, nil
}

// Last is the report of the last night, and the directory that it stands in. Where that is lost or damaged it is the
// newest one that can be read, and warning says which were skipped; nil if there is none.
func (d Directory) Last() (report *record.Report, dir, warning string, err error) {
	dir = filepath.Join(string(d), LatestName)
	if report, err = record.ReadReport(dir); err == nil {
		return report, dir, "", nil
	}
	names, _, err := d.names()
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", "", nil
	}
	if err != nil {
		return nil, "", "", err
	}
	var skipped []string
	for _, name := range slices.Backward(names) {
		dir, _ = d.Night(name)
		if report, err = record.ReadReport(dir); err == nil {
			break
		}
		skipped = append(skipped, filepath.Join(dir, record.ReportName))
	}
	if len(skipped) == 0 {
		return report, dir, "", nil
	}
	warning = fmt.Sprintf("%s is lost or damaged", skipped[0])
	if more := len(skipped) - 1; more > 0 {
		warning = fmt.Sprintf("%s and %d more before it are lost or damaged", skipped[0], more)
	}
	if report == nil {
		return nil, "", warning + ": this night is compared with none, so look whether its text is all there", nil
	}
	return report, dir, fmt.Sprintf("%s: this night is compared with %s", warning, filepath.Base(dir)), nil
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
	names, err := d.clean()
	if err != nil || len(names) == 0 {
		return 1, err
	}
	return numberOf(names[len(names)-1]) + 1, nil
}

// refuseOwn refuses a directory whose OUT/latest is not a link: it is the user's, and not to be replaced. One that has
// the report of a run is refused, too: commands would read that for ever instead of the nights'.
func (d Directory) refuseOwn() error {
	if report := filepath.Join(string(d), record.ReportName); !missing(report) {
		return badinput.Errorf("%s is the report of a run, behind which commands would not find the nights: move it and its bitext away, "+
			"or name another directory with --out", report)
	}
	path := filepath.Join(string(d), record.LatestName)
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
		return nil
	}
	return badinput.Errorf("%s is not the link to the last night that nightly runs make; move it away, or name another directory with --out", path)
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

// Link makes OUT/latest lead to a night, at once.
func (d Directory) Link(name string) error {
	aside := filepath.Join(string(d), "."+record.LatestName+atomicfile.Suffix)
	if err := os.Remove(aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(filepath.Join(label.RunsName, name), aside); err != nil {
		return fmt.Errorf("link %s: %w", record.LatestName, err)
	}
	if err := os.Rename(aside, filepath.Join(string(d), record.LatestName)); err != nil {
		return fmt.Errorf("link %s: %w", record.LatestName, err)
	}
	return atomicfile.SyncDir(string(d))
}

// Prune removes the oldest nights until keep are left, and what engines logged before these. The tasks of a pair of
// many are logged beside its directory, too, and before its own run begins: there, what was logged before the last
// night that goes.
func (d Directory) Prune(keep int, oneOfMany bool) error {
	names, err := d.clean()
	if err != nil || len(names) <= keep {
		return err
	}
	old := names[:len(names)-keep]
	if oneOfMany {
		err = Directory(filepath.Dir(string(d))).pruneLogs(d.started(old[len(old)-1]))
	}
	for _, name := range old {
		path := filepath.Join(string(d), label.RunsName, name)
		aside := filepath.Join(string(d), label.RunsName, "."+name+atomicfile.Suffix)
		if err := errors.Join(os.Rename(path, aside), os.RemoveAll(aside)); err != nil {
			return fmt.Errorf("remove the old night %s: %w", path, err)
		}
	}
	return errors.Join(err, d.pruneLogs(d.started(names[len(old)])))
}

// started is when a night began; the zero time if it is not known.
func (d Directory) started(name string) time.Time {
	final, _ := d.Night(name)
	report, err := record.ReadReport(final)
	if err != nil {
		return time.Time{}
	}
	return report.Started
}

// pruneLogs removes what engines logged of tasks that changed last before a moment.
func (d Directory) pruneLogs(before time.Time) error {
	for _, engine := range []string{"slurm", "command", "kubernetes"} {
		logs, err := os.ReadDir(filepath.Join(string(d), engine))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("list the logs of earlier nights: %w", err)
		}
		for _, log := range logs {
			info, err := log.Info()
			if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
				continue // gone meanwhile, or none
			}
			if err := os.Remove(filepath.Join(string(d), engine, log.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove the log of an earlier night: %w", err)
			}
		}
	}
	return nil
}

// morningPage is the page that a person reads in the morning, in Markdown. previous and d are nil if there was no run
// before.
func morningPage(name string, r, previous *record.Report, d *admin.Difference, warnings []string) []byte {
	var page bytes.Buffer
	c, s := r.Counts, r.Settings
	fmt.Fprintf(&page, "# %s-%s, night %s\n\n", s.Source, s.Target, name)
	for _, w := range warnings {
		fmt.Fprintf(&page, "**%s**\n\n", oneLine(w))
	}
	fmt.Fprintf(&page, "%d pairs are kept of %d candidates (%s).\n", c.Kept, c.Candidates, r.Rule())
	if r.Cut != nil {
		fmt.Fprintf(&page, "%s.\n", oneLine(r.Cut.String()))
	}
	if c.Documents != nil {
		fmt.Fprintf(&page, "%s.\n", c.Documents)
	}
	if d != nil {
		fmt.Fprintf(&page, "Since the run before (%d pairs): %d added, %d removed, %d rescored.\n", d.Before, d.Added, d.Removed, d.Rescored)
	}
	fmt.Fprintf(&page, "\n| | read | unique |\n| --- | ---: | ---: |\n| %s | %d | %d |\n| %s | %d | %d |\n", s.Source, c.SourceIn, c.SourceUnique, s.Target, c.TargetIn, c.TargetUnique)
	if c.Skipped > 0 {
		fmt.Fprintf(&page, "\n%d lines were skipped; %s says which and why.\n", c.Skipped, record.ReportName)
	}
	files(&page, r, previous)
	for i, one := range r.SetAside {
		if i == 0 {
			fmt.Fprintf(&page, "\n%d files are set aside:\n\n", len(r.SetAside))
		}
		why := oneLine(one.Why)
		if !strings.Contains(why, one.Path) {
			why = fmt.Sprintf("`%s`: %s", one.Path, why)
		}
		fmt.Fprintf(&page, "- %s\n", why)
	}
	fmt.Fprintf(&page, "\n| stage | tasks | done before | seconds |\n| --- | ---: | ---: | ---: |\n")
	for _, stage := range r.Stages {
		fmt.Fprintf(&page, "| %s | %d | %d | %.1f |\n", stage.Name, stage.Tasks, stage.Cached, stage.Seconds)
	}
	fmt.Fprintf(&page, "\nBegun %s, %.0f s, %.0f CPU seconds, peak memory %s, version %s, encoder %s, search %s.\n",
		r.Started.Local().Format(time.DateTime), r.Seconds, r.CPUSeconds, plan.Bytes(r.PeakMemory), r.Version, r.Encoder.Name, s.Search)
	if d != nil {
		shown := 0
		for _, change := range d.Changes {
			if change.Kind == admin.Added && shown < record.MaxSamples {
				if shown++; shown == 1 {
					fmt.Fprint(&page, "\n## New pairs\n")
				}
				fmt.Fprintf(&page, "\n- %.3f %s\n  %s\n", change.After, oneLine(change.Source), oneLine(change.Target))
			}
		}
	}
	return page.Bytes()
}

// files tells which inputs are new, changed or gone. A file that has both sides is one.
func files(page *bytes.Buffer, r, previous *record.Report) {
	before := map[string]string{}
	divided := 0
	if previous != nil {
		for _, in := range previous.Inputs {
			before[in.Path] = in.SHA256
		}
	}
	var added, changed []string
	seen := map[string]bool{}
	for _, in := range r.Inputs {
		if seen[in.Path] {
			continue
		}
		seen[in.Path] = true
		sum, there := before[in.Path]
		switch {
		case !there:
			added = append(added, in.Path)
		case sum != in.SHA256:
			changed = append(changed, in.Path)
		}
		delete(before, in.Path)
		if in.Split != "" {
			divided++
		}
	}
	fmt.Fprintf(page, "\n%d files of text: %d new, %d changed, %d gone since the run before.\n", len(seen), len(added), len(changed), len(before))
	if divided > 0 {
		fmt.Fprintf(page, "The records of %d files are documents and were divided into sentences.\n", divided)
	}
	for _, list := range []struct {
		what  string
		paths []string
	}{{"new", added}, {"changed", changed}, {"gone", slices.Sorted(maps.Keys(before))}} {
		for i, path := range list.paths {
			if i == 20 {
				fmt.Fprintf(page, "- and %d more\n", len(list.paths)-i)
				break
			}
			fmt.Fprintf(page, "- %s: `%s`\n", list.what, path)
		}
	}
}

const asideHelp = "Input files that could not be used."

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// WriteMetrics publishes to cfg.Metrics what node_exporter's textfile collector reads. failure is how the run ended;
// the last good run of its pair in cfg.Out gives the numbers of a failed one.
func WriteMetrics(cfg config.Config, begin time.Time, good *record.Report, failure error) error {
	pair := fmt.Sprintf("src=%q,tgt=%q", cfg.Source, cfg.Target)
	var out bytes.Buffer
	gauge := func(name, help string, value float64, labels string) {
		if !strings.Contains(out.String(), "# TYPE "+name+" ") {
			fmt.Fprintf(&out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
		}
		fmt.Fprintf(&out, "%s{%s} %g\n", name, labels, value)
	}
	ok := 1.0
	if failure != nil {
		ok, good = 0, nil
		latest, err := record.ReadReport(filepath.Join(cfg.Out, LatestName))
		if err == nil && latest.Settings.Source == cfg.Source && latest.Settings.Target == cfg.Target {
			good = latest
		}
	}
	gauge("mine_last_run_success", "1 if the last run ended well.", ok, pair)
	gauge("mine_last_run_timestamp_seconds", "When the last run began.", float64(begin.Unix()), pair)
	gauge("mine_last_run_duration_seconds", "How long the last run took.", time.Since(begin).Seconds(), pair)
	aside := (*record.AsideError)(nil)
	if errors.As(failure, &aside) {
		gauge("mine_set_aside_files", asideHelp, float64(aside.Files), pair)
	} else if good != nil {
		gauge("mine_set_aside_files", asideHelp, float64(len(good.SetAside)), pair)
	}
	if good == nil {
		return atomicfile.WriteBytes(cfg.Metrics, out.Bytes())
	}
	c := good.Counts
	gauge("mine_last_success_timestamp_seconds", "When the last good run ended.", float64(good.Started.Unix())+good.Seconds, pair)
	gauge("mine_pairs", "Kept pairs of the last good run.", float64(c.Kept), pair)
	gauge("mine_candidates", "Candidates of the last good run.", float64(c.Candidates), pair)
	gauge("mine_sentences", "Distinct sentences of the last good run.", float64(c.SourceUnique), pair+fmt.Sprintf(",lang=%q", cfg.Source))
	gauge("mine_sentences", "Distinct sentences of the last good run.", float64(c.TargetUnique), pair+fmt.Sprintf(",lang=%q", cfg.Target))
	gauge("mine_skipped_lines", "Lines that are no sentence.", float64(c.Skipped), pair)
	gauge("mine_cpu_seconds", "Processor time of the last good run.", good.CPUSeconds, pair)
	gauge("mine_peak_memory_bytes", "Largest resident size of the last good run.", float64(good.PeakMemory), pair)
	for _, s := range good.Stages {
		gauge("mine_stage_seconds", "Wall time of a stage.", s.Seconds, pair+fmt.Sprintf(",stage=%q", s.Name))
	}
	for _, s := range good.Stages {
		gauge("mine_stage_tasks", "Tasks of a stage that were computed.", float64(s.Tasks-s.Cached), pair+fmt.Sprintf(",stage=%q", s.Name))
	}
	return atomicfile.WriteBytes(cfg.Metrics, out.Bytes())
}
