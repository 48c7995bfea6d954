package encoder

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"bitextmine/internal/badinput"
	"bitextmine/train/checkpoint"
	"bitextmine/train/weights"
)

// Architecture is the part of an encoder that its weights alone do not determine. Another training starts from weights
// only with the same.
type Architecture struct {
	Kind        string    `json:"kind"`
	Vocabulary  string    `json:"vocabulary"` // SHA-256 of the tokenizer's file
	NGrams      [2]int    `json:"ngrams"`     // a bag's shortest and longest
	Transformer *Settings `json:"transformer,omitempty"`
	Frozen      *Origin   `json:"frozen,omitempty"`
}

// Metadata is the architecture of a preset's encoder, as metadata of its weights.
func Metadata(p Preset, e Encoder) (map[string]string, error) {
	digest, err := vocabularyDigest(p)
	if err != nil {
		return nil, err
	}
	a := e.Architecture()
	a.Kind, a.Vocabulary, a.Frozen = p.Kind, digest, OriginOf(p.Start, e.Weights())
	text, err := json.Marshal(a)
	return map[string]string{checkpoint.Architecture: string(text)}, err
}

func vocabularyDigest(p Preset) (string, error) {
	raw, err := os.ReadFile(p.Vocabulary)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// hasCheckpoint reports whether encoder.start is a checkpoint.
func (c Config) hasCheckpoint() (bool, error) {
	_, err := os.Stat(c.checkpointFile())
	if err == nil || os.IsNotExist(err) {
		return err == nil, nil
	}
	return false, badinput.Errorf("encoder.start: %w", err)
}

func (c Config) checkpointFile() string { return filepath.Join(c.Start, checkpoint.Encoder) }

// readCheckpoint reads all weights of the checkpoint encoder.start, and refuses an encoder of another kind or
// vocabulary than the preset's.
func (p Preset) readCheckpoint() (stored []*weights.Tensor, was Architecture, err error) {
	if err := checkpoint.Verify(p.Start, checkpoint.Encoder); err != nil {
		return nil, was, badinput.Errorf("encoder.start: %w", err)
	}
	stored, metadata, err := ReadFrozen(p.Start)
	if err != nil {
		return nil, was, badinput.Errorf("encoder.start: %w", err)
	}
	path := p.checkpointFile()
	if err := json.Unmarshal([]byte(metadata[checkpoint.Architecture]), &was); err != nil {
		return nil, was, badinput.Errorf("%s does not say what encoder it is of, as checkpoints do: name one that this program wrote", path)
	}
	digest, err := vocabularyDigest(p)
	if err != nil {
		return nil, was, err
	}
	switch {
	case was.Kind != p.Kind:
		return nil, was, badinput.Errorf("%s is of a %s, but encoder.kind is %s: write the same kind", path, was.Kind,
			p.Kind)
	case was.Vocabulary != digest:
		return nil, was, badinput.Errorf("%s was trained with another vocabulary than tokenizer.file, %s: give %s of its own training",
			path, p.Tokenizer.File, filepath.Base(p.Vocabulary))
	}
	return stored, was, nil
}
