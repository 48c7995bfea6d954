package pipeline

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/night"
	"bitextmine/pipeline/record"
)

func mustNight(t *testing.T, cfg Config) *record.Report {
	t.Helper()
	report, err := Nightly(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestNightlyWithoutPlaceForMetrics: it is told before the night, not after it.
func TestNightlyWithoutPlaceForMetrics(t *testing.T) {
	cfg := newText(t).config(filepath.Join(t.TempDir(), "out"))
	cfg.Keep, cfg.Metrics = 2, filepath.Join(t.TempDir(), "none", "mine.prom")
	_, err := Nightly(t.Context(), cfg, options())
	if !badinput.Is(err) || !strings.Contains(err.Error(), "--metrics") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(cfg.Out); err == nil {
		t.Error("the night began")
	}
}

func TestNightly(t *testing.T) {
	files := mineNights(t, 4)
	text, out := newText(t), filepath.Join(t.TempDir(), "out")
	cfg := text.config(out)
	cfg.Keep, cfg.Metrics = 2, filepath.Join(t.TempDir(), "mine.prom")
	for i := range 4 {
		text.putNight(files, i)
		report := mustNight(t, cfg)
		if got := read(t, out, night.LatestName, "de-en.parquet"); len(got) != int(report.Bitext.Bytes) {
			t.Errorf("night %d: latest has %d bytes of %d", i, len(got), report.Bitext.Bytes)
		}
		latest, err := record.ReadReport(filepath.Join(out, night.LatestName))
		if err != nil || latest.Bitext.SHA256 != report.Bitext.SHA256 || !strings.Contains(latest.Bitext.Path, time.Now().Format(time.DateOnly)) {
			t.Errorf("night %d: latest report %+v, error %v", i, latest.Bitext, err)
		}
		page := read(t, out, night.LatestName, night.SummaryName)
		for _, want := range []string{"# de-en, night 00000" + string(rune('1'+i)), nightText(i), "2 new, 0 changed, 0 gone"} {
			if !strings.Contains(page, want) {
				t.Errorf("night %d: the summary does not say %q:\n%s", i, want, page)
			}
		}
		if (i > 0) != strings.Contains(page, "Since the run before") {
			t.Errorf("night %d: summary\n%s", i, page)
		}
	}
	if runs, _ := filepath.Glob(filepath.Join(out, "runs", "*")); len(runs) != 2 || !strings.Contains(runs[1], "000004-") {
		t.Errorf("runs %v", runs)
	}
	if got := mustNight(t, cfg); got.Bitext.SHA256 != text.fresh() {
		t.Error("the nights' bitext differs from one run's")
	}
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "has nights") {
		t.Errorf("a run beside the nights: error %v", err)
	}
	metrics := read(t, cfg.Metrics)
	for _, want := range []string{`mine_last_run_success{src="de",tgt="en"} 1`, "# TYPE mine_pairs gauge\n", `mine_stage_seconds{src="de",tgt="en",stage="match"}`, `lang="en"`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %q:\n%s", want, metrics)
		}
	}
	text.put(0, "broken.txt.gz", []byte("\x1f\x8b\x08\x00cut short"))
	if _, err := Nightly(t.Context(), cfg, options()); !badinput.Is(err) {
		t.Errorf("error %v", err)
	}
	metrics = read(t, cfg.Metrics)
	for _, want := range []string{`mine_last_run_success{src="de",tgt="en"} 0`, "mine_last_success_timestamp_seconds"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics of a failed run lack %q:\n%s", want, metrics)
		}
	}
}

func TestNightlyTwiceAtOnce(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		t.Fatal(err)
	}
	release, err := lockfile.Lock(filepath.Join(cfg.Out, night.LockName))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Nightly(t.Context(), cfg, options())
	var locked *lockfile.Locked
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), record.Self().Host) {
		t.Errorf("error %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	mustNight(t, cfg) // the holder's name in the file is no lock
}

// TestScriptsOfTheNextNight: they are printed after a night, whose output stays as it is, but only for nights.
func TestScriptsOfTheNextNight(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	cfg.Keep = 1
	mustNight(t, cfg)
	var scripts bytes.Buffer
	cfg.Engine, cfg.DryRun, cfg.K = "slurm", &scripts, cfg.K+1 // a night may have other settings
	if _, err := Nightly(t.Context(), cfg, options()); err != nil || !strings.Contains(scripts.String(), "#!/bin/bash") {
		t.Errorf("error %v, scripts:\n%s", err, scripts.String())
	}
	if nights, err := filepath.Glob(filepath.Join(cfg.Out, "runs", "*")); err != nil || len(nights) != 1 {
		t.Errorf("nights %v, error %v", nights, err)
	}
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) {
		t.Errorf("a run beside the nights: error %v", err)
	}
}

