package setting

import (
	"cmp"
	"context"
	"fmt"

	"bitextmine/corpus/split"
	"bitextmine/encode"
	"bitextmine/encode/boundary"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/index/approximate"
	"bitextmine/index/backend"
	"bitextmine/internal/badinput"
)

// SearchOptions are the settings of whatever backend searches.
func SearchOptions(s Searching, r Resources) backend.Options {
	return backend.Options{Threads: r.Threads, Approximate: approximate.Settings{NProbe: s.NProbe, EfSearch: s.EfSearch}}
}

// EncoderOptions are the settings that an encoder, or a scorer's token vectors, are opened with on the CPU: beside
// those on the device, if there is one.
func EncoderOptions(r Resources) encode.Options {
	device, _ := gpu.Parse(r.Device) // Resolve refuses others
	return encode.Options{Threads: r.Threads, Library: r.ONNXRuntime, Device: device, OnCPU: true}
}

// OnDevice are the settings of an encoder whose vectors have a place in keys: arithmetic must compute them
// (setting.Arithmetic), empty for the CPU.
func OnDevice(r Resources, arithmetic string) (encode.Options, error) {
	o := EncoderOptions(r)
	if arithmetic == "" {
		return o, nil
	}
	if o.Device.Arithmetic() != arithmetic {
		return o, badinput.Errorf("the plan was made for device %s, but this machine was told to use %s: give both the same --device and version of the program",
			arithmetic, cmp.Or(o.Device.Arithmetic(), "cpu"))
	}
	o.OnCPU = false
	return o, nil
}

// WeightsOf is how many bytes of memory an encoder's weights take on the CPU, by the size of its files; 0: none, or
// those of a table, which are mapped.
func WeightsOf(m *model.Model) (int64, error) {
	if m == nil || m.ONNX == "" {
		return 0, nil
	}
	if table, err := session.IsTable(m); err != nil || table {
		return 0, err
	}
	return m.Size(append([]string{m.ONNX}, m.External...)...)
}

// ArithmeticOf returns what computes an encoder on the device of the settings. It is empty for the CPU, for a table and
// for a nil model.
func ArithmeticOf(r Resources, m *model.Model) (string, error) {
	device, err := gpu.Parse(r.Device)
	if err != nil || device.OnCPU() || m == nil || m.ONNX == "" {
		return "", err
	}
	table, err := session.IsTable(m)
	if err != nil || table {
		return "", err
	}
	return device.Arithmetic(), nil
}

// OpenEncoder loads an encoder. An empty location stands for vectors whose encoder is not known. Only the length of its
// vectors is known, and its digest, which stands in keys beside those of the vectors, says no more.
func OpenEncoder(location string, dim int) (*model.Model, error) {
	if location != "" {
		return model.Load(location)
	}
	m := &model.Model{Digest: fmt.Sprintf("given-%d", dim)}
	m.Name, m.Dim = "given vectors", dim
	return m, nil
}

// OpenRefiner loads the strong encoder of two-stage mining; nil: the settings name none.
func OpenRefiner(s Refining, encoder *model.Model) (*model.Model, error) {
	if s.Refine == "" {
		return nil, nil
	}
	refiner, err := model.Load(s.Refine)
	if err != nil {
		return nil, badinput.Errorf("refine: %w", err)
	}
	if refiner.Digest == encoder.Digest {
		return nil, badinput.Errorf("refine = %s is the encoder itself, whose cosines are known; name a stronger one, or none", s.Refine)
	}
	return refiner, nil
}

// OpenJudge loads the judge of pairs in doubt; nil: the settings name none.
func OpenJudge(s Judging) (*model.Model, error) {
	if s.Judge == "" {
		return nil, nil
	}
	judge, err := model.LoadJudge(s.Judge)
	if err != nil {
		return nil, badinput.Errorf("judge: %w", err)
	}
	return judge, nil
}

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
