package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"bitextmine/bench/reproduce/statistic"
	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/eval"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/train"
)

// judge evaluates encoders.
type judge struct {
	library  string     // path of ONNX Runtime's
	device   gpu.Device // computes the vectors of transformers
	searcher index.Searcher
	teachers *statistic.Teachers
}

// row computes a row's measures.
func (j judge) row(ctx context.Context, c train.Config, sets []train.DevSet, part []string, dir string, r *result) (err error) {
	if c.Objective.Name == "imascl" {
		labels, err := j.teachers.Labels(ctx, c)
		if err != nil {
			return err
		}
		temperature, err := statistic.Temperature(c)
		if err != nil {
			return err
		}
		r.Own = labels.Own(temperature)
	}
	model, err := model.Load(filepath.Join(dir, "model"))
	if err != nil {
		return err
	}
	v, err := tokenizer.OpenIn(filepath.Join(dir, "model"), model.Tokenizer)
	if err != nil {
		return err
	}
	r.Dim, r.Words = model.Dim, v.Rows()
	v.Close()
	encoder, err := encode.Open(model, encode.Options{Library: j.library, Device: j.device, OnCPU: c.Encoder.Kind != "transformer"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	found, err := train.Reports(ctx, sets, &testset.Embedder{Encoder: encoder}, j.searcher)
	for i, report := range found { // found has the order of the sets
		r.Measures = append(r.Measures, measures(report, sets[i], part)...)
	}
	return err
}

// eachAligned calls use with the line-aligned sets of a set's languages, of which there are so many.
func eachAligned(s train.DevSet, use func(pair testset.LanguagePair, src, tgt testset.Side, of int) error) error {
	var names []string
	for _, code := range append(slices.Clone(s.Src), s.Tgt) {
		name, err := corpus.ParseLanguage(code)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	last := len(names) - 1
	files, err := testset.FindAligned(s.Dir, s.Split, names[:last], names[last])
	if err != nil {
		return err
	}
	for _, f := range files {
		src, tgt, err := testset.ReadAligned(f, false)
		if err == nil {
			err = use(f.Pair, src, tgt, len(files))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// textsOf are the sentences of a set.
func textsOf(s train.DevSet) (all []string, err error) {
	p, err := eval.ParseProtocol(s.Protocol)
	if err != nil {
		return nil, err
	}
	switch p.Data() {
	case eval.STSSets:
		found, err := testset.FindSTS(s.Dir)
		for _, files := range found {
			set, err := testset.ReadSTS(files)
			if err != nil {
				return nil, err
			}
			all = append(append(all, set.FirstSide.Texts...), set.SecondSide.Texts...)
		}
		return all, err
	case eval.AlignedSets:
		return all, eachAligned(s, func(_ testset.LanguagePair, src, tgt testset.Side, _ int) error {
			all = append(append(all, src.Texts...), tgt.Texts...)
			return nil
		})
	}
	for _, language := range s.Src {
		pair, err := testset.ParsePair(language, s.Tgt)
		if err != nil {
			return nil, err
		}
		halves, err := testset.FindBUCC(s.Dir, pair)
		if err != nil {
			return nil, err
		}
		for _, half := range halves {
			src, tgt, _, err := testset.ReadBUCC(half, pair)
			if err != nil {
				return nil, err
			}
			all = append(append(all, src.Texts...), tgt.Texts...)
		}
	}
	return all, nil
}
