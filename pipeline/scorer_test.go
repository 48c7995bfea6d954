package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/exchange"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/feature"
	"bitextmine/score/fit"
)

func scored(cfg Config) Config {
	cfg.Scorer, cfg.Threshold = score.Default, setting.AutoThreshold
	return cfg
}

// TestScoredBytes: threads, shards, the work of earlier nights and a second run change no byte of what a scorer
// decides, but for the shard and row that a sentence is said to stand in.
func TestScoredBytes(t *testing.T) {
	dir := corpora(t, 300)
	cfg := scored(testConfig(dir, filepath.Join(t.TempDir(), "out")))
	cfg.Features, cfg.KeepBelow, cfg.Threads = true, true, 1
	want := mustRun(t, cfg)
	rows := pairs(t, want)
	if want.Counts.Kept < 20 || // the sentences are so alike that the cut follows few translations
		rows[0].Prob == nil || len(rows[0].Features) != len(feature.All) {
		t.Fatalf("%d pairs kept of 150, the first %+v", want.Counts.Kept, rows[0])
	}
	cfg.Out, cfg.Threads = filepath.Join(t.TempDir(), "threads"), 3
	if got := mustRun(t, cfg); got.Bitext.SHA256 != want.Bitext.SHA256 {
		t.Error("the number of threads shows")
	}
	cfg.Out, cfg.ShardSize = filepath.Join(t.TempDir(), "shards"), 37
	got := pairs(t, mustRun(t, cfg))
	if len(got) != len(rows) {
		t.Fatalf("%d rows instead of %d", len(got), len(rows))
	}
	for i := range got {
		a, b := got[i], rows[i]
		a.Source.Shard, a.Source.Row, a.Target.Shard, a.Target.Row = b.Source.Shard, b.Source.Row, b.Target.Shard, b.Target.Row
		if fmt.Sprint(*a.Prob, a.Features) != fmt.Sprint(*b.Prob, b.Features) || a.Source != b.Source || a.Target != b.Target || a.Keep != b.Keep {
			t.Fatalf("row %d shows the shards: %+v, want %+v", i, a, b)
		}
	}
}

// TestScoredTasks: the tasks of a run that a scorer decides give its bytes one by one, each with files that it opens
// itself, and in whatever order, for any number of shards.
func TestScoredTasks(t *testing.T) {
	dir := corpora(t, 200)
	for shards, size := range map[int]int{1: 1000, 3: 100, 10: 22} {
		t.Run(fmt.Sprint(shards), func(t *testing.T) {
			cfg := scored(testConfig(dir, filepath.Join(t.TempDir(), "whole")))
			cfg.KeepBelow, cfg.ShardSize = true, size
			want := mustRun(t, cfg)
			cfg.Out = filepath.Join(t.TempDir(), "out")
			estimate, err := Plan(t.Context(), cfg, options())
			if err != nil {
				t.Fatal(err)
			}
			begin := 0
			for _, stage := range estimate.Stages {
				if stage.Name == view.Features && stage.Tasks < shards {
					t.Errorf("%d tasks compute features, want %d", stage.Tasks, shards)
				}
				for i := begin + stage.Tasks - 1; i >= begin; i-- {
					path := record.PlanPath(estimate.Work, estimate.PlanID)
					if err := RunTasks(t.Context(), TaskConfig{Plan: path, Index: i}, options()); err != nil {
						t.Fatal(err)
					}
				}
				begin += stage.Tasks
			}
			got := mustRun(t, cfg)
			if last := got.Stages[len(got.Stages)-1]; last.Cached != 1 || got.Bitext.SHA256 != want.Bitext.SHA256 {
				t.Errorf("stage %+v, bitext %+v, want %+v", last, got.Bitext, want.Bitext)
			}
		})
	}
}

func TestScoredNightsEqualOneRun(t *testing.T) {
	files := mineNights(t, 3)
	text := newText(t)
	out := filepath.Join(t.TempDir(), "out")
	var last *record.Report
	for i := range 3 {
		text.putNight(files, i)
		last = mustRun(t, scored(text.config(out)))
	}
	fresh := mustRun(t, scored(text.config(filepath.Join(t.TempDir(), "fresh"))))
	if last.Bitext.SHA256 != fresh.Bitext.SHA256 {
		t.Error("the bytes after three nights differ from one run's")
	}
}

// TestContextualTokens: a token-level output that is read sentence by sentence gives what its table gives, but for
// tokens that stand twice.
func TestContextualTokens(t *testing.T) {
	dir := corpora(t, 100)
	const table = "tokens:\n    output: tokens\n    static: true"
	cfg := scored(testConfig(dir, filepath.Join(t.TempDir(), "out")))
	cfg.Encoder = modelWith(t, table, table)
	want := mustRun(t, cfg)
	cfg.Encoder = modelWith(t, table, "tokens: {output: tokens}")
	cfg.Out = filepath.Join(t.TempDir(), "contextual")
	got := mustRun(t, cfg)
	if a, b := got.Counts.Kept, want.Counts.Kept; a < b-1 || a > b+1 {
		t.Errorf("%d pairs kept with vectors of each token, %d with a table", a, b)
	}
}

