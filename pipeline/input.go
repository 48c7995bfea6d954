package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
)

// FixturesPrefix begins the name of a text that the program carries.
const FixturesPrefix = "fixtures:"

// sides finds the input files of both sides and takes their digests.
func (c *Config) sides() (sides [2]plan.Side, err error) {
	for s, target := range []bool{false, true} {
		language, patterns, flag := c.side(target)
		inputs, err := expand(patterns, language, flag)
		if err != nil {
			return sides, err
		}
		sides[s] = plan.Side{Name: [...]string{"src", "tgt"}[s], Language: language}
		for _, in := range inputs {
			size, sum, err := digestInput(in)
			if err != nil {
				return sides, err
			}
			sides[s].Inputs = append(sides[s].Inputs, plan.Input{Path: in.Path, Builtin: in.FS != nil, Bytes: size, SHA256: sum})
		}
	}
	return sides, nil
}

// Inputs lists the input files of both sides.
func (c *Config) Inputs() (source, target []corpus.Input, err error) {
	language, patterns, flag := c.side(false)
	if source, err = expand(patterns, language, flag); err != nil {
		return nil, nil, err
	}
	language, patterns, flag = c.side(true)
	target, err = expand(patterns, language, flag)
	return source, target, err
}

// expand lists the input files of one side; flag is the one that names them.
func expand(patterns []string, language, flag string) ([]corpus.Input, error) {
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
	inputs, err := corpus.Expand(fixtures.Text, builtin)
	if err != nil {
		return nil, err
	}
	files, err := corpus.Expand(nil, host)
	if err != nil {
		return nil, err
	}
	return slices.Concat(inputs, files), nil
}

// digestInput returns an input's size and the hex SHA-256 of its bytes as they are.
func digestInput(in corpus.Input) (int64, string, error) {
	var f fs.File
	var err error
	if in.FS == nil {
		f, err = os.Open(in.Path)
	} else {
		f, err = in.FS.Open(in.Path)
	}
	if err != nil {
		return 0, "", badinput.Errorf("%s cannot be opened: %w", in.Path, err)
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, "", fmt.Errorf("read %s: %w", in.Path, err)
	}
	return size, hex.EncodeToString(h.Sum(nil)), nil
}
