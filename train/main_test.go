package train

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/index/exact"
	"bitextmine/train/data"

	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/traintest"
	"bitextmine/train/words"
)

func TestMain(m *testing.M) {
	if err := encodetest.SetLibrary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "train")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	vocabularyPath = filepath.Join(dir, "spm.model")
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// limited is a context in which no training hangs.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// english are the sentences of a fixture.
func english(t *testing.T) []string {
	t.Helper()
	text, err := fixtures.Text.ReadFile("text/en.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		_, sentence, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all = append(all, sentence)
	}
	return all
}

var vocabularyPath string // set by TestMain

// vocabulary is one for all tests, with a piece for masks.
var vocabulary = sync.OnceValues(func() (string, error) {
	o := words.DefaultVocabularyOptions()
	o.Size, o.Threads, o.Control = 900, 2, []string{maskPiece}
	return vocabularyPath, words.TrainVocabulary(vocabularyPath, o, func(yield func(string, error) bool) {
		text, err := fixtures.Text.ReadFile("text/en.txt")
		if err != nil {
			yield("", err)
			return
		}
		for line := range strings.Lines(string(text)) {
			_, s, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if !yield(s, nil) || !yield(shifted(s), nil) {
				return
			}
		}
	})
})

// shifted is a language that a few hundred sentences suffice to learn: English with each letter moved on by seven.
func shifted(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+7)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+7)%26
		}
		return r
	}, text)
}

// heldOut is the number of the fixture's sentences that a tiny training is evaluated on and does not see.
const heldOut = 100

// tiny is a preset for English and its shifted language, and where its training goes.
func tiny(t *testing.T, change func(*Config)) (Config, Options) {
	t.Helper()
	dir := t.TempDir()
	var pairs, source, target strings.Builder
	for i, s := range english(t) {
		if i < heldOut {
			fmt.Fprintln(&source, shifted(s))
			fmt.Fprintln(&target, s)
			continue
		}
		fmt.Fprintf(&pairs, "%s\t%s\n", shifted(s), s)
	}
	traintest.Write(t, filepath.Join(dir, "pairs.tsv"), pairs.String())
	traintest.Write(t, filepath.Join(dir, "held", "held.epo-eng.epo"), source.String())
	traintest.Write(t, filepath.Join(dir, "held", "held.epo-eng.eng"), target.String())
	c := DefaultConfig()
	c.Name = "tiny"
	s := data.DefaultSource()
	s.Files, s.Src, s.Tgt, s.Licence = []string{filepath.Join(dir, "pairs.tsv")}, "eo", "en", "Apache-2.0"
	c.Bitext.Sources, c.Bitext.BatchSize, c.Bitext.MaxTokens, c.Bitext.Buckets = []data.Source{s}, 16, 24, []int{24}
	var err error
	if c.Tokenizer.File, err = vocabulary(); err != nil {
		t.Fatal(err)
	}
	c.Encoder.Bag.Dim = 64
	c.Encoder.Transformer = encoder.Settings{Layers: 1, Heads: 2, Width: 32, FFN: 64, Norm: layers.PreNorm, Positions: encoder.Learned, Dropout: 0.1,
		Activation: layers.GELU, Epsilon: 1e-6, Pooling: encoder.Mean, Precision: layers.Float32}
	c.Optimiser.LearningRate = 0.01
	c.Steps, c.LogEvery = 4, 1
	if change != nil {
		change(&c)
	}
	searcher, err := exact.Open(exact.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return c, Options{Out: filepath.Join(dir, "out"), Device: "cpu", Searcher: searcher}
}

// evaluated adds the held-out sentences to a preset.
func evaluated(c *Config) {
	c.Dev = []DevSet{{Protocol: "tatoeba", Dir: filepath.Join(filepath.Dir(c.Bitext.Sources[0].Files[0]), "held"), Src: []string{"eo"}, Tgt: "en"}}
}

// transformer turns a tiny preset into one of a transformer.
func transformer(c *Config) {
	c.Encoder.Kind = "transformer"
	c.Optimiser.LearningRate = 0.003
}

// masked turns a tiny preset into a transformer's with what objectives need that mask tokens: a first token that stands
// for the sentence, and a last one.
func masked(c *Config) {
	transformer(c)
	c.Tokenizer.BOS, c.Tokenizer.EOS = &model.Token{Piece: "<s>"}, &model.Token{Piece: "</s>"}
	c.Encoder.Transformer.Pooling = encoder.CLS
}

// smallHead is an unmasking head for a tiny encoder.
var smallHead = set{"head_layers": 1, "head_heads": 2, "head_ffn": 64}

// smallDecoder is a decoder with language encoders for a tiny encoder.
var smallDecoder = set{"language_layers": 1, "heads": 2, "ffn": 64}

// by turns a tiny preset into one of another objective.
func by(name string, changes set) func(*Config) {
	return func(c *Config) {
		var err error
		if c.Objective, err = objective.Default(name).With(changes); err != nil {
			panic(err)
		}
	}
}

// set is settings of an objective, by their keys in a preset.
type set map[string]any

// all joins changes.
func all(changes ...func(*Config)) func(*Config) {
	return func(c *Config) {
		for _, change := range changes {
			if change != nil {
				change(c)
			}
		}
	}
}
