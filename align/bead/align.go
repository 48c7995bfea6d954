// Package bead aligns the sentences of two documents that are translations of each other.
//
// A span is some sentences that follow each other. A bead is a span of either document that say the same: n sentences
// of the source and m of the target, n:m for short. A bead without a target is a deletion, one without a source an
// insertion; here both are called deletions. The beads of a pair of documents cover each sentence once and keep their
// order, but for two neighbours that change places. A translator who moved a passage breaks that order: such crossing
// blocks are reported apart.
//
// The method is vecalign's (Thompson and Koehn, 2019): each span of up to Options.MaxSpan sentences has the vector of
// its text, a dynamic programme finds the cheapest beads, first between averages of many sentences, then in a narrow
// band around what it found. Its cost is normalised against random sentences. From bertalign (Liu and Zhu, 2022) come
// the margin against neighbouring sentences and the penalty of unequal lengths. What the vectors do not tell, numbers
// and parts of names (links) and the marks at the ends of sentences (endings), is compared as text. Last, the outer
// sentences of a bead without which it fits better are left out (trimmed).
//
// The package is pure: vectors in, beads out.
package bead

import (
	"context"
	"math"

	"bitextmine/internal/badinput"
)

// Alignment is the result of Align.
type Alignment struct {
	Beads     []Bead // sorted by the order of both documents, except swapped neighbours
	Crossings []Crossing
}

// Align aligns two documents. Time and memory are linear in their sentences. The same documents and vectors give the
// same beads on any number of threads.
func Align(ctx context.Context, source, target Side, o Options) (*Alignment, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(source.Sentences) == 0 || len(target.Sentences) == 0 {
		return &Alignment{Beads: deletions(Span{0, len(source.Sentences)}, Span{0, len(target.Sentences)})}, nil
	}
	a := &aligner{Options: o}
	var err error
	if a.source, err = source.open(ctx); err != nil {
		return nil, err
	}
	if a.target, err = target.open(ctx); err != nil {
		return nil, err
	}
	path, err := coarsePath(ctx, a.source.level, a.target.level, o)
	if err != nil {
		return nil, err
	}
	a.samples = [2]*sampled{sample(a.source.level, o.Samples), sample(a.target.level, o.Samples)}
	a.usual = usual(path, a.source.level, a.target.level)
	a.ratio = a.lengthRatio(path)
	a.links = newLinks(source.Sentences, target.Sentences)
	a.endings = newEndings(source.Sentences, target.Sentences)
	out := &Alignment{}
	sure := func(i, j int) float32 { return a.source.score(a.target.level, i, j) }
	for _, piece := range pieces(path, sure, o.Piece) {
		beads, err := a.piece(ctx, piece)
		if err != nil {
			return nil, err
		}
		out.Beads = append(out.Beads, beads...)
	}
	out.Crossings = a.crossings(out.Beads)
	return out, nil
}

// deletions are the sentences of two spans as beads: first those of the source, before the target span, then the
// others.
func deletions(source, target Span) []Bead {
	var out []Bead
	for i := range source.Count {
		out = append(out, Bead{Source: Span{source.First + i, 1}, Target: Span{First: target.First}})
	}
	for i := range target.Count {
		out = append(out, Bead{Source: Span{First: source.End()}, Target: Span{target.First + i, 1}})
	}
	return out
}

// aligner aligns one pair of documents.
type aligner struct {
	Options
	source, target *document
	samples        [2]*sampled // sentences of the source and the target
	ratio          float64     // length of the source over that of its translation
	usual          float32     // score of a translation in these documents
	links          *links
	endings        *endings
}

