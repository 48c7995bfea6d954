package surface

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reader reads the features of a text.
type reader struct {
	Features
	text, lower string
	negations   map[uint32]bool // hashes of the language's negation words
	negating    string          // its negation characters
	spelled     map[uint32]int  // values of the language's number words
	elides      bool            // words lose their last vowel before another, as in l'Europe
	inside      bool            // a word or number stands before in the sentence, and no mark that begins a quotation
	last        int             // letters of the last word
	tens        int             // 20, 30 and so on, if the last word is such a number
}

// maxAbbreviation is the number of letters up to which a word before a full stop is taken for an abbreviation.
const maxAbbreviation = 3

func (s *reader) read() {
	if s.negations != nil || s.negating != "" {
		s.Negation = Affirmed
	}
	for i := 0; i < len(s.text); {
		r, width := utf8.DecodeRuneInString(s.text[i:])
		switch {
		case IsDigit(r):
			width = s.number(i)
			s.inside, s.last, s.tens = true, maxAbbreviation+1, 0
		case IsWordLetter(r):
			width = s.word(i)
		default:
			s.mark(r)
			s.Length++
		}
		i += width
	}
	s.Capitals, s.Stems = distinct(s.Capitals), distinct(s.Stems)
}

// lowered is the text in lower case from a byte on.
func (s *reader) lowered(from int) string {
	if s.lower == "" {
		if s.lower = strings.ToLower(s.text); len(s.lower) != len(s.text) {
			s.lower = s.text // a letter whose cases have different lengths; it is rare
		}
	}
	return s.lower[from:]
}

// number reads the number at a byte and returns its length in bytes.
func (s *reader) number(at int) (length int) {
	s.Numbers, length = AppendNumbers(s.Numbers, s.lowered(at))
	s.Length += int32(utf8.RuneCountInString(s.text[at : at+length]))
	return length
}

// word reads the word at a byte and returns its length in bytes.
func (s *reader) word(at int) int {
	w, short := s.wordAt(at)
	text := s.text[at : at+w.Bytes]
	s.Length += int32(w.Runes)
	if s.negations[w.Hash] {
		s.Negation = Negated
	}
	s.spelledOut(w.Hash, at+w.Bytes)
	if w.Runes >= minStem {
		s.Stems = append(s.Stems, w.Stem)
	}
	inside := s.inside
	s.inside, s.last = true, w.Runes
	switch {
	case !w.Capital:
		s.Lower = append(s.Lower, w.Hash)
		return w.Bytes
	case short:
		return w.Bytes
	case w.Runes > 1 && strings.Trim(text, "IVXLC") == "":
		s.Numerals++
	}
	if w.Runes >= minName {
		s.Capitals = append(s.Capitals, w.Hash)
		if inside {
			s.Names = append(s.Names, Name{text, w.Hash, w.Stem})
		}
	}
	return w.Bytes
}

// wordAt is the word at a byte, and whether it lost its vowel: of l'Europe it is l', as Europe is a word of its own.
func (s *reader) wordAt(at int) (_ Word, short bool) {
	w := WordAt(s.text[at:])
	if !s.elides {
		return w, false
	}
	text := s.text[at : at+w.Bytes]
	end := strings.IndexAny(text, "'’")
	if end < 0 || !elided[strings.ToLower(text[:end])] {
		return w, false
	}
	_, width := utf8.DecodeRuneInString(text[end:])
	return WordAt(text[:end+width]), true
}

// spelledOut adds the number that a word is, if it is one. end is where the word ends, in bytes. Tens and a number
// below ten after them are one.
func (s *reader) spelledOut(word uint32, end int) {
	value := s.spelled[word]
	tens := s.tens
	s.tens = 0
	switch {
	case value == 0:
		return
	case tens > 0 && value < 10:
		value += tens
		s.Numbers = s.Numbers[:len(s.Numbers)-1]
	case value >= 20:
		s.tens = value
	}
	n := numberOf(strconv.Itoa(value))
	n.Word, n.Magnitude = true, multiplied(s.lowered(end))
	s.Numbers = append(s.Numbers, n)
}

// mark reads a character that is neither in a word nor in a number.
func (s *reader) mark(r rune) {
	if kind, ok := markOf(r); ok && s.Marks[kind] < 255 {
		s.Marks[kind]++
	}
	switch {
	case r == '.' && s.last <= maxAbbreviation:
	case strings.ContainsRune(".?!:…。？！：\"“„«‘‹「『", r):
		s.inside = false
	case r < utf8.RuneSelf:
	case unicode.IsLetter(r):
		s.inside = true
		if s.negating != "" && strings.ContainsRune(s.negating, r) {
			s.Negation = Negated
		}
		if IsNumeral(r) {
			s.Numerals++
		}
	}
}
