package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/bench/reproduce/statistic"
	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/eval/testset"

	"bitextmine/bench/reproduce/analysis"
	"bitextmine/index"
	"bitextmine/train"
)

// judge evaluates encoders.
type judge struct {
	library  string // path of ONNX Runtime's
	searcher index.Searcher
	made     map[string]string // directories of sets that were made, by the names that the budget gives them
}

// miningDir is the directory of the BUCC-style sets in the data.
const miningDir = "bucc"

// row computes a row's figures.
func (j judge) row(ctx context.Context, c train.Config, sets []train.DevSet, dir string, r *result) error {
	found, err := j.exported(ctx, filepath.Join(dir, "model"), sets, r)
	if err != nil {
		return err
	}
	r.Figures = gather(found)
	if x, ok := r.Figures[flores]; ok {
		r.Figures[gap] = found[cosineError] - x
		r.Figures[skew] = found[skew]
	}
	if c.Objective.Name == "imascl" {
		if r.Figures[own], err = statistic.OwnShare(ctx, c, j.library); err != nil {
			return err
		}
	}
	if c.Encoder.Kind == "transformer" {
		return j.inside(ctx, sets, dir, r)
	}
	return nil
}

// cosineError is the share of nearest neighbours by cosine on FLORES that are wrong, among the figures of the sets.
const cosineError = "cosine error"

// exported evaluates an exported encoder on sets.
func (j judge) exported(ctx context.Context, dir string, sets []train.DevSet, r *result) (_ map[string]float64, err error) {
	model, err := model.Load(dir)
	if err != nil {
		return nil, err
	}
	v, err := tokenizer.OpenIn(dir, model.Tokenizer)
	if err != nil {
		return nil, err
	}
	r.Dim, r.Words = model.Dim, v.Rows()
	v.Close()
	encoder, err := encode.Open(model, encode.Options{Library: j.library})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	embedder := &testset.Embedder{Encoder: encoder}
	found, err := j.figures(ctx, sets, embedder)
	if err == nil {
		err = j.hubs(ctx, sets, embedder, found)
	}
	return found, err
}

// figures evaluates on sets. Those with the same sentences, one after the other, are encoded once.
func (j judge) figures(ctx context.Context, sets []train.DevSet, source testset.VectorSource) (map[string]float64, error) {
	all := map[string]float64{}
	for len(sets) > 0 {
		n := 1
		for n < len(sets) && sets[n].Dir == sets[0].Dir && sets[n].Split == sets[0].Split {
			n++
		}
		found, err := train.EvaluateDev(ctx, j.placed(sets[:n]), source, j.searcher)
		if err != nil {
			return nil, err
		}
		for name, x := range found {
			all[named(sets[0].Dir, sets[0].Split, name)] = x
			if of := strings.Fields(name); len(of) == 3 && len(sets[0].Src) == 1 { // a report of one language has no mean
				all[named(sets[0].Dir, sets[0].Split, of[0]+" average "+of[2])] = x
			}
		}
		sets = sets[n:]
	}
	return all, nil
}

// placed are sets with the directories of those that were made.
func (j judge) placed(sets []train.DevSet) []train.DevSet {
	sets = slices.Clone(sets)
	for i := range sets {
		sets[i].Dir = cmp.Or(j.made[sets[i].Dir], sets[i].Dir)
	}
	return sets
}

// hubs adds the means of FLORES' languages.
func (j judge) hubs(ctx context.Context, sets []train.DevSet, source testset.VectorSource, found map[string]float64) error {
	return eachFLORES(sets, func(pair testset.LanguagePair, src, tgt testset.Side, of int) error {
		x, err := source.Vectors(ctx, src, testset.Role{Pair: pair})
		if err != nil {
			return err
		}
		y, err := source.Vectors(ctx, tgt, testset.Role{Pair: pair, Target: true})
		if err != nil {
			return err
		}
		h, err := analysis.FindHubs(ctx, j.searcher, x.Rows, y.Rows, 10)
		found[skew] += h.Skewness / float64(of)
		found[cosineError] += h.Error / float64(of)
		return err
	})
}

// eachFLORES calls use with the line-aligned sets of FLORES' devtest, of which there are so many.
func eachFLORES(sets []train.DevSet, use func(pair testset.LanguagePair, src, tgt testset.Side, of int) error) error {
	at := slices.IndexFunc(sets, func(s train.DevSet) bool { return s.Dir == "flores" && s.Split == "devtest" })
	if at < 0 {
		return nil
	}
	return eachAligned(sets[at], use)
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

// queried is the number of lines of FLORES whose tokens are looked at, as in MEXMA's paper.
const queried = 250

// inside computes what the exported encoder cannot tell: the figures of h(u), and what tokens are near to.
func (j judge) inside(ctx context.Context, sets []train.DevSet, dir string, r *result) (err error) {
	t, err := analysis.Open(dir, j.library)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if h, ok := t.Projected(); ok {
		lists := slices.DeleteFunc(slices.Clone(sets), func(s train.DevSet) bool { return s.Protocol != "xsim" })
		found, err := j.figures(ctx, lists, &testset.Embedder{Encoder: h})
		if err != nil {
			return err
		}
		of := gather(found)
		for u, by := range map[string]string{flores: floresH, ntrex: ntrexH} {
			if x, ok := of[u]; ok {
				r.Figures[by] = x
			}
		}
	}
	languages, texts := []string{""}, [][]string{nil}
	err = eachFLORES(sets, func(pair testset.LanguagePair, src, tgt testset.Side, _ int) error {
		languages[0], texts[0] = pair.Target, tgt.Texts[:queried]
		languages, texts = append(languages, pair.Source), append(texts, src.Texts[:queried])
		return nil
	})
	if err != nil || len(languages) == 1 {
		return err
	}
	match, err := t.MatchTokens(ctx, j.searcher, languages, texts)
	maps.Copy(r.Figures, map[string]float64{same: match.Same, matched: match.Translation, lexical: match.Language, other: match.Other})
	return err
}
