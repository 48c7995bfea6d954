package bead

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
