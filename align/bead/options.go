package bead

import "bitextmine/internal/badinput"

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
	}
	return nil
}
