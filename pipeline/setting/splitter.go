package setting

import (
	"context"

	"bitextmine/corpus/split"
	"bitextmine/encode/boundary"
	"bitextmine/encode/gpu"
)

// LearnedSplitter is an open learned splitter. Close must be called last.
type LearnedSplitter struct{ *boundary.Splitter }

// OpenSplitter opens the learned splitter of a directory.
func OpenSplitter(r Resources, directory string, threshold float64) (LearnedSplitter, error) {
	m, err := boundary.Load(directory, threshold)
	if err != nil {
		return LearnedSplitter{}, err
	}
	device, _ := gpu.Parse(r.Device) // Resolve refuses others
	s, err := boundary.Open(m, r.ONNXRuntime, device, r.Threads)
	return LearnedSplitter{s}, err
}

// Divide adds the sentences of a text, in order.
func (l LearnedSplitter) Divide(ctx context.Context, dst []split.Sentence, text string, o split.Options) ([]split.Sentence, error) {
	ends, err := l.Ends(ctx, text)
	if err != nil {
		return dst, err
	}
	return split.At(dst, text, ends, o), nil
}
