// Package rewrite changes published encoders: it quantises them, and computes the vectors that their manifests may have
// subtracted.
//
// Quantise writes an encoder again with weights and products in 8 bits. A product's input has a scale for each row
// or each sentence, so a vector still depends on its sentence alone and batches stay whole.
//
// Centre writes the mean vector of sentences (model.Centre), every language weighing the same, or one for
// each language.
package rewrite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bitextmine/bitext/exchange"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/eval"
	"bitextmine/internal/badinput"
)

// samplePairs is the program's known pairs in nine languages with English, some of each, and as many wrong ones.
func samplePairs() (pairs [][2]string, err error) {
	const each = 40
	for _, language := range []string{"de", "fr", "es", "ru", "tr", "ar", "ja", "zh", "th"} {
		known, err := exchange.FixturePairs(language, "en")
		if err != nil {
			return nil, err
		}
		for i := range min(each, len(known)-1) {
			pairs = append(pairs, [2]string{known[i].Source, known[i].Target}, [2]string{known[i].Source, known[i+1].Target})
		}
	}
	return pairs, nil
}

// compareJudges judges the sample with both judges.
func (r *Quantised) compareJudges(ctx context.Context, before *model.Model, dir string, o encode.Options) error {
	after, err := model.LoadJudge(dir)
	if err != nil {
		return fmt.Errorf("the judge in 8 bits: %w", err)
	}
	pairs, err := samplePairs()
	if err != nil {
		return err
	}
	var logits [2][]float32
	var took [2]time.Duration
	for i, m := range []*model.Model{before, after} {
		judge, err := encode.OpenJudge(m, o)
		if err != nil {
			return err
		}
		logits[i] = make([]float32, len(pairs))
		start := time.Now()
		err = judge.Logits(ctx, pairs, logits[i], nil)
		took[i] = time.Since(start)
		if err := errors.Join(err, judge.Close()); err != nil {
			return err
		}
	}
	r.Judge, r.Sentences, r.Mean = true, len(pairs), eval.CorrelationOf(wide(logits[0]), wide(logits[1])).Pearson/100
	r.Ratio, r.Rate = took[0].Seconds()/took[1].Seconds(), float64(len(pairs))/took[1].Seconds()
	if !(r.Mean >= minMean) {
		return badinput.Errorf("judge %s loses too much in 8 bits: its logits correlate with its own by %.4f, less than %.2f; "+
			"nothing was written", before.Name, r.Mean, minMean)
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
