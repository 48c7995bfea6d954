package static

import (
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Find loads the manifest of the encoder that encoder.start names.
func Find(ref string) (*model.Model, error) {
	m, err := model.Load(ref)
	if err != nil {
		return nil, badinput.Errorf("encoder.start: %w", err)
	}
	return m, nil
}

// Load opens the encoder that encoder.start names, whose tokenizer has so many words.
func Load(ref string, s Settings, words int) (*Encoder, error) {
	m, err := Find(ref)
	if err != nil {
		return nil, err
	}
	e, err := Open(m, s)
	if err != nil {
		return nil, err
	}
	if rows := e.table().Rows(); words > rows {
		return nil, badinput.Errorf("encoder.start: %s has %d words, but ids of its tokenizer reach %d: distil it again", m.Name, rows, words-1)
	}
	return e, nil
}

// Tokenizer is that of the encoder, without its file, and its prefixes.
func Tokenizer(ref string) (model.Tokenizer, map[string]model.Prefix, error) {
	m, err := Find(ref)
	if err != nil {
		return model.Tokenizer{}, nil, err
	}
	t := m.Tokenizer
	t.File, t.SHA256 = "", ""
	return t, m.Prefixes, nil
}

// CopyVocabulary writes the tokenizer's file of the encoder, which may be built in.
func CopyVocabulary(path, ref string) error {
	m, err := Find(ref)
	if err != nil {
		return err
	}
	raw, err := m.ReadFile(m.Tokenizer.File)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, raw)
}
