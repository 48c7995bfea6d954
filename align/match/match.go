// Package match finds which documents of two collections are translations of each other.
//
// A document is the vectors of its sentences. Candidates are the documents of the other collection whose mean
// vectors are nearest. They are compared by BiMax (Wang et al., 2025, "BiMax: Bidirectional MaxSim Score for
// Document-Level Alignment"): the mean over the sentences of either document of the best cosine in the other.
// Documents whose addresses differ in nothing but a language have a bonus, and so have those whose metadata agrees;
// metadata that differs is taken away. Then pairs are taken by score, each document once.
//
// The package is pure: the same vectors give the same pairs on any number of threads.
package match

import (
	"context"
	"errors"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// Document is some of a side's sentences.
type Document struct {
	Name, URL    string
	Metadata     []string // values of the fields that both sides have, in the same order; may be empty
	First, Count int      // rows of Side.Vectors; Count is positive
}

// Side is a collection of documents.
type Side struct {
	Documents []Document
	Dim       int
	Vectors   []float32 // [sentences, Dim], of length 1
}

// rows are a document's vectors.
func (s *Side) rows(d Document) []float32 { return s.Vectors[d.First*s.Dim:][:d.Count*s.Dim] }

func (s *Side) sentence(i int) []float32 { return s.Vectors[i*s.Dim:][:s.Dim:s.Dim] }

// Options are the settings of a match.
type Options struct {
	Candidates int     // documents that each is compared with
	URLBonus   float64 // added to the score of documents with the same address but for a language
	MetaBonus  float64 // added for each field of metadata that agrees, and taken away for each that does not, at most
	MinScore   float64 // minimum score of a pair
}

// DefaultOptions are the default settings.
func DefaultOptions() Options {
	return Options{
		Candidates: 20,  // 10 candidates find 2 fewer of 1,000 synthetic documents
		URLBonus:   0.1, // more than what BiMax differs by between two reports of one event
		MetaBonus:  0.1, // equal for each field
		MinScore:   0,
	}
}

// Validate reports the first score or bonus that cannot be compared.
func (o Options) Validate() error {
	for _, bonus := range []struct {
		name  string
		value float64
	}{{"url-bonus", o.URLBonus}, {"meta-bonus", o.MetaBonus}} {
		if math.IsNaN(bonus.value) || math.IsInf(bonus.value, 0) {
			return badinput.Errorf("%s is %g: give a finite number", bonus.name, bonus.value)
		}
	}
	if math.IsNaN(o.MinScore) {
		return badinput.Errorf("min-score is %g: give a number", o.MinScore)
	}
	return nil
}

// Pair is two documents, by their numbers.
type Pair struct {
	Source, Target int
	Score          float64 // BiMax, the bonus for the address and that for metadata
	BiMax          float64
	SameURL        bool
	Metadata       float64 // score that metadata added or removed
}

// Match pairs documents, the best first.
func Match(ctx context.Context, source, target *Side, o Options) ([]Pair, error) {
	documents := [2][]Document{source.Documents, target.Documents}
	candidates, err := Candidates(ctx, nil, documents, [2]embedding.Matrix{source.means(), target.means()}, o.Candidates)
	if err != nil {
		return nil, err
	}
	found := make([]Bests, len(candidates))
	err = inBlocks(ctx, len(candidates), func(k int) error {
		a, b := source.Documents[candidates[k][0]], target.Documents[candidates[k][1]]
		for side, n := range Compared(a.Count, b.Count) {
			found[k][side] = make([]float32, n)
		}
		return Compare(found[k], a.Count, b.Count, Held(source.rows(a), source.Dim), Held(target.rows(b), source.Dim), source.Dim)
	})
	if err != nil {
		return nil, err
	}
	return Choose(ctx, nil, documents, candidates, func(do func(k int, found Bests)) error {
		for k := range found {
			do(k, found[k])
		}
		return nil
	}, o)
}

// Unrelated is the mean cosine of a source and a target sentence: nearly all of these pairs have nothing to do with
// each other.
func Unrelated(source, target *Side) float64 {
	var means [2][]float64
	for k, s := range [...]*Side{source, target} {
		means[k] = make([]float64, s.Dim)
		for i, v := range s.Vectors {
			means[k][i%s.Dim] += float64(v) * float64(s.Dim) / float64(len(s.Vectors))
		}
	}
	sum := 0.0
	for c, v := range means[0] {
		sum += v * means[1][c]
	}
	return sum
}

// blockSize is the number of calls that a goroutine makes at a time: few, as two long documents take a while.
const blockSize = 4

// inBlocks calls do with every number below n, on all processors.
func inBlocks(ctx context.Context, n int, do func(k int) error) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < n; from += blockSize {
		work.Go(func() error {
			for k := from; k < min(from+blockSize, n); k++ {
				if err := errors.Join(ctx.Err(), do(k)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return work.Wait()
}
