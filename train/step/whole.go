package step

import (
	"context"

	"github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
)

// wholeFront includes the encoder in the loss's graph: all views are encoded in one pass.
type wholeFront struct{ t graphEncoder }

func (w wholeFront) begin(ctx context.Context, views []data.Side, seed uint64) (pass, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := w.t.Pass(views, seed)
	return wholePass{p}, err
}

func (w wholeFront) compile(build func([]*graph.Node) []*graph.Node) *graph.Exec {
	return w.t.NewExec(build)
}

func (w wholeFront) take(rows []int, nodes []*graph.Node) (views []encoder.Encoded, learned, rest []*graph.Node) {
	taken, rest := w.t.Take(nodes, true)
	from := 0
	for _, n := range rows {
		to := from + n
		views = append(views, encoder.Encoded{
			Vectors: layers.Rows(taken.Vectors, from, to, 1),
			Tokens:  layers.Rows(taken.Tokens, from, to, 1),
			Mask:    graph.SliceAxis(taken.Mask, 0, graph.AxisRange(from, to)),
		})
		from = to
	}
	return views, taken.Learned, rest
}

type wholePass struct{ *encoder.Pass }

func (p wholePass) arguments() *device.Arguments { return p.Arguments() }

func (p wholePass) learn(_ context.Context, gradients [][]float32) ([][]float32, error) {
	return p.AddGradients(gradients), nil
}
