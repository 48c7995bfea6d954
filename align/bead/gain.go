package bead

import "math"

// features describe a bead; each has its weight. Scores are in parts of the documents' usual one.
type features struct {
	one    float32 // 1 for 1:1 beads
	score  float32 // Bead.Score
	beside float32 // mean score of either span and the sentences beside the other
	shrunk float32 // score less the best score of the beads without an outer sentence
	grown  float32 // score less the best score of the beads with one more sentence
	// |log of the spans' lengths, of which the ratio of the documents' lengths is taken off|, at most 2.
	logLength float32
	leak      float32 // linkTable.leak
	crossing  float32 // linkTable.crossing
	mark      float32 // 1 if both spans end with the same mark
	final     float32 // 1 if both end with a mark that ends sentences
}

// weighting says how much features and sentences without a counterpart count (docs/documents.md).
type weighting struct {
	features
	skipFirst float32 // gain of a sentence without a counterpart after a bead
	skipMore  float32 // gain of one after another
}

// marked is the weighting of documents whose marks count, unmarked that of the others.
var (
	marked = weighting{
		features: features{
			one: 0.162, score: 1, beside: -0.194, shrunk: 0.546, grown: 0.26, logLength: -0.933, leak: -0.6,
			crossing: -0.36, mark: 0.321, final: 0.278,
		},
		skipFirst: -0.815,
		skipMore:  -0.119,
	}
	unmarked = weighting{
		features: features{one: 0.322, score: 1, beside: -0.21, shrunk: 1.037, grown: 0.346, logLength: -0.823,
			leak: -0.58, crossing: -0.145},
		skipFirst: -0.62,
		skipMore:  -0.31,
	}
)

// weighting returns the weights for the lattice's documents.
func (l *lattice) weighting() *weighting {
	if l.endings == nil {
		return &unmarked
	}
	return &marked
}

// times is the sum of features by their weights.
func (w *features) times(f *features) float32 {
	return w.one*f.one + w.score*f.score + w.beside*f.beside + w.shrunk*f.shrunk + w.grown*f.grown +
		w.logLength*f.logLength + w.leak*f.leak + w.crossing*f.crossing + w.mark*f.mark + w.final*f.final
}

// Beads whose score is less than minScore, and minScoreMore for each sentence more than two, or whose lengths differ by
// more than maxLogLength, if they are not 1:1, are none: two random spans of many sentences have a score above 0.
const (
	minScore     = 0.15
	minScoreMore = 0.09
	maxLogLength = 1.6
)

// impossible is the gain of what is no bead.
var impossible = float32(math.Inf(-1))

// gain returns the gain of the bead of x source sentences before i and y target sentences before j.
func (l *lattice) gain(i, x, j, y int) float32 {
	score, _ := l.score(i, x, j, y)
	logLength := math.Abs(math.Log(l.ratio(i, x, j, y)))
	if score < minScore+minScoreMore*float32(x+y-2) || x+y > 2 && logLength > maxLogLength {
		return impossible
	}
	f := l.describe(i, x, j, y, score, logLength)
	return l.weighting().times(&f)
}

// describe computes the features of a bead.
func (l *lattice) describe(i, x, j, y int, score float32, logLength float64) features {
	f := features{score: score, logLength: float32(min(logLength, 2))}
	if x+y == 2 {
		f.one = 1
	}
	for _, s := range [...][4]int{{i, x, j + 1, 1}, {i, x, j - y, 1}, {i + 1, 1, j, y}, {i - x, 1, j, y}} {
		v, _ := l.score(s[0], s[1], s[2], s[3]) // outside of the band it is random: 0
		f.beside += v / 4
	}
	f.shrunk = l.exceeds(f.score,
		[4][4]int{{i - 1, x - 1, j, y}, {i, x - 1, j, y}, {i, x, j - 1, y - 1}, {i, x, j, y - 1}})
	f.grown = l.exceeds(f.score,
		[4][4]int{{i + 1, x + 1, j, y}, {i, x + 1, j, y}, {i, x, j + 1, y + 1}, {i, x, j, y + 1}})
	f.leak, f.crossing = l.links.leak(i, x, j, y), l.links.crossing(i, x, j, y)
	f.mark, f.final = l.endings.compare(l.source.First+i-1, l.target.First+j-1)
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
