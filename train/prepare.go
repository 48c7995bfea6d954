package train

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/words"
)

// vocabularyName is the tokenizer's file name in the directory of a training and of an exported encoder.
func vocabularyName(t model.Tokenizer) string {
	switch t.Kind {
	case "wordpiece":
		return "vocab.txt"
	case "huggingface":
		return "tokenizer.json"
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
	case c.Encoder.Of().CopyVocabulary != nil:
		if err := c.Encoder.Of().CopyVocabulary(path, c.Encoder.Start); err != nil {
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
		trained := make(chan error, 1)
		go func() { trained <- words.TrainVocabulary(path, options, data.Sentences(ctx, c.Bitext)) }()
		select {
		case err := <-trained:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done(): // the library cannot be stopped: it ends with the process, which does not wait for it
			return nil, ctx.Err()
		}
	}
	t := c.Tokenizer
	t.File = filepath.Base(path)
	return tokenizer.OpenIn(dir, t)
}

// tokenOptions returns how the preset's tokenizer makes ids.
func tokenOptions(c *Config, v *tokenizer.Vocabulary, texts bool) data.Options {
	bos, eos := v.Ends()
	return data.Options{Tokenizer: v, Lowercase: c.Tokenizer.Lowercase, Number: v.Number, BOS: bos, EOS: eos,
		Prefixes: c.Prefixes, Texts: texts}
}

// checkFiles refuses, before anything is read, test sets that are missing, a start that does not fit and a teacher that
// cannot be used.
func (c *Config) checkFiles() error {
	for _, d := range c.Dev {
		if _, err := os.Stat(d.Dir); err != nil {
			return badinput.Errorf("dev: there is no folder %s, which has the test set for the protocol %s: name its folder in dir "+
				"(`mine data get SET` downloads those that `mine data list` lists, and says where to), or remove it from dev", d.Dir, d.Protocol)
		}
	}
	if check := c.Encoder.Of().CheckStart; check != nil {
		if err := check(c.encoderPreset("")); err != nil {
			return err
		}
	}
	return c.checkTeacher()
}

// checkTeacher refuses a teacher that is missing or whose vectors do not fit the encoder's.
func (c *Config) checkTeacher() error {
	needs := c.Objective.Needs()
	if needs.Teacher == "" {
		return nil
	}
	model, err := model.Load(needs.Teacher)
	if err != nil {
		return badinput.Errorf("objective.teacher: %w", err)
	}
	if !needs.SameDim {
		return nil
	}
	dim, err := c.Encoder.Of().Dim(c.encoderPreset(""))
	if err != nil {
		return err
	}
	return c.Objective.CheckDim(dim, model.Dim)
}
