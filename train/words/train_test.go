package words

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bitextmine/encode/sentencepiece"
	"bitextmine/internal/badinput"
)

// corpus is made-up text: words of a few syllables, some more frequent than others.
func corpus(n int) []string {
	rng := rand.New(rand.NewPCG(7, 7))
	syllables := []string{"ka", "mo", "Ri", "ten", "ü", "sol", "Da", "wek", "pi", "lor", "é", "gan"}
	word := func() string {
		var b strings.Builder
		r := rand.New(rand.NewPCG(uint64(rng.ExpFloat64()*40), 1))
		for range 1 + r.IntN(4) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		return b.String()
	}
	out := make([]string, n)
	for i := range out {
		words := make([]string, 3+rng.IntN(9))
		for j := range words {
			words[j] = word()
		}
		out[i] = strings.Join(words, " ")
	}
	return out
}

func yielding(sentences []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, s := range sentences {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func options() VocabularyOptions {
	o := DefaultVocabularyOptions()
	o.Size, o.Threads = 120, 2
	return o
}

func trained(t *testing.T, o VocabularyOptions, sentences []string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spm.model")
	if err := TrainVocabulary(path, o, yielding(sentences)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTheModelIsAsAsked(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*VocabularyOptions)
		size int
	}{
		{"unigram", func(*VocabularyOptions) {}, 120},
		{"bpe", func(o *VocabularyOptions) { o.Kind = "bpe" }, 120},
		{"bytes", func(o *VocabularyOptions) { o.ByteFallback, o.Size = true, 400 }, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options()
			o.Symbols, o.Control = []string{"<2de>"}, []string{"<2en>"}
			c.set(&o)
			m, err := sentencepiece.New(trained(t, o, corpus(2000)))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if m.Size() != c.size || m.Unknown() != Unknown {
				t.Errorf("%d pieces, unknown is %d", m.Size(), m.Unknown())
			}
			for piece, want := range map[string]int32{"<s>": BOS, "</s>": EOS} {
				if id, ok := m.ID(piece); !ok || id != want {
					t.Errorf("%s is %d, %v", piece, id, ok)
				}
			}
			german, ok1 := m.ID("<2de>")
			english, ok2 := m.ID("<2en>")
			if !ok1 || !ok2 {
				t.Fatal("the language tokens are missing")
			}
			err = m.Encode([]string{"a<2de>kamo<2en>"}, 50, func(_ int, ids []int32) {
				if !slices.Contains(ids, german) || slices.Contains(ids, english) {
					t.Errorf("%v should hold %d, which text can name, and not %d", ids, german, english)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestLowercaseLeavesNoCapitals(t *testing.T) {
	o := options()
	for _, lower := range []bool{false, true} {
		o.Lowercase = lower
		m, err := sentencepiece.New(trained(t, o, corpus(2000)))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if _, ok := m.ID("R"); ok == lower {
			t.Errorf("lower-casing %v: the vocabulary has R: %v", lower, ok)
		}
	}
}

func TestTheSameInputsGiveTheSameBytes(t *testing.T) {
	sentences := corpus(3000)
	o := options()
	o.SampleSize, o.Seed = 1000, 5
	first := trained(t, o, sentences)
	_ = trained(t, options(), sentences[:700]) // what the library did before must not show
	if !bytes.Equal(first, trained(t, o, sentences)) {
		t.Error("a second training gave other bytes")
	}
	o.Seed++
	if bytes.Equal(first, trained(t, o, sentences)) {
		t.Error("another seed gave the same sample")
	}
}

func TestPiecesAreSpmTrains(t *testing.T) {
	program, err := exec.LookPath("spm_train")
	if err != nil {
		t.Skip("spm_train is not installed (Debian package sentencepiece)")
	}
	sentences, dir := corpus(2000), t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Join(sentences, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "--input="+text, "--model_prefix="+filepath.Join(dir, "m"), "--vocab_size=120", "--num_threads=2", "--shuffle_input_sentence=false")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "m.model"))
	if err != nil {
		t.Fatal(err)
	}
	want, got := ids(t, data, sentences), ids(t, trained(t, options(), sentences), sentences)
	if !slices.Equal(want, got) {
		t.Error("spm_train's model splits the text in another way")
	}
}

func ids(t *testing.T, model []byte, texts []string) []string {
	t.Helper()
	m, err := sentencepiece.New(model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var out []string
	if err := m.Encode(texts, 1000, func(_ int, ids []int32) { out = append(out, fmt.Sprint(ids)) }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheLargestSizeIsNamedAndWorks(t *testing.T) {
	for _, kind := range kinds {
		o := options()
		o.Kind, o.Size = kind, 100_000
		sentences := corpus(50)
		path := filepath.Join(t.TempDir(), "spm.model")
		err := TrainVocabulary(path, o, yielding(sentences))
		if !badinput.Is(err) {
			t.Fatalf("%s: %v", kind, err)
		}
		most := regexp.MustCompile(`at most (\d+) pieces`).FindStringSubmatch(err.Error())
		if most == nil {
			t.Fatalf("%s: %v names no size", kind, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file was published", kind)
		}
		o.Size, _ = strconv.Atoi(most[1])
		trained(t, o, sentences)
	}
}

func TestRefusals(t *testing.T) {
	broken := errors.New("the file broke")
	for _, c := range []struct {
		name      string
		set       func(*VocabularyOptions)
		sentences iter.Seq2[string, error]
		want      string
		retry     bool
	}{
		{"no text", func(*VocabularyOptions) {}, yielding([]string{"", ""}), "no sentences to train on", false},
		{"short sentences alone", func(*VocabularyOptions) {}, yielding([]string{"ok", "gut", "oui"}), "the text supports at most", false},
		{"too small", func(o *VocabularyOptions) { o.Size = 5 }, yielding(corpus(50)), "raise it", false},
		{"every problem", func(o *VocabularyOptions) { o.Size, o.Kind = 0, "word" }, yielding(nil), "size must be a positive number of pieces; vocabulary.kind", false},
		{"symbol twice", func(o *VocabularyOptions) { o.Symbols, o.Control = []string{"<2de>"}, []string{"<2de>"} }, yielding(nil), "there already", false},
		{"symbol with a comma", func(o *VocabularyOptions) { o.Symbols = []string{"a,b"} }, yielding(nil), "without spaces, commas", false},
		{"the reader's error", func(*VocabularyOptions) {}, func(yield func(string, error) bool) { yield("", broken) }, "the file broke", true},
	} {
		o := options()
		c.set(&o)
		err := TrainVocabulary(filepath.Join(t.TempDir(), "m"), o, c.sentences)
		if err == nil || !strings.Contains(err.Error(), c.want) || badinput.Is(err) == c.retry {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func BenchmarkTrain(b *testing.B) {
	o, sentences := options(), corpus(20_000)
	for b.Loop() {
		if err := TrainVocabulary(filepath.Join(b.TempDir(), "m"), o, yielding(sentences)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(sentences)*b.N)/b.Elapsed().Seconds(), "sentences/s")
}
