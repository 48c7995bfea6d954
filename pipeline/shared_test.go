package pipeline

import (
	"sync"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/pipeline/stage"
)

// sharedEncoder is an encoder that many runs of the tests use: opening one takes a third of a small run's time.
type sharedEncoder struct{ *encode.Encoder }

// Close leaves the encoder open for the next run. The end of the process closes it.
func (sharedEncoder) Close() error { return nil }

type encoderKey struct {
	digest  string
	options encode.Options
}

var sharedEncoders = struct {
	sync.Mutex
	open map[encoderKey]sharedEncoder
}{open: map[encoderKey]sharedEncoder{}}

// openShared opens an encoder, or returns the one that was opened for an earlier run with the same options.
func openShared(model *model.Model, options encode.Options) (stage.Encoder, error) {
	key := encoderKey{model.Digest, options}
	sharedEncoders.Lock()
	defer sharedEncoders.Unlock()
	if encoder, ok := sharedEncoders.open[key]; ok {
		return encoder, nil
	}
	encoder, err := encode.Open(model, options)
	if err != nil {
		return nil, err
	}
	sharedEncoders.open[key] = sharedEncoder{encoder}
	return sharedEncoders.open[key], nil
}