// modelWith copies the smaller built-in encoder, its manifest changed.
func modelWith(t *testing.T, old, replacement string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"model.yaml", "model.onnx", "spm.model"} {
		data, err := os.ReadFile(filepath.Join(encodetest.Bag(), name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "model.yaml" {
			if !bytes.Contains(data, []byte(old)) {
				t.Fatalf("the manifest has no %q", old)
			}
			data = bytes.Replace(data, []byte(old), []byte(replacement), 1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEncoderWithoutTokens: the features of tokens are off, and the log says so.
func TestEncoderWithoutTokens(t *testing.T) {
	cfg := scored(testConfig(corpora(t, 100), filepath.Join(t.TempDir(), "out")))
	cfg.Encoder = modelWith(t, "tokens:\n    output: tokens\n    static: true\n", "")
	cfg.Features, cfg.KeepBelow = true, true
	report, log := runLogged(t, cfg)
	if !strings.Contains(log, "features of tokens are off") {
		t.Errorf("the log says nothing of tokens: %s", log)
	}
	for _, row := range pairs(t, report) {
		for i, f := range feature.All {
			if f.Kind == feature.Tokens && row.Features[i] != 0 {
				t.Fatalf("%s is %v without tokens", f.Name, row.Features[i])
			}
		}
	}
}

func TestPrecisionCutsByProbability(t *testing.T) {
	cfg := scored(testConfig(corpora(t, 300), filepath.Join(t.TempDir(), "out")))
	cfg.Precision = 0.9
	report := mustRun(t, cfg)
	sum := 0.0
	rows := pairs(t, report)
	for _, row := range rows {
		sum += float64(*row.Prob)
	}
	if mean := sum / float64(len(rows)); len(rows) == 0 || mean < 0.9 {
		t.Errorf("%d pairs of mean probability %v, wanted 0.9", len(rows), mean)
	}
	if report.Threshold <= 0 || !strings.Contains(report.Rule(), "precision of 0.9") {
		t.Errorf("threshold %v, rule %s", report.Threshold, report.Rule())
	}
}

func fixturePairs(t *testing.T) []exchange.Pair {
	t.Helper()
	known, err := exchange.FixturePairs("de", "en")
	if err != nil {
		t.Fatal(err)
	}
	return known[:216] // the translations of the sample corpora
}

// TestFitLeavesNothing: injecting finds the pairs, gives the same examples twice, and the bitext afterwards is that of
// before.
func TestFitLeavesNothing(t *testing.T) {
	cfg := testConfig(corpora(t, 300), filepath.Join(t.TempDir(), "out"))
	before := mustRun(t, cfg)
	known := fixturePairs(t)
	first, err := Fit(t.Context(), cfg, stagefit.Known{Name: "fixtures", Pairs: known}, options())
	if err != nil {
		t.Fatal(err)
	}
	if p := first.Known; p.Injected != len(known) || p.Found < len(known)*9/10 {
		t.Errorf("injected %+v", p)
	}
	if err := os.RemoveAll(filepath.Join(cfg.Out, "work", "fit")); err != nil {
		t.Fatal(err)
	}
	second, err := Fit(t.Context(), cfg, stagefit.Known{Name: "fixtures", Pairs: known}, options())
	if err != nil {
		t.Fatal(err)
	}
	a, errA := json.Marshal(first)
	b, errB := json.Marshal(second)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Error("two injections differ")
	}
	cfg.Out, cfg.Work = filepath.Join(t.TempDir(), "after"), filepath.Join(cfg.Out, "work")
	if after := mustRun(t, cfg); after.Bitext.SHA256 != before.Bitext.SHA256 {
		t.Error("injecting changed the bitext")
	}
	if scorer, err := fit.Scorer("test", []*fit.Set{first}, fit.DefaultShare, nil); err != nil || scorer.Quality.Recall < 0.5 {
		t.Errorf("scorer %+v, error %v", scorer, err)
	}
	scorer, err := fit.Scorer("test", []*fit.Set{first}, fit.DefaultShare, []string{"cosine"})
	if err != nil || scorer.Terms[0].Weight != 0 || scorer.Terms[1].Weight == 0 {
		t.Errorf("without cosine: scorer %+v, error %v", scorer, err)
	}
	if _, err := fit.Scorer("test", []*fit.Set{first}, fit.DefaultShare, []string{"cosines"}); !badinput.Is(err) {
		t.Errorf("without a feature that there is not: error %v", err)
	}
	if third, err := json.Marshal(first); err != nil || !bytes.Equal(a, third) {
		t.Error("a fit changed its examples")
	}
}

// TestInjectedPairsOfTheCorpus: pairs that stand in the corpora already are used where they stand.
func TestInjectedPairsOfTheCorpus(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"de.txt", "en.txt"} {
		data, err := fixtures.Text.ReadFile("text/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := testConfig(dir, filepath.Join(t.TempDir(), "out"))
	cfg.Format = "bucc"
	examples, err := Fit(t.Context(), cfg, stagefit.Known{Name: "fixtures", Pairs: fixturePairs(t)}, options())
	if err != nil {
		t.Fatal(err)
	}
	// The whole corpora come first; of their small parts most lack a translation.
	if first := slices.Index(examples.Unpaired, true); first < len(examples.Unpaired)/4 {
		t.Fatalf("example %d of %d is of a unpaired sentence, though the corpus has its translation", first, len(examples.Unpaired))
	}
	if want := "629 and 630 sentences"; examples.Known.Corpus != want {
		t.Errorf("corpus of %s, want %s", examples.Known.Corpus, want)
	}
}

func TestFitRefuses(t *testing.T) {
	known := fixturePairs(t)
	tiny := t.TempDir()
	for _, name := range []string{"de.txt", "en.txt"} {
		if err := os.WriteFile(filepath.Join(tiny, name), []byte("Ein Satz.\nZwei Worte.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		dir   string
		pairs []exchange.Pair
		says  string
	}{
		"too few pairs":       {corpora(t, 50), known[:40], "at least 100"},
		"the same pair often": {corpora(t, 50), append(known[:1:1], make([]exchange.Pair, 300)...), "at least 100"},
		"no rivals":           {tiny, known, "rivals"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(c.dir, filepath.Join(t.TempDir(), "out"))
			cfg.K = 2 // number of sentences of the tiny corpus
			_, err := Fit(t.Context(), cfg, stagefit.Known{Name: "test", Pairs: c.pairs}, options())
			if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v does not say %q", err, c.says)
			}
		})
	}
	if _, err := exchange.FixturePairs("sw", "en"); !badinput.Is(err) {
		t.Errorf("error %v", err)
	}
}

func TestScorerRefuses(t *testing.T) {
	dir := corpora(t, 50)
	model, err := model.Load(fixtures.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	if _, warnings, err := score.Load(score.Default, 0, model); err != nil || len(warnings) > 0 { // its own neighbours
		t.Fatalf("the default scorer: %v, warnings %v", err, warnings)
	}
	named, warnings, err := score.Load(score.Default, 4, model)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("the default scorer: %v, warnings %v", err, warnings)
	}
	file := func(old, replacement string) string {
		path := filepath.Join(t.TempDir(), "scorer.json")
		if !bytes.Contains(named.Data, []byte(old)) {
			t.Fatalf("the scorer has no %q", old)
		}
		if err := os.WriteFile(path, bytes.Replace(named.Data, []byte(old), []byte(replacement), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := file(`"version": 1`, `"version": 7`)
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"no such file":             {func(c *Config) { c.Scorer = filepath.Join(dir, "none.json") }, "neither auto nor default nor none"},
		"no scorer at all":         {func(c *Config) { c.Scorer = filepath.Join(dir, "de.txt") }, "not a scorer file"},
		"other feature versions":   {func(c *Config) { c.Scorer = other }, "mine fit-scorer"},
		"fewer neighbours":         {func(c *Config) { c.K = 2 }, "--k 4"},
		"a margin as threshold":    {func(c *Config) { c.Threshold = 1.06 }, "no probability"},
		"another retrieval":        {func(c *Config) { c.Retrieval = "union" }, "--scorer none"},
		"threshold and precision":  {func(c *Config) { c.Threshold, c.Precision = 0.5, 0.9 }, "give one"},
		"a threshold out of reach": {func(c *Config) { c.Scorer, c.K, c.Threshold = "none", 1, setting.AutoThreshold }, "threshold = 1.06 keeps no pair"},
		"precision without scorer": {func(c *Config) { c.Scorer, c.Precision, c.Threshold = "none", 0.9, 1.06 }, "need a scorer"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := scored(testConfig(dir, filepath.Join(t.TempDir(), "out")))
			c.change(&cfg)
			_, err := Run(t.Context(), cfg, options())
			if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v does not say %q", err, c.says)
			}
			if strings.Contains(fmt.Sprint(err), "\n") {
				t.Errorf("more than one line: %v", err)
			}
		})
	}
	_, warnings, err = score.Load(file(model.Digest, strings.Repeat("0", 64)), 4, model)
	if err != nil || len(warnings) != 1 {
		t.Fatalf("another encoder: warnings %v, error %v", warnings, err)
	}
	for _, says := range []string{"mine fit-scorer", model.Name + " (sha256:0000", model.Name + " (sha256:" + model.Digest[:4]} {
		if !strings.Contains(warnings[0], says) {
			t.Errorf("another encoder: %q does not say %q", warnings[0], says)
		}
	}
}
