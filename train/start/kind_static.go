package start

import (
	"github.com/gomlx/compute"

	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/train/encoder"
)

func init() {
	encoder.Register(encoder.Kind{
		Name: "static",
		Validate: func(p encoder.Preset, check encoder.Check) []func() error {
			check(p.Start != "", "encoder.kind static needs encoder.start, an encoder that mine distill wrote, such as use-static")
			check(p.Tokenizer.File == "",
				"tokenizer.file cannot be given with encoder.kind static, whose tokenizer is that of encoder.start: remove it")
			check(!p.Shared, "objective.shared_embedding does not work with encoder.kind static, whose table is rounded")
			return []func() error{p.Static.Validate}
		},
		Dim:            startDim,
		New:            startStatic,
		Tokenizer:      tokenizerOf,
		CopyVocabulary: copyVocabulary,
	})
}

// startStatic opens the encoder that encoder.start names.
func startStatic(p encoder.Preset, v *tokenizer.Vocabulary, _ compute.Backend) (encoder.Encoder, error) {
	m, err := find(p.Start)
	if err != nil {
		return nil, err
	}
	e, err := openStatic(m, p.Static)
	if err != nil {
		return nil, err
	}
	if words, rows := v.Rows(), e.table().Rows(); words > rows {
		return nil, badinput.Errorf("encoder.start: %s has %d words, but ids of its tokenizer reach %d: distil it again", m.Name, rows, words-1)
	}
	return e, nil
}
