package pipeline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/pipeline/config"
	"bitextmine/pipeline/record"
)

// smallFiles puts a text into small files of some lines each, and the same text into one file. Lines repeat over files.
func smallFiles(t *testing.T, n int) (small, one text) {
	small, one = newText(t), newText(t)
	for side, files := range mineNights(t, n) {
		for i, page := range files {
			lines := bytes.SplitAfter(page, []byte("\n"))
			for half := range 2 {
				name := fmt.Sprintf("%02d-%d.txt", i, half)
				small.put(side, name, bytes.Join(lines[half*len(lines)/2:(half+1)*len(lines)/2], nil))
			}
		}
		one.put(side, "all.txt", bytes.Join(files, nil))
	}
	return small, one
}

// tasks are the tasks of a stage that a run computed, and all.
func tasks(r *record.Report, stage string) (computed, all int) {
	for _, s := range r.Stages {
		if s.Name == stage {
			computed, all = computed+s.Tasks-s.Cached, all+s.Tasks
		}
	}
	return computed, all
}

// TestSmallFilesShareShards: small files are mined as one file with the same text is, with one cell rather than one for
// every pair of files, and a row names its own file and line.
func TestSmallFilesShareShards(t *testing.T) {
	small, one := smallFiles(t, 6)
	name := func(rows []string) []string { slices.Sort(rows); return rows }
	var got, want []string
	report := mustRun(t, small.config(filepath.Join(t.TempDir(), "small")))
	for _, row := range pairs(t, report) {
		got = append(got, fmt.Sprint(row.Source.Text, row.Target.Text, row.Score, row.Cosine, row.Keep, row.Reasons))
		path, _, _ := strings.Cut(row.Target.Shard, "#")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if line := strings.Split(string(data), "\n")[row.Target.Line-1]; line != row.Target.Text {
			t.Errorf("line %d of %s is %q, the row says %q", row.Target.Line, path, line, row.Target.Text)
		}
	}
	for _, row := range pairs(t, mustRun(t, one.config(filepath.Join(t.TempDir(), "one")))) {
		want = append(want, fmt.Sprint(row.Source.Text, row.Target.Text, row.Score, row.Cosine, row.Keep, row.Reasons))
	}
	if len(want) == 0 || !slices.Equal(name(got), name(want)) {
		t.Errorf("%d pairs of small files, %d of one; they differ", len(got), len(want))
	}
	if _, cells := tasks(report, "search"); cells != 1 {
		t.Errorf("%d cells of 12 and 12 files", cells)
	}
	if len(report.Inputs) != 24 || report.Inputs[3].Counts.Kept == 0 {
		t.Errorf("counts by file: %+v", report.Inputs)
	}
}

// TestNewSmallFile: a new small file makes its own group new, and hardly another. The bitext is that of a run which
// never knew less.
func TestNewSmallFile(t *testing.T) {
	small, _ := smallFiles(t, 8)
	cfg := small.config(filepath.Join(t.TempDir(), "out"))
	cfg.ShardSize = 64 // shards of about 4 KB
	mustRun(t, cfg)
	for _, name := range []string{"03-x.txt", "99.txt"} {
		small.put(0, name, []byte("Maria kaufte 7 Mal einen neuen "+name+" in Berlin.\n"))
		report := mustRun(t, cfg)
		if computed, all := tasks(report, "encode"); all < 10 || computed < 1 || computed > 3 {
			t.Errorf("%s: %d of %d shards are encoded", name, computed, all)
		}
		fresh := cfg
		fresh.Out = filepath.Join(t.TempDir(), "fresh")
		if mustRun(t, fresh).Bitext.SHA256 != report.Bitext.SHA256 {
			t.Errorf("%s: the bitext is not that of a fresh run", name)
		}
	}
}

// TestBadSmallFile: of files that share shards, those that cannot be used are set aside, each with its own path and
// reason, and an empty one is none of these.
func TestBadSmallFile(t *testing.T) {
	small, _ := smallFiles(t, 8)
	for side := range 2 {
		for _, name := range []string{"04-x.txt", "05-x.txt"} {
			small.put(side, name, []byte("%PDF-1.7 of "+name))
		}
		small.put(side, "06-x.txt", nil)
	}
	cfg := small.config(filepath.Join(t.TempDir(), "out"))
	if _, err := Run(t.Context(), cfg, options()); err == nil || !strings.Contains(err.Error(), "--on-bad-file skip") || !strings.Contains(err.Error(), "-x.txt") {
		t.Fatalf("error %v", err)
	}
	cfg.OnBadFile = config.SkipBadFile
	report := mustRun(t, cfg)
	if len(report.SetAside) != 4 || len(report.Inputs) != 2*17 || len(report.Warnings) != 4 {
		t.Fatalf("%d inputs, set aside %+v, warnings %q", len(report.Inputs), report.SetAside, report.Warnings)
	}
	for _, one := range report.SetAside {
		if !strings.HasPrefix(one.Why, one.Path+" is a PDF") {
			t.Errorf("%s is set aside because %s", one.Path, one.Why)
		}
	}
	for _, warning := range report.Warnings {
		if !strings.Contains(warning, "files of de") && !strings.Contains(warning, "files of en") {
			t.Errorf("warning %q", warning)
		}
	}
}

// TestPlanCountsWhatIsAroundTasks: the time of a plan has the publishing of each output and the look at each file.
func TestPlanCountsWhatIsAroundTasks(t *testing.T) {
	small, _ := smallFiles(t, 6)
	e, err := Plan(t.Context(), small.config(filepath.Join(t.TempDir(), "small")), options())
	if err != nil {
		t.Fatal(err)
	}
	if e.Around <= 0 || e.Time != e.Cost.Time()+e.Around {
		t.Errorf("%v around the tasks, %v in them, %v in all", e.Around, e.Cost.Time(), e.Time)
	}
}
