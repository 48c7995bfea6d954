package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bitextmine/fixtures"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/night"
)

// captured runs the program with standard output and standard error in files, as cron does, and returns both.
func captured(t *testing.T, args ...string) (code int, output, said string) {
	t.Helper()
	return capturedIn(t.Context(), t, args...)
}

// capturedIn is captured with a context.
func capturedIn(ctx context.Context, t *testing.T, args ...string) (code int, output, said string) {
	t.Helper()
	dir := t.TempDir()
	stdout, stderr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	var texts [2]string
	var files [2]*os.File
	for i, name := range []string{"out", "err"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[i] = f
	}
	os.Stdout, os.Stderr = files[0], files[1]
	code = execute(ctx, args)
	os.Stdout, os.Stderr = stdout, stderr
	for i, f := range files {
		data, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(data)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return code, texts[0], texts[1]
}

// TestCronMailsOnlyTrouble: standard error, which cron mails, has nothing after a good night, and a line on a file that
// was set aside; the log has dates.
func TestCronMailsOnlyTrouble(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, language := range []string{"de", "en"} {
		data, err := fixtures.Text.ReadFile("text/" + language + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		put(language+"/1.txt", data)
	}
	args := []string{
		"run", "--nightly", "--src", "de", "--tgt", "en", "--encoder", fixtures.Encoder, "--out", filepath.Join(dir, "out"),
		"--src-text", filepath.Join(dir, "de"), "--tgt-text", filepath.Join(dir, "en"),
	}
	code, log, mail := captured(t, args...)
	if code != exitDone || mail != "" {
		t.Errorf("a good night: exit code %d, standard error: %s", code, mail)
	}
	if !regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d match `).MatchString(log) ||
		!strings.Contains(log, "the night begins") {
		t.Errorf("the log has no dates:\n%s", log)
	}
	put("de/2.txt", nil)
	code, log, mail = captured(t, args...)
	if code != exitDone || strings.Count(mail, "\n") != 1 || !strings.Contains(mail, "2.txt") ||
		!strings.Contains(log, "2.txt") {
		t.Errorf("a night with an empty file: exit code %d, standard error: %s\nlog: %s", code, mail, log)
	}
	if err := os.RemoveAll(filepath.Join(dir, "de", "1.txt")); err != nil {
		t.Fatal(err)
	}
	code, log, mail = captured(t, args...)
	if code != exitPermanent || !strings.Contains(mail, "the de text is empty") ||
		!strings.Contains(log, "the night failed") {
		t.Errorf("a night without text: exit code %d, standard error: %s\nlog: %s", code, mail, log)
	}
}

// TestAStoppedNight: its log says that it was stopped, not that it failed.
func TestAStoppedNight(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	code, log, mail := capturedIn(ctx, t, "run", "--nightly", "--out", filepath.Join(t.TempDir(), "out"), "--src", "de", "--tgt", "en",
		"--src-text", "fixtures:text/de.txt", "--tgt-text", "fixtures:text/en.txt")
	if code != exitRetry || strings.Contains(log+mail, "context canceled") || !strings.Contains(log, "the night was stopped") ||
		strings.Count(mail, "\n") != 1 || !strings.Contains(mail, "stopped before the end") {
		t.Errorf("exit code %d, standard error: %s\nlog: %s", code, mail, log)
	}
}

// TestMetricsOfANightThatFailsEarly: they say so wherever their file is known by then, and only those of another night
// that holds the lock stay.
func TestMetricsOfANightThatFailsEarly(t *testing.T) {
	dir := t.TempDir()
	prom, config := filepath.Join(dir, "mine.prom"), filepath.Join(dir, "night.yaml")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	texts := []string{"--text", "de=nowhere.txt", "--text", "en=nowhere.txt"}
	for name, test := range map[string]struct {
		ctx    context.Context
		config string
		args   []string
		code   int
		file   string
	}{
		"a setting":           {t.Context(), "", []string{"--keep", "0", "--metrics", prom}, exitPermanent, prom},
		"a flag":              {t.Context(), "", []string{"--bead-score", "1", "--metrics", prom}, exitPermanent, prom},
		"an unknown key":      {t.Context(), "metrics: " + prom + "\nkep: 3\n", nil, exitPermanent, prom},
		"no YAML":             {t.Context(), "{", []string{"--metrics", prom}, exitPermanent, prom},
		"stopped":             {stopped, "", []string{"--metrics", prom}, exitRetry, prom},
		"a pair of languages": {t.Context(), "", append(texts, "--langs", "de,en", "--metrics", prom), exitPermanent, filepath.Join(dir, "mine.de-en.prom")},
		"locked":              {t.Context(), "", []string{"--metrics", prom}, exitLocked, ""},
	} {
		out := filepath.Join(t.TempDir(), "out")
		args := append([]string{"run", "--nightly", "--out", out}, test.args...)
		if len(test.args) < 6 {
			args = append(args, "--src", "de", "--tgt", "en", "--src-text", "fixtures:text/de.txt", "--tgt-text", "fixtures:text/en.txt")
		}
		if test.config != "" {
			args = append(args, "--config", config)
		}
		if test.code == exitLocked {
			if err := os.Mkdir(out, 0o755); err != nil {
				t.Fatal(err)
			}
			release, err := lockfile.Lock(filepath.Join(out, night.LockName))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = release() }()
		}
		if err := errors.Join(os.WriteFile(config, []byte(test.config), 0o600), os.WriteFile(prom, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		code, _, said := capturedIn(test.ctx, t, args...)
		if code != test.code {
			t.Errorf("%s: exit code %d: %s", name, code, said)
		}
		if test.file == "" {
			test.file = prom
		}
		metrics, err := os.ReadFile(test.file)
		if failed := strings.Contains(string(metrics), `mine_last_run_success{src="de",tgt="en"} 0`); err != nil || failed == (test.code == exitLocked) {
			t.Errorf("%s: error %v, metrics: %s", name, err, metrics)
		}
	}
}

// TestANightOfManyPairsLocksItsDirectory: a second one would put the same tasks of all pairs on a cluster again.
func TestANightOfManyPairsLocksItsDirectory(t *testing.T) {
	out := t.TempDir()
	release, err := lockfile.Lock(filepath.Join(out, night.LockName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	args := []string{"run", "--nightly", "--langs", "de,en,fr", "--out", out}
	for _, l := range []string{"de", "en", "fr"} {
		args = append(args, "--text", l+"=nowhere.txt")
	}
	if code := execute(t.Context(), args); code != exitLocked {
		t.Errorf("mine run ended with %d, want %d", code, exitLocked)
	}
}

// TestALockedNightSortsNoText: the other night reads what was sorted. Nor does a plan or a dry run.
func TestALockedNightSortsNoText(t *testing.T) {
	out, mixed := t.TempDir(), filepath.Join(t.TempDir(), "mixed.txt")
	if err := os.WriteFile(mixed, []byte("Das Haus steht am See.\nThe house stands by the lake.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	release, err := lockfile.Lock(filepath.Join(out, night.LockName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	for _, command := range [][]string{{"run", "--nightly"}, {"run", "--nightly", "--engine", "slurm", "--engine-dry-run"}, {"plan"}} {
		code := execute(t.Context(), append(command, "--src", "de", "--tgt", "en", "--text", "mixed="+mixed, "--out", out))
		if _, err := os.Stat(filepath.Join(out, "sorted")); code != exitLocked || !os.IsNotExist(err) {
			t.Errorf("mine %s ended with %d, want %d; looking for sorted text gave %v", command[0], code, exitLocked, err)
		}
	}
}

// TestANightForgetsTextThatIsGone: what was sorted from it goes, also where sorting was killed, and what somebody put
// there stays.
func TestANightForgetsTextThatIsGone(t *testing.T) {
	out, text := t.TempDir(), t.TempDir()
	sorted := filepath.Join(out, "sorted")
	own := filepath.Join(sorted, "own")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	night := func(file string) {
		t.Helper()
		path := filepath.Join(text, file)
		if err := os.WriteFile(path, []byte("Das Haus steht am See.\nThe house stands by the lake.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		// the text is too short to be mined, which is said after it was sorted
		if code := execute(t.Context(), []string{"run", "--nightly", "--src", "de", "--tgt", "en", "--text", "mixed=" + text, "--out", out}); code != exitPermanent {
			t.Fatalf("mine run ended with %d", code)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	night("monday.txt")
	reports, err := filepath.Glob(filepath.Join(sorted, "monday.txt-*", "sorted.json"))
	if err != nil || len(reports) != 1 {
		t.Fatalf("%q, error %v", reports, err)
	}
	night("tuesday.txt")
	if err := os.MkdirAll(filepath.Dir(reports[0]), 0o755); err != nil { // without a report
		t.Fatal(err)
	}
	night("tuesday.txt")
	found, err := filepath.Glob(filepath.Join(sorted, "*"))
	if err != nil || len(found) != 2 || !slices.Contains(found, own) || !strings.HasPrefix(filepath.Base(found[1]), "tuesday.txt-") {
		t.Errorf("%q were sorted, error %v", found, err)
	}
}
