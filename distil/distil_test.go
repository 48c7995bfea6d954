package distil

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"

	"bitextmine/distil/student"
	"bitextmine/train/export"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

const (
	words = 60
	width = 48 // width of the teacher's features, not a multiple of block
)

// writeTeacher makes an encoder whose features are a sum over words by the square root of their number, with what a
// word's left neighbour does to it, and whose head is a layer with tanh. Its output is `sentence`; the features are
// `pooled`.
func writeTeacher(t *testing.T, neighbours float32) string {
	return writeTeacherWithin(t, neighbours, export.NewGraph("").Limit)
}

// writeTeacherWithin has the weights in a file of their own if they have more than limit bytes.
func writeTeacherWithin(t *testing.T, neighbours float32, limit int) string {
	t.Helper()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	normal := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(random.NormFloat64())
		}
		return out
	}
	g := export.NewGraph("teacher")
	g.Input("ids", export.Int64, "batch", "tokens")
	g.Initializer("table", []int{words + 3, width}, normal((words+3)*width))
	g.Initializer("mix", []int{width, width}, normal(width*width))
	g.Initializer("head", []int{width, 16}, normal(width*16))
	g.Initializer("share", nil, []float32{neighbours})
	g.Initializer("axis", []int{1}, []int64{1})
	g.Initializer("one", nil, []int64{1})
	g.Initializer("starts", []int{1}, []int64{0})
	g.Initializer("ends", []int{1}, []int64{-1})
	g.Initializer("pads", []int{6}, []int64{0, 1, 0, 0, 0, 0})
	g.Node("Gather", []string{"table", "ids"}, []string{"rows"})
	g.Node("Slice", []string{"rows", "starts", "ends", "axis"}, []string{"left"})
	g.Node("Pad", []string{"left", "pads"}, []string{"before"})
	g.Node("MatMul", []string{"before", "mix"}, []string{"mixed"})
	g.Node("Tanh", []string{"mixed"}, []string{"bent"})
	g.Node("Mul", []string{"bent", "share"}, []string{"context"})
	g.Node("Add", []string{"rows", "context"}, []string{"tokens"})
	g.Node("ReduceSum", []string{"tokens", "axis"}, []string{"sum"}, export.Attr{Name: "keepdims", Value: 0})
	g.Node("Shape", []string{"ids"}, []string{"shape"})
	g.Node("Gather", []string{"shape", "one"}, []string{"count"})
	g.Node("Cast", []string{"count"}, []string{"count_f"}, export.Attr{Name: "to", Value: 1})
	g.Node("Sqrt", []string{"count_f"}, []string{"root"})
	g.Node("Div", []string{"sum", "root"}, []string{"pooled"})
	g.Node("MatMul", []string{"pooled", "head"}, []string{"layer"})
	g.Node("Tanh", []string{"layer"}, []string{"short"})
	g.Node("LpNormalization", []string{"short"}, []string{"sentence"}, export.Attr{Name: "axis", Value: 1})
	g.Output("sentence", export.Float32, "batch", 16)
	g.Limit = limit
	external, err := g.Write(dir, "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	vocabulary := "[UNK]\n[CLS]\n[SEP]\n"
	for i := range words {
		vocabulary += fmt.Sprintf("w%c%c\n", 'a'+i/26, 'a'+i%26)
	}
	write(t, dir, "vocab.txt", vocabulary)
	write(t, dir, "model.yaml", "name: teacher\nonnx: model.onnx\ntokenizer: {kind: wordpiece, file: vocab.txt, bos: \"[CLS]\", eos: \"[SEP]\"}\nmax_tokens: 32\n"+
		"inputs: {ids: ids}\noutput: sentence\npooling: none\nnormalise: false\ndim: 16\nlicence: none\nlanguages: [aa, bb]\n"+
		fmt.Sprintf("external_data: [%s]\n", strings.Join(external, ", ")))
	return dir
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeText makes n sentences of 3 to 12 words.
func writeText(t *testing.T, n int) string {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range n {
		for range 3 + random.IntN(10) {
			i := random.IntN(words - 2) // the last two are in no sentence
			fmt.Fprintf(&b, "w%c%c ", 'a'+i/26, 'a'+i%26)
		}
		b.WriteByte('\n')
	}
	return write(t, t.TempDir(), "text.aa", b.String())
}

func options(t *testing.T, teacher, text string) Options {
	o := DefaultOptions()
	o.Teacher, o.Texts, o.Out, o.Threads, o.Share = teacher, []Text{{Language: "aa", Path: text}}, t.TempDir(), 2, 1
	return o
}

func TestStudentOfALinearTeacherIsExact(t *testing.T) {
	teacher, text, out := writeTeacher(t, 0), writeText(t, 10_500), t.TempDir()
	for _, bits := range []int{4, 8} { // the second replaces the first
		o := options(t, teacher, text)
		o.Bits, o.Out = bits, out
		s, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if s.Tensor != "pooled" || s.Power != 0.5 {
			t.Errorf("features %q divided by tokens^%g, want pooled and 0.5", s.Tensor, s.Power)
		}
		if s.Fit.HeldOut > 1e-5 {
			t.Errorf("%d bits: %g of the features' squares are left, want nearly nothing", bits, s.Fit.HeldOut)
		}
		if least := map[int]float64{4: 0.97, 8: 0.9999}[bits]; s.Cosine < least {
			t.Errorf("%d bits: cosine %g to the teacher, want at least %g", bits, s.Cosine, least)
		}
		if left, err := filepath.Glob(filepath.Join(out, "*"+atomicfile.Suffix)); err != nil || left != nil {
			t.Errorf("%v are left, %v", left, err)
		}
	}
}

// TestTeacherWithWeightsInAFile: the student has the head's weights in its graph, wherever the teacher has them.
func TestTeacherWithWeightsInAFile(t *testing.T) {
	text := writeText(t, 10_500)
	var graphs [][]byte
	for _, teacher := range []string{writeTeacher(t, 0), writeTeacherWithin(t, 0, 0)} {
		s, err := Run(t.Context(), options(t, teacher, text))
		if err != nil {
			t.Fatal(err)
		}
		graph, err := os.ReadFile(filepath.Join(s.Model, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, graph)
	}
	if !bytes.Equal(graphs[0], graphs[1]) {
		t.Error("the student is another one")
	}
}

// A student's graph has names of its own, which its student's head must not take.
func TestStudentsOfStudents(t *testing.T) {
	teacher, text := writeTeacher(t, 0), writeText(t, 10_500)
	for generation := range 3 {
		o := options(t, teacher, text)
		o.Bits = 8
		s, err := Run(t.Context(), o)
		if err != nil {
			t.Fatalf("generation %d: %v", generation+1, err)
		}
		if s.Cosine < 0.999 {
			t.Errorf("generation %d: cosine %g to the one before, want 0.999", generation+1, s.Cosine)
		}
		teacher = s.Model
	}
}

func TestFitBeatsThePriorAndRankAndBitsAreReported(t *testing.T) {
	o := options(t, writeTeacher(t, 1), writeText(t, 10_500))
	o.Rank = 24
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !(s.Fit.HeldOut < s.Prior.HeldOut && s.Fit.HeldOut < s.RankLeft && s.RankLeft < s.BitsLeft && s.BitsLeft < 1) {
		t.Errorf("left: prior %g, fit %g, rank %g, bits %g; want fit below prior, and more from step to step after it", s.Prior.HeldOut, s.Fit.HeldOut, s.RankLeft, s.BitsLeft)
	}
}

// Of 16 columns much is lost to the contrast, which tells sentences apart; but the vectors stay the teacher's.
func TestDescent(t *testing.T) {
	o := options(t, writeTeacher(t, 1), writeText(t, 10_500))
	o.Epochs = 3
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Losses[1] > 0.97*s.Losses[0] || s.Cosine < 0.95 || s.Descent.HeldOut < s.Fit.HeldOut {
		t.Errorf("losses %v, cosine %g, left %g after %g; want a thirtieth less loss, a cosine of 0.95, and more of the features left than by the least squares",
			s.Losses, s.Cosine, s.Descent.HeldOut, s.Fit.HeldOut)
	}
}

// Exports of mean pooling divide by the length with ReduceL2 and Div.
func TestDescentThroughADivisionByTheLength(t *testing.T) {
	var want *Summary
	for _, spelt := range []bool{false, true} {
		teacher := writeTeacher(t, 1)
		if spelt {
			spellLength(t, filepath.Join(teacher, "model.onnx"))
		}
		o := options(t, teacher, writeText(t, 10_500))
		o.Epochs = 0.2
		s, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = s
		} else if math.Abs(s.Losses[1]-want.Losses[1]) > 1e-4 || math.Abs(s.Cosine-want.Cosine) > 1e-4 {
			t.Errorf("loss %g and cosine %g, with LpNormalization %g and %g", s.Losses[1], s.Cosine, want.Losses[1], want.Cosine)
		}
	}
}

// spellLength replaces the LpNormalization at the end of a graph.
func spellLength(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnxgraph.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	two := export.NewGraph("")
	two.Node("ReduceL2", []string{"short"}, []string{"length"}, export.Attr{Name: "axes", Value: []int64{1}})
	two.Node("Div", []string{"short", "length"}, []string{"sentence"})
	last := len(g.Nodes) - 1
	write(t, filepath.Dir(path), filepath.Base(path), string(g.Replace(map[int][]byte{last: export.Fields(two)}, nil)))
}

// A vector is its sentence's alone, and the same distillation gives the same bytes, also one that was broken off after
// some of the teacher's vectors.
func TestRepeatedAndResumedRunsGiveTheSameBytes(t *testing.T) {
	teacher, text := writeTeacher(t, 1), writeText(t, 10_500)
	bitext := []Bitext{{Source: "aa", Target: "de", Path: write(t, t.TempDir(), "pairs.tsv", "waa wab\twac wad\nwae waf wag\twah\nwba\twba\n")}}
	var first map[string][]byte
	for n := range 2 {
		o := options(t, teacher, text)
		o.Epochs, o.Bitexts = 1.5, bitext
		if n == 1 {
			o.Threads = 1
			ctx, stop := context.WithCancelCause(t.Context())
			cause := errors.New("broken off")
			o.Progress = func(_ string, done, _ int) {
				if done > 5000 {
					stop(cause)
				}
			}
			if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
				t.Fatalf("a run that was cancelled ended with %v", err)
			}
			if _, err := os.Stat(filepath.Join(o.Out, modelDir)); err == nil {
				t.Fatal("a run that was broken off left a model")
			}
			o.Progress = nil
		}
		s, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for _, name := range []string{modelFile, "vocab.txt", model.FileName, "README.md"} {
			data, err := os.ReadFile(filepath.Join(s.Model, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = data
			if n == 1 && !bytes.Equal(data, first[name]) {
				t.Errorf("%s differs between two runs", name)
			}
		}
		first = files
		company(t, s.Model)
	}
}

func company(t *testing.T, dir string) {
	t.Helper()
	m, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"waa", "wab wac", "waa wbb wba", "wac wab wad wae waf wag wah", "wad wad"}
	var want []float32
	for _, budget := range []int{1, 7, 1024} {
		e, err := encode.Open(m, encode.Options{TokenBudget: budget})
		if err != nil {
			t.Fatal(err)
		}
		all := append(slices.Repeat(texts, 40), texts...)
		got := make([]float32, len(all)*e.Dim())
		if err := errors.Join(e.Encode(t.Context(), "aa", all, got), e.Close()); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got[:len(texts)*m.Dim]
		}
		for i := 0; i < len(got); i += len(want) {
			if !slices.Equal(got[i:i+len(want)], want) {
				t.Fatalf("with batches of %d tokens the vectors differ", budget)
			}
		}
	}
}

