package words

import (
	"bitextmine/align/word"

	"bitextmine/internal/badinput"
)

// Config are the settings of word alignment.
type Config struct {
	Split    word.Splitter `yaml:"split"`     // what words are: text, or spaces if they are separated by spaces
	Symmetry word.Symmetry `yaml:"symmetry"`  // how the aligner combines both directions
	MinScore float64       `yaml:"min_score"` // links with a lower score are left out
}

// Defaults are the default settings. The score is that of WACSE's aligner.
func Defaults() Config {
	d := word.DefaultFileAligner()
	return Config{Split: d.Splitter, Symmetry: d.Symmetry, MinScore: 0.9}
}

// UnmarshalYAML sets the defaults first.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Config
	*c = Defaults()
	return unmarshal((*plain)(c))
}

// Validate reports the first setting that is not valid.
func (c Config) Validate() error {
	if _, err := word.ParseSplitter(string(c.Split)); err != nil {
		return err
	}
	if _, err := word.ParseSymmetry(string(c.Symmetry)); err != nil {
		return err
	}
	if !(c.MinScore >= 0 && c.MinScore <= 1) {
		return badinput.Errorf("min_score is %v but must be from 0 to 1", c.MinScore)
	}
	return nil
}
