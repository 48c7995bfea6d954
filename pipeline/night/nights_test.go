package night

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bitextmine/bitext/label"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
)

// TestPageNamesFiles: those that are gone, too, and those that are set aside once.
func TestPageNamesFiles(t *testing.T) {
	in := func(path string) record.InputReport { return record.InputReport{Path: path} }
	before := &record.Report{Inputs: []record.InputReport{in("de/old.txt"), in("de/1.txt")}}
	now := &record.Report{Inputs: []record.InputReport{in("de/1.txt")}, SetAside: []record.SetAside{
		{Path: "de/a.pdf", Why: "de/a.pdf is a PDF"}, {Path: "de/b.txt", Why: "no text"},
	}}
	page := string(morningPage("000002", now, before, nil, nil))
	for _, want := range []string{"1 gone since", "- gone: `de/old.txt`\n", "- de/a.pdf is a PDF\n", "- `de/b.txt`: no text\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// TestPageOfOneFileForBothSides: it is one file, and neither new nor gone on the next night.
func TestPageOfOneFileForBothSides(t *testing.T) {
	both := &record.Report{Inputs: []record.InputReport{{Language: "de", Path: "both.tsv", SHA256: "1"}, {Language: "en", Path: "both.tsv", SHA256: "1"}}}
	for want, before := range map[string]*record.Report{"1 files of text: 1 new, 0 changed, 0 gone": nil, "1 files of text: 0 new, 0 changed, 0 gone": both} {
		if page := string(morningPage("000002", both, before, nil, nil)); !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// TestMetricsOfAFailedNight: the run before gives its numbers if it is of the same pair.
func TestMetricsOfAFailedNight(t *testing.T) {
	cfg := config.Config{}
	cfg.Out, cfg.Source, cfg.Target = t.TempDir(), "de", "en"
	cfg.Metrics = filepath.Join(cfg.Out, "mine.prom")
	latest := filepath.Join(cfg.Out, LatestName)
	if err := os.Mkdir(latest, 0o755); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{"en": true, "fr": false} {
		before := &record.Report{Settings: setting.Record{Languages: setting.Languages{Source: "de", Target: target}}}
		if err := before.Write(filepath.Join(latest, record.ReportName)); err != nil {
			t.Fatal(err)
		}
		if err := WriteMetrics(cfg, time.Now(), nil, errors.New("no")); err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(cfg.Metrics)
		if err != nil || strings.Contains(string(written), "mine_pairs{") != want || !strings.Contains(string(written), "mine_last_run_success{src=\"de\",tgt=\"en\"} 0") {
			t.Errorf("after a night of de-%s: %v\n%s", target, err, written)
		}
	}
}

// TestNights: nights are numbered upwards, published at once, and the oldest go; what a killed night left goes, too.
func TestNights(t *testing.T) {
	d := Directory(t.TempDir())
	runs := filepath.Join(string(d), label.RunsName)
	if err := os.Mkdir(runs, 0o755); err != nil {
		t.Fatal(err)
	}
	others := []string{"000001-2026-01-01.bak", "2025-best", "7", "kept.tmp"} // a person's
	for _, name := range others {
		if err := os.Mkdir(filepath.Join(runs, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"000001-2026-01-01", "000002-2026-01-02", "000003-2025-12-31"} { // the clock went back
		if next, err := d.Next(); err != nil || next != i+1 {
			t.Fatalf("night %d, error %v, want %d", next, err, i+1)
		}
		final, dir := d.Night(name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := d.Publish(name); err != nil {
			t.Fatal(err)
		}
		if led, err := filepath.EvalSymlinks(filepath.Join(string(d), "latest")); err != nil || filepath.Base(led) != filepath.Base(final) {
			t.Fatalf("latest leads to %s, error %v", led, err)
		}
	}
	if err := os.Mkdir(filepath.Join(runs, ".000004-2026-01-03.tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Prune(2, false); err != nil {
		t.Fatal(err)
	}
	left, err := d.clean()
	if err != nil || !slices.Equal(left, []string{"000002-2026-01-02", "000003-2025-12-31"}) {
		t.Errorf("left %q, error %v", left, err)
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(runs, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestLogsOfNights: engines' logs go with the nights that they are of, also those of all pairs, which stand beside a
// pair's directory and are of before its own run.
func TestLogsOfNights(t *testing.T) {
	pairs := t.TempDir()
	d := Directory(filepath.Join(pairs, "de-en"))
	now := time.Now()
	for i, name := range []string{"000001-2026-01-01", "000002-2026-01-02"} {
		final, _ := d.Night(name)
		if err := os.MkdirAll(final, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := (&record.Report{Started: now.Add(time.Duration(i-2) * time.Hour)}).Write(filepath.Join(final, record.ReportName)); err != nil {
			t.Fatal(err)
		}
	}
	for _, engine := range []string{"slurm", "command", "kubernetes"} {
		for name, age := range map[string]time.Duration{"de-en/_/old": 90 * time.Minute, "de-en/_/new": 30 * time.Minute, "_/old": 130 * time.Minute, "_/new": 70 * time.Minute} {
			path := filepath.Join(pairs, strings.Replace(name, "_", engine, 1))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600), os.Chtimes(path, now, now.Add(-age))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		keep int
		want []string
	}{{2, []string{"new", "old"}}, {1, []string{"new"}}} {
		if err := d.Prune(c.keep, true); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{"slurm", "command", "kubernetes", "de-en/slurm", "de-en/command", "de-en/kubernetes"} {
			var left []string
			logs, err := os.ReadDir(filepath.Join(pairs, dir))
			for _, log := range logs {
				left = append(left, log.Name())
			}
			if err != nil || !slices.Equal(left, c.want) {
				t.Errorf("with %d nights %v of %s are left, error %v", c.keep, left, dir, err)
			}
		}
	}
}

// TestComparisonWithinMemory: a night that has too many pairs to be compared with the one before is published without.
func TestComparisonWithinMemory(t *testing.T) {
	out := Directory(t.TempDir())
	if err := os.Mkdir(filepath.Join(string(out), label.RunsName), 0o755); err != nil {
		t.Fatal(err)
	}
	report := &record.Report{Started: time.Now(), Counts: record.Counts{Kept: 5000}}
	n := &Night{Log: slog.New(slog.DiscardHandler), previous: &record.Report{Counts: record.Counts{Kept: 5000}}}
	n.Config.MaxMemory = "1MiB"
	n.Mine = func(_ context.Context, _ *record.Report, _ func(*record.Report), dir func(*record.Report) (string, error)) (*record.Report, error) {
		_, err := dir(report)
		return report, err
	}
	if _, err := n.publish(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(string(out), LatestName, SummaryName))
	if want := "not compared with, which takes 1.1 MiB of memory, more than max_memory = 1.0 MiB: mine diff"; err != nil || !strings.Contains(string(page), want) {
		t.Errorf("error %v, no %q in\n%s", err, want, page)
	}
}

// TestLastReadableReport: the newest one that can be read, and the warning says which cannot.
func TestLastReadableReport(t *testing.T) {
	d := Directory(t.TempDir())
	if report, _, warning, err := d.Last(); report != nil || warning != "" || err != nil {
		t.Errorf("before the first night: %v, %q, %v", report, warning, err)
	}
	var dirs []string
	for _, name := range []string{"000008-2026-01-01", "000009-2026-01-02", "000010-2026-01-03"} {
		final, _ := d.Night(name)
		if err := os.MkdirAll(final, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := (&record.Report{PlanID: name[:6]}).Write(filepath.Join(final, record.ReportName)); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, final)
	}
	if err := d.Link(filepath.Base(dirs[2])); err != nil {
		t.Fatal(err)
	}
	for lost, want := range []struct{ id, warning string }{
		{"000010", ""},
		{"000009", dirs[2] + "/run.json is lost or damaged: this night is compared with 000009-2026-01-02"},
		{"000008", dirs[2] + "/run.json and 1 more before it are lost or damaged: this night is compared with 000008-2026-01-01"},
		{"", dirs[2] + "/run.json and 2 more before it are lost or damaged: this night is compared with none, so look whether its text is all there"},
	} {
		report, dir, warning, err := d.Last()
		if err != nil || (report == nil) != (want.id == "") || report != nil && (report.PlanID != want.id || lost > 0 && dir != dirs[2-lost]) || warning != want.warning {
			t.Errorf("%d lost: %+v in %s, warning %q, error %v", lost, report, dir, warning, err)
		}
		if lost < len(dirs) {
			if err := os.Truncate(filepath.Join(dirs[2-lost], record.ReportName), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}
