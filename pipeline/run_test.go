package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"bitextmine/bitext"
	"bitextmine/encode/encodetest"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
)

func TestMain(m *testing.M) {
	if err := encodetest.SetLibrary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if cfg := os.Getenv(childConfig); cfg != "" {
		os.Exit(child(cfg))
	}
	// The AWS client keeps idle connections until its transport times them out.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// corpora writes a German and an English text of n sentences each, of which every other is a translation; some stand
// twice, some in several files, differing in what normalisation folds.
func corpora(t testing.TB, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	nouns := [][2]string{{"Hund", "dog"}, {"Zug", "train"}, {"Computer", "computer"}, {"Garten", "garden"}, {"Schule", "school"}, {"Vertrag", "contract"}, {"Wein", "wine"}}
	verbs := [][2]string{{"kaufte", "bought"}, {"verlor", "lost"}, {"fotografierte", "photographed"}, {"reparierte", "repaired"}}
	people := []string{"Anna", "Peter", "Maria", "Thomas", "Julia", "Martin", "Sarah", "Paul", "Laura", "Max", "Lena"}
	var de, en, more strings.Builder
	for i := range n {
		noun, verb, who := nouns[i%len(nouns)], verbs[i/3%len(verbs)], people[i/5%len(people)]
		fmt.Fprintf(&de, "%s %s %d Mal einen neuen %s in Berlin.\n", who, verb[0], i+2, noun[0])
		if i%2 == 0 {
			fmt.Fprintf(&en, "%s %s a new %s in Berlin %d times.\n", who, verb[1], noun[1], i+2)
		} else {
			fmt.Fprintf(&en, "Nobody ever saw the %s of %s number %d again.\n", noun[1], who, i)
		}
		if i%10 == 0 {
			// as in de.txt, but for white space
			fmt.Fprintf(&more, "  %s %s %d  Mal einen neuen %s in Berlin. \n", who, verb[0], i+2, noun[0])
			fmt.Fprintf(&de, "%s %s %d Mal einen neuen %s in Berlin.\n", who, verb[0], i+2, noun[0]) // twice in de.txt
		}
	}
	for name, text := range map[string]string{"de.txt": de.String(), "de2.txt": more.String(), "en.txt": en.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func testConfig(dir, out string) Config {
	return Config{
		Languages: setting.Languages{Source: "de", Target: "en"},
		Input:     setting.Input{SourceText: []string{filepath.Join(dir, "de*.txt")}, TargetText: []string{filepath.Join(dir, "en.txt")}},
		Output:    setting.Output{Out: out},
		Text:      setting.Text{Format: "auto", TextColumn: "text", OnBadLine: "skip", MaxLineBytes: 1 << 16, ShardSize: 1000},
		Encoding:  setting.Encoding{Encoder: fixtures.Encoder}, Vectors: setting.Vectors{DType: "float16"},
		Searching: setting.Searching{Search: "exact"},
		Decision:  setting.Decision{K: 4, Margin: "ratio", Retrieval: "max", Threshold: 1.06},
		Nights:    setting.Nights{Keep: 3},
	}
}

func options() Options {
	return Options{Progress: progress.Silent, Log: slog.New(slog.DiscardHandler), Version: "test", OpenEncoder: openShared}
}

// optionsLogged are options that log into a buffer.
func optionsLogged() (Options, *bytes.Buffer) {
	o, log := options(), &bytes.Buffer{}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	return o, log
}

func mustRun(t testing.TB, cfg Config) *record.Report {
	t.Helper()
	report, err := Run(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func pairs(t testing.TB, r *record.Report) []bitext.Row {
	t.Helper()
	file, err := bitext.Open(r.Bitext.Path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []bitext.Row
	for row, err := range file.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestRunFindsTranslations(t *testing.T) {
	dir, out := corpora(t, 300), filepath.Join(t.TempDir(), "mined")
	report := mustRun(t, testConfig(dir, out))
	correct := 0
	rows := pairs(t, report)
	for i, row := range rows {
		if !row.Keep || row.Reasons != nil || row.Source.Lang != "de" || row.Target.Lang != "en" || row.Score <= 1.06 {
			t.Fatalf("row %+v", row)
		}
		if i > 0 && rows[i-1].Score < row.Score {
			t.Fatal("rows do not stand best first")
		}
		de, en := strings.Fields(row.Source.Text), strings.Fields(row.Target.Text)
		if de[0] == en[0] && de[2] == en[len(en)-2] {
			correct++
		}
	}
	if len(rows) != report.Counts.Kept || correct < 100 || 10*correct < 8*len(rows) {
		t.Errorf("%d of %d pairs are translations; there are 150", correct, len(rows))
	}
	c := report.Counts
	if c.SourceIn != 360 || c.SourceUnique != 300 || c.TargetIn != 300 || c.TargetUnique != 300 {
		t.Errorf("counts %+v", c)
	}
	for _, row := range rows {
		if strings.HasPrefix(row.Source.Text, " ") {
			t.Errorf("the provenance of %q is not the original text of its first occurrence", row.Source.Text)
		}
	}
}

// TestSameBytes: the bitext does not depend on what computed it.
func TestSameBytes(t *testing.T) {
	dir := corpora(t, 200)
	base := testConfig(dir, filepath.Join(t.TempDir(), "base"))
	base.KeepBelow = true
	want := mustRun(t, base)
	for name, change := range map[string]func(*Config){
		"again":         func(*Config) {},
		"one thread":    func(c *Config) { c.Threads = 1 },
		"five threads":  func(c *Config) { c.Threads = 5 },
		"a work of old": func(c *Config) { c.Work = base.Work + base.Out + "/work" },
		"order of files": func(c *Config) {
			c.SourceText = []string{filepath.Join(dir, "de.txt"), filepath.Join(dir, "de2.txt")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := base
			cfg.Out = filepath.Join(t.TempDir(), "out")
			change(&cfg)
			if got := mustRun(t, cfg); got.Bitext.SHA256 != want.Bitext.SHA256 {
				t.Error("the bitext differs")
			}
		})
	}
}

// TestShardSizeShowsOnlyInProvenance: another shard size changes the shard and row columns and nothing else.
func TestShardSizeShowsOnlyInProvenance(t *testing.T) {
	dir := corpora(t, 200)
	cfg := testConfig(dir, filepath.Join(t.TempDir(), "base"))
	cfg.KeepBelow = true
	want := pairs(t, mustRun(t, cfg))
	for _, size := range []int{1, 37, 100} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			if size == 1 && testing.Short() {
				t.Skip("a cell for every pair of sentences takes seconds; not in -short")
			}
			cfg, want := cfg, want
			cfg.Out, cfg.ShardSize = filepath.Join(t.TempDir(), "out"), size
			if size == 1 {
				cfg.SourceText, cfg.TargetText = []string{firstLines(t, dir, "de.txt", 12)}, []string{firstLines(t, dir, "en.txt", 10)}
				whole := cfg
				whole.Out, whole.ShardSize = filepath.Join(t.TempDir(), "whole"), 1000
				want = pairs(t, mustRun(t, whole))
			}
			got := pairs(t, mustRun(t, cfg))
			if len(got) != len(want) {
				t.Fatalf("%d rows, want %d", len(got), len(want))
			}
			for i := range got {
				for _, row := range []*bitext.Row{&got[i], &want[i]} {
					for _, s := range []*bitext.Sentence{&row.Source, &row.Target} {
						s.Shard, s.Row = "", 0
					}
				}
				if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
					t.Fatalf("row %d = %+v, want %+v", i, got[i], want[i])
				}
			}
		})
	}
}

// firstLines writes a file's first n lines beside it and returns their path.
func firstLines(t *testing.T, dir, name string, n int) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, bytes.Join(lines[:n], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestStoppedRunGoesOn: whatever moment a run is stopped at, the next call ends with the same bytes and nothing
// half-written is left.
func TestStoppedRunGoesOn(t *testing.T) {
	dir := corpora(t, 120)
	want := mustRun(t, testConfig(dir, filepath.Join(t.TempDir(), "whole")))
	for stop := 1; ; stop += 1 + stop/3 { // closer together at the start, where a run does least
		cfg := testConfig(dir, filepath.Join(t.TempDir(), "out"))
		cfg.ShardSize = 50
		ctx, cancel := context.WithCancel(t.Context())
		opts := options()
		stopper := &stopper{stop: cancel}
		stopper.left.Store(int64(stop))
		opts.Progress = stopper
		_, err := Run(ctx, cfg, opts)
		cancel()
		if err == nil {
			if stop < 5 {
				t.Fatalf("only %d places to stop at", stop)
			}
			break
		}
		if left := temporaries(t, cfg.Out); left != nil {
			t.Fatalf("stop %d left %v", stop, left)
		}
		if got := mustRun(t, cfg); got.Counts != want.Counts {
			t.Fatalf("stop %d: counts %+v, want %+v", stop, got.Counts, want.Counts)
		}
	}
}

// stopper cancels the run at its n-th sign of progress.
type stopper struct {
	left atomic.Int64
	stop func()
}

func (s *stopper) Start(string, int64, string) progress.Meter { s.Add(0); return s }
func (s *stopper) Done()                                      {}
func (s *stopper) Skip(n int64)                               { s.Add(n) }
func (s *stopper) Add(int64) {
	if s.left.Add(-1) == 0 {
		s.stop()
	}
}

func temporaries(t *testing.T, dir string) (left []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestDamagedOutputIsMadeAgain(t *testing.T) {
	cfg := testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "out"))
	want := mustRun(t, cfg)
	for _, name := range []string{"*.parquet", "*.npy", "*.json", "*.cell"} {
		files, err := filepath.Glob(filepath.Join(cfg.Out, "work", "*", "*", name))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s in the store (%v)", name, err)
		}
		for _, file := range files {
			if err := os.Truncate(file, 10); err != nil {
				t.Fatal(err)
			}
		}
		if got := mustRun(t, cfg); got.Bitext.SHA256 != want.Bitext.SHA256 {
			t.Errorf("after damage to every %s the bitext differs", name)
		}
	}
}

func TestSecondRunComputesNothing(t *testing.T) {
	cfg := testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "out"))
	mustRun(t, cfg)
	for _, stage := range mustRun(t, cfg).Stages {
		if (strings.HasPrefix(stage.Name, "shard") || stage.Name == "encode" || stage.Name == "search") && stage.Cached != stage.Tasks {
			t.Errorf("%s computed %d of %d tasks again", stage.Name, stage.Tasks-stage.Cached, stage.Tasks)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	dir := corpora(t, 40)
	file := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"a missing file":        {func(c *Config) { c.SourceText = []string{"no/such/file.txt"} }, "no/such/file.txt"},
		"an empty file":         {func(c *Config) { c.TargetText = []string{file("empty.txt", "")} }, "empty.txt"},
		"a directory with none": {func(c *Config) { c.TargetText = []string{t.TempDir()} }, "directory holds no file"},
		"no language":           {func(c *Config) { c.Source = "" }, "--src"},
		"one language twice":    {func(c *Config) { c.Target = "de" }, "both de"},
		"k of zero":             {func(c *Config) { c.K = 0 }, "k = 0"},
		"an unknown margin":     {func(c *Config) { c.Margin = "rate" }, "ratio"},
		"an unknown retrieval":  {func(c *Config) { c.Retrieval = "best" }, "intersect"},
		"an unknown search":     {func(c *Config) { c.Search = "annoy" }, "annoy"},
		"an unknown encoder":    {func(c *Config) { c.Encoder = "laser9" }, "laser9"},
		"no text":               {func(c *Config) { c.Source, c.SourceText = "fr", nil }, "--src-text"},
		"no libonnxruntime":     {func(c *Config) { c.ONNXRuntime = "/no/libonnxruntime.so" }, "/no/libonnxruntime.so"},
		"another file as one":   {func(c *Config) { c.ONNXRuntime = file("libonnxruntime.so", "not ELF") }, "libonnxruntime.so"},
		"an out that is a file": {func(c *Config) { c.Out = file("out", "") }, "--out"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(dir, filepath.Join(t.TempDir(), "out"))
			c.change(&cfg)
			_, err := Run(t.Context(), cfg, options())
			if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q is not one sentence of bad input that names %q", err, c.says)
			}
			if found, _ := filepath.Glob(filepath.Join(cfg.Out, "*.parquet")); found != nil {
				t.Errorf("it left %v", found)
			}
		})
	}
}

