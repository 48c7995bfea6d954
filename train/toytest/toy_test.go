// Package toytest registers an objective of its own and takes it through a whole training, as an objective in a package
// of its own is: no other file names it.
package toytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/train"
	"bitextmine/train/data"

	"bitextmine/train/layers"
	"bitextmine/train/objective"

	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// settings are the toy's: it predicts each token of a sentence from the encoder's token before it, through causal
// layers of its own.
type settings struct {
	Layers   int     `yaml:"layers"`
	From     float64 `yaml:"from"`      // weight of the prediction at the start
	RampUp   int     `yaml:"ramp_up"`   // steps until it is 1
	Shuffled bool    `yaml:"shuffled"`  // the second view is the source with its tokens turned round
	Words    int     `yaml:"max_words"` // predicted words, the first of the vocabulary
}

func init() {
	objective.Register(objective.Descriptor{Name: "toy", Settings: func() objective.Settings { return &settings{Layers: 1, From: 0.5, RampUp: 4, Words: 500} }})
}

func (s *settings) Validate(check objective.Check) {
	check(s.Layers > 0, "objective.layers is %d but must be above 0", s.Layers)
	check(s.RampUp >= 0, "objective.ramp_up is %d but must be at least 0", s.RampUp)
}

func (*settings) Needs() objective.Needs { return objective.Needs{Tokens: true} }

func (s *settings) Build(t objective.Training) (objective.Objective, error) { return &toy{*s, t}, nil }

type toy struct {
	settings
	training objective.Training
}

func (t *toy) shape() layers.Shape {
	return layers.Shape{Heads: 2, Width: t.training.Width, FFN: 2 * t.training.Width, Norm: layers.PreNorm, Activation: layers.GELU, Epsilon: 1e-6}
}

func (t *toy) Heads() []weights.Spec {
	specs := []weights.Spec{layers.TableSpec("toy.words", t.Words, t.training.Width, 0.1)}
	for i := range t.settings.Layers {
		specs = append(specs, t.shape().Specs(layers.Name("toy", i))...)
	}
	return specs
}

func (t *toy) Terms() []objective.Term {
	return []objective.Term{{Name: "apart", Weight: objective.Fixed(0.1)}, {Name: "next", Weight: objective.Weight{From: t.From, To: 1, Steps: t.RampUp}}}
}

// Views are the source, and the source again or turned round.
func (t *toy) Views(b *data.Batch) ([]data.Side, error) {
	source := b.Views[data.SourceView]
	turned := source
	turned.IDs = append([]int32(nil), source.IDs...)
	for i := range turned.N {
		if ids := turned.Sentence(i); t.Shuffled {
			for a, z := 0, len(ids)-1; a < z; a, z = a+1, z-1 {
				ids[a], ids[z] = ids[z], ids[a]
			}
		}
	}
	return []data.Side{source, turned}, nil
}

// Inputs are the words to be predicted, one-hot [n·length, words]; nothing after a sentence's last but one.
func (t *toy) Inputs(_ context.Context, _ *data.Batch, views []data.Side) ([]*tensors.Tensor, error) {
	side := views[0]
	next := make([]float32, side.N*side.Length*t.Words)
	for i := range side.N {
		for p, id := range side.Sentence(i)[1:] {
			if int(id) < t.Words {
				next[(i*side.Length+p)*t.Words+int(id)] = 1
			}
		}
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(next, side.N*side.Length, t.Words)}, nil
}

func (t *toy) Loss(s objective.Step) []*graph.Node {
	source := s.Views[0]
	n, length := source.Tokens.Shape().Dimensions[0], source.Tokens.Shape().Dimensions[1]
	stack := layers.Stack{Shape: t.shape(), Params: s.Heads, N: n, Length: length}
	x := graph.Reshape(source.Tokens, n*length, t.training.Width)
	bias := graph.Add(layers.Causal(x, length), layers.Padding(graph.ConvertDType(source.Mask, dtypes.Float32)))
	for i := range t.settings.Layers {
		x = stack.Layer(layers.Name("toy", i), x, bias)
	}
	logits := stack.Product(x, 1, s.Heads["toy.words"], 1, nil)
	away := graph.Sub(s.Vectors(0), s.Vectors(1))
	return []*graph.Node{graph.ReduceAllMean(graph.Mul(away, away)), objective.CrossEntropy(s.Inputs[0], logits, 1)}
}

