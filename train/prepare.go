package train

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/static"
	"bitextmine/train/weights"
	"bitextmine/train/words"
)

// vocabularyName is the tokenizer's file name in the directory of a training and of an exported encoder.
func vocabularyName(t model.Tokenizer) string {
	if t.Kind == "wordpiece" {
		return "vocab.txt"
	}
	return "spm.model"
}

// openVocabulary trains the vocabulary into dir unless it exists there, or copies the one that the preset names. The
// file is part of the export.
func openVocabulary(ctx context.Context, c *Config, dir string, report func(string)) (*tokenizer.Vocabulary, error) {
	path := filepath.Join(dir, vocabularyName(c.Tokenizer))
	_, err := os.Stat(path)
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	case c.Encoder.Kind == "static":
		if err := static.CopyVocabulary(path, c.Encoder.Start); err != nil {
			return nil, err
		}
	case c.Tokenizer.File != "":
		if err := atomicfile.Copy(path, c.Tokenizer.File); err != nil {
			return nil, badinput.Errorf("tokenizer.file: %w", err)
		}
	default:
		report("train the vocabulary")
		options := c.Vocabulary
		options.Lowercase = options.Lowercase || c.Tokenizer.Lowercase
		if err := words.TrainVocabulary(path, options, data.Sentences(ctx, c.Bitext)); err != nil {
			return nil, err
		}
	}
	t := c.Tokenizer
	t.File = filepath.Base(path)
	return tokenizer.OpenIn(dir, t)
}

// tokenOptions returns how the preset's tokenizer makes ids.
func tokenOptions(c *Config, v *tokenizer.Vocabulary, texts bool) data.Options {
	bos, eos := v.Ends()
	return data.Options{Tokenizer: v, Lowercase: c.Tokenizer.Lowercase, Number: v.Number, BOS: bos, EOS: eos, Prefixes: c.Prefixes, Texts: texts}
}

// newEncoder creates the preset's encoder with new weights or with those of encoder.start. dir is the directory of the
// training.
func newEncoder(c *Config, v *tokenizer.Vocabulary, backend compute.Backend, dir string) (encoder.Encoder, error) {
	if c.Encoder.Start != "" {
		return startEncoder(c, v, backend, dir)
	}
	if c.Encoder.Kind == "bag" {
		return newBag(c, v)
	}
	settings := c.Encoder.Transformer
	settings.Vocabulary, settings.MaxTokens = v.Rows(), c.Bitext.MaxTokens
	return encoder.NewTransformer(settings, backend, newTensors(settings.Specs(), c.Seed))
}

func newBag(c *Config, v *tokenizer.Vocabulary) (*encoder.Bag, error) {
	pieces := v.Pieces()
	if pieces == nil {
		pieces = make([]string, v.Rows())
		if c.Encoder.Bag.NGrams.Max > 0 {
			return nil, badinput.Errorf("encoder.bag.ngrams needs a SentencePiece vocabulary, and tokenizer.kind is %s", c.Tokenizer.Kind)
		}
	}
	return encoder.NewBag(c.Encoder.Bag, pieces, c.Seed)
}

// newTensors allocates and initialises tensors.
func newTensors(specs []weights.Spec, seed uint64) []*weights.Tensor {
	tensors := make([]*weights.Tensor, len(specs))
	for i, s := range specs {
		tensors[i] = weights.New(s, seed)
	}
	return tensors
}
