package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/train/traintest"
)

// trainJudge trains a judge on n pairs of the same words.
func trainJudge(t *testing.T, n int, o Options) *model.Model {
	t.Helper()
	dir := t.TempDir()
	words := strings.Fields("red blue green tall small house tree river stone bridge bird horse")
	rng := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	sentence := func() string {
		return fmt.Sprintf("the %s %s", words[rng.IntN(5)], words[5+rng.IntN(7)])
	}
	for range n {
		s := sentence()
		fmt.Fprintf(&text, "%s %d\t%s %d\n", s, rng.IntN(100), strings.ToUpper(s), rng.IntN(100))
	}
	traintest.Write(t, filepath.Join(dir, "pairs.tsv"), text.String())
	preset := filepath.Join(dir, "judge.yaml")
	traintest.Write(t, preset, fmt.Sprintf(`steps: 20
log_every: 10
bitext: {sources: [{files: [%s/pairs.tsv], src: en, tgt: de}], batch_size: 32, max_tokens: 32, buckets: [16, 32]}
tokenizer: {kind: sentencepiece, lowercase: true, bos: <s>, eos: </s>}
vocabulary: {size: 46}
encoder: {kind: transformer, transformer: {layers: 1, heads: 2, width: 32, ffn: 64, norm: post, dropout: 0, pooling: mean}}
objective: {name: judge, misses: 2, neighbours: 1}
optimiser: {kind: adam, learning_rate: 3e-3, warmup: 5}
`, dir))
	config, err := ReadConfig(preset)
	if err != nil {
		t.Fatal(err)
	}
	o.Out, o.Device = filepath.Join(dir, "out"), "cpu"
	summary, err := Run(t.Context(), config, o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.LoadJudge(summary.Model)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTrainJudge: a training of the objective judge leaves a judge, which tells pairs of the same words from others.
func TestTrainJudge(t *testing.T) {
	m := trainJudge(t, 600, Options{})
	if j := m.Judge; len(j.Between) != 2 || j.Merge.Scorer != 0.5 || j.Merge.Judge <= 0 || j.Merge == model.EvenMerge || m.MaxTokens != 32 {
		t.Errorf("the judge is %+v", j)
	}
	judge, err := encode.OpenJudge(m, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	logits := make([]float32, 2)
	if err := judge.Logits(t.Context(), [][2]string{{"the red house", "THE RED HOUSE"}, {"the red house", "THE TALL BIRD"}}, logits, nil); err != nil {
		t.Fatal(err)
	}
	if err := judge.Close(); err != nil || math.IsNaN(float64(logits[0])) {
		t.Errorf("logits %v, error %v", logits, err)
	}
}

// TestTrainJudgeOnFewPairs: a pair that nothing was learned from is one, however often it occurs in the batches.
func TestTrainJudgeOnFewPairs(t *testing.T) {
	told := ""
	m := trainJudge(t, 60, Options{Report: func(what string) { told += what + "\n" }})
	if !strings.Contains(told, "only 3 held-out pairs: the judge's logits are merged as they are") || m.Judge.Merge != model.EvenMerge {
		t.Errorf("the merge is %+v, and the training said %q", m.Judge.Merge, told)
	}
}

// TestCalibrated: the log odds that logits were drawn by are found again, whatever the shares of both kinds.
func TestCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var logits []float32
	var right []bool
	for range 40000 {
		z := rng.NormFloat64() * 2
		isRight := rng.Float64() < 1/(1+math.Exp(-(1.5*z-0.5)))
		if !isRight && rng.IntN(2) == 0 {
			continue
		}
		logits, right = append(logits, float32(z)), append(right, isRight)
	}
	slope, intercept := calibrated(logits, right)
	if math.Abs(slope-1.5) > 0.1 || math.Abs(intercept) > 0.5 {
		t.Errorf("slope %v, intercept %v", slope, intercept)
	}
}

// TestCalibratedOvershooting: sure logits of which 3% are wrong are as sure as that.
func TestCalibratedOvershooting(t *testing.T) {
	var logits []float32
	var right []bool
	add := func(n int, z float32, isRight bool) {
		for range n {
			logits, right = append(logits, z), append(right, isRight)
		}
	}
	add(194, 7, true)
	add(6, -7, true)
	add(776, -7, false)
	add(24, 7, false)
	if slope, intercept := calibrated(logits, right); !(slope > 0.4 && slope < 0.6) || math.Abs(intercept) > 0.1 {
		t.Errorf("slope %v, intercept %v", slope, intercept)
	}
	logits[0] = float32(math.NaN())
	if slope, _ := calibrated(logits, right); !math.IsNaN(slope) {
		t.Errorf("slope %v of logits of which one is no number", slope)
	}
}
