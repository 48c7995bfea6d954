package shard

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
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

// maxNotUTF8 is the share of a file's lines that may be in another encoding before somebody is told.
const maxNotUTF8 = 0.05

// OtherCharset is the warning that many lines of a file are not UTF-8: it guesses their encoding by the languages, and
// says what to do. flag is the flag that names an encoding; empty: there is none. named is the encoding that the file
// was read in instead of UTF-8. Without many such lines the warning is empty.
func OtherCharset(file input.File, counts corpus.Counts, flag, named string, codes ...string) string {
	n, all := counts.Skipped[corpus.ReasonNotUTF8], max(counts.Lines, counts.Records)
	if float64(n) <= maxNotUTF8*float64(all) {
		return ""
	}
	if named != "" {
		return fmt.Sprintf("%d of %d lines of %s cannot be read as %s and are left out: correct them, or name another encoding with %s",
			n, all, file.Path, named, cmp.Or(flag, "--encoding"))
	}
	name := ""
	for i := 0; i < len(codes) && name == ""; i++ {
		name = Charset(file, codes[i])
	}
	what := fmt.Sprintf("%d of %d lines of %s are not UTF-8 and are left out", n, all, file.Path)
	switch {
	case name != "" && flag != "":
		return fmt.Sprintf("%s; they seem to be in %s: %s %s reads them", what, name, flag, name)
	case name != "":
		return fmt.Sprintf("%s; they seem to be in %s: convert the file (iconv -f %s -t UTF-8)", what, name, name)
	case flag != "":
		return what + ": say in which encoding they are with " + flag
	}
	return what + ": convert the file to UTF-8"
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
	return input.GuessCharset(bytes.Join(some, nil), code, func(text string) float64 {
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
