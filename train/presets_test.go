package train

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
)

const presetDir = "../configs/train"

// TestPresets: every preset is one, and those that are compared differ in their objectives alone, and in what their
// papers have: a vector, dropout. All have the same tokens, also the special ones.
func TestPresets(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(presetDir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d presets, %v", len(files), err)
	}
	var rest []byte
	seen := map[string]bool{}
	for _, file := range files {
		c, err := ReadConfig(file)
		if err != nil {
			t.Error(err)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		seen[c.Objective.Name] = true
		if c.Name == "" {
			t.Errorf("%s has no name", file)
		}
		if name == "judge" || strings.HasPrefix(name, "adapt") || strings.HasPrefix(name, "bag") || strings.HasSuffix(name, "-published") || strings.HasSuffix(name, "-short") {
			continue // it has another size
		}
		if c.Objective.Needs().Tokens {
			c.Encoder.Transformer.Pooling, c.Encoder.Transformer.Projection, c.Encoder.Transformer.Dropout = encoder.Mean, 0, 0.1
		}
		if c.Objective.Needs().SameDim {
			c.Encoder.Transformer.Projection = 0 // no projection to the teacher's width
		}
		c.Name, c.Objective = "", objective.Section{}
		text, err := yaml.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if rest == nil {
			rest = text
		}
		if !bytes.Equal(rest, text) {
			t.Errorf("%s differs from %s in more than its objective", file, files[0])
		}
	}
	for _, name := range objective.Names() {
		if !seen[name] {
			t.Errorf("no preset in %s has the objective %s", presetDir, name)
		}
	}
}

// TestPresetsSayWhatTheyAre: the first line is for the reader of a directory.
func TestPresetsSayWhatTheyAre(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(presetDir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var first []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		if !strings.HasPrefix(line, "# ") || slices.Contains(first, line) {
			t.Errorf("%s begins with %q, which says nothing of it", file, line)
		}
		first = append(first, line)
	}
}

// TestPresetsAreInstantiated: everything that learns is made of each preset, with one layer and a small vocabulary, and
// there is a first batch. So vectors fit their teacher's, and nothing can be missing but files that a preset names.
func TestPresetsAreInstantiated(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(presetDir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ctx := limited(t)
			preset, err := ReadConfig(file)
			if err != nil {
				t.Fatal(err)
			}
			config, o := tiny(t, nil)
			preset.Bitext.Sources, preset.Bitext.Exclude, preset.Bitext.BatchSize = config.Bitext.Sources, nil, 16
			preset.Tokenizer.File, preset.Tokenizer.Offset, preset.Vocabulary, preset.Mask = config.Tokenizer.File, 0, config.Vocabulary, nil
			if preset.Tokenizer.BOS != nil { // the test's vocabulary has it
				preset.Tokenizer.BOS, preset.Tokenizer.EOS = &model.Token{Piece: "<s>"}, &model.Token{Piece: "</s>"}
				preset.Tokenizer.Pad, preset.Tokenizer.Unknown = nil, nil
			}
			preset.Encoder.Transformer.Layers = min(1, preset.Encoder.Transformer.Layers)
			if strings.HasSuffix(file, "-published.yaml") {
				if preset.Objective, err = preset.Objective.With(atHand[preset.Objective.Name]); err != nil {
					t.Fatal(err)
				}
			}
			preset.Encoder.Transformer.LoRA = layers.LoRA{}
			start := ""
			if preset.Encoder.Kind == "imported" { // it has a start, always, and that one's tokenizer
				next, _ := onwards(t, nil)
				start, preset.Tokenizer.File = next.Encoder.Start, ""
				if preset.Objective, err = preset.Objective.With(set{"matryoshka": []int{8}}); err != nil {
					t.Fatal(err)
				}
			}
			preset.Encoder.Start, preset.Encoder.Freeze, preset.Dev, preset.Stop = start, encoder.FrozenSettings{}, nil, Stop{}
			if err := preset.Validate(); err != nil {
				t.Fatal(err)
			}
			if err := preset.checkFiles(); err != nil {
				t.Fatal(err)
			}
			if err := preset.takeTokenizer(); err != nil {
				t.Fatal(err)
			}
			tr := newTrainer(preset, o)
			defer func() {
				if err := tr.close(); err != nil {
					t.Error(err)
				}
			}()
			if tr.state, err = openDirectory(&tr.config, &tr.options, tr.checkpoints); err != nil {
				t.Fatal(err)
			}
			if err := tr.prepare(ctx, backend); err != nil {
				t.Fatal(err)
			}
			if _, err := tr.objective.Views(tr.batches.Next()); err != nil {
				t.Error(err)
			}
		})
	}
}

// atHand are settings by which the objective of a published preset has one layer, too, and a teacher that is there.
var atHand = map[string]set{"imascl": {"teacher": fixtures.Encoder}, "mexma": {"head_layers": 1, "koleo_batch": 8}, "vmsst": {"language_layers": 1, "decoder_layers": 1}}
