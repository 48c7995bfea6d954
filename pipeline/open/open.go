// Package open makes what a search and an encoder are opened with from the settings: for every command and every task
// the same, so that no setting is left out in one of them.
package open

import (
	"fmt"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/index/backend"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/setting"
)

// SearchOptions are the settings of whatever backend searches.
func SearchOptions(s setting.Searching, r setting.Resources) backend.Options {
	return backend.Options{Threads: r.Threads, Approximate: backend.Approximate{NProbe: s.NProbe, EfSearch: s.EfSearch}}
}

// EncoderOptions are the settings that an encoder, or a scorer's token vectors, are opened with.
func EncoderOptions(r setting.Resources) encode.Options {
	return encode.Options{Threads: r.Threads, Library: r.ONNXRuntime}
}

// Encoder loads an encoder. An empty location is that of vectors whose encoder is not known: all that there is of it is
// the length of its vectors, and the digest, which stands in keys beside those of the vectors themselves, says no more.
func Encoder(location string, dim int) (*model.Model, error) {
	if location != "" {
		return model.Load(location)
	}
	m := &model.Model{Digest: fmt.Sprintf("given-%d", dim)}
	m.Name, m.Dim = "given vectors", dim
	return m, nil
}

// Refiner loads the strong encoder of two-stage mining beside the first; nil: there is none.
func Refiner(s setting.Refining, encoder *model.Model) (*model.Model, error) {
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
