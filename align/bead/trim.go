package bead

import "math"

// A bead of several sentences is replaced by the part of it that has the greatest fit, if that is enough above the
// bead's. The fit is the score less trimLength times |log r|, where r is the ratio of the spans' lengths over that of
// the documents' lengths: both terms improve where a sentence without a translation is left out. Enough is trimGain,
// and trimFree times what the documents' usual score is below trimUsual: where people translated freely, a part of a
// translation is often nearer than all of it. The numbers were chosen on documents with sentences left out, in six
// languages with English, and on Bleualign's set (bench/results/documents.md).
const (
	trimLength = 0.1
	trimGain   = 0.02
	trimFree   = 1
	trimUsual  = 0.62
)

// trimmed leaves out of beads the outer sentences that the other side does not translate. They become deletions.
func (l *lattice) trimmed(beads []Bead) []Bead {
	out := make([]Bead, 0, len(beads))
	for _, b := range beads {
		part := b
		if b.Source.Count+b.Target.Count > 2 && !b.Deletion() {
			part = l.bestPart(b)
		}
		out = append(out, deletions(
			Span{b.Source.First, part.Source.First - b.Source.First}, Span{b.Target.First, part.Target.First - b.Target.First})...)
		out = append(out, part)
		out = append(out, deletions(
			Span{part.Source.End(), b.Source.End() - part.Source.End()}, Span{part.Target.End(), b.Target.End() - part.Target.End()})...)
	}
	return out
}

// bestPart returns the part of a bead that replaces it, or the bead. Of equal parts the first and longest counts.
func (l *lattice) bestPart(b Bead) Bead {
	best, bestFit := b, l.fit(b)+trimGain+trimFree*float64(max(trimUsual-l.usual, 0))
	for first := b.Source.First; first < b.Source.End(); first++ {
		for x := b.Source.End() - first; x > 0; x-- {
			for other := b.Target.First; other < b.Target.End(); other++ {
				for y := b.Target.End() - other; y > 0; y-- {
					i, j := first+x-l.source.First, other+y-l.target.First
					if l.band.at(i, j) < 0 {
						continue
					}
					part := l.bead(i, x, j, y)
					if fit := l.fit(part); fit > bestFit {
						best, bestFit = part, fit
					}
				}
			}
		}
	}
	return best
}

// fit rates a bead among the parts of one.
func (l *lattice) fit(b Bead) float64 {
	ratio := l.ratio(b.Source.End()-l.source.First, b.Source.Count, b.Target.End()-l.target.First, b.Target.Count)
	return float64(b.Score()) - trimLength*math.Abs(math.Log(ratio))
}
