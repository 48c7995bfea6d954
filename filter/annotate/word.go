package annotate

import (
	"math"
	"math/bits"
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

// prefixing are the languages that write a prefix in small letters before the capital of a name: yaseNyakatho.
var prefixing = map[string]bool{"nd": true, "nr": true, "ss": true, "xh": true, "zu": true}

func glued(p *Pair) float64 {
	count := 0
	for _, sides := range [][2]*Sentence{{&p.Source, &p.Target}, {&p.Target, &p.Source}} {
		this, other := sides[0], sides[1]
		for i, t := range this.tokens {
			if !t.word || inLink(this, t) {
				continue
			}
			if (!prefixing[this.Language] && gluedInside(this.text(t)) || i > 0 && gluedByStop(this, this.tokens[i-1], t)) &&
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

// Width is the width of a character: how many letters of an alphabet say as much.
func Width(r rune) int {
	switch {
	case r < 0x1100:
		return 1
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return 3
	case unicode.Is(unicode.Hangul, r):
		return 2
	}
	return 1
}

// WidthOf is the width of a text.
func WidthOf(text string) int {
	width := 0
	for _, r := range text {
		width += Width(r)
	}
	return width
}

const (
	classes   = 12      // classes of length: the number of bits of a pair's width
	bins      = 1 << 10 // bins of the histogram of log ratios
	binsInOne = 128     // bins for a difference of 1 in the log ratio
)

// Lengths is the distribution of the log ratio of widths, target over source, of two languages. It is normal, with one
// median for all pairs and a standard deviation for each class of length, because the ratio of short pairs varies more.
// Both come from order statistics (median, median of absolute deviations), which wrong pairs hardly change as long as
// they are fewer than half, and lean on a prior where there are few pairs.
type Lengths struct {
	counts [classes][bins]uint32
	median float64
	scale  [classes]float64
}

// class is the class of the shorter side's width: 1, 2 to 3, 4 to 7 and so on.
func class(source, target int) int { return min(classes-1, bits.Len(uint(min(source, target)))) }

func logRatio(source, target int) float64 { return math.Log(float64(target+1) / float64(source+1)) }

// Add adds a pair of these widths.
func (l *Lengths) Add(source, target int) {
	bin := bins/2 + int(math.Floor(logRatio(source, target)*binsInOne))
	l.counts[class(source, target)][max(0, min(bins-1, bin))]++
}

// The prior, which counts as much as priorPairs pairs: a median of 0, and standard deviations about as Chinese and
// English news have them; those of German or French and English are a quarter to a half smaller.
const priorPairs = 30

// maxScale limits a standard deviation to this many times the prior's: a class that holds only wrong pairs must not
// make them usual.
const maxScale = 2

func priorScale(class int) float64 { return math.Sqrt(0.04 + 1.6/math.Exp2(float64(class))) }

// Fit computes the distribution from the pairs that were added.
func (l *Lengths) Fit() {
	var all [bins]uint32
	for c := range l.counts {
		for b, n := range l.counts[c] {
			all[b] += n
		}
	}
	n := total(&all)
	l.median = quantile(&all, n/2) * float64(n) / float64(n+priorPairs)
	for c := range l.counts {
		var deviations [bins]uint32
		for b, n := range l.counts[c] {
			off := math.Abs((float64(b-bins/2)+0.5)/binsInOne - l.median)
			deviations[min(bins-1, bins/2+int(off*binsInOne))] += n
		}
		n := float64(total(&deviations))
		spread := 1.4826 * quantile(&deviations, uint64(n)/2)
		prior := priorScale(c)
		l.scale[c] = min(maxScale*prior, math.Sqrt((n*spread*spread+priorPairs*prior*prior)/(n+priorPairs)))
	}
}

func total(counts *[bins]uint32) (n uint64) {
	for _, c := range counts {
		n += uint64(c)
	}
	return n
}

// quantile is the value below which rank of the counted ones are: the middle of its bin. It is 0 of none.
func quantile(counts *[bins]uint32, rank uint64) float64 {
	below := uint64(0)
	for b, n := range counts {
		if below += uint64(n); below > rank {
			return (float64(b-bins/2) + 0.5) / binsInOne
		}
	}
	return 0
}

// Deviation is how many standard deviations a pair's log ratio is above the median.
func (l *Lengths) Deviation(source, target int) float64 {
	return (logRatio(source, target) - l.median) / l.scale[class(source, target)]
}

// lengths compare how long the sides are.
var lengths = []Annotation{
	value("length_src", Count, 0, unlimited, "characters of the source", ofSource(func(s *Sentence) float64 { return float64(s.runes) })),
	value("length_tgt", Count, 0, unlimited, "characters of the target", ofTarget(func(s *Sentence) float64 { return float64(s.runes) })),
	value("words_src", Count, 0, unlimited, "words of the source; in scripts without spaces characters", ofSource(countTokens)),
	value("words_tgt", Count, 0, unlimited, "words of the target", ofTarget(countTokens)),
	value("length_ratio", Float, 1, 1000, "width of the longer side over that of the shorter", lengthRatio),
	value("length_z", Float, -20, 20, "standard deviations of the log ratio of widths, target over source, from its median in this bitext among pairs "+
		"of like length", func(p *Pair) float64 {
		if p.Known.Lengths == nil {
			return unknown
		}
		return p.Known.Lengths.Deviation(p.Source.width, p.Target.width)
	}),
}

func countTokens(s *Sentence) float64 { return float64(len(s.tokens)) }

func lengthRatio(p *Pair) float64 {
	a, b := float64(p.Source.width), float64(p.Target.width)
	if a == 0 || b == 0 {
		return math.Inf(1)
	}
	return max(a/b, b/a)
}
