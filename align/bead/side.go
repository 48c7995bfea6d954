package bead

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Side is a document and its encoder. A sentence must not be empty.
type Side struct {
	Sentences []string
	Dim       int
	// Encode writes the vectors of texts, of length 1, to dst [len(texts), Dim]. It is called for the sentences first, and
	// once more for each piece of the document, with its longer spans.
	Encode func(ctx context.Context, texts []string, dst []float32) error
}

// document is a side whose sentences are encoded.
type document struct {
	Side
	*level
	begins []int // characters before each sentence, and before the end
}

func (s Side) open(ctx context.Context) (*document, error) {
	d := &document{Side: s, level: &level{n: len(s.Sentences), dim: s.Dim}, begins: make([]int, len(s.Sentences)+1)}
	for i, text := range s.Sentences {
		d.begins[i+1] = d.begins[i] + utf8.RuneCountInString(text)
	}
	d.vectors = make([]float32, d.n*d.dim)
	if err := s.Encode(ctx, s.Sentences, d.vectors); err != nil {
		return nil, fmt.Errorf("encode sentences: %w", err)
	}
	return d, nil
}

// chars is the number of characters of count sentences from first.
func (d *document) chars(first, count int) int { return d.begins[first+count] - d.begins[first] }

// The documents' lengths do not tell how long a translation is where one has much that the other lacks: if their ratio
// is over mostUneven times that of at least minEven sentences that the path pairs, or as little, that holds.
const (
	mostUneven = 1.5
	minEven    = 5
)

// lengthRatio returns the length of the source over that of its translation.
func (a *aligner) lengthRatio(path []place) float64 {
	ratio := func(source, target int) float64 { return float64(source+1) / float64(target+1) }
	whole := ratio(a.source.chars(0, a.source.n), a.target.chars(0, a.target.n))
	pairs, source, target := 0, 0, 0
	for k := 1; k < len(path); k++ {
		p, q := path[k-1], path[k]
		if q.i-p.i != 1 || q.j-p.j != 1 || a.source.score(a.target.level, p.i, p.j) < a.usual {
			continue
		}
		pairs++
		source, target = source+a.source.chars(p.i, 1), target+a.target.chars(p.j, 1)
	}
	if paired := ratio(source, target); pairs >= minEven && max(whole/paired, paired/whole) > mostUneven {
		return paired
	}
	return whole
}

// part is some sentences of a document, and their spans.
type part struct {
	Span
	dim   int
	spans [][]float32 // vectors by number of sentences less 1: [Count-k, dim]
	means [][]float32 // mean cosine of each span with samples of the other document
}

// encode computes the spans' vectors, and compares them with samples of the other document.
func (d *document) encode(ctx context.Context, of Span, maxSpan int, other *sampled) (*part, error) {
	p := &part{Span: of, dim: d.dim, spans: [][]float32{d.vectors[of.First*d.dim : of.End()*d.dim]}}
	var texts []string
	for k := 1; k < min(maxSpan, of.Count); k++ {
		for i := of.First; i+k < of.End(); i++ {
			texts = append(texts, strings.Join(d.Sentences[i:i+k+1], " "))
		}
	}
	vectors := make([]float32, len(texts)*d.dim)
	if err := d.Encode(ctx, texts, vectors); err != nil {
		return nil, fmt.Errorf("encode spans of sentences: %w", err)
	}
	for k := 1; k < min(maxSpan, of.Count); k++ {
		size := (of.Count - k) * d.dim
		p.spans, vectors = append(p.spans, vectors[:size]), vectors[size:]
	}
	for _, v := range p.spans {
		p.means = append(p.means, other.cosines(v))
	}
	return p, nil
}

// vector returns the vector of count sentences starting at first, which counts from the start of the part.
func (p *part) vector(first, count int) []float32 { return p.spans[count-1][first*p.dim:][:p.dim] }

// pieces cuts a path where it is surest, so that what lies between two cuts can be aligned on its own. Each has at most
// size sentences of both documents together, and, if the rest is as long, at least half as many.
func pieces(path []place, sure func(i, j int) float32, size int) [][]place {
	var out [][]place
	for {
		end := piece(path, sure, size)
		out = append(out, path[:end+1])
		if end == len(path)-1 {
			return out
		}
		path = path[end:]
	}
}

// piece is the index of the place where the first piece of a path ends.
func piece(path []place, sure func(i, j int) float32, size int) int {
	length := func(k int) int { return path[k].i - path[0].i + path[k].j - path[0].j }
	if length(len(path)-1) <= size {
		return len(path) - 1
	}
	best, at := float32(-1), 0
	for k := 1; k < len(path) && (length(k) <= size || at == 0); k++ {
		if at == 0 && length(k) > size/2 {
			at = k // the path may have no 1:1 step at all
		}
		p, q := path[k-1], path[k]
		if length(k) <= size/2 || q.i-p.i != 1 || q.j-p.j != 1 {
			continue
		}
		if s := sure(p.i, p.j); s > best {
			best, at = s, k
		}
	}
	return at
}

// shifted is a path that begins at (0, 0).
func shifted(path []place) []place {
	out := make([]place, len(path))
	for k, p := range path {
		out[k] = place{p.i - path[0].i, p.j - path[0].j}
	}
	return out
}
