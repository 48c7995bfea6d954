package encode

import (
	"context"
	"fmt"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/gpu"
	"bitextmine/encode/session"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
)

// runnersOfGPU is how many batches a GPU is given at once, so that it has the next one while the vectors of the last
// one are taken over.
const runnersOfGPU = 2

// openGPUs loads the graph on each GPU that a device names, and finds the batches that its memory has room for.
func (g *graph) openGPUs(device gpu.Device) error {
	gpus, err := g.session.OnGPUs(device)
	if err != nil {
		return err
	}
	g.model, g.rows = g.session.Model, session.Accelerators[device.Kind].Rows
	for _, on := range gpus {
		loaded, err := g.session.LoadOn(on, device, "")
		if err != nil {
			return err
		}
		g.loaded = append(g.loaded, loaded)
		lane := make(chan *runner, runnersOfGPU)
		for range cap(lane) {
			binding, err := loaded.CreateIoBinding()
			if err != nil {
				return fmt.Errorf("open encoder %s on GPU %d: %w", g.model.Name, on.Number, err)
			}
			lane <- &runner{model: g.model, session: g.session, loaded: loaded, binding: binding, number: on.Number}
		}
		g.lanes = append(g.lanes, lane)
	}
	for range cap(g.threads) {
		g.threads <- &runner{}
	}
	return g.fit(gpus)
}

// run runs a batch. On a GPU whose memory is too small for it, it runs its halves, and later batches are smaller.
func (g *graph) run(r *runner, w *window, b batch) error {
	err := r.run(w, b)
	if r.binding == nil || err == nil {
		return err
	}
	if !gpu.OutOfMemory(err) {
		return gpu.Explain(cuda.GPU{Number: r.number}, err)
	}
	if b.size <= minRows {
		return fmt.Errorf(
			"GPU %d has too little memory left for %d sentences of %d tokens with encoder %s: end what else runs there and run the same command again: %w",
			r.number, b.size, b.length, g.model.Name, err)
	}
	g.shrink(r.number, b.length*b.size)
	for _, rows := range [][]int32{b.rows[:b.size/2], b.rows[b.size/2 : b.size]} {
		if err := g.run(r, w, newBatch(rows[:len(rows):len(rows)], b.length)); err != nil {
			return err
		}
	}
	return nil
}

// shrink lowers the budget of later batches to half of one that was too large, unless they are as small already.
func (g *graph) shrink(number, tokens int) {
	before, after := g.budget.Load(), int64(tokens/2)
	if after < before && g.budget.CompareAndSwap(before, after) {
		g.log.Warn("a GPU's memory is too small: batches are halved, and the last bits of vectors may differ from those of larger ones",
			"gpu", number, "encoder", g.model.Name, "tokens", after)
	}
}

// fit runs the batch that needs most memory on all runners of all GPUs at once, and halves it until there is room.
func (g *graph) fit(gpus []cuda.GPU) error {
	length := g.model.MaxTokens
	for {
		n := max(minRows, int(g.budget.Load())/length)
		if g.rows > 0 {
			n = min(n, g.rows)
		}
		batch := make([][]int32, n)
		for i := range batch {
			batch[i] = make([]int32, length) // every encoder has an id 0
		}
		err := share(context.Background(), g.lanes, len(g.lanes)*runnersOfGPU, func(r *runner, _ int) error {
			_, err := r.vectors(batch)
			if err != nil && !gpu.OutOfMemory(err) {
				err = gpu.Explain(cuda.GPU{Number: r.number}, err)
			}
			return err
		})
		switch {
		case err == nil || !gpu.OutOfMemory(err):
			return err
		case n == minRows:
			return badinput.Errorf(
				"the memory of %s is too small for %d sentences of %d tokens with encoder %s: end what else runs there, name another GPU, or lower max_tokens in the manifest: %w",
				gpus[0].Name, n, length, g.model.Name, err)
		}
		g.shrink(gpus[0].Number, n*length)
	}
}

// vectors runs the graph on sequences of one length and returns [len(sequences), Dim], valid until the runner's next
// call.
func (r *runner) vectors(sequences [][]int32) ([]float32, error) {
	r.ids = r.ids[:0]
	for _, ids := range sequences {
		for _, id := range ids {
			r.ids = append(r.ids, int64(id))
		}
	}
	n, length, dim := int64(len(sequences)), int64(len(sequences[0])), int64(r.model.Dim)
	r.out = resized(r.out, len(sequences)*r.model.Dim)
	return r.out, r.call(ort.NewShape(n, length), ort.NewShape(n, dim), int(n))
}

// bound runs the graph with inputs and an output that stay where they are.
func (r *runner) bound(inputs []ort.Value, output ort.Value) (err error) {
	r.binding.ClearBoundInputs()
	r.binding.ClearBoundOutputs()
	for i, input := range inputs {
		if err := r.binding.BindInput(r.session.Takes[i], input); err != nil {
			return err
		}
	}
	if err := r.binding.BindOutput(r.session.Output, output); err != nil {
		return err
	}
	cuda.Guard(func() { err = r.loaded.RunWithBinding(r.binding) })
	return err
}
