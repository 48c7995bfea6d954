package documents

import (
	"math/rand/v2"
	"slices"
)

// PairingOptions say what documents are made.
type PairingOptions struct {
	Documents int     // documents with a translation
	Lines     int     // maximum lines per document
	Near      int     // documents that share all lines but one, as daily reports do; 1: none do
	Missing   float64 // share of its lines that either side lacks
	Seed      uint64
}

// DefaultPairingOptions make short documents, which are harder to tell apart than long ones.
func DefaultPairingOptions() PairingOptions {
	return PairingOptions{Documents: 1000, Lines: 4, Near: 1, Missing: 0.15, Seed: 1}
}

// Need is the number of lines that documents with a translation are made of.
func (o PairingOptions) Need() int {
	groups := (o.Documents + o.Near - 1) / o.Near
	return groups*(o.Lines-1) + o.Documents
}

// Pairing holds two synthetic collections. A document is its sentences.
type Pairing struct {
	Source, Target [][]string
	Gold           []int         // the target document that each source document belongs to
	Metadata       [2][][]string // values of both sides' documents by field
}

// MakePairing makes documents of line-aligned sentences, and as many target documents that no source document belongs
// to: of others, if there are any, else each of half of two of the right ones, so that all its sentences have a
// translation. Source and target must have Options.Need lines at least, and others, unless it is empty, Documents times
// Lines.
func MakePairing(source, target, others []string, o PairingOptions) Pairing {
	rng := rand.New(rand.NewPCG(o.Seed, 23))
	m := Pairing{Gold: make([]int, o.Documents)}
	whole := make([][]string, o.Documents) // the target documents without what is missing
	for d := range whole {
		whole[d] = o.lines(target, d)
		m.Source = append(m.Source, thinnedPairing(o.lines(source, d), o.Missing, rng))
		m.Target = append(m.Target, thinnedPairing(whole[d], o.Missing, rng))
	}
	for d := range o.Documents {
		if len(others) > 0 {
			m.Target = append(m.Target, thinnedPairing(others[d*o.Lines:][:o.Lines], o.Missing, rng))
			continue
		}
		// Neighbours often come from one article, so both halves have the right subject.
		first, second := whole[d], whole[(d+1)%o.Documents]
		m.Target = append(m.Target, slices.Concat(first[:o.Lines/2], second[o.Lines/2:]))
	}
	m.describe(o)
	m.shuffle(rng)
	return m
}

// lines returns a document's lines: the common lines of its group, and one of its own.
func (o PairingOptions) lines(text []string, d int) []string {
	group := d / o.Near * (o.Lines - 1 + o.Near)
	shared := group + o.Lines - 1
	return append(slices.Clone(text[group:shared]), text[shared+d%o.Near])
}

// thinned is some lines without those that are missing; one is left at least.
func thinnedPairing(lines []string, missing float64, rng *rand.Rand) []string {
	kept := slices.DeleteFunc(slices.Clone(lines), func(string) bool { return rng.Float64() < missing })
	if len(kept) == 0 {
		return lines[:1]
	}
	return kept
}

// shuffle puts the target documents into another order.
func (m *Pairing) shuffle(rng *rand.Rand) {
	order := rng.Perm(len(m.Target))
	target, metadata := make([][]string, len(order)), make([][]string, len(order))
	for from, to := range order {
		target[to], metadata[to] = m.Target[from], m.Metadata[1][from]
		if from < len(m.Gold) {
			m.Gold[from] = to
		}
	}
	m.Target, m.Metadata[1] = target, metadata
}
