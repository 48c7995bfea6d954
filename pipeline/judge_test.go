package pipeline

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
	"bitextmine/score"
	"bitextmine/train/traintest"
)

// judging is a run whose doubts are decided by a judge that takes pairs with the planted word for wrong, others for
// right.
func judging(t *testing.T, cfg Config) Config {
	t.Helper()
	cfg.Judge, cfg.JudgeDoubt = traintest.Judge(t, 1, map[string]float32{"[CLS]": 20, "hund": -40}, 0, func(m *model.Manifest) {
		m.Judge.Merge = model.Merge{Judge: 1}
	}), 0.02
	return byScorer(cfg)
}

// byScorer is a run that the default scorer decides, with all candidates in its bitext.
func byScorer(cfg Config) Config {
	cfg.KeepBelow = true
	return scored(cfg)
}

// stageOf is a stage's report.
func stageOf(r *record.Report, name string) (of record.StageReport) {
	for _, s := range r.Stages {
		if s.Name == name {
			of = s
		}
	}
	return of
}

// TestJudgedRun: the judge decides about the pairs in doubt and about no others, whatever the number of threads.
func TestJudgedRun(t *testing.T) {
	dir := corpora(t, 200)
	before := mustRun(t, byScorer(testConfig(dir, filepath.Join(t.TempDir(), "before"))))
	doubts := map[[2]string]bool{}
	for _, row := range pairs(t, before) {
		if *row.Prob >= 0.02 && *row.Prob <= 0.98 {
			doubts[[2]string{row.Source.Text, row.Target.Text}] = true
		}
	}
	cfg := judging(t, testConfig(dir, filepath.Join(t.TempDir(), "out")))
	cfg.Threads = 1
	report := mustRun(t, cfg)
	wrong, right := 0, 0
	for _, row := range pairs(t, report) {
		if !doubts[[2]string{row.Source.Text, row.Target.Text}] {
			continue
		}
		switch planted := strings.Contains(row.Source.Text, "Hund"); {
		case planted && *row.Prob < 0.001 && !row.Keep:
			wrong++
		case !planted && *row.Prob > 0.999:
			right++
		default:
			t.Errorf("%q - %q has the probability %v, kept %v", row.Source.Text, row.Target.Text, *row.Prob, row.Keep)
		}
	}
	if wrong == 0 || right == 0 || report.Counts.Judged != len(doubts) || stageOf(report, "judge").Items != int64(len(doubts)) {
		t.Errorf("%d wrong, %d right, %d doubts, %d judged, stage %+v", wrong, right, len(doubts), report.Counts.Judged, stageOf(report, "judge"))
	}
	file, err := bitext.Open(report.Bitext.Path)
	if err != nil {
		t.Fatal(err)
	}
	if said := file.Metadata(); file.Close() != nil || said["judge"] != "planted" || said["judged"] != fmt.Sprint(len(doubts)) {
		t.Errorf("metadata %v", said)
	}
	if report.Judge == nil || report.Judge.Name != "planted" || report.Settings.JudgeDoubt != 0.02 {
		t.Errorf("the report names the judge %+v", report.Judge)
	}
	if again := stageOf(mustRun(t, cfg), "judge"); again.Cached != 1 {
		t.Errorf("judged again: %+v", again)
	}
	cfg.Out, cfg.Threads = filepath.Join(t.TempDir(), "threads"), 3
	if got := mustRun(t, cfg); got.Bitext.SHA256 != report.Bitext.SHA256 {
		t.Error("the number of threads shows")
	}
}

// TestJudgedNights: a night judges only pairs that the last one did not, and gives what one run gives.
func TestJudgedNights(t *testing.T) {
	files := mineNights(t, 2)
	text := newText(t)
	put := func(i int) { text.putNight(files, i) }
	cfg := judging(t, text.config(filepath.Join(t.TempDir(), "nights")))
	cfg.JudgeDoubt = 0 // every candidate
	put(0)
	first := mustRun(t, cfg)
	put(1)
	second := mustRun(t, cfg)
	if n := stageOf(second, "judge").Items; first.Counts.Judged == 0 || n == 0 || n >= int64(second.Counts.Judged) {
		t.Errorf("the first night judged %d pairs, the second %d of %d", first.Counts.Judged, n, second.Counts.Judged)
	}
	cfg.Out = filepath.Join(t.TempDir(), "one")
	if one := mustRun(t, cfg); one.Bitext.SHA256 != second.Bitext.SHA256 {
		t.Error("two nights and one run differ")
	}
}

func TestJudgeRefuses(t *testing.T) {
	dir := corpora(t, 40)
	for says, change := range map[string]func(c *Config){
		"use-static is an encoder, not a judge": func(c *Config) { c.Judge = "use-static" },
		"is a judge, which encodes no":          func(c *Config) { c.Encoder = c.Judge },
		"judge_doubt = 0.5":                     func(c *Config) { c.JudgeDoubt = 0.5 },
		"no scorer decides":                     func(c *Config) { c.Scorer = score.None },
	} {
		cfg := judging(t, testConfig(dir, filepath.Join(t.TempDir(), "out")))
		change(&cfg)
		if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v", says, err)
		}
	}
}

// TestWithoutJudge: a plan without a judge has no trace of one, and one with a judge estimates its work.
func TestWithoutJudge(t *testing.T) {
	cfg := byScorer(testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out")))
	report := mustRun(t, cfg)
	if data := read(t, record.PlanPath(filepath.Join(cfg.Out, "work"), report.PlanID)); strings.Contains(data, "judge") {
		t.Errorf("the plan is %s", data)
	}
	cfg = judging(t, cfg)
	cfg.Out = filepath.Join(t.TempDir(), "planned")
	if e, err := Plan(t.Context(), cfg, options()); err != nil || e.Judge == nil || e.Judge.Judge != "planted" {
		t.Errorf("the estimate is %+v, error %v", e, err)
	}
}
