package annotate

import (
	"strings"

	"bitextmine/corpus"
)

// Pair is a pair that was read.
type Pair struct {
	Source, Target Sentence
	Known          Known
}

// Reader reads pairs of two languages. The languages may be empty, which means unknown. It reuses its memory: a pair is
// valid until the next one is read. One goroutine may use it.
type Reader struct {
	pair Pair
}

// Read reads a pair.
func (r *Reader) Read(source, target, sourceLanguage, targetLanguage string, known Known) *Pair {
	r.pair.Known = known
	r.pair.Source.read(source, sourceLanguage)
	r.pair.Target.read(target, targetLanguage)
	return &r.pair
}

// either sums a property of both sides.
func either(of func(s *Sentence) int) func(p *Pair) float64 {
	return func(p *Pair) float64 { return float64(of(&p.Source) + of(&p.Target)) }
}

// higher is the higher of both sides' values.
func higher(of func(s *Sentence) float64) func(p *Pair) float64 {
	return func(p *Pair) float64 {
		a, b := of(&p.Source), of(&p.Target)
		return max(a, b)
	}
}

// ofSource and ofTarget take a property of one side.
func ofSource(of func(s *Sentence) float64) func(p *Pair) float64 {
	return func(p *Pair) float64 { return of(&p.Source) }
}

func ofTarget(of func(s *Sentence) float64) func(p *Pair) float64 {
	return func(p *Pair) float64 { return of(&p.Target) }
}

// normalised is a text in the form that sentence keys are computed from.
func normalised(text string) string { return corpus.Normalise(text) }

// lowered is the text in lower case, without allocating where it is so already.
func lowered(text string) string { return strings.ToLower(text) }

// whole are the annotations that the first pass gives.
var whole = []Annotation{
	value("group", Row, 0, 1<<53, "row, from 1, of the first pair of the group of near-duplicates; its own row if no pair before it is like it", func(p *Pair) float64 {
		return float64(p.Known.First)
	}),
	value("copy", Count, 0, 2, "2 if an earlier pair is the same apart from case, accents, punctuation and digits, 1 if one is nearly the same, 0 if none is", func(p *Pair) float64 {
		return float64(p.Known.Copy)
	}),
	value("uses_src", Count, 0, unlimited, "rows in which the source stands", func(p *Pair) float64 { return float64(p.Known.SourceUses) }),
	value("uses_tgt", Count, 0, unlimited, "rows in which the target stands", func(p *Pair) float64 { return float64(p.Known.TargetUses) }),
}