// TestANightOfAnotherPair: the warning that it cannot be compared with the one before names its final directory.
func TestANightOfAnotherPair(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	mustNight(t, cfg)
	cfg.Source, cfg.Target, cfg.SourceText, cfg.TargetText = cfg.Target, cfg.Source, cfg.TargetText, cfg.SourceText
	mustNight(t, cfg)
	page := read(t, cfg.Out, night.LatestName, night.SummaryName)
	if !strings.Contains(page, "cannot be compared with: ") || !strings.Contains(page, filepath.Join("runs", "000002")) || strings.Contains(page, atomicfile.Suffix+"/") {
		t.Errorf("the summary:\n%s", page)
	}
}

// TestNightlyKeepsWhatIsCalledLatest: a folder or a file of the user in the link's place is refused before the work.
func TestNightlyKeepsWhatIsCalledLatest(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"folder": func(path string) error { return os.MkdirAll(path, 0o755) },
		"file": func(path string) error {
			return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("own"), 0o600))
		},
	} {
		cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
		cfg.Metrics = filepath.Join(t.TempDir(), "mine.prom")
		path := filepath.Join(cfg.Out, night.LatestName)
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		_, err := Nightly(t.Context(), cfg, options())
		if !badinput.Is(err) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
			t.Errorf("%s: it became %v, %v", name, info, err)
		}
		if _, err := os.Stat(filepath.Join(cfg.Out, "work")); err == nil {
			t.Errorf("%s: the night began", name)
		}
		if metrics := read(t, cfg.Metrics); !strings.Contains(metrics, "mine_last_run_success{src=\"de\",tgt=\"en\"} 0") {
			t.Errorf("%s: metrics\n%s", name, metrics)
		}
	}
}

// TestNightlyWhereARunWas: the night is refused before the work, as every command would read the run instead of it.
func TestNightlyWhereARunWas(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	mustRun(t, cfg)
	report := filepath.Join(cfg.Out, record.ReportName)
	if _, err := Nightly(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), report) || !strings.Contains(err.Error(), "--out") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(filepath.Join(cfg.Out, night.LatestName)); err == nil {
		t.Error("the night was published")
	}
	if err := os.Rename(report, report+".old"); err != nil {
		t.Fatal(err)
	}
	mustNight(t, cfg)
}

// TestNightlyAfterTheClockWentBack: the night is newer all the same, and the summary says so.
func TestNightlyAfterTheClockWentBack(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	cfg.Keep = 1
	report := mustNight(t, cfg)
	runs, err := filepath.Glob(filepath.Join(cfg.Out, "runs", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	report.Started = report.Started.Add(48 * time.Hour)
	if err := report.Write(filepath.Join(runs[0], record.ReportName)); err != nil {
		t.Fatal(err)
	}
	tomorrow := filepath.Join(cfg.Out, "runs", "000001-2999-01-01")
	if err := os.Rename(runs[0], tomorrow); err != nil {
		t.Fatal(err)
	}
	if err := night.Directory(cfg.Out).Link(filepath.Base(tomorrow)); err != nil {
		t.Fatal(err)
	}
	mustNight(t, cfg)
	if page := read(t, cfg.Out, night.LatestName, night.SummaryName); !strings.Contains(page, "night 000002") || !strings.Contains(page, "the clock went back") {
		t.Errorf("summary\n%s", page)
	}
	if _, err := os.Stat(tomorrow); !errors.Is(err, os.ErrNotExist) {
		t.Error("the older night was kept instead of the newer")
	}
}

func TestReadOnlyWork(t *testing.T) {
	disk := smallDisk(t, "1m")
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	cfg.Work = filepath.Join(disk, "work")
	readOnly(t, disk)
	for name, run := range map[string]func() error{
		"run":     func() error { _, err := Run(t.Context(), cfg, options()); return err },
		"nightly": func() error { _, err := Nightly(t.Context(), cfg, options()); return err },
	} {
		if err := run(); !badinput.Is(err) || !strings.Contains(err.Error(), "--work") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
