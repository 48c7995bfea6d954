package bead

import "context"

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
		return deleted(len(source.Sentences), len(target.Sentences)), nil
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
	a.samples = [2][]float32{sample(a.source.level, o.Samples), sample(a.target.level, o.Samples)}
	a.ratio = float64(a.source.chars(0, a.source.n)+1) / float64(a.target.chars(0, a.target.n)+1)
	a.usual = usual(path, a.source.level, a.target.level)
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

// deleted is the alignment of documents of which one has no sentence.
func deleted(sources, targets int) *Alignment {
	out := &Alignment{}
	for i := range sources {
		out.Beads = append(out.Beads, Bead{Source: Span{i, 1}})
	}
	for i := range targets {
		out.Beads = append(out.Beads, Bead{Target: Span{i, 1}})
	}
	return out
}

// aligner aligns one pair of documents.
type aligner struct {
	Options
	source, target *document
	samples        [2][]float32 // the means of samples of the source and the target
	ratio          float64      // length of the target over that of the source
	usual          float32      // score of a translation in these documents
	links          *links
	endings        *endings
}

// piece aligns what a piece of the path goes through.
func (a *aligner) piece(ctx context.Context, path []place) ([]Bead, error) {
	first, last := path[0], path[len(path)-1]
	n, m := last.i-first.i, last.j-first.j
	if n == 0 || m == 0 {
		beads := deleted(n, m).Beads
		for k := range beads {
			beads[k].Source.First += first.i
			beads[k].Target.First += first.j
		}
		return beads, nil
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
	return l.swapped(beads), nil
}
