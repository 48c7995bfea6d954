// Package pairing makes collections of documents of which it is known which are translations of each other, and
// measures how many of them are found.
package pairing

import (
	"math/rand/v2"
	"slices"
)

// Options say what documents are made.
type Options struct {
	Documents int     // with a translation
	Lines     int     // of a document, at most
	Missing   float64 // share of its lines that either side lacks
	Seed      uint64
}

// DefaultOptions make short documents, which are harder to tell apart than long ones.
func DefaultOptions() Options { return Options{Documents: 1000, Lines: 4, Missing: 0.15, Seed: 1} }

// Made is two collections. A document is its sentences.
type Made struct {
	Source, Target [][]string
	Gold           []int // the target document that each source document belongs to
}

// Make makes documents of line-aligned sentences, and as many target documents that no source document belongs to: of
// others, if there are any, else each of half of two of the right ones, so that all its sentences have a translation.
// Source, target and others, unless it is empty, must have Documents times Lines lines at least.
func Make(source, target, others []string, o Options) Made {
	rng := rand.New(rand.NewPCG(o.Seed, 23))
	m := Made{Gold: make([]int, o.Documents)}
	whole := make([][]string, o.Documents) // the target documents without what is missing
	for d := range whole {
		from := d * o.Lines
		whole[d] = target[from : from+o.Lines]
		m.Source = append(m.Source, thinned(source[from:from+o.Lines], o.Missing, rng))
		m.Target = append(m.Target, thinned(whole[d], o.Missing, rng))
	}
	for d := range o.Documents {
		if len(others) > 0 {
			m.Target = append(m.Target, thinned(others[d*o.Lines:][:o.Lines], o.Missing, rng))
			continue
		}
		// Neighbours are often of one article, so that both halves are of the right subject.
		first, second := whole[d], whole[(d+1)%o.Documents]
		m.Target = append(m.Target, slices.Concat(first[:o.Lines/2], second[o.Lines/2:]))
	}
	m.shuffle(rng)
	return m
}

// thinned is some lines without those that are missing; one is left at least.
func thinned(lines []string, missing float64, rng *rand.Rand) []string {
	kept := slices.DeleteFunc(slices.Clone(lines), func(string) bool { return rng.Float64() < missing })
	if len(kept) == 0 {
		return lines[:1]
	}
	return kept
}

// shuffle puts the target documents into another order.
func (m *Made) shuffle(rng *rand.Rand) {
	order := rng.Perm(len(m.Target))
	target := make([][]string, len(order))
	for from, to := range order {
		target[to] = m.Target[from]
		if from < len(m.Gold) {
			m.Gold[from] = to
		}
	}
	m.Target = target
}
