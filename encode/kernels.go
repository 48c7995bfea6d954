package encode

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"bitextmine/encode/gpu"
	"bitextmine/encode/layers"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/internal/cuda"
)

// rowsOfLane is how many sentences a batch of the program's own kernels has at most.
const rowsOfLane = 4096

// kernelsWindow is the number of sentences that are sorted by length together for them, which take sentences of any
// lengths: some dozens of batches, of which the last is not full.
const kernelsWindow = 8192

// errOnlyFloat16 says that float32 or TensorRT was asked for.
var errOnlyFloat16 = fmt.Errorf("%w: they compute in float16 on CUDA alone", layers.ErrOther)

// ByKernels is nil if the program's own kernels compute an encoder's vectors on these GPUs of a device. An error that
// is layers.ErrOther says why ONNX Runtime does.
func ByKernels(m *model.Model, device gpu.Device, gpus []cuda.GPU) error {
	weights, err := openTransformer(m, device)
	if err != nil {
		return err
	}
	for _, on := range gpus {
		err = cmp.Or(err, gpu.Suits(on))
	}
	return errors.Join(err, weights.Close())
}

func openTransformer(m *model.Model, device gpu.Device) (*session.Transformer, error) {
	if device.Kind != gpu.CUDA || !device.Float16 {
		return nil, errOnlyFloat16
	}
	return session.OpenTransformer(m)
}

// openKernels loads the graph for the program's own kernels on each GPU that a device names. other says why they do not
// compute it: ONNX Runtime must.
func (g *graph) openKernels(device gpu.Device) (other, err error) {
	weights, err := openTransformer(g.model, device)
	if errors.Is(err, layers.ErrOther) {
		return err, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, weights.Close()) }()
	driver, err := cuda.OpenDriver()
	if err != nil {
		return nil, err
	}
	chosen, err := gpu.Choose(driver, device)
	if err != nil {
		return nil, err
	}
	var lanes []chan *runner
	for _, on := range chosen {
		began := time.Now()
		loaded, err := gpu.Load(on, weights.Transformer, int(g.budget.Load()), rowsOfLane, runnersOfGPU, weights.First)
		if errors.Is(err, layers.ErrOther) { // they are of one kind, so it is the first
			return err, nil
		}
		if err != nil {
			return nil, err
		}
		g.gpus = append(g.gpus, loaded)
		g.log.Debug("an encoder is on a GPU", "gpu", on.Number, "seconds", time.Since(began).Seconds(), "tokens", loaded.Tokens())
		g.budget.Store(min(g.budget.Load(), int64(loaded.Tokens())))
		lane := make(chan *runner, runnersOfGPU)
		for _, l := range loaded.Lanes() {
			lane <- &runner{model: weights.Model, session: weights.Session, number: on.Number, lane: l, busy: &g.busy}
		}
		lanes = append(lanes, lane)
	}
	if g.centres, err = readCentres(g.model); err != nil {
		return nil, err
	}
	g.model, g.session, g.lanes, g.rows = weights.Model, weights.Session, lanes, rowsOfLane
	for range cap(g.threads) {
		g.threads <- &runner{}
	}
	return nil, nil
}

// kernels computes the vectors of rows by the program's own kernels, and leaves them in r.out.
func (r *runner) kernels(w *window, b batch) error {
	r.sentences = r.sentences[:0]
	for _, row := range b.rows {
		ids := w.tokens(int(row))
		for _, id := range ids {
			if id < 0 || int(id) >= r.session.IDs {
				return errNoToken
			}
		}
		r.sentences = append(r.sentences, ids)
	}
	vectors, took, err := r.lane.Run(r.sentences)
	r.out = vectors
	r.busy.Add(int64(took))
	return err
}
