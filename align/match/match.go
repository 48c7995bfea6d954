// Package match finds which documents of two collections are translations of each other.
//
// A document is the vectors of its sentences. Candidates are the documents of the other collection whose mean
// vectors are nearest. They are compared by BiMax (Wang et al., 2025, "BiMax: Bidirectional MaxSim Score for
// Document-Level Alignment"): the mean over the sentences of either document of the best cosine in the other.
// Documents whose addresses differ in nothing but a language have a bonus. Then pairs are taken by score, each
// document once.
//
// The package is pure: the same vectors give the same pairs on any number of threads.
package match

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Document is some of a side's sentences.
type Document struct {
	Name, URL    string
	First, Count int // rows of Side.Vectors; Count is positive
}

// Side is a collection of documents.
type Side struct {
	Documents []Document
	Dim       int
	Vectors   []float32 // [sentences, Dim], of length 1
}

func (s *Side) sentence(i int) []float32 { return s.Vectors[i*s.Dim:][:s.Dim:s.Dim] }

// Options are the settings of a match.
type Options struct {
	Candidates int     // documents that each is compared with
	URLBonus   float64 // added to the score of documents with the same address but for a language
	MinScore   float64 // of a pair
}

// DefaultOptions are the default settings.
func DefaultOptions() Options {
	return Options{
		Candidates: 20,  // of 1,000 made documents 2 more are found than with 10
		URLBonus:   0.1, // more than what BiMax differs by between two reports of one event
		MinScore:   0,
	}
}

// Pair is two documents, by their numbers.
type Pair struct {
	Source, Target int
	Score          float64 // BiMax and the bonus
	BiMax          float64
	SameURL        bool
}

// Match pairs documents, the best first.
func Match(ctx context.Context, source, target *Side, o Options) ([]Pair, error) {
	candidates, err := candidates(ctx, source, target, o.Candidates)
	if err != nil {
		return nil, err
	}
	addresses := [2][]string{stripped(source.Documents), stripped(target.Documents)}
	scored := make([]Pair, len(candidates))
	err = inBlocks(ctx, len(candidates), func(k int) {
		c := candidates[k]
		p := Pair{Source: c[0], Target: c[1], BiMax: biMax(source, target, source.Documents[c[0]], target.Documents[c[1]])}
		p.SameURL = addresses[0][c[0]] != "" && addresses[0][c[0]] == addresses[1][c[1]]
		if p.Score = p.BiMax; p.SameURL {
			p.Score += o.URLBonus
		}
		scored[k] = p
	})
	if err != nil {
		return nil, err
	}
	return oneToOne(scored, o.MinScore), nil
}

// oneToOne takes pairs by score, each document once. Ties are broken by the documents' numbers.
func oneToOne(pairs []Pair, least float64) []Pair {
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
	})
	var out []Pair
	taken := [2]map[int]bool{{}, {}}
	for _, p := range pairs {
		if p.Score < least || taken[0][p.Source] || taken[1][p.Target] {
			continue
		}
		taken[0][p.Source], taken[1][p.Target] = true, true
		out = append(out, p)
	}
	return out
}

// longest is the number of sentences of a document, about, up to which each is compared with each. Of a longer one as
// many, at equal distances, are compared with all of the other document, so that time grows with its length alone.
const longest = 1000

// sampledBiMax is BiMax of documents of which one is long.
func sampledBiMax(source, target *Side, a, b Document) float64 {
	mean := func(own, other *Side, a, b Document) float64 {
		n := min(a.Count, longest)
		var sum float64
		for k := range n {
			best, u := float32(-1), own.sentence(a.First+k*a.Count/n)
			for j := range b.Count {
				best = max(best, dot(u, other.sentence(b.First+j)))
			}
			sum += float64(best)
		}
		return sum / float64(n)
	}
	return (mean(source, target, a, b) + mean(target, source, b, a)) / 2
}

// biMax is the mean of both directions' mean best cosine.
func biMax(source, target *Side, a, b Document) float64 {
	if a.Count*b.Count > longest*longest {
		return sampledBiMax(source, target, a, b)
	}
	back := make([]float32, b.Count)
	for j := range back {
		back[j] = -1
	}
	var forth, other float64
	for i := range a.Count {
		best, u := float32(-1), source.sentence(a.First+i)
		for j := range b.Count {
			c := dot(u, target.sentence(b.First+j))
			best, back[j] = max(best, c), max(back[j], c)
		}
		forth += float64(best)
	}
	for _, c := range back {
		other += float64(c)
	}
	return (forth/float64(a.Count) + other/float64(b.Count)) / 2
}

// blockSize is the number of calls that a goroutine makes at a time.
const blockSize = 64

// inBlocks calls do with every number below n, on all processors.
func inBlocks(ctx context.Context, n int, do func(k int)) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < n; from += blockSize {
		work.Go(func() error {
			for k := from; k < min(from+blockSize, n); k++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				do(k)
			}
			return nil
		})
	}
	return work.Wait()
}

// dot is the product of two vectors, summed in four parts, in a fixed order.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range min(len(a), len(b)) {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}
