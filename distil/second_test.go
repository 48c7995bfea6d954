package distil

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

var nouns = strings.Fields("river bridge house garden church market harbour teacher winter doctor letter window mountain island village kitchen forest railway museum castle")

// writeSentences makes n sentences of 4 to 11 words.
func writeSentences(t *testing.T, n int) string {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	for range n {
		for range 4 + random.IntN(8) {
			fmt.Fprintf(&b, "%s ", nouns[random.IntN(len(nouns))])
		}
		b.WriteByte('\n')
	}
	return write(t, t.TempDir(), "text.en", b.String())
}

// besideOptions distil one built-in encoder with the other beside it, which are cheap to ask.
func besideOptions(t *testing.T, text string) Options {
	o := DefaultOptions()
	o.Teacher, o.Texts, o.Out, o.Threads, o.Share, o.Invent = "use-static", []Text{{Language: "en", Path: text}}, t.TempDir(), 2, 1, 0
	o.Beside, o.BesideShare, o.Pieces, o.Bits = encodetest.Bag(), 0.4, 15_000, 8
	return o
}

// vectorsBy encodes the texts.
func vectorsBy(t *testing.T, ref string, texts []string) [][]float32 {
	t.Helper()
	m, err := model.Load(ref)
	if err != nil {
		t.Fatal(err)
	}
	e, err := encode.Open(m, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	all := make([]float32, len(texts)*e.Dim())
	if err := e.Encode(t.Context(), "en", texts, all); err != nil {
		t.Fatal(err)
	}
	var rows [][]float32
	for i := range texts {
		rows = append(rows, all[i*e.Dim():(i+1)*e.Dim()])
	}
	return rows
}

func dot(a, b []float32) (sum float64) {
	for k, x := range a {
		sum += float64(x) * float64(b[k])
	}
	return sum
}

// The cosines of a student are those of the teacher and of the encoder beside it by their shares, with the table's
// columns as they are and cut to fewer.
func TestCosinesAreOfBothEncoders(t *testing.T) {
	text := writeSentences(t, 10_500)
	random := rand.New(rand.NewPCG(9, 10))
	var texts []string
	for range 60 {
		var words []string
		for range 5 + random.IntN(5) {
			words = append(words, nouns[random.IntN(len(nouns))])
		}
		texts = append(texts, strings.Join(words, " "))
	}
	teacher, bag := vectorsBy(t, "use-static", texts), vectorsBy(t, encodetest.Bag(), texts)
	for _, rank := range []int{0, 256} {
		o := besideOptions(t, text)
		o.Rank = rank
		s, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if s.Second == nil || s.Second.Cosine < 0.98 || s.Second.Kept < 0.9 || s.Second.Turned < 0.98 || s.Cosine < 0.98 {
			t.Errorf("rank %d: cosine %g to the teacher's vectors, and beside it %+v", rank, s.Cosine, s.Second)
		}
		if record, err := os.ReadFile(filepath.Join(s.Model, "distil.json")); err != nil || strings.Contains(string(record), filepath.Dir(o.Beside)) {
			t.Errorf("the record names the second encoder's place, %s, or %v", o.Beside, err)
		}
		student := vectorsBy(t, s.Model, texts)
		worst, alone := 0.0, 0.0
		for i := range texts {
			for j := range i {
				both := (1-o.BesideShare)*dot(teacher[i], teacher[j]) + o.BesideShare*dot(bag[i], bag[j])
				worst = max(worst, math.Abs(dot(student[i], student[j])-both))
				alone = max(alone, math.Abs(dot(teacher[i], teacher[j])-both))
			}
		}
		if worst > 0.08 || alone < 2*worst {
			t.Errorf("rank %d: cosines are %.3f from those of both encoders at most, the teacher's %.3f: want at most 0.08, and half of that", rank, worst, alone)
		}
	}
}

func TestRepeatedRunsWithASecondEncoderGiveTheSameBytes(t *testing.T) {
	text := writeSentences(t, 10_500)
	var first []byte
	for _, threads := range []int{2, 1} {
		o := besideOptions(t, text)
		o.Threads, o.Rank, o.Bits = threads, 128, 4
		s, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(s.Model, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(data, first) {
			t.Errorf("%d threads give another graph", threads)
		}
		first = data
		company(t, s.Model)
	}
}

func TestBadSecondEncoders(t *testing.T) {
	text := writeSentences(t, 10_500)
	for _, c := range []struct {
		name, says string
		change     func(o *Options)
	}{
		{"no bag", "its vectors are not the sums", func(o *Options) { o.Beside = "use-static" }},
		{"tokens' vectors", "its vectors are not the sums", func(o *Options) { o.Beside = pooledTeacher(t) }},
		{"nothing", "no encoder", func(o *Options) { o.Beside = "no-such-encoder" }},
		{"too many columns", "have 512; ask for no more", func(o *Options) { o.BesideColumns = 514 }},
		{"odd columns", "give an even number", func(o *Options) { o.BesideColumns = 5 }},
		{"share", "between 0 and 1", func(o *Options) { o.BesideShare = 1 }},
		{"rank", "the features have 640 columns", func(o *Options) { o.Rank = 642 }},
		{"words", "not SentencePiece", func(o *Options) { o.Teacher = writeTeacher(t, 0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := besideOptions(t, text)
			c.change(&o)
			_, err := Run(t.Context(), o)
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one sentence of bad input with %q", err, c.says)
			}
		})
	}
}

// pooledTeacher is an encoder whose manifest pools its tokens' vectors.
func pooledTeacher(t *testing.T) string {
	t.Helper()
	dir := writeTeacher(t, 0)
	path := filepath.Join(dir, model.FileName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, model.FileName, strings.NewReplacer("output: sentence", "output: tokens", "pooling: none", "pooling: mean", "dim: 16", fmt.Sprint("dim: ", width)).Replace(string(data)))
	return dir
}
