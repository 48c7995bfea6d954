// Package split finds the sentences of a text by segmentation rules in SRX 2.0, the format of translation tools.
//
// A place between two characters is judged by the rules of the text's language, in order: the first rule whose pattern
// before the place and pattern after it match says whether there is a break. Where no rule matches, there is none.
// White space at a break belongs to neither sentence. A line end always ends a sentence, unless lines are wrapped; then
// an empty line does.
//
// Rules are regular expressions in Java's and ICU's dialect. What Go's engine has no equivalent for, lookaround and
// backreferences, is refused by the rule's name. Patterns that are only sequences of characters, classes and words,
// nearly all of them, are matched without an engine; a scan over bytes finds the places where any rule could break.
//
// # Spaces
//
// Spaces says which spaces end a sentence, for languages like Thai that write a space between sentences, but
// between clauses and around numbers and names, too, and no full stop.
//
// A space is described by the characters on either side of it, by the lengths of what stands between it and the spaces
// before and after, and by what stands around those. Each of these features has a weight, found by its hash; the space
// ends a sentence if their sum is above 0. Fit finds the weights by text without marked sentences: it knows the ends of
// paragraphs only (thai.md has the text and the figures).
package split

import (
	"context"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rule says whether there is a break where both of its patterns match.
type rule struct {
	breaks        bool
	before, after *pattern
}

func newRule(breaks bool, before, after string) (rule, error) {
	r := rule{breaks: breaks}
	var err error
	if r.before, err = newPattern(before, false); err != nil {
		return r, err
	}
	r.after, err = newPattern(after, true)
	return r, err
}

// Sentence is a part of a text: bytes Start to before End, without white space at its ends.
type Sentence struct {
	Start, End int
	Paragraph  int // paragraph of the text, from 0
	Position   int // index among the text's sentences, from 0
}

// Splitter divides texts by the rules of a language. It may be used by several goroutines at once.
type Splitter struct {
	rules []rule
	// The characters that may be before and after a break, by the rules that break. may has the last bytes of the former,
	// by which nearly all places are passed over.
	before, after runes
	may           [256]bool
	near          [2]nearRules // rules by the character before a place, and by the character after it
	breaking      []uint64     // the rules that break, a bit each
	spaces        *SpaceModel  // finds spaces that end a sentence besides the rules; nil: none
}

func newSplitter(rules []rule) *Splitter {
	s := &Splitter{rules: rules}
	var edges [2][]*charset
	s.breaking = make([]uint64, (len(rules)+63)/64)
	for k, r := range rules {
		edges[0], edges[1] = append(edges[0], r.before.edge), append(edges[1], r.after.edge)
		if r.breaks {
			s.before.add(r.before.edge)
			s.after.add(r.after.edge)
			s.breaking[k/64] |= 1 << (k % 64)
		}
	}
	s.near = [2]nearRules{newNearRules(edges[0]), newNearRules(edges[1])}
	var buf [utf8.UTFMax]byte
	for r := range rune(unicode.MaxRune + 1) {
		if s.before.has(r) {
			s.may[buf[utf8.EncodeRune(buf[:], r)-1]] = true
		}
		if r == 0x10fff { // whatever is beyond has all last bytes, and counts as one
			break
		}
	}
	return s
}

// runes is a set of characters, which has either all or none beyond the basic plane.
type runes struct {
	bits   [1 << 16 / 64]uint64
	beyond bool
}

// add adds a class; nil is all characters.
func (s *runes) add(c *charset) {
	ranges := []rune{0, unicode.MaxRune}
	if c != nil {
		ranges = c.ranges
	}
	for k := 0; k < len(ranges); k += 2 {
		for r := ranges[k]; r <= min(ranges[k+1], 1<<16-1); r++ {
			s.bits[r/64] |= 1 << (r % 64)
		}
		s.beyond = s.beyond || ranges[k+1] >= 1<<16
	}
}

func (s *runes) has(r rune) bool {
	if r >= 1<<16 {
		return s.beyond
	}
	return s.bits[r/64]>>(r%64)&1 == 1
}

// Options say what a text looks like.
type Options struct {
	// Wrapped is true if lines end anywhere, as in files of fixed width: then only an empty line ends a paragraph.
	Wrapped bool
}

// Divider divides texts into sentences: by rules, or by a model.
type Divider interface {
	// Divide adds the sentences of a text, in order. It may be called from several goroutines at once.
	Divide(ctx context.Context, dst []Sentence, text string, o Options) ([]Sentence, error)
}

// Divide is Append.
func (s *Splitter) Divide(_ context.Context, dst []Sentence, text string, o Options) ([]Sentence, error) {
	return s.Append(dst, text, o), nil
}

// Append adds the sentences of a text, in order. Paragraphs are lines, or what empty lines divide.
func (s *Splitter) Append(dst []Sentence, text string, o Options) []Sentence {
	return paragraphs(dst, text, o, s.paragraph)
}

// At adds the sentences of a text that ends, in ascending order, and the ends of its paragraphs divide.
func At(dst []Sentence, text string, ends []int, o Options) []Sentence {
	return paragraphs(dst, text, o, func(dst []Sentence, paragraph string, at int) []Sentence {
		from := 0
		for len(ends) > 0 && ends[0] < at+len(paragraph) {
			if end := ends[0] - at; end > from {
				dst = appendTrimmed(dst, paragraph, from, end, at)
				from = end
			}
			ends = ends[1:]
		}
		return appendTrimmed(dst, paragraph, from, len(paragraph), at)
	})
}

// paragraphs adds the sentences that divide finds in each paragraph, which begins at a place of the text.
func paragraphs(dst []Sentence, text string, o Options,
	divide func(dst []Sentence, paragraph string, at int) []Sentence) []Sentence {
	paragraph, position := 0, 0
	for from := 0; from < len(text); {
		to := paragraphEnd(text, from, o.Wrapped)
		before := len(dst)
		dst = divide(dst, text[from:to], from)
		for k := before; k < len(dst); k++ {
			dst[k].Paragraph, dst[k].Position = paragraph, position
			position++
		}
		if len(dst) > before {
			paragraph++
		}
		from = to
	}
	return dst
}

// paragraphEnd is the place after the line end that ends the paragraph.
func paragraphEnd(text string, from int, wrapped bool) int {
	for {
		length := strings.IndexByte(text[from:], '\n')
		if length < 0 {
			return len(text)
		}
		line := text[from : from+length]
		from += length + 1
		if !wrapped || strings.Trim(line, " \t\r") == "" {
			return from
		}
	}
}

// paragraph adds the sentences of a paragraph, which begins at a place of the text.
func (s *Splitter) paragraph(dst []Sentence, text string, at int) []Sentence {
	if s.spaces != nil {
		return s.atSpaces(dst, text, at)
	}
	from := 0
	for i := range len(text) - 1 {
		if !s.may[text[i]] || !utf8.RuneStart(text[i+1]) || !s.breaksAt(text, i+1) {
			continue
		}
		dst = appendTrimmed(dst, text, from, i+1, at)
		from = i + 1
	}
	return appendTrimmed(dst, text, from, len(text), at)
}

// atSpaces is paragraph for a language whose sentences end at spaces, where the model decides what rules leave open.
func (s *Splitter) atSpaces(dst []Sentence, text string, at int) []Sentence {
	begin := 0
	for from, to := range Spaces(text) {
		if s.endsAt(text, from, to) {
			dst = appendTrimmed(dst, text, begin, from, at)
			begin = to
		}
	}
	return appendTrimmed(dst, text, begin, len(text), at)
}

func (s *Splitter) endsAt(text string, from, to int) bool {
	for k := range s.rules {
		if r := &s.rules[k]; r.after.matches(text, from) && r.before.matches(text, from) {
			return r.breaks
		}
	}
	return s.spaces.Ends(text, from, to)
}

// breaksAt applies the rules at a place within a text: the first one that matches decides.
func (s *Splitter) breaksAt(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	if !s.before.has(before) || !s.after.has(after) {
		return false
	}
	for word, breaking := range s.breaking {
		near := s.near[1].among(s.near[0].among(^uint64(0), word, before), word, after)
		if word == len(s.breaking)-1 && !s.mayMatch(near&breaking, word, text, at) {
			return false // most full stops within sentences end here
		}
		for ; near != 0; near &= near - 1 {
			r := &s.rules[64*word+bits.TrailingZeros64(near)]
			if r.after.matches(text, at) && r.before.matches(text, at) {
				return r.breaks
			}
		}
	}
	return false
}

// mayMatch looks at a character or two after a place for some rules of a word.
func (s *Splitter) mayMatch(rules uint64, word int, text string, at int) bool {
	for ; rules != 0; rules &= rules - 1 {
		if s.rules[64*word+bits.TrailingZeros64(rules)].after.mayMatch(text, at) {
			return true
		}
	}
	return false
}

// appendTrimmed adds what is between the places, if it is more than white space.
func appendTrimmed(dst []Sentence, text string, from, to, at int) []Sentence {
	for from < to {
		r, width := rune(text[from]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[from:to])
		}
		if !unicode.IsSpace(r) {
			break
		}
		from += width
	}
	for from < to {
		r, width := rune(text[to-1]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeLastRuneInString(text[from:to])
		}
		if !unicode.IsSpace(r) {
			break
		}
		to -= width
	}
	if from == to {
		return dst
	}
	return append(dst, Sentence{Start: at + from, End: at + to})
}
