package annotate

import (
	"slices"
	"strings"

	"bitextmine/corpus/surface"
)

// Pair is a pair that was read.
type Pair struct {
	Source, Target Sentence
	Known          Known
}

// Reader reads pairs of two languages. The languages may be empty, which means unknown. It reuses its memory: a pair is
// valid until the next one is read. One goroutine may use it.
type Reader struct {
	pair Pair
}

// Read reads a pair.
func (r *Reader) Read(source, target, sourceLanguage, targetLanguage string, known Known) *Pair {
	r.pair.Known = known
	r.pair.Source.read(source, sourceLanguage)
	r.pair.Target.read(target, targetLanguage)
	return &r.pair
}

// either sums a property of both sides.
func either(of func(s *Sentence) int) func(p *Pair) float64 {
	return func(p *Pair) float64 { return float64(of(&p.Source) + of(&p.Target)) }
}

// higher is the higher of both sides' values.
func higher(of func(s *Sentence) float64) func(p *Pair) float64 {
	return func(p *Pair) float64 { return max(of(&p.Source), of(&p.Target)) }
}

// ofSource and ofTarget take a property of one side.
func ofSource(of func(s *Sentence) float64) func(p *Pair) float64 {
	return func(p *Pair) float64 { return of(&p.Source) }
}

func ofTarget(of func(s *Sentence) float64) func(p *Pair) float64 {
	return func(p *Pair) float64 { return of(&p.Target) }
}

// whole are the annotations that the first pass gives.
var whole = []Annotation{
	value("group", Row, 0, 1<<53, "row, from 1, of the first pair of the group of near-duplicates; its own row if no pair before it is like it", func(p *Pair) float64 { return float64(p.Known.First) }),
	value("copy", Count, 0, 2, "2 if an earlier pair is the same apart from case, accents, punctuation and spaces, 1 if one is nearly the same, whatever its digits, 0 if none is", func(p *Pair) float64 { return float64(p.Known.Copy) }),
	value("uses_src", Count, 0, unlimited, "rows in which the source stands", func(p *Pair) float64 { return float64(p.Known.SourceUses) }),
	value("uses_tgt", Count, 0, unlimited, "rows in which the target stands", func(p *Pair) float64 { return float64(p.Known.TargetUses) }),
}

// numbers compare the numbers of the sides.
var numbers = []Annotation{
	value("numbers", Count, 0, unlimited, "numbers written in digits, both sides together", either(func(s *Sentence) int { return len(s.numbers) })),
	value("numbers_differ", Count, 0, unlimited, "numbers that the other side lacks. Separators, percent signs, dates, times of day, digits of other scripts and "+
		"words such as million are normalised; small and round numbers that a language may spell out count only if both sides have some", numbersDiffer),
	value("percent_differ", Count, 0, 1, "1 if one side has a percentage and the other has numbers but none; null where the other's language has a word for it "+
		"that is not listed", percentDiffers),
}

// findNumbers reads the numbers outside of links.
func (s *Sentence) findNumbers() {
	if s.digits == 0 && s.letters == 0 {
		return
	}
	text := surface.Plain(s.lower)
	s.numbers = appendNumbers(s.numbers, text)
	for _, r := range text {
		if surface.IsNumeral(r) {
			s.numerals++
		}
	}
	for _, t := range s.tokens {
		if t.capital && t.runes > 1 && strings.Trim(s.text(t), "IVXLC") == "" {
			s.numerals++
		}
	}
}

// numbersDiffer counts the numbers of both sides that have no partner.
func numbersDiffer(p *Pair) float64 {
	least := unpaired(p, p.Source.numbers, p.Target.numbers)
	if least == 0 {
		return least
	}
	source, changedSource := otherwise(&p.Source)
	target, changedTarget := otherwise(&p.Target)
	if changedSource || changedTarget {
		least = min(least, unpaired(p, source, target))
	}
	return least
}

// unpaired counts the numbers that have no partner, of two lists of both sides' numbers.
func unpaired(p *Pair, source, target []surface.Number) float64 {
	a, b := surface.UnpairedNumbers(source, target)
	smallA, largeA := bySize(a)
	smallB, largeB := bySize(b)
	// A number may be written in Han characters or as a Roman one on the other side.
	largeA, largeB = max(0, largeA-p.Target.numerals), max(0, largeB-p.Source.numerals)
	return float64(largeA + largeB + 2*min(smallA, smallB))
}

// bySize counts the numbers that are often spelled out, and the others.
func bySize(list []surface.Number) (small, large int) {
	for _, n := range list {
		if n.Small {
			small++
		} else {
			large++
		}
	}
	return small, large
}

// copies tell sides that are the same text.
var copies = []Annotation{
	value("identical", Count, 0, 1, "1 if the sides are the same apart from case, accents, punctuation and spaces", func(p *Pair) float64 {
		return truth(len(p.Source.tokens) > 0 && len(p.Source.numbers) == len(p.Target.numbers) && sameTokens(p.Source.tokens, p.Target.tokens))
	}),
	value("overlap", Float, 0, 1, "share of the words of the side with more words that the other has too", overlap),
	value("common_run", Float, 0, 1, "longest run of words that stands in both sides, as a share of the words of the side with more", commonRun),
}

func sameTokens(a, b []token) bool {
	return slices.EqualFunc(a, b, func(x, y token) bool { return x.hash == y.hash })
}

// maxTokens is how many words of a side are compared: the rest of a side that is longer is ignored.
const maxTokens = 512

func overlap(p *Pair) float64 {
	a, b := hashes(&p.Source), hashes(&p.Target)
	slices.Sort(a)
	slices.Sort(b)
	return float64(surface.Common(a, b)) / float64(max(1, len(a), len(b)))
}

func hashes(s *Sentence) []uint32 {
	out := make([]uint32, 0, 64)
	for _, t := range s.tokens[:min(len(s.tokens), maxTokens)] {
		out = append(out, t.hash)
	}
	return out
}

func commonRun(p *Pair) float64 {
	a, b := p.Source.tokens[:min(len(p.Source.tokens), maxTokens)], p.Target.tokens[:min(len(p.Target.tokens), maxTokens)]
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	var rows [2][maxTokens + 1]uint16
	longest := uint16(0)
	for i := range a {
		before, now := &rows[i&1], &rows[1-i&1]
		for j := range b {
			now[j+1] = 0
			if a[i].hash == b[j].hash {
				now[j+1] = before[j] + 1
				longest = max(longest, now[j+1])
			}
		}
	}
	return float64(longest) / float64(max(len(a), len(b)))
}
