package annotate

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bitextmine/corpus/surface"
)

// numbers compare the numbers of the sides.
var numbers = []Annotation{
	value("numbers", Count, 0, unlimited, "numbers written in digits, both sides together", either(func(s *Sentence) int { return len(s.numbers) })),
	value("numbers_differ", Count, 0, unlimited, "numbers that the other side lacks. Separators, percent signs, dates, times of day, digits of other scripts and "+
		"words such as million are normalised; small and round numbers that a language may spell out count only if both sides have some", numbersDiffer),
	value("percent_differ", Count, 0, 1, "1 if one side has a percentage and the other has numbers but none", func(p *Pair) float64 {
		if len(p.Source.numbers) == 0 || len(p.Target.numbers) == 0 {
			return 0
		}
		return truth(percent(&p.Source) != percent(&p.Target))
	}),
}

// findNumbers reads the numbers outside of links.
func (s *Sentence) findNumbers() {
	if s.digits == 0 && s.letters == 0 {
		return
	}
	for i := 0; i < len(s.lower); {
		r, width := utf8.DecodeRuneInString(s.lower[i:])
		switch {
		case surface.IsDigit(r):
			s.numbers, width = surface.AppendNumbers(s.numbers, s.lower[i:])
		case surface.IsNumeral(r):
			s.numerals++
		}
		i += width
	}
	for _, t := range s.tokens {
		if t.capital && t.runes > 1 && strings.Trim(s.text(t), "IVXLC") == "" {
			s.numerals++
		}
	}
}

// numbersDiffer counts the numbers of both sides that have no partner.
func numbersDiffer(p *Pair) float64 {
	a, b := surface.UnpairedNumbers(p.Source.numbers, p.Target.numbers)
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

// percents are the words for a percent sign.
var percents = []string{"%", "％", "٪", "percent", "per cent", "prozent", "pour cent", "pourcent", "por ciento", "por cento", "per cento", "процент", "відсот", "procent", "百分之", "パーセント", "퍼센트"}

func percent(s *Sentence) bool {
	return slices.ContainsFunc(percents, func(word string) bool { return strings.Contains(s.lower, word) })
}