// piece aligns what a piece of the path goes through.
func (a *aligner) piece(ctx context.Context, path []place) ([]Bead, error) {
	first, last := path[0], path[len(path)-1]
	n, m := last.i-first.i, last.j-first.j
	if n == 0 || m == 0 {
		return deletions(Span{first.i, n}, Span{first.j, m}), nil
	}
	source, err := a.source.encode(ctx, Span{first.i, n}, a.MaxSpan, a.samples[1])
	if err != nil {
		return nil, err
	}
	target, err := a.target.encode(ctx, Span{first.j, m}, a.MaxSpan, a.samples[0])
	if err != nil {
		return nil, err
	}
	ratio := func(i, x, j, y int) float64 {
		s, t := a.source.chars(first.i+i-x, x), a.target.chars(first.j+j-y, y)
		return float64(s+1) / (float64(t+1) * a.ratio)
	}
	b := around(shifted(path), a.Band, n, m)
	l := &lattice{
		band: b, source: source, target: target, ratio: ratio, usual: a.usual,
		links: newLinkTable(a.links, source.Span, target.Span, b), endings: a.endings,
	}
	if err := l.fill(ctx); err != nil {
		return nil, err
	}
	beads, err := l.trace(ctx, float32(a.Skip))
	if err != nil {
		return nil, err
	}
	return l.trimmed(l.swapped(beads)), nil
}

// Span is Count sentences of a document from sentence First, counted from 0.
type Span struct{ First, Count int }

// End is the first sentence after the span.
func (s Span) End() int { return s.First + s.Count }

// Bead is two spans that say the same. One without sentences is a deletion; its First is where it would stand.
type Bead struct {
	Source, Target Span
	// Cosine compares the vectors of the two spans. SourceMean is the mean cosine of the source span with random
	// sentences of the target, TargetMean the same for the target span. All are 0 for a deletion.
	Cosine, SourceMean, TargetMean float32
}

// Deletion reports whether a side has no sentence.
func (b Bead) Deletion() bool { return b.Source.Count == 0 || b.Target.Count == 0 }

// Score is 1 for equal vectors, and 0 if the spans are as far from each other as from random sentences.
func (b Bead) Score() float32 {
	if b.Deletion() {
		return 0
	}
	return score(b.Cosine, b.SourceMean, b.TargetMean)
}

// score is vecalign's distance, taken from 1.
func score(cosine, sourceMean, targetMean float32) float32 {
	return 1 - (1-cosine)/max(1-(sourceMean+targetMean)/2, minDistance)
}

// minDistance is the least mean distance to random sentences: it keeps costs finite in a document that repeats one
// sentence.
const minDistance = 1e-3

// Options are the settings of an alignment.
type Options struct {
	// MaxSpan is the number of sentences of a bead's side, at most.
	MaxSpan int
	// Band is how many sentences the beads may be away from the coarser path that they refine.
	Band int
	// Samples is the number of sentences of each document that stand for any of its sentences.
	Samples int
	// Skip is added to the gain of a sentence that is left without a counterpart: higher values leave out more.
	Skip float64
	// Piece is the number of sentences of both documents, about, that are aligned at a time. Memory grows with it.
	Piece int
}

// DefaultOptions are the default settings.
func DefaultOptions() Options {
	return Options{
		MaxSpan: 6,    // set 0 of Bleualign has 2 longer beads in 1,000
		Band:    10,   // vecalign searches 5 beside its longest bead
		Samples: 100,  // vecalign's
		Piece:   2000, // 40 MB of vectors of 512 numbers
	}
}

// limits of the settings
const (
	longestSpan = 10
	widestBand  = 1000
	mostSkip    = 100 // a path's gain must stay finite, or none is best
)

// Validate reports the first setting that is out of range.
func (o Options) Validate() error {
	switch {
	case o.MaxSpan < 1 || o.MaxSpan > longestSpan:
		return badinput.Errorf("max-span is %d: give 1 to %d sentences", o.MaxSpan, longestSpan)
	case o.Band < 1 || o.Band > widestBand:
		return badinput.Errorf("band is %d: give 1 to %d sentences", o.Band, widestBand)
	case o.Samples < 1, o.Piece < 1:
		return badinput.Errorf("samples and piece must be positive")
	case !(math.Abs(o.Skip) <= mostSkip): // a NaN is not
		return badinput.Errorf("skip is %g: give a number from -%d to %d", o.Skip, mostSkip, mostSkip)
	}
	return nil
}
