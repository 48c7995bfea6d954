package train

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/fixtures"

	"bitextmine/train/objective"
)

// TestEveryObjectiveTrains: each takes its steps through Run, with everything that the trainer must bring it, and its
// encoder is exported.
func TestEveryObjectiveTrains(t *testing.T) {
	taught := set{"teacher": fixtures.Encoder}
	for _, c := range []struct {
		name, objective string
		change          set
		terms           string
	}{
		{"contrastive", "contrastive", nil, "backward forward"},
		{"contrastive, margin, one way", "contrastive", set{"margin": 0.3, "one_way": true}, "forward"},
		{"ems", "ems", nil, "backward forward xtr"},
		{"ems without language token", "ems", set{"language_token": false}, "backward forward xtr"},
		{"ems without contrastive", "ems", set{"contrastive": false}, "xtr"},
		{"ems without xtr", "ems", set{"reconstruction": "none"}, "backward forward"},
		{"ems without mlp", "ems", set{"mlp": false}, "backward forward xtr"},
		{"ems with a shared table", "ems", set{"shared_embedding": true}, "backward forward xtr"},
		{"ems with ugt", "ems", set{"reconstruction": "ugt"}, "backward forward ugt"},
		{"labse-vanilla", "labse-vanilla", nil, "backward forward"},
		{"labse-mlp", "labse-mlp", nil, "backward forward"},
		{"labse-joint", "labse-joint", nil, "backward forward xtr"},
		{"imascl", "imascl", taught, "column row"},
		{"imascl, average", "imascl", set{"teacher": fixtures.Encoder, "label": "average"}, "column row"},
		{"imascl, tcm", "imascl", set{"teacher": fixtures.Encoder, "tcm": true, "cross_weight": 0.1}, "column mono-anchor mono-other row"},
		{"mse-distill", "mse-distill", taught, "source target"},
		{"muse", "muse", nil, "backward forward"},
		{"muse, negatives by a teacher", "muse", taught, "backward forward"},
		{"mexma", "mexma", smallHead, "align koleo unmask"},
		{"vmsst", "vmsst", smallDecoder, "kl reconstruct translate"},
		{"bitranslation", "bitranslation", smallDecoder, "translate"},
		{"vmsst-contrastive", "vmsst-contrastive", smallDecoder, "backward forward kl reconstruct"},
		{"contrastive, dot", "contrastive", set{"similarity": "dot", "temperature": 1}, "backward forward"},
		{"mexma-contrastive", "mexma-contrastive", smallHead, "backward forward unmask"},
		{"mexma-contrastive without context", "mexma-contrastive",
			set{"head_layers": 1, "head_heads": 2, "head_ffn": 64, "context": "none"}, "backward forward unmask"},
		{"wacse", "wacse", nil, "awp tr wtr"},
		{"wacse without tr", "wacse", set{"tr_weight": 0}, "awp wtr"},
	} {
		for _, kind := range []string{"bag", "transformer"} {
			reads := objective.Default(c.objective).Needs().Tokens
			if reads && kind == "bag" {
				continue // it has no tokens
			}
			if !reads && kind == "transformer" && !slices.Contains([]string{"ems with a shared table", "imascl, tcm", "mse-distill", "muse"}, c.name) {
				continue // the graph of a step is tested for each of them in train/objective
			}
			t.Run(c.name+", "+kind, func(t *testing.T) {
				config, o := tiny(t, by(c.objective, c.change))
				if kind == "transformer" {
					if transformer(&config); reads {
						masked(&config)
					}
					if c.objective == "mse-distill" || c.objective == "ems" || c.change["context"] == "none" {
						// The teacher's; with a shared table or without context, vectors that are wider than words.
						config.Encoder.Transformer.Projection = 512
					}
				}
				if config.Encoder.Bag.Dim = 256; c.objective == "mse-distill" {
					config.Encoder.Bag.Dim = 512 // the teacher's
				}
				told := ""
				o.Report = func(what string) { told += what + "\n" }
				summary, err := Run(limited(t), config, o)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(told, "find hard negatives: 100%") != (c.objective == "muse") {
					t.Errorf("it told\n%s", told)
				}
				lines, err := readJournal(o.Out)
				if err != nil {
					t.Fatal(err)
				}
				if terms := strings.Join(slices.Sorted(maps.Keys(lines[0].Terms)), " "); terms != c.terms {
					t.Errorf("the terms are %q, want %q", terms, c.terms)
				}
				for _, l := range lines {
					if math.IsNaN(l.Loss) || l.Norm == 0 {
						t.Errorf("step %d: loss %v, gradient %v", l.Step, l.Loss, l.Norm)
					}
				}
				if first, last := lines[0].Loss, lines[len(lines)-1].Loss; len(lines) != config.Steps || last >= first {
					t.Errorf("%d steps: the loss went from %v to %v", len(lines), first, last)
				}
				if _, err := os.Stat(filepath.Join(summary.Model, modelFile)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
