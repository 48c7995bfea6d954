package config

import (
	"slices"
	"strings"

	"bitextmine/corpus/input"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
)

// FixturesPrefix begins the name of a text that the program carries.
const FixturesPrefix = "fixtures:"

// Texts finds the input files of both languages and takes their digests.
func (c *Config) Texts() ([]plan.Language, error) {
	languages := make([]plan.Language, 2)
	common, options := commonOptions(c.Text), c.CorpusOptions()
	for l, target := range []bool{false, true} {
		language, patterns, flag := c.side(target)
		inputs, err := expand(patterns, language, flag)
		if err != nil {
			return nil, err
		}
		vectors, err := vectorsByText(c, target)
		if err != nil {
			return nil, err
		}
		languages[l].Code = language
		for _, in := range inputs {
			input, err := plan.DigestInput(in)
			if err != nil {
				return nil, err
			}
			input.Vectors = vectors[in.Path]
			own := options[l]
			own.Documents, own.MetaColumns = c.Documents != "", c.metaColumns[l]
			if err := divide(c, &input, language, &own); err != nil {
				return nil, err
			}
			if own != common {
				input.Corpus = &own
			}
			languages[l].Inputs = append(languages[l].Inputs, input)
		}
	}
	return languages, nil
}

// Inputs lists the input files of both sides.
func (c *Config) Inputs() (source, target []input.File, err error) {
	language, patterns, flag := c.side(false)
	if source, err = expand(patterns, language, flag); err != nil {
		return nil, nil, err
	}
	language, patterns, flag = c.side(true)
	target, err = expand(patterns, language, flag)
	return source, target, err
}

// expand lists the input files of one side; flag is the one that names them.
func expand(patterns []string, language, flag string) ([]input.File, error) {
	if len(patterns) == 0 {
		return nil, badinput.Errorf("no text is named for language %s: name files with %s, or under `corpora` in the config", language, flag)
	}
	var builtin, host []string
	for _, pattern := range patterns {
		if name, ok := strings.CutPrefix(pattern, FixturesPrefix); ok {
			builtin = append(builtin, name)
		} else {
			host = append(host, pattern)
		}
	}
	inputs, err := input.Expand(fixtures.Text, builtin)
	if err != nil {
		return nil, err
	}
	files, err := input.Expand(nil, host)
	if err != nil {
		return nil, err
	}
	return slices.Concat(inputs, files), nil
}
