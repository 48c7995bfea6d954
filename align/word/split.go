package word

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// Splitter says what the words of a text are.
type Splitter string

const (
	// Text is for plain text. A word is a run of letters, marks and digits; every other character that is not a space
	// is a word of its own, but a full stop, comma or colon between two digits belongs to its number. In scripts that
	// are written without spaces (Han, kana, Thai, Lao, Khmer, Burmese, Tibetan) each letter, with its marks, is a word.
	Text Splitter = "text"
	// Spaces is for text whose words have been separated by spaces: U+0020 alone, for other spaces can be words of
	// tokenised text. Such text must not be normalised before.
	Spaces Splitter = "spaces"
)

// Splitters are all splitters.
var Splitters = []Splitter{Text, Spaces}

// ParseSplitter finds a splitter by its name.
func ParseSplitter(name string) (Splitter, error) {
	if s := Splitter(name); slices.Contains(Splitters, s) {
		return s, nil
	}
	return "", badinput.Errorf("words %q is not known; choose text or spaces", name)
}

// Span is a word's bytes in its text: text[Start:End].
type Span struct{ Start, End int }

// Split appends the words of a text to spans, in order. They do not overlap.
func (s Splitter) Split(spans []Span, text string) []Span {
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == ' ', r == '\n', r == '\r', s == Text && unicode.IsSpace(r):
			i += width
			continue
		case s == Spaces:
			width = len(text) - i
			if end := strings.IndexAny(text[i:], " \r\n"); end >= 0 {
				width = end
			}
		case isUnspaced(r):
			width += marks(text[i+width:])
		case isWord(r):
			width = run(text[i:])
		}
		spans = append(spans, Span{i, i + width})
		i += width
	}
	return spans
}

// Prepare returns the form of a text that is split: corpus.Normalise's, but tokenised text as it is.
func (s Splitter) Prepare(text string) string {
	if s == Spaces {
		return text
	}
	return corpus.Normalise(text)
}

// Words returns the words of a text, which it prepares.
func (s Splitter) Words(text string) []string {
	text = s.Prepare(text)
	spans := s.Split(nil, text)
	words := make([]string, len(spans))
	for i, span := range spans {
		words[i] = strings.ToValidUTF8(text[span.Start:span.End], "\ufffd")
	}
	return words
}

// unspaced are the scripts that are written without spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan,
}

func isUnspaced(r rune) bool { return r >= 0x0e00 && unicode.IsLetter(r) && unicode.In(r, unspaced...) }

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || isJoiner(r)
}

// isJoiner reports whether r is ZWNJ or ZWJ, which spell Persian plurals and Indic conjuncts.
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

// marks is the length of the marks at the start of a text.
func marks(text string) int {
	for i, r := range text {
		if !unicode.IsMark(r) && !isJoiner(r) {
			return i
		}
	}
	return len(text)
}

// run is the length of the word at the start of a text.
func run(text string) int {
	digit := false // the last character was one
	for i, r := range text {
		if !isWord(r) || isUnspaced(r) {
			if !digit || r != '.' && r != ',' && r != ':' {
				return i
			}
			if next, _ := utf8.DecodeRuneInString(text[i+1:]); !unicode.IsDigit(next) {
				return i
			}
		}
		digit = unicode.IsDigit(r)
	}
	return len(text)
}
