// Package words finds the words of tokenised sentences, and the words of a sentence pair that are translations of each
// other.
//
// A word of package align/word becomes the tokens that spell it. Words that share a token are one word: "l'" is one
// where it is one token, and of text without spaces, in which align/word has letters, the tokens are the words.
package words

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"bitextmine/align/word"

	"bitextmine/encode/tokenizer"
)

// Span is the tokens [Begin, End) of a sentence, special tokens counted.
type Span struct{ Begin, End uint16 }

// Link joins a word of a source and a word of its target.
type Link struct{ Source, Target uint16 }

// Pair is the words of a sentence pair, in order, and their links, ascending.
type Pair struct {
	Source, Target []Span
	Links          []Link
}

// Swapped is the pair with its sides exchanged.
func (p Pair) Swapped() Pair {
	links := make([]Link, len(p.Links))
	for i, l := range p.Links {
		links[i] = Link{l.Target, l.Source}
	}
	slices.SortFunc(links, compare)
	return Pair{p.Target, p.Source, links}
}

func compare(a, b Link) int {
	if a.Source != b.Source {
		return int(a.Source) - int(b.Source)
	}
	return int(a.Target) - int(b.Target)
}

// Sentence is the words of one side.
type Sentence struct {
	Words []Span
	// Of is the place in Words of each word of align/word, or -1 if the word is not complete: it was truncated, or is a
	// part of a prefix.
	Of []int32
}

// Join makes a pair of two sentences and links between words of align/word, of which those below a score are left out.
// Links must be inside the sentences.
func Join(source, target Sentence, links []word.Link, minScore float64) Pair {
	p := Pair{Source: source.Words, Target: target.Words}
	for _, l := range links {
		a, b := source.Of[l.Source], target.Of[l.Target]
		if a >= 0 && b >= 0 && float64(l.Score) >= minScore {
			p.Links = append(p.Links, Link{uint16(a), uint16(b)})
		}
	}
	slices.SortFunc(p.Links, compare)
	p.Links = slices.Compact(p.Links)
	return p
}

// Speller finds the words of tokenised sentences. It may be used by any number of goroutines.
type Speller struct {
	Splitter word.Splitter
	Pieces   []string // spelling of each token, as SentencePiece has it
	Unknown  int32    // token of text that has no piece
}

// Spell finds the words of a text, given its own tokens, before which first special tokens stand. prefix is text that
// was put before the text. It returns false if the tokens do not spell the text. Both are compared in lower case and
// in Unicode's NFKC, which SentencePiece's models apply.
func (s *Speller) Spell(prefix, text string, tokens []int32, first int) (Sentence, bool) {
	spelled, before := s.letters(prefix+text), len(s.letters(prefix).runes)
	spelled.ends = spelled.ends[len(s.letters(prefix).ends):]
	ranges, covered, ok := s.match(spelled.runes, tokens)
	if !ok {
		return Sentence{}, false
	}
	var out Sentence
	token, begin := 0, before
	for _, end := range spelled.ends {
		for token < len(ranges) && ranges[token].end <= begin {
			token++
		}
		last := token
		for last < len(ranges) && ranges[last].begin < end {
			last++
		}
		complete := end > begin && end <= covered && ranges[token].begin >= before
		begin = end
		if !complete {
			out.Of = append(out.Of, -1)
			continue
		}
		span := Span{uint16(first + token), uint16(first + last)}
		if n := len(out.Words); n > 0 && span.Begin < out.Words[n-1].End {
			out.Words[n-1].End = span.End
		} else {
			out.Words = append(out.Words, span)
		}
		out.Of = append(out.Of, int32(len(out.Words)-1))
	}
	return out, true
}

// letters are the characters of a text's words.
type letters struct {
	runes []rune
	ends  []int // end of each word in runes
}

func (s *Speller) letters(text string) (out letters) {
	for _, span := range s.Splitter.Split(nil, text) {
		out.runes = appendLetters(out.runes, text[span.Start:span.End])
		out.ends = append(out.ends, len(out.runes))
	}
	return out
}

// space is SentencePiece's character for a space.
const space = '\u2581'

// appendLetters appends the characters of a text that are compared: all but spaces.
func appendLetters(runes []rune, text string) []rune {
	for _, r := range tokenizer.Lowercase(norm.NFKC.String(text)) {
		if r != ' ' && r != space {
			runes = append(runes, r)
		}
	}
	return runes
}

// extent is the characters [begin, end) of a token.
type extent struct{ begin, end int }

// match finds the characters of each token and the number of characters that all tokens cover.
func (s *Speller) match(letters []rune, tokens []int32) (ranges []extent, covered int, ok bool) {
	ranges = make([]extent, len(tokens))
	at, unknown := 0, 0 // characters before the token; unknown tokens just before it
	for t, id := range tokens {
		if s.isUnknown(id) {
			unknown++
			continue
		}
		piece := appendLetters(nil, s.Pieces[id])
		begin := at
		if unknown > 0 && len(piece) > 0 {
			if begin = find(letters, piece, at+1); begin < 0 {
				return nil, 0, false
			}
			share(ranges[t-unknown:t], at, begin)
			unknown = 0
		}
		if unknown > 0 { // and a space, which belongs to no word
			unknown++
			continue
		}
		if !startsWith(letters[begin:], piece) {
			return nil, 0, false
		}
		at = begin + len(piece)
		ranges[t] = extent{begin, at}
	}
	if unknown > 0 {
		share(ranges[len(tokens)-unknown:], at, len(letters))
		at = len(letters)
	}
	return ranges, at, true
}

// isUnknown reports whether a token does not determine its characters: the unknown one, or one for a byte.
func (s *Speller) isUnknown(id int32) bool {
	if id == s.Unknown || id < 0 || int(id) >= len(s.Pieces) {
		return true
	}
	piece := s.Pieces[id]
	return len(piece) == 6 && strings.HasPrefix(piece, "<0x") && piece[5] == '>'
}

// share divides characters between tokens.
func share(ranges []extent, begin, end int) {
	n := len(ranges)
	for i := range ranges {
		ranges[i] = extent{begin + i*(end-begin)/n, begin + ((i+1)*(end-begin)+n-1)/n}
	}
}

// find returns the first place of a piece from a place on, or -1.
func find(letters, piece []rune, from int) int {
	for at := from; at+len(piece) <= len(letters); at++ {
		if startsWith(letters[at:], piece) {
			return at
		}
	}
	return -1
}

func startsWith(letters, piece []rune) bool {
	return len(letters) >= len(piece) && slices.Equal(letters[:len(piece)], piece)
}
