package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/score"
	"bitextmine/train/data"
	"bitextmine/train/export"
	"bitextmine/train/objective"
)

// describeJudge makes the manifest of an encoder that of a judge.
func (x exported) describeJudge(j objective.Judge, m *model.Manifest) {
	m.Output, m.Dim, m.Tokens, m.Prefixes = x.logits, 1, model.TokenOutput{}, nil
	m.Judge = &model.Judge{Between: j.Between(), Merge: model.EvenMerge}
}

// minHeldOut is how many true pairs that nothing was learned from a judge's merge is fitted on, at least.
const minHeldOut = 20

// heldOutBatches bounds the batches that they are looked for in; each pair counts once, however often it occurs.
const heldOutBatches = 400

// finishJudge compares ONNX Runtime's logits of pairs that nothing was learned from with the trainer's, and fits the
// weights by which the judge's log odds are merged with a scorer's: the mean of both, once the judge's logits are
// calibrated on those pairs, true ones as often as wrong ones.
func (x exported) finishJudge(ctx context.Context, j objective.Judge, dir string) (err error) {
	m, err := model.LoadJudge(dir)
	if err != nil {
		return fmt.Errorf("the exported judge: %w", err)
	}
	judge, err := encode.OpenJudge(m, encode.Options{Library: x.options.Library})
	if err != nil {
		return fmt.Errorf("the exported judge: %w", err)
	}
	defer func() { err = errors.Join(err, judge.Close()) }()
	var logits []float32
	var right []bool
	dense, seen := j.Layers(x.heads), map[int32]bool{}
	for range heldOutBatches {
		b := x.batches.Next()
		held, isTrue := j.Held(b)
		kept := newHeld(b.Rows, held, seen)
		if len(kept) == 0 {
			continue
		}
		views, err := j.Views(b)
		if err != nil {
			return err
		}
		rows := make([][]int32, 0, len(kept))
		for _, i := range kept {
			rows = append(rows, views[0].Sentence(i))
		}
		got := make([]float32, len(kept))
		if err := judge.LogitsOf(ctx, rows, got); err != nil {
			return err
		}
		if logits == nil { // one batch shows it
			if err := x.compareLogits(ctx, views[0], kept, dense, got); err != nil {
				return err
			}
		}
		logits = append(logits, got...)
		for _, i := range kept {
			right = append(right, isTrue[i])
		}
		if len(seen) >= 10*minHeldOut {
			break
		}
	}
	if found := len(seen); found < minHeldOut {
		x.options.report(fmt.Sprintf("only %d held-out pairs: the judge's logits are merged as they are", found))
		return nil
	}
	slope, intercept := calibrated(logits, right)
	if !(slope > 0) {
		return badinput.Errorf("the judge does not tell held-out pairs from wrong ones: it was not published; give more pairs or more steps")
	}
	manifest := m.Manifest
	judgeOf := *manifest.Judge
	judgeOf.Merge = model.Merge{Scorer: 0.5, Judge: slope / 2, Intercept: intercept / 2}
	manifest.Judge = &judgeOf
	return writeManifest(manifest, dir)
}

// newHeld are the places in a batch's view of the sequences of pairs that nothing is learned from and that were not
// seen in an earlier batch. seen gets these pairs.
func newHeld(pairs []int32, held []bool, seen map[int32]bool) (places []int) {
	each := len(held) / len(pairs)
	for i, row := range pairs {
		if !held[i*each] || seen[row] {
			continue
		}
		seen[row] = true
		for k := range each {
			places = append(places, i*each+k)
		}
	}
	return places
}

// compareLogits compares logits of some rows of a view with the trainer's.
func (x exported) compareLogits(ctx context.Context, view data.Side, rows []int, dense []export.Dense, got []float32) error {
	vectors, err := x.encoder.Forward(ctx, view, 0)
	if err != nil {
		return err
	}
	dim := x.encoder.Dim()
	for k, i := range rows {
		v := wide(vectors[i*dim:][:dim])
		for _, layer := range dense {
			next := wide(layer.Bias)
			for in, value := range v {
				for out := range next {
					next[out] += value * float64(layer.Weight[in*layer.Out+out])
				}
			}
			if layer.Activation == "Tanh" {
				for out := range next {
					next[out] = math.Tanh(next[out])
				}
			}
			v = next
		}
		const off = 1e-3 // logits are larger than the values of vectors
		if d := math.Abs(v[0] - float64(got[k])); !(d <= off) {
			return badinput.Errorf("the exported judge gives a pair a logit that is off by %g, more than %g: it was not published; "+
				"a training whose loss did not fall has such weights, of another report this with the preset", d, off)
		}
	}
	return nil
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// calibrated returns the slope and the intercept of the log odds by logits (Platt, 1999), by Newton's method, with a
// weak pull to a slope of 1: true pairs weigh as much as all wrong ones. A step that overshoots, as it does where sure
// logits are sometimes wrong, is halved until the loss falls.
func calibrated(logits []float32, right []bool) (slope, intercept float64) {
	n := [2]float64{}
	for _, r := range right {
		n[class(r)]++
	}
	const pull = 1e-3
	loss := func(slope, intercept float64) float64 {
		sum := pull / 2 * (slope - 1) * (slope - 1)
		for i, z := range logits {
			x := (slope*float64(z) + intercept) * float64(1-2*class(right[i]))
			sum += 0.5 / n[class(right[i])] * (max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))))
		}
		return sum
	}
	slope = 1
	for range 50 {
		g0, g1, h00, h01, h11 := 0.0, pull*(slope-1), 1e-9, 0.0, pull
		for i, z := range logits {
			weight, label := 0.5/n[class(right[i])], float64(class(right[i]))
			p := score.Logistic(slope*float64(z) + intercept)
			d, h := weight*(p-label), weight*p*(1-p)
			g0, g1 = g0+d, g1+d*float64(z)
			h00, h01, h11 = h00+h, h01+h*float64(z), h11+h*float64(z)*float64(z)
		}
		determinant := h00*h11 - h01*h01
		s, t := (h00*g1-h01*g0)/determinant, (h11*g0-h01*g1)/determinant
		for now := loss(slope, intercept); loss(slope-s, intercept-t) > now; { // NaN ends it, and is refused
			s, t = s/2, t/2
		}
		slope, intercept = slope-s, intercept-t
	}
	return slope, intercept
}

func class(right bool) int {
	if right {
		return 1
	}
	return 0
}
