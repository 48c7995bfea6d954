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
// more than maxLogLength, if they are not 1:1, are rejected: two random spans of many sentences have a score above 0.
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

// exceeds is the difference between a score and the best of other beads, 0 without other beads.
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

// fullSize is the number of sentences up to which every place is looked at.
const fullSize = 200

// level is a document at one size: vectors [n, dim] of length 1 and their mean distance from the other document.
type level struct {
	n, dim  int
	vectors []float32
	mean    []float32 // mean cosine with samples of the other document
}

func (l *level) vector(i int) []float32 { return l.vectors[i*l.dim:][:l.dim:l.dim] }

// halved is the document at half its size: sums of two neighbours, less the mean, of length 1.
func (l *level) halved() *level {
	h := &level{n: (l.n + 1) / 2, dim: l.dim}
	h.vectors = make([]float32, h.n*h.dim)
	mean := make([]float64, l.dim)
	for i := range l.n {
		into := h.vector(i / 2)
		for c, v := range l.vector(i) {
			into[c] += v
			mean[c] += float64(v)
		}
	}
	for i := range h.n {
		count := float64(min(2, l.n-2*i))
		v := h.vector(i)
		for c := range v {
			v[c] -= float32(mean[c] * count / float64(l.n))
		}
		normalise(v)
	}
	return h
}

func normalise(v []float32) {
	length := math.Sqrt(float64(dot(v, v)))
	if length < 1e-12 {
		return
	}
	for c := range v {
		v[c] /= float32(length)
	}
}

// compare computes both documents' mean cosines with samples of the other.
func compare(a, b *level, samples int) {
	a.mean = sample(b, samples).cosines(a.vectors)
	b.mean = sample(a, samples).cosines(b.vectors)
}

// sampled is sentences of a document that stand for any of them.
type sampled struct {
	mean  []float32 // its product with a vector is the mean of the samples' products with it
	few   []float32 // the vectors [n, dim] in a short document, else nil
	share float32   // how much of the nearest one is left out there, 0 to 1
}

// Where a document has few sentences, a sentence's translation is much of the mean cosine with them, so that the
// nearest is left out: wholly up to leaveOut sentences, and not at all from keepAll on.
const (
	leaveOut = 10
	keepAll  = 20
)

// sample takes up to so many sentences.
func sample(l *level, samples int) *sampled {
	sum := make([]float64, l.dim)
	n := min(l.n, samples)
	for s := range n {
		for c, v := range l.vector(s * l.n / n) {
			sum[c] += float64(v)
		}
	}
	out := &sampled{mean: make([]float32, l.dim)}
	for c := range out.mean {
		out.mean[c] = float32(sum[c] / float64(n))
	}
	if l.n < keepAll {
		out.few, out.share = l.vectors, min(1, float32(keepAll-l.n)/(keepAll-leaveOut))
	}
	return out
}

// cosines returns the mean cosine of each of the vectors [n, dim] with the samples; with a single one, which can only
// be the counterpart, 0.
func (s *sampled) cosines(vectors []float32) []float32 {
	dim := len(s.mean)
	means := make([]float32, len(vectors)/dim)
	for i := range means {
		v := vectors[i*dim:][:dim]
		means[i] = dot(v, s.mean)
		if s.few == nil {
			continue
		}
		n := float32(len(s.few) / dim)
		if n == 1 {
			means[i] = 0
			continue
		}
		nearest := float32(-1)
		for few := s.few; len(few) > 0; few = few[dim:] {
			nearest = max(nearest, dot(v, few[:dim]))
		}
		means[i] = (n*means[i] - s.share*nearest) / (n - s.share)
	}
	return means
}

// score returns the score of the bead of sentence i and sentence j.
func (l *level) score(other *level, i, j int) float32 {
	return score(dot(l.vector(i), other.vector(j)), l.mean[i], other.mean[j])
}

// dot is the product of two vectors of the same length, summed in eight parts, in a fixed order.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		s4 += a[4] * b[4]
		s5 += a[5] * b[5]
		s6 += a[6] * b[6]
		s7 += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	for i := range min(len(a), len(b)) {
		s0 += a[i] * b[i]
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}
