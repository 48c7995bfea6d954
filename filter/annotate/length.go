package annotate

import "math"

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
