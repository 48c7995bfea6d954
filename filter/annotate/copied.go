package annotate

import (
	"slices"

	"bitextmine/corpus/surface"
)

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
