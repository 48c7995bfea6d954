package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/internal/badinput"
	"bitextmine/train/checkpoint"
	"bitextmine/train/encoder"
)

// architecture is what the weights alone do not determine of their encoder. Another training starts from them only with
// the same.
type architecture struct {
	Kind        string            `json:"kind"`
	Vocabulary  string            `json:"vocabulary"` // SHA-256 of the tokenizer's file
	NGrams      [2]int            `json:"ngrams"`     // of a bag: the shortest and the longest
	Transformer *encoder.Settings `json:"transformer,omitempty"`
	Frozen      *Origin           `json:"frozen,omitempty"`
}

// architectureOf returns the architecture of the preset's encoder, over the vocabulary in dir, as metadata.
func architectureOf(c *Config, e encoder.Encoder, origin *Origin, dir string) (map[string]string, error) {
	digest, err := vocabularyDigest(c, dir)
	if err != nil {
		return nil, err
	}
	a := architecture{Kind: c.Encoder.Kind, Vocabulary: digest}
	if t, ok := e.(*encoder.Transformer); ok {
		a.Transformer, a.Frozen = &t.Settings, origin
	} else {
		a.NGrams = lengths(c.Encoder.Bag.NGrams)
	}
	text, err := json.Marshal(a)
	return map[string]string{checkpoint.Architecture: string(text)}, err
}

func vocabularyDigest(c *Config, dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, vocabularyName(c.Tokenizer)))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

func lengths(n encoder.NGrams) [2]int {
	if n.Max == 0 {
		return [2]int{}
	}
	return [2]int{n.Min, n.Max}
}

// mayFollow reads a checkpoint's architecture and refuses one that the preset's encoder does not share.
func (c *Config) mayFollow(text, dir, path string) (architecture, error) {
	var was architecture
	if err := json.Unmarshal([]byte(text), &was); err != nil {
		return was, badinput.Errorf("%s does not say what encoder it is of, as checkpoints do: name one that this program wrote", path)
	}
	digest, err := vocabularyDigest(c, dir)
	if err != nil {
		return was, err
	}
	ngrams := lengths(c.Encoder.Bag.NGrams)
	switch {
	case was.Kind != c.Encoder.Kind || (was.Kind == "transformer") != (was.Transformer != nil):
		return was, badinput.Errorf("%s is of a %s, but encoder.kind is %s: write the same kind", path, was.Kind, c.Encoder.Kind)
	case was.Vocabulary != digest:
		return was, badinput.Errorf("%s was trained with another vocabulary than tokenizer.file, %s: give %s of its own training",
			path, c.Tokenizer.File, vocabularyName(c.Tokenizer))
	case was.Transformer != nil && was.Transformer.Projection > 0 && !slices.Contains([]int{0, was.Transformer.Projection}, c.Encoder.Transformer.Projection):
		return was, badinput.Errorf("%s has a projection to %d numbers, but encoder.transformer.projection is %d: write the same, or leave it out",
			path, was.Transformer.Projection, c.Encoder.Transformer.Projection)
	case was.Kind == "bag" && was.NGrams != ngrams:
		return was, badinput.Errorf("%s has n-grams of %d to %d characters, but encoder.bag.ngrams are of %d to %d: write the same", path, was.NGrams[0], was.NGrams[1], ngrams[0], ngrams[1])
	}
	return was, nil
}