// preset is a training of a tiny transformer on the fixtures' sentences, beside themselves in upper case.
func preset(t *testing.T, objective string, more ...string) (path, out string) {
	t.Helper()
	dir := t.TempDir()
	text, err := fixtures.Text.ReadFile("text/en.txt")
	if err != nil {
		t.Fatal(err)
	}
	var pairs strings.Builder
	for line := range strings.Lines(string(text)) {
		_, sentence, _ := strings.Cut(strings.TrimSpace(line), "\t")
		fmt.Fprintf(&pairs, "%s\t%s\n", sentence, strings.ToUpper(sentence))
	}
	traintest.Write(t, filepath.Join(dir, "pairs.tsv"), pairs.String())
	path = filepath.Join(dir, "toy.yaml")
	traintest.Write(t, path, fmt.Sprintf(`steps: 6
log_every: 1
bitext: {sources: [{files: [%s/pairs.tsv], src: en, tgt: de}], batch_size: 16, max_tokens: 16, buckets: [16]}
vocabulary: {size: 500, threads: 1}
encoder: {kind: transformer, transformer: {layers: 1, heads: 2, width: 16, ffn: 32}}
optimiser: {learning_rate: 0.01, schedule: constant}
objective: %s
%s
`, dir, objective, strings.Join(more, "\n")))
	return path, filepath.Join(dir, "out")
}

// TestToyObjective: it is configured, trained, logged and exported.
func TestToyObjective(t *testing.T) {
	path, out := preset(t, "{name: toy, shuffled: true}")
	config, err := train.ReadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	summary, err := train.Run(ctx, config, train.Options{Out: out, Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Load(summary.Model); err != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(filepath.Join(out, "train.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []train.JournalLine
	for d := json.NewDecoder(bytes.NewReader(log)); d.More(); {
		var l train.JournalLine
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if len(lines) != config.Steps {
		t.Fatalf("%d lines of log for %d steps", len(lines), config.Steps)
	}
	for i, l := range lines {
		weight := min(1, 0.5+0.5*float64(i)/4)
		if want := 0.1*l.Terms["apart"] + weight*l.Terms["next"]; len(l.Terms) != 2 || l.Loss < want*(1-1e-6) || l.Loss > want*(1+1e-6) {
			t.Errorf("step %d: the loss %v is not 0.1 and %v times %v", l.Step, l.Loss, weight, l.Terms)
		}
	}
	if first, last := lines[0].Terms["next"], lines[len(lines)-1].Terms["next"]; last >= first {
		t.Errorf("the prediction's loss went from %v to %v", first, last)
	}
	stored, err := os.ReadFile(filepath.Join(out, "config.yaml"))
	if err != nil || !strings.Contains(string(stored), "    name: toy\n    layers: 1\n    from: 0.5\n    ramp_up: 4\n    shuffled: true\n    max_words: 500\n") {
		t.Errorf("the preset with its defaults is\n%s\n%v", stored, err)
	}
}

// TestToyIsRefused: bad settings, and vectors that are cached, before the bitext is looked for.
func TestToyIsRefused(t *testing.T) {
	for _, c := range []struct{ objective, more, want string }{
		{"{name: toy}", "chunk: 8", "the objective toy needs the encoder's tokens, which are available only with a transformer"},
		{"{name: toy, layers: 0, ramp_up: -1}", "", "objective.layers is 0 but must be above 0; objective.ramp_up is -1"},
		{"{name: toy, temperature: 1}", "", "objective.temperature is not a setting of toy"},
		{"{name: contrastive, ramp_up: 1}", "", "objective.ramp_up is not a setting of contrastive"},
		{"{name: toys}", "", `objective.name is "toys": take one of bitranslation, contrastive, ems, imascl, judge, labse-joint, labse-mlp, labse-vanilla, mexma, mexma-contrastive, mse-distill, muse, toy, vmsst, vmsst-contrastive`},
		{"{name: toy, rampup: 1}", "", "field rampup not found in the objective toy"},
	} {
		path, _ := preset(t, c.objective, c.more)
		if err := os.Remove(filepath.Join(filepath.Dir(path), "pairs.tsv")); err != nil {
			t.Fatal(err)
		}
		if _, err := train.ReadConfig(path); !badinput.Is(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.objective, err, c.want)
		}
	}
	path, _ := preset(t, "{name: toy}")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	traintest.Write(t, path, strings.Replace(string(text), "encoder: {kind: transformer,", "encoder: {kind: bag,", 1))
	if _, err := train.ReadConfig(path); !badinput.Is(err) || !strings.Contains(err.Error(), "needs the encoder's tokens") {
		t.Errorf("a bag: %v", err)
	}
}
