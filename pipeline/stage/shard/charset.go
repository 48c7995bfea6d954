package shard

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/shard"
	"bitextmine/filter/language"
	"bitextmine/internal/badinput"
)

// guessBytes and guessLines bound what is looked at.
const guessBytes, guessLines = 1 << 20, 200

// withCharset adds the encoding that a text seems to be in to the error for one that is not UTF-8.
func withCharset(err error, texts []shard.Text, code string) error {
	if !errors.Is(err, corpus.ErrNotUTF8) {
		return err
	}
	for _, t := range texts {
		if !strings.HasPrefix(err.Error(), t.File.Path+":") {
			continue
		}
		if name := Charset(t.File, code); name != "" {
			return badinput.Errorf("%w, which seems to be %s", err, name)
		}
	}
	return err
}

// Charset guesses the encoding of a file's lines that are not UTF-8; empty: it cannot tell.
func Charset(file input.File, code string) string {
	r, err := input.OpenDecompressed(file)
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(r, guessBytes))
	if err = errors.Join(err, r.Close()); err != nil {
		return ""
	}
	var some [][]byte
	for line := range bytes.Lines(text) {
		if !utf8.Valid(line) && len(some) < guessLines {
			some = append(some, line)
		}
	}
	identifier := language.For("")
	return corpus.GuessCharset(bytes.Join(some, nil), code, func(text string) float64 {
		own, all := 0, 0
		for line := range strings.Lines(text) {
			all++
			if language.Same(code, identifier.Identify(line).Code) {
				own++
			}
		}
		return float64(own) / float64(max(all, 1))
	})
}
