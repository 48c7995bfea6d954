package pipeline

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/score"
	"bitextmine/score/fit"
)

// defaultScorer is the file of the program's own scorer.
func defaultScorer(t *testing.T) []byte {
	t.Helper()
	encoder, err := model.Load(fixtures.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	scorer, _, err := score.Load(score.Default, 4, encoder)
	if err != nil {
		t.Fatal(err)
	}
	return scorer.Data
}

// TestRefinedScorer: a scorer that was fitted with the strong encoder decides about the pairs that it has seen, on any
// number of threads and in nights as in one run.
func TestRefinedScorer(t *testing.T) {
	files := mineNights(t, 2)
	text, path := newText(t), filepath.Join(t.TempDir(), "scorer.json")
	put := func(i int) { text.putNight(files, i) }
	put(0)
	put(1)
	base, err := score.Decode(defaultScorer(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg := refined(text.config(filepath.Join(t.TempDir(), "fit")))
	set, err := Fit(t.Context(), cfg, stagefit.Known{Name: "fixtures", Pairs: fixturePairs(t)}, options())
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := fit.Refine(base, "test", []*fit.Set{set})
	if err != nil || scorer.Refined.Encoder.Name != encodetest.BagName || scorer.Refined.Floor != cfg.RefineFloor || scorer.Unknown != nil {
		t.Fatalf("scorer %+v, error %v", scorer, err)
	}
	data, err := scorer.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	decided := func(out string) Config {
		cfg := refined(text.config(filepath.Join(t.TempDir(), out)))
		cfg.Scorer, cfg.Threshold, cfg.KeepBelow, cfg.Threads = path, 0.5, true, 1
		return cfg
	}
	want := mustRun(t, decided("one"))
	seen, unseen := 0, 0
	for _, row := range pairs(t, want) {
		if row.RefineCosine != nil {
			seen++
		} else {
			unseen++
		}
		if margin := mine.Ratio.Of(row.Cosine, row.SourceMean, row.TargetMean); row.Score != margin || row.Prob == nil {
			t.Errorf("row %+v", row)
		}
	}
	if seen == 0 || unseen == 0 || want.Counts.Kept == 0 {
		t.Errorf("%d pairs with a strong cosine, %d without, %d kept", seen, unseen, want.Counts.Kept)
	}
	cfg = decided("threads")
	cfg.Threads = 3
	if got := mustRun(t, cfg); got.Bitext.SHA256 != want.Bitext.SHA256 {
		t.Error("the number of threads shows")
	}
	text.remove(0, nightText(1))
	text.remove(1, nightText(1))
	cfg = decided("nights")
	mustRun(t, cfg)
	put(1)
	if got := mustRun(t, cfg); got.Bitext.SHA256 != want.Bitext.SHA256 {
		t.Error("two nights and one run differ")
	}
	cfg.Refine, cfg.RefineFloor, cfg.Out = "", 0, filepath.Join(t.TempDir(), "without")
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "fitted for two-stage mining") {
		t.Errorf("without the strong encoder: error %v", err)
	}
}

// TestLearnedRun: exactly the sentences of pairs that may be translations by the scorer, but not surely, go to the
// strong encoder with their rivals, whose pairs have its cosine, and a larger doubt encodes nothing anew.
func TestLearnedRun(t *testing.T) {
	cfg := learning(testConfig(corpora(t, 400), filepath.Join(t.TempDir(), "out")))
	cfg.KeepBelow, cfg.Overwrite = true, true
	w := watch()
	report := w.run(t, cfg)
	want, unseen, sure := map[string]int{}, 0, 0
	for _, row := range pairs(t, report) {
		switch {
		case row.RefineCosine != nil:
			if *row.Prob > 0.95 || *row.RefineCosine > 1 {
				t.Errorf("%+v is surer than the first encoder is of the others", row)
			}
			want[corpus.Normalise(row.Source.Text)], want[corpus.Normalise(row.Target.Text)] = 1, 1
		case float64(*row.Prob) >= cfg.RefineDoubt && *row.Prob <= 0.97:
			t.Errorf("%+v did not go to the strong encoder", row)
		case row.Keep:
			sure++
		default:
			unseen++
		}
	}
	if !maps.Equal(w.texts, want) || unseen == 0 || sure == 0 || report.Counts.Refined != len(want) || report.Counts.Kept == 0 {
		t.Errorf("%d sentences were encoded again instead of %d, %d pairs were too bad and %d too good for it, counts %+v", len(w.texts), len(want), unseen, sure, report.Counts)
	}
	if report.Cut.By != score.ByStrong || report.Settings.RefineFloor != 0 || report.Settings.RefineDoubt != cfg.RefineDoubt {
		t.Errorf("cut %+v, settings %+v", report.Cut, report.Settings.Refining)
	}
	file, err := bitext.Open(report.Bitext.Path)
	if err != nil {
		t.Fatal(err)
	}
	said := file.Metadata()
	if err := file.Close(); err != nil || said["refine_doubt"] != "0.01" || said["refine_floor"] != "" {
		t.Errorf("metadata %v, error %v", said, err)
	}
	cfg.RefineDoubt = 0.4
	if fewer := w.run(t, cfg); refinedNow(fewer) != 0 || fewer.Counts.Refined >= report.Counts.Refined {
		t.Errorf("%d sentences were encoded again, %d on the list", refinedNow(fewer), fewer.Counts.Refined)
	}
}

// TestStrongIsNotWeighed: of text with hardly a translation nothing is learnt of the strong encoder, and run.json says
// so.
func TestStrongIsNotWeighed(t *testing.T) {
	cfg := learning(testConfig(corpora(t, 10), filepath.Join(t.TempDir(), "out")))
	report := mustRun(t, cfg)
	if said := strings.Join(report.Cut.Assumed, " "); !strings.Contains(said, "the first encoder decides alone") {
		t.Errorf("run.json says %q", said)
	}
}

// TestWithoutRefine: a plan of one encoder has no trace of a second.
func TestWithoutRefine(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	report := mustRun(t, cfg)
	data := read(t, record.PlanPath(filepath.Join(cfg.Out, "work"), report.PlanID))
	if strings.Contains(data, "refine") || strings.Contains(data, "shortlist") {
		t.Errorf("the plan is %s", data)
	}
}

func TestRefineRefuses(t *testing.T) {
	dir := corpora(t, 40)
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"the encoder itself":         {func(c *Config) { c.Refine = c.Encoder }, "is the encoder itself"},
		"no encoder":                 {func(c *Config) { c.Refine = filepath.Join(dir, "none.yaml") }, "none.yaml"},
		"a floor alone":              {func(c *Config) { c.Refine = "" }, "refine_floor = 1.02 is of two-stage mining"},
		"a margin of no floor":       {func(c *Config) { c.Margin, c.RefineFloor = "distance", setting.AutoThreshold }, "margin distance has no default floor"},
		"a floor that none is above": {func(c *Config) { c.K, c.RefineFloor = 1, setting.AutoThreshold }, "refine_floor = 1.06 sends no pair to the strong encoder"},
		"a floor of no number":       {func(c *Config) { c.RefineFloor /= 0 * c.RefineFloor }, "refine_floor = "},
		"a floor and a scorer":       {func(c *Config) { c.Scorer, c.Threshold = score.Auto, setting.AutoThreshold }, "refine_floor = 1.02 is of --scorer none"},
		"no doubt": {func(c *Config) {
			*c = learning(*c)
			c.RefineFloor, c.RefineDoubt = setting.AutoThreshold, 0
		}, "refine_doubt = 0 must be"},
		"a scorer's precision": {func(c *Config) { c.Scorer, c.Precision = score.None, 0.9 }, "need a scorer"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := refined(testConfig(dir, filepath.Join(t.TempDir(), "out")))
			c.change(&cfg)
			_, err := Run(t.Context(), cfg, options())
			if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v does not say %q", err, c.says)
			}
		})
	}
	cfg := refined(testConfig(dir, filepath.Join(t.TempDir(), "out")))
	if _, err := Calibrate(t.Context(), cfg, nil, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "refine") {
		t.Errorf("calibrate: error %v", err)
	}
	opts, log := optionsLogged()
	cfg.Source, cfg.Target = "ar", "th" // languages of the first encoder alone
	if _, err := Run(t.Context(), cfg, opts); err != nil || strings.Count(log.String(), "the encoder "+encodetest.BagName+" was not trained on ") != 2 {
		t.Errorf("error %v, log %s", err, log.String())
	}
}
