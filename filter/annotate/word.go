package annotate

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// words look at single words and their order.
var words = []Annotation{
	value("longest_word", Count, 0, unlimited, "characters of the longest word; characters of scripts without spaces are no words", func(p *Pair) float64 {
		return float64(max(longest(&p.Source), longest(&p.Target)))
	}),
	value("repeated", Count, 1, unlimited, "how often the same one to four words stand in succession at most, on the side with more", func(p *Pair) float64 {
		return float64(max(repeated(p.Source.tokens), repeated(p.Target.tokens)))
	}),
	value("repeated_differs", Count, 0, unlimited, "difference between the sides in that", func(p *Pair) float64 {
		a, b := repeated(p.Source.tokens), repeated(p.Target.tokens)
		return float64(max(a-b, b-a))
	}),
	value("glued", Count, 0, unlimited, "words with a capital after small letters (wordWord, end.Next) that the other side lacks, both sides together", glued),
	value("title", Float, 0, 1, "share of the words of four letters or more that begin with a capital, on the side with fewer, if neither side ends in a mark; "+
		"null where a script has no case", title),
}

func longest(s *Sentence) int {
	most := 0
	for _, t := range s.tokens {
		if t.word {
			most = max(most, t.runes)
		}
	}
	return most
}

// maxRepeat is the length in words of the longest sequence whose repetition is looked for.
const maxRepeat = 4

func repeated(tokens []token) int {
	most := 1
	for n := 1; n <= maxRepeat; n++ {
		matching := 0 // tokens in succession that are equal to the one n before
		for i := n; i < len(tokens); i++ {
			if tokens[i].hash != tokens[i-n].hash {
				matching = 0
				continue
			}
			matching++
			most = max(most, 1+matching/n)
		}
	}
	return most
}

// minGlued is the length in letters of the parts of a word that is taken to be glued.
const minGlued = 3

func glued(p *Pair) float64 {
	count := 0
	for _, sides := range [][2]*Sentence{{&p.Source, &p.Target}, {&p.Target, &p.Source}} {
		this, other := sides[0], sides[1]
		for i, t := range this.tokens {
			if !t.word || inLink(this, t) {
				continue
			}
			if (gluedInside(this.text(t)) || i > 0 && gluedByStop(this, this.tokens[i-1], t)) &&
				!slices.ContainsFunc(other.tokens, func(o token) bool { return o.hash == t.hash }) {
				count++
			}
		}
	}
	return float64(count)
}

// inLink reports whether a word is part of a URL or an address, which are spaces in the lower-case text.
func inLink(s *Sentence, t token) bool {
	return s.linked > 0 && len(s.lower) == len(s.Text) && s.lower[t.begin] == ' '
}

// gluedInside reports whether a word of several capitals looks like two: small letters, a capital, small letters.
func gluedInside(word string) bool {
	small := 0
	for i, r := range word {
		if unicode.IsUpper(r) && small >= minGlued {
			after := 0
			for _, next := range word[i+utf8.RuneLen(r):] {
				if !unicode.IsLower(next) {
					break
				}
				after++
			}
			if after >= minGlued-1 {
				return true
			}
		}
		if unicode.IsLower(r) {
			small++
		} else {
			small = 0
		}
	}
	return false
}

// gluedByStop reports whether a word ends a sentence and the next begins one without a space between.
func gluedByStop(s *Sentence, before, t token) bool {
	if t.begin != before.end+1 || !t.capital || before.runes < minGlued || t.runes < minGlued {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(s.Text[:before.end])
	_, width := utf8.DecodeRuneInString(s.Text[t.begin:])
	second, _ := utf8.DecodeRuneInString(s.Text[t.begin+width:])
	mark := s.Text[before.end]
	return (mark == '.' || mark == '!' || mark == '?' || mark == ',') && unicode.IsLower(last) && unicode.IsLower(second)
}

// minTitle is the length in letters of words that titles capitalise.
const minTitle = 4

func title(p *Pair) float64 {
	least := 1.0
	for _, s := range []*Sentence{&p.Source, &p.Target} {
		if s.cased == 0 {
			return unknown
		}
		all, capital := 0, 0
		for _, t := range s.tokens {
			if t.runes >= minTitle {
				all++
				if t.capital {
					capital++
				}
			}
		}
		if s.end() != endNone || all == 0 {
			return 0
		}
		least = min(least, float64(capital)/float64(all))
	}
	return least
}
