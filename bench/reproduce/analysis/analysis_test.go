package analysis

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/train"
	"bitextmine/train/data"
	"bitextmine/train/objective"
	"bitextmine/train/traintest"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// angles are unit vectors in a plane.
func angles(degrees ...float64) embedding.Matrix {
	var rows []float32
	for _, d := range degrees {
		sin, cos := math.Sincos(d * math.Pi / 180)
		rows = append(rows, float32(cos), float32(sin))
	}
	return embedding.FromFloat32(rows, 2)
}

// TestHubs: three of four sources find the target at 20 degrees, one of them rightly.
func TestHubs(t *testing.T) {
	searcher, err := exact.Open(exact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := FindHubs(t.Context(), searcher, angles(19, 21, 22, 90), angles(20, 40, 60, 91), 1)
	// occurrences 3, 0, 0, 1: mean 1, moments 1.5 and 1.5
	if want := (Hubs{1.5 / math.Pow(1.5, 1.5), 50}); err != nil || math.Abs(got.Skewness-want.Skewness) > 1e-9 || got.Error != want.Error {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if x := skewness([]float64{2, 2, 2}); x != 0 {
		t.Errorf("equal occurrences have a skewness of %v", x)
	}
}

// fixed is a teacher whose texts are angles.
type fixed struct{}

func (fixed) Name() string { return "fixed" }
func (fixed) Dim() int     { return 2 }

func (fixed) Encode(_ context.Context, language string, texts []string, dst []float32) error {
	for i, text := range texts {
		var degrees float64
		if _, err := fmt.Sscan(text, &degrees); err != nil {
			return err
		}
		if language == "xx" {
			degrees = 0
		}
		copy(dst[2*i:], angles(degrees).F32)
	}
	return nil
}

// TestSoften: of two sentences with a cosine of 0, and of three of which the last is in no full batch.
func TestSoften(t *testing.T) {
	p := math.Exp(2) / (math.Exp(2) + 1) // at a temperature of 0.5
	bits := -p*math.Log2(p) - (1-p)*math.Log2(1-p)
	got, err := Soften(t.Context(), fixed{}, []string{"en"}, [][]string{{"0", "90", "45"}}, 2, 0.5)
	if err != nil || math.Abs(got.Own-p) > 1e-6 || math.Abs(got.Bits-bits) > 1e-6 {
		t.Errorf("%+v, %v, want %v and %v bits", got, err, p, bits)
	}
	// the other language knows no difference: the mean of the cosines is 1 and 0.5
	half := math.Exp(1) / (math.Exp(1) + 1)
	got, err = Soften(t.Context(), fixed{}, []string{"en", "xx"}, [][]string{{"0", "90"}, {"1", "2"}}, 2, 0.5)
	if err != nil || math.Abs(got.Own-half) > 1e-6 {
		t.Errorf("%+v, %v, want %v", got, err, half)
	}
}

func TestCountTokens(t *testing.T) {
	places := []place{{0, 0}, {0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 2}}
	// the token 0 among its neighbours, and in the second list not among them, where the last is left out
	got := count([]int{0, 0}, []int32{0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 5, 1}, places)
	if want := (Matches{Same: 10, Translation: 30, Language: 10, Other: 50}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	chosen := draw([]int{5, 6, 20})
	if len(chosen) != 7 || chosen[3] != 5 || slices.Max(chosen[:3]) > 4 || slices.Min(chosen[4:]) < 6 || slices.Max(chosen[4:]) > 19 {
		t.Errorf("drawn: %v", chosen)
	}
	slices.Sort(chosen)
	if len(slices.Compact(chosen)) != 7 {
		t.Errorf("a token is drawn twice: %v", chosen)
	}
}

// trained is a tiny training of EMS. It starts from another, whose encoder is less wide than its preset says.
func trained(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 300 {
		fmt.Fprintf(&lines, "der %dte satz mit w%d\tthe %dth sentence of v%d\n", i, i*7%90, i, i*7%90)
	}
	file := filepath.Join(dir, "a.tsv")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := train.DefaultConfig()
	c.Name = "tiny"
	source := data.DefaultSource()
	source.Files, source.Src, source.Tgt = []string{file}, "de", "en"
	c.Bitext.Sources, c.Bitext.BatchSize, c.Bitext.MaxTokens = []data.Source{source}, 8, 32
	c.Steps, c.Vocabulary.Size, c.Objective, c.Encoder.Kind = 2, 120, objective.Default("ems"), "transformer"
	s := &c.Encoder.Transformer
	s.Layers, s.Heads, s.Width, s.FFN, s.Dropout = 1, 2, 16, 16, 0
	start, out := filepath.Join(dir, "start"), filepath.Join(dir, "out")
	if _, err := train.Run(traintest.Limited(t), c, train.Options{Out: start, Device: "cpu"}); err != nil {
		t.Fatal(err)
	}
	s.Width, c.Encoder.Start, c.Tokenizer.File = 32, filepath.Join(start, "checkpoints", "step-00000002"), filepath.Join(start, "spm.model")
	if _, err := train.Run(traintest.Limited(t), c, train.Options{Out: out, Device: "cpu"}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTrained: the vectors and the mean of the tokens are the exported encoder's, and h is of the loss's own layers.
func TestTrained(t *testing.T) {
	ctx, dir := traintest.Limited(t), trained(t)
	a, err := Open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	m, err := model.Load(filepath.Join(dir, "model"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := encode.Open(m, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	texts := []string{"the 7th sentence of v49", "v3", "the sentence"}
	want := make([]float32, len(texts)*e.Dim())
	if err := e.Encode(ctx, "en", texts, want); err != nil {
		t.Fatal(err)
	}
	u, err := a.vectors(ctx, "en", texts)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := a.tokens(ctx, "en", texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		own, mean := u[i*16:(i+1)*16], make([]float32, 16)
		for j, x := range tokens[i] {
			mean[j%16] += x / float32(len(tokens[i])/16)
		}
		traintest.Near(t, "mean of tokens", mean, own, 1e-4)
		unit := slices.Clone(own)
		if err := encode.Unit(unit); err != nil {
			t.Fatal(err)
		}
		traintest.Near(t, "exported", unit, want[i*16:(i+1)*16], 1e-4)
	}
	h, ok := a.Projected()
	if !ok || h.Dim() != 128 {
		t.Fatalf("h of %d numbers", h.Dim())
	}
	first, second := h.first.weight, h.second.weight
	clear(first.Data)
	clear(second.Data)
	clear(h.first.bias.Data)
	clear(h.second.bias.Data)
	for i := range 16 {
		first.Data[i*16+i], second.Data[i*128+i] = 1, 2
	}
	h.second.bias.Data[20] = 0.5
	got := make([]float32, len(texts)*128)
	if err := h.Encode(ctx, "en", texts, got); err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		rectified := make([]float32, 128)
		for j, x := range u[i*16 : (i+1)*16] {
			rectified[j] = 2 * max(x, 0)
		}
		rectified[20] = 0.5
		if err := encode.Unit(rectified); err != nil {
			t.Fatal(err)
		}
		traintest.Near(t, "h", got[i*128:(i+1)*128], rectified, 1e-5)
	}
	searcher, err := exact.Open(exact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	match, err := a.MatchTokens(ctx, searcher, []string{"en", "de"}, [][]string{texts, {"der 7te satz", "w3 w4", "der satz"}})
	if sum := match.Same + match.Translation + match.Language + match.Other; err != nil || math.Abs(sum-100) > 1e-9 {
		t.Errorf("%+v, %v", match, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir, ""); !badinput.Is(err) {
		t.Errorf("an empty directory: %v", err)
	}
}
