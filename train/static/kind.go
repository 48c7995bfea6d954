package static

import (
	"github.com/gomlx/compute"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/atomicfile"
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
		Dim: func(p encoder.Preset) (int, error) {
			m, err := find(p.Start)
			if err != nil {
				return 0, err
			}
			return m.Dim, nil
		},
		New:            start,
		Tokenizer:      tokenizerOf,
		CopyVocabulary: copyVocabulary,
	})
}

// find loads the manifest of the encoder that encoder.start names.
func find(ref string) (*model.Model, error) {
	m, err := model.Load(ref)
	if err != nil {
		return nil, badinput.Errorf("encoder.start: %w", err)
	}
	return m, nil
}

// start opens the encoder that encoder.start names.
func start(p encoder.Preset, v *tokenizer.Vocabulary, _ compute.Backend) (encoder.Encoder, error) {
	m, err := find(p.Start)
	if err != nil {
		return nil, err
	}
	e, err := Open(m, p.Static)
	if err != nil {
		return nil, err
	}
	if words, rows := v.Rows(), e.table().Rows(); words > rows {
		return nil, badinput.Errorf("encoder.start: %s has %d words, but ids of its tokenizer reach %d: distil it again", m.Name, rows, words-1)
	}
	return e, nil
}

// tokenizerOf is the tokenizer of an encoder, without its file, and its prefixes.
func tokenizerOf(ref string) (model.Tokenizer, map[string]model.Prefix, error) {
	m, err := find(ref)
	if err != nil {
		return model.Tokenizer{}, nil, err
	}
	t := m.Tokenizer
	t.File, t.SHA256 = "", ""
	return t, m.Prefixes, nil
}

// copyVocabulary writes the tokenizer's file of an encoder, which may be built in.
func copyVocabulary(path, ref string) error {
	m, err := find(ref)
	if err != nil {
		return err
	}
	raw, err := m.ReadFile(m.Tokenizer.File)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, raw)
}
