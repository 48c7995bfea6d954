package train

import (
	"errors"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/train/checkpoint"
)

// Lock takes the lock of a directory of a training or of rounds, which it creates. Another holder is a
// *lockfile.Locked.
func Lock(out string) (release func() error, err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, badinput.Errorf("the directory of the training: %w", err)
	}
	return lockfile.Lock(filepath.Join(out, LockFile))
}

// openDirectory writes the preset into the directory, and returns the state from which its training goes on: that of
// the last checkpoint, or of step 0. It refuses a directory with a training that was not asked for, or by another
// preset.
func openDirectory(c *Config, o *Options, checkpoints checkpoint.Dir) (checkpoint.State, error) {
	begin := checkpoint.State{}
	digest, err := c.Digest()
	if err != nil {
		return begin, err
	}
	if err := checkpoints.Open(); err != nil {
		return begin, err
	}
	all, incomplete, err := checkpoints.List()
	if err != nil {
		return begin, err
	}
	for _, what := range incomplete {
		o.report(what)
	}
	begin.Config = digest
	config := filepath.Join(o.Out, configFile)
	switch {
	case len(all) == 0 && len(incomplete) > 0:
		return begin, badinput.Errorf("%s, and there is no other: remove it to begin again", incomplete[0])
	case len(all) == 0:
		if err := removeVocabulary(c, o, digest); err != nil {
			return begin, err
		}
	default:
		begin = *all[len(all)-1]
		switch {
		case !o.Resume:
			return begin, badinput.Errorf("%s holds a training, at step %d: resume it or choose another directory",
				o.Out, begin.Step)
		case begin.Config != digest:
			return begin, badinput.Errorf("%s holds a training by another preset than this one: give its %s, or choose another directory", o.Out, configFile)
		}
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		return begin, err
	}
	return begin, atomicfile.WriteBytes(config, text)
}

// removeVocabulary removes the vocabulary of a training that ended before its first checkpoint, unless that training is
// resumed.
func removeVocabulary(c *Config, o *Options, digest string) error {
	if before, err := ReadConfig(filepath.Join(o.Out, configFile)); err == nil && o.Resume {
		if was, err := before.Digest(); err == nil && was == digest {
			return nil
		}
	}
	err := os.Remove(filepath.Join(o.Out, vocabularyName(c.Tokenizer)))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
