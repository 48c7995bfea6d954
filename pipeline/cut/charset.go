package cut

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/filter/language"
	"bitextmine/pipeline/plan"
)

const (
	// maxNotUTF8 is the share of a file's lines that may be in another encoding before somebody is told.
	maxNotUTF8 = 0.05
	// guessBytes and guessLines bound what is looked at.
	guessBytes, guessLines = 1 << 20, 200
)

// otherCharset says that many lines of a file are not UTF-8, in which encoding they seem to be and what to type; empty:
// they are not many.
func otherCharset(whole *plan.Language, in *plan.Input, counts corpus.Counts, flag string) string {
	n := counts.Skipped[corpus.ReasonNotUTF8]
	if float64(n) <= maxNotUTF8*float64(max(counts.Lines, counts.Records)) {
		return ""
	}
	what := fmt.Sprintf("%d of %d lines of %s are not UTF-8 and are left out", n, max(counts.Lines, counts.Records), in.Path)
	name := guessed(in.Source(), whole.Code)
	if name == "" {
		return what + ": say in which encoding they are with " + flag
	}
	return fmt.Sprintf("%s; they seem to be in %s: %s %s reads them", what, name, flag, name)
}

// guessed guesses the encoding of a file's lines that are not UTF-8; empty: it cannot tell.
func guessed(file input.File, code string) string {
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
	return corpus.GuessCharset(bytes.Join(some, nil), func(text string) float64 {
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
