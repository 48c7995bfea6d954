package start

import (
	"github.com/gomlx/compute"

	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
)

func init() {
	encoder.Register(encoder.Kind{
		Name: "imported", Graph: true, Freezes: true,
		BFloat16: func(c encoder.Config) bool { return c.Imported.Precision == layers.BFloat16 },
		Validate: func(p encoder.Preset, check encoder.Check) []func() error {
			check(p.Start != "", "encoder.kind imported needs encoder.start, an encoder that mine model import or mine train wrote")
			check(p.Tokenizer.File == "",
				"tokenizer.file cannot be given with encoder.kind imported, whose tokenizer is that of encoder.start: remove it")
			check(!p.Shared, "objective.shared_embedding does not work with encoder.kind imported: take transformer")
			lora := p.Imported.LoRA.Rank > 0
			check(!lora || !p.Freeze.Any(), "encoder.imported.lora freezes all other weights: remove encoder.freeze")
			return []func() error{p.Imported.Validate}
		},
		Dim:            startDim,
		New:            startImported,
		Tokenizer:      tokenizerOf,
		CopyVocabulary: copyVocabulary,
	})
}

func startImported(p encoder.Preset, v *tokenizer.Vocabulary, backend compute.Backend) (encoder.Encoder, error) {
	m, tensors, err := openImported(p.Start)
	if err != nil {
		return nil, err
	}
	if words, rows := v.Rows(), tensors[0].Rows(); words > rows {
		return nil, badinput.Errorf("encoder.start: %s has %d words, but ids of its tokenizer reach %d: import it again", m.start.Name, rows, words-1)
	}
	e, err := newImported(m, tensors, p, backend)
	if err != nil {
		return nil, err
	}
	return e, nil
}