// TestTeachersAreNotReplaced: neither encoder that a student is made from may stand where the student goes, nor another
// that is no student.
func TestTeachersAreNotReplaced(t *testing.T) {
	out := t.TempDir()
	there := filepath.Join(out, modelDir)
	if err := os.Rename(writeTeacher(t, 0), there); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(there)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, text := writeTeacher(t, 0), writeText(t, 100)
	for _, encoders := range [][2]string{{there, ""}, {filepath.Join(there, model.FileName), ""}, {elsewhere, there}} {
		o := options(t, encoders[0], text)
		o.Beside, o.Out = encoders[1], out
		if _, err := Run(t.Context(), o); !badinput.Is(err) || !strings.Contains(err.Error(), "would be replaced") {
			t.Errorf("of %q: %v", encoders, err)
		}
	}
	o := options(t, elsewhere, text)
	o.Out = out
	if _, err := Run(t.Context(), o); !badinput.Is(err) || !strings.Contains(err.Error(), "mine distill has not written it") {
		t.Errorf("an encoder that is no student: %v", err)
	}
	if after, err := os.ReadDir(there); err != nil || len(after) != len(before) {
		t.Errorf("%v is left of %v, %v", after, before, err)
	}
}

func TestBadInput(t *testing.T) {
	teacher, text := writeTeacher(t, 0), writeText(t, 10_500)
	for _, c := range []struct {
		name, says string
		change     func(o *Options)
	}{
		{"nothing", "--teacher is missing", func(o *Options) { *o = Options{Bits: 4, Steps: 1} }},
		{"too little text", "fewer than the 10000", func(o *Options) { o.Texts[0].Path = writeText(t, 9_000) }},
		{"no text", "no-such-file", func(o *Options) { o.Texts[0].Path = "no-such-file" }},
		{"no teacher", "no encoder", func(o *Options) { o.Teacher = "no-such-teacher" }},
		{"bits", "give 4 or 8", func(o *Options) { o.Bits = 5 }},
		{"rank", "ask for no more", func(o *Options) { o.Rank = 100 }},
		{"odd rank", "even number", func(o *Options) { o.Rank = 5 }},
		{"tensor", "these would do: pooled", func(o *Options) { o.Features = "sum" }},
		{"epochs", "give a number of passes", func(o *Options) { o.Epochs = -1 }},
		{"bitext alone", "give --epochs", func(o *Options) { o.Bitexts = []Bitext{{Source: "aa", Target: "de", Path: "x.tsv"}} }},
		{"no bitext", "no-such-file.tsv", func(o *Options) {
			o.Epochs, o.Bitexts = 1, []Bitext{{Source: "aa", Target: "de", Path: "no-such-file.tsv"}}
		}},

		{"pruned words", "only a SentencePiece vocabulary", func(o *Options) { o.Pieces = 10 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, teacher, text)
			c.change(&o)
			_, err := Run(t.Context(), o)
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one sentence of bad input with %q", err, c.says)
			}
		})
	}
}

func TestLanguagesThatTheTeacherLacksAreNamed(t *testing.T) {
	o := options(t, writeTeacher(t, 0), writeText(t, 10_500))
	o.Languages = []string{"aa", "bb", "cc"}
	var told []string
	o.Report = func(what string) { told = append(told, what) }
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(s.Warnings, "\n")
	if !strings.Contains(all, "not trained on cc") || !strings.Contains(all, "no text of bb, cc") {
		t.Errorf("the warnings are %q", all)
	}
	if len(told) < 2 || !strings.Contains(told[0]+told[1], "not trained on cc") {
		t.Errorf("first it says %q, not what the teacher lacks", told)
	}
}

func TestQuantisedTablesAreNear(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	values := make([]float32, 200*64)
	squares := 0.0
	for i := range values {
		values[i] = float32(random.NormFloat64())
		squares += float64(values[i]) * float64(values[i])
	}
	for bits, most := range map[int]float64{4: 0.02, 8: 1e-4} {
		left := 0.0
		for i, x := range student.Quantise(values, 64, bits).Values() {
			left += math.Pow(float64(x-values[i]), 2)
		}
		if left/squares > most {
			t.Errorf("%d bits leave %g of the squares, want at most %g", bits, left/squares, most)
		}
	}
}
