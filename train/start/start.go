// Package start has the kinds of encoders in training that start from an encoder with a manifest and are exported as it
// is: static ones, and those of any imported graph.
package start

import (
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/encoder"
)

// find loads the manifest of the encoder that encoder.start names.
func find(ref string) (*model.Model, error) {
	m, err := model.Load(ref)
	if err != nil {
		return nil, badinput.Errorf("encoder.start: %w", err)
	}
	return m, nil
}

// startDim is the dimension of the encoder that encoder.start names.
func startDim(p encoder.Preset) (int, error) {
	m, err := find(p.Start)
	if err != nil {
		return 0, err
	}
	return m.Dim, nil
}

// tokenizerOf is the tokenizer of an encoder, without its file, and its prefixes.
func tokenizerOf(ref string) (model.Tokenizer, map[string]model.Prefix, error) {
	m, err := find(ref)
	if err != nil {
		return model.Tokenizer{}, nil, err
	}
	t := m.Tokenizer
	if t.Dictionary != "" {
		return t, nil, badinput.Errorf("encoder.start: the tokenizer of %s has a dictionary beside its file, which a training does not copy: name another encoder", m.Name)
	}
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