func TestOutputOfOtherSettingsIsKept(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	mustRun(t, cfg)
	cfg.Threshold = 1.2
	_, err := Run(t.Context(), cfg, options())
	if !badinput.Is(err) || !strings.Contains(err.Error(), "threshold was 1.06, is 1.2") {
		t.Errorf("error %v", err)
	}
	cfg.Overwrite = true
	if got := mustRun(t, cfg); got.Settings.Threshold != 1.2 {
		t.Error("overwriting kept the old settings")
	}
	if err := os.WriteFile(filepath.Join(cfg.Out, record.ReportName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Overwrite = false
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "--overwrite") {
		t.Errorf("error %v", err)
	}
	cfg.Overwrite = true
	mustRun(t, cfg)
}

// TestFullDisk mines into a file system of 256 KiB: a sentence, nothing under a final name that is not whole, and
// success once there is room.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, "256k")
	cfg := testConfig(corpora(t, 3000), filepath.Join(disk, "out"))
	_, err := Run(t.Context(), cfg, options())
	if !badinput.Is(err) || !strings.Contains(err.Error(), "the disk is full") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q", err)
	}
	if left := temporaries(t, cfg.Out); left != nil {
		t.Errorf("it left %v", left)
	}
	enlarge(t, disk, "64m")
	if got := mustRun(t, cfg); got.Counts.Kept == 0 {
		t.Error("no pairs")
	}
}
