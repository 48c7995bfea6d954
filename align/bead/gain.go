package bead

import "math"

// features describe a bead; each has its weight.
type features struct {
	one       float32 // 1 for 1:1 beads
	score     float32 // Bead.Score
	beside    float32 // mean score of either span and the sentences beside the other
	shrunk    float32 // by how much the score exceeds the best of the beads that lack an outer sentence
	grown     float32 // by how much it exceeds the best of the beads that have one sentence more
	logLength float32 // |log of the spans' lengths, of which the ratio of the documents' lengths is taken off|, at most 2
}

// weights of features: a structured perceptron's, averaged, which docs/documents.md describes.
var weights = features{one: 0.067, score: 1.234, beside: -0.9, shrunk: 0.305, grown: 0.218, logLength: -0.274}

// skipGain is that of a sentence without a counterpart.
const skipGain = -0.22

// times is the sum of features by their weights.
func (w *features) times(f *features) float32 {
	return w.one*f.one + w.score*f.score + w.beside*f.beside + w.shrunk*f.shrunk + w.grown*f.grown + w.logLength*f.logLength
}

// describe computes the features of the bead of x source sentences before i and y target sentences before j.
func (l *lattice) describe(i, x, j, y int, lengthRatio float64) (f features) {
	f.score, _ = l.score(i, x, j, y)
	if x+y == 2 {
		f.one = 1
	}
	for _, s := range [...][4]int{{i, x, j + 1, 1}, {i, x, j - y, 1}, {i + 1, 1, j, y}, {i - x, 1, j, y}} {
		v, _ := l.score(s[0], s[1], s[2], s[3]) // outside of the band it is random: 0
		f.beside += v / 4
	}
	f.shrunk = l.exceeds(f.score, [4][4]int{{i - 1, x - 1, j, y}, {i, x - 1, j, y}, {i, x, j - 1, y - 1}, {i, x, j, y - 1}})
	f.grown = l.exceeds(f.score, [4][4]int{{i + 1, x + 1, j, y}, {i, x + 1, j, y}, {i, x, j + 1, y + 1}, {i, x, j, y + 1}})
	f.logLength = float32(min(math.Abs(math.Log(lengthRatio)), 2))
	return f
}

// exceeds is by how much a score is higher than the best of other beads; 0 if there is none.
func (l *lattice) exceeds(score float32, others [4][4]int) float32 {
	best, any := float32(math.Inf(-1)), false
	for _, s := range others {
		if v, ok := l.score(s[0], s[1], s[2], s[3]); ok {
			best, any = max(best, v), true
		}
	}
	if !any {
		return 0
	}
	return score - best
}
