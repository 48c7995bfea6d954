package pipeline

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/stage/search"
	"bitextmine/pipeline/store"
	"bitextmine/score"
	"bitextmine/score/feature"
	"bitextmine/score/fit"
)

// strange copies a built-in encoder so that the program has no scorer for it.
func strange(t *testing.T) (path string) {
	t.Helper()
	dir := t.TempDir()
	built, err := fs.Sub(os.DirFS(encodetest.Bag()), ".")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, built); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "model.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, path, strings.Replace(string(data), "\nmax_tokens: 128", "\nmax_tokens: 127", 1))
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func autoConfig(t *testing.T, encoder string, sentences int) Config {
	t.Helper()
	cfg := testConfig(corpora(t, sentences), filepath.Join(t.TempDir(), "out"))
	cfg.Encoder, cfg.Scorer, cfg.Threshold = encoder, score.Auto, setting.AutoThreshold
	return cfg
}

// runLogged is mustRun with what it logged.
func runLogged(t *testing.T, cfg Config) (*record.Report, string) {
	t.Helper()
	o, log := optionsLogged()
	report, err := Run(t.Context(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	return report, log.String()
}

// TestAutoScorer: for an encoder that the program has no scorer for, one is fitted, kept by later runs over more text,
// and fitted again when asked for.
func TestAutoScorer(t *testing.T) {
	cfg := autoConfig(t, strange(t), 300)
	estimate, err := Plan(t.Context(), cfg, options())
	if err != nil || !estimate.FitsScorer {
		t.Fatalf("before: estimate %+v, error %v", estimate, err)
	}
	little := cfg
	little.MaxMemory = "400MiB"
	if _, err := Plan(t.Context(), little, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "stage fit needs") {
		t.Errorf("with 400 MiB the run refuses the fit, and the plan says: %v", err)
	}
	first, log := runLogged(t, cfg)
	if !strings.Contains(log, "fitted a scorer") || first.Scorer == nil || first.Scorer.Encoder != encodetest.BagName {
		t.Errorf("scorer %+v, log %s", first.Scorer, log)
	}
	if first.Counts.Kept < 80 || !strings.Contains(first.Rule(), "highest expected F1") {
		t.Errorf("%d pairs kept of 150 by %s", first.Counts.Kept, first.Rule())
	}
	stages := map[string]int64{}
	for _, s := range first.Stages {
		if _, twice := stages[s.Name]; twice {
			t.Errorf("stage %s is reported twice", s.Name)
		}
		stages[s.Name] = s.Items
	}
	if stages["encode"] == 0 || stages["fit"] == 0 || stages["match"] == 0 {
		t.Errorf("stages %v", stages)
	}

	examples, err := filepath.Glob(filepath.Join(cfg.Out, "work", "fit", "*", stagefit.ExamplesFile))
	if err != nil || len(examples) != 1 {
		t.Fatalf("examples in %v, error %v", examples, err)
	}
	if set, err := fit.ReadSet(examples[0]); err != nil || set.Own.Len() != first.Counts.Candidates {
		t.Errorf("the scorer was adapted to %d of the text's %d candidates, error %v", set.Own.Len(), first.Counts.Candidates, err)
	}

	if estimate, err := Plan(t.Context(), cfg, options()); err != nil || estimate.FitsScorer {
		t.Errorf("after: estimate %+v, error %v", estimate, err)
	}
	cfg.TargetText = append(cfg.TargetText, writeFile(t, filepath.Join(t.TempDir(), "more.txt"), "A sentence of another night.\n"))
	cfg.Overwrite = true
	later, log := runLogged(t, cfg)
	if strings.Contains(log, "fitted a scorer") || later.Settings.Scorer != first.Settings.Scorer {
		t.Errorf("another night has another scorer: %s", log)
	}
	cfg.Refit = true
	if estimate, err := Plan(t.Context(), cfg, options()); err != nil || !estimate.FitsScorer {
		t.Errorf("to fit again: estimate %+v, error %v", estimate, err)
	}
	if again, log := runLogged(t, cfg); !strings.Contains(log, "fitted a scorer") || again.Settings.Scorer == first.Settings.Scorer {
		t.Errorf("the scorer was not fitted to the new text: %s", log)
	}

	st, err := store.Open(t.Context(), filepath.Join(cfg.Out, "work"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	for entry, err := range st.List(t.Context(), record.FittedNote) {
		if err != nil {
			t.Fatal(err)
		}
		if err := st.WriteNote(t.Context(), record.FittedNote, entry.Name, []byte(`{"format":`)); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Refit = false
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "--refit") {
		t.Errorf("a damaged note: error %v", err)
	}
}

// TestAutoScorerOfOtherText: text that shares no file with the text of an earlier fit gets a scorer of its own, also in
// the same output directory, and the first text keeps its.
func TestAutoScorerOfOtherText(t *testing.T) {
	cfg := autoConfig(t, strange(t), 300)
	first := mustRun(t, cfg)
	other, moved := cfg, cfg
	other.SourceText = []string{filepath.Join(corpora(t, 260), "de.txt")}
	second, log := runLogged(t, other)
	if !strings.Contains(log, "fitted a scorer") || second.Settings.Scorer == first.Settings.Scorer {
		t.Errorf("the scorer of other text decides: %s", log)
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(cfg.SourceText[0]), "de.txt"))
	if err != nil {
		t.Fatal(err)
	}
	moved.SourceText = []string{writeFile(t, filepath.Join(t.TempDir(), "moved.txt"), string(data))}
	if again, log := runLogged(t, moved); strings.Contains(log, "fitted a scorer") || again.Settings.Scorer != first.Settings.Scorer {
		t.Errorf("text under another name has another scorer: %s", log)
	}
	more := writeFile(t, filepath.Join(t.TempDir(), "more.txt"), "Ein Satz.\n"+string(data))
	for _, window := range [][]string{{moved.SourceText[0], more}, {more}} {
		moved.SourceText = window
		if again, log := runLogged(t, moved); strings.Contains(log, "fitted a scorer") || again.Settings.Scorer != first.Settings.Scorer {
			t.Errorf("text whose oldest file left has another scorer: %s", log)
		}
	}
	other.K++
	if _, err := Run(t.Context(), other, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "other settings") {
		t.Errorf("another k in the same directory: error %v", err)
	}
}

// TestAutoScorerRefines: in two-stage mining the program's scorer for the fast encoder stays, and the run learns from
// its text what the strong one adds, on any number of threads; an explanation has it.
func TestAutoScorerRefines(t *testing.T) {
	dir := t.TempDir()
	cfg := learning(testConfig(dir, filepath.Join(t.TempDir(), "out")))
	de, _ := sentencesOf(t, dir, "de.txt")
	en, _ := sentencesOf(t, dir, "en.txt")
	cfg.SourceText, cfg.TargetText = []string{de}, []string{en}
	cfg.Scorer, cfg.Threads = score.Auto, 1
	first, log := runLogged(t, cfg)
	if strings.Contains(log, "fitted a scorer") || first.Scorer == nil || !strings.Contains(first.Rule(), "highest expected F1") {
		t.Errorf("scorer %+v, rule %s, log %s", first.Scorer, first.Rule(), log)
	}
	if first.Counts.Kept < 60 || first.Counts.Refined == 0 || strings.Contains(first.Cut.String(), "decides alone") {
		t.Errorf("counts %+v, cut %s", first.Counts, first.Cut)
	}
	best := pairs(t, first)[0]
	x, err := openExplainer(t, cfg.Out).Explain(t.Context(), best.Source.Text, best.Target.Text)
	if err != nil || best.RefineCosine == nil || !slices.ContainsFunc(x.Contributions, func(c score.Contribution) bool {
		return c.Feature == "refine_distance"
	}) {
		t.Errorf("row %+v, contributions %+v, error %v", best, x, err)
	}
	cfg.Out, cfg.Threads = filepath.Join(t.TempDir(), "threads"), 3
	if again := mustRun(t, cfg); again.Bitext.SHA256 != first.Bitext.SHA256 {
		t.Error("the number of threads shows")
	}
}

// TestAutoScorerIsDeterministic: two fits on the same text give the same bitext.
func TestAutoScorerIsDeterministic(t *testing.T) {
	cfg := autoConfig(t, strange(t), 250)
	first := mustRun(t, cfg)
	cfg.Out, cfg.Threads = filepath.Join(t.TempDir(), "again"), 3
	if again := mustRun(t, cfg); again.Bitext.SHA256 != first.Bitext.SHA256 {
		t.Error("another bitext")
	}
}

func TestAutoScorerWithout(t *testing.T) {
	t.Run("little text", func(t *testing.T) {
		report, log := runLogged(t, autoConfig(t, strange(t), 60))
		if !strings.Contains(log, "fitted a scorer") || report.Scorer.Encoder == fixtures.Encoder || report.Counts.Kept < 20 {
			t.Errorf("scorer %+v, counts %+v, log %s", report.Scorer, report.Counts, log)
		}
	})
	t.Run("an encoder of the program", func(t *testing.T) {
		cfg := autoConfig(t, fixtures.Encoder, 250)
		auto, log := runLogged(t, cfg)
		if strings.Contains(log, "fitted") {
			t.Errorf("fitted although there is one: %s", log)
		}
		cfg.Scorer, cfg.Out = score.Default, filepath.Join(t.TempDir(), "default")
		if named := mustRun(t, cfg); named.Bitext.SHA256 != auto.Bitext.SHA256 {
			t.Error("auto and default differ")
		}
	})
	t.Run("rows for an approximate search", func(t *testing.T) {
		cfg := autoConfig(t, strange(t), 300)
		cfg.Search = "ivf:64"
		report, log := runLogged(t, cfg)
		if !strings.Contains(log, "fitted a scorer") || report.Counts.Kept < 80 {
			t.Errorf("%d pairs kept of 150, log %s", report.Counts.Kept, log)
		}
		if left, err := filepath.Glob(filepath.Join(cfg.Out, "work", search.IndexesName, "*")); err != nil || len(left) > 0 {
			t.Errorf("indexes of injected sentences are left: %v, error %v", left, err)
		}
	})
	t.Run("scripts", func(t *testing.T) {
		cfg := autoConfig(t, strange(t), 250)
		cfg.Engine, cfg.DryRun = "slurm", &bytes.Buffer{}
		if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "mine fit-scorer") {
			t.Errorf("error %v", err)
		}
	})
}

// TestAutoScorerWithoutContextualTokens: a scorer fitted on the way reads no token vectors that depend on the sentence.
func TestAutoScorerWithoutContextualTokens(t *testing.T) {
	path := strange(t)
	manifest, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(manifest, []byte("\n    static: true\n")) {
		t.Fatalf("error %v, manifest %s", err, manifest)
	}
	writeFile(t, path, strings.Replace(string(manifest), "\n    static: true\n", "\n", 1))
	cfg := autoConfig(t, path, 300)
	cfg.Features = true
	report := mustRun(t, cfg)
	if report.Counts.Kept < 80 {
		t.Errorf("%d pairs kept of 150", report.Counts.Kept)
	}
	for _, row := range pairs(t, report) {
		for i, f := range feature.All {
			if f.Kind == feature.Tokens && row.Features[i] != 0 {
				t.Fatalf("%s of %q is %v", f.Name, row.Source.Text, row.Features[i])
			}
		}
	}
}
