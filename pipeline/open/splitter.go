package open

import (
	"context"

	"bitextmine/corpus/split"
	"bitextmine/encode/boundary"
	"bitextmine/encode/gpu"
	"bitextmine/pipeline/setting"
)

// Learned is an open learned splitter. Close must be called last.
type Learned struct{ *boundary.Splitter }

// Splitter opens the learned splitter of a directory.
func Splitter(r setting.Resources, directory string, threshold float64) (Learned, error) {
	m, err := boundary.Load(directory, threshold)
	if err != nil {
		return Learned{}, err
	}
	device, _ := gpu.Parse(r.Device) // Resolve refuses others
	s, err := boundary.Open(m, r.ONNXRuntime, device, r.Threads)
	return Learned{s}, err
}

// Divide adds the sentences of a text, in order.
func (l Learned) Divide(ctx context.Context, dst []split.Sentence, text string, o split.Options) ([]split.Sentence, error) {
	ends, err := l.Ends(ctx, text)
	if err != nil {
		return dst, err
	}
	return split.At(dst, text, ends, o), nil
}
