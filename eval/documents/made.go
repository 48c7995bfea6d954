package documents

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// The shares of sentences that Make changes. They give about as many 1:1 beads as Bleualign's set, three of four.
const (
	mergeRate  = 0.06  // either side's sentences joined to the next
	splitRate  = 0.06  // either side's sentences cut near a comma or a space in the middle
	deleteRate = 0.03  // either side's sentences left out
	swapRate   = 0.005 // the target's sentences that change places with the next
	looseRate  = 0.25  // either side's sentences that lose a third of their words, as in a free translation
)

// Made is a pair of documents and its gold standard.
type Made struct {
	Source, Target []string
	Gold           Ladder
}

// piece is text of a document and the sentences of the original that it has parts of.
type piece struct {
	text string
	of   []int
}

// Make makes documents of line-aligned sentences.
func Make(source, target []string, seed uint64) Made {
	rng := rand.New(rand.NewPCG(seed, 17))
	order := make([]int, len(target))
	for i := range order {
		order[i] = i
	}
	a := change(source, order, rng)
	for i := 0; i+1 < len(order); i++ {
		if rng.Float64() < swapRate {
			order[i], order[i+1] = order[i+1], order[i]
			i++
		}
	}
	b := change(target, order, rng)
	return Made{Source: texts(a), Target: texts(b), Gold: ladder(len(source), a, b)}
}

func texts(pieces []piece) []string {
	out := make([]string, len(pieces))
	for i, p := range pieces {
		out[i] = p.text
	}
	return out
}

// change deletes, splits and merges the sentences of one side.
func change(sentences []string, order []int, rng *rand.Rand) []piece {
	var out []piece
	join := false
	for _, i := range order {
		drop, split, merge := rng.Float64() < deleteRate, rng.Float64() < splitRate, rng.Float64() < mergeRate
		if drop && len(out) > 0 {
			join = false
			continue
		}
		text := sentences[i]
		if rng.Float64() < looseRate {
			text = thinned(text, rng)
		}
		parts := []string{text}
		if at := middle(text); split && at > 0 {
			parts = []string{strings.TrimSpace(text[:at]), strings.TrimSpace(text[at:])}
		}
		for _, text := range parts {
			if last := len(out) - 1; join {
				out[last].text += " " + text
				out[last].of = append(out[last].of, i)
				join = false
			} else {
				out = append(out, piece{text, []int{i}})
			}
		}
		join = merge
	}
	return out
}

// thinned is a text without some of its words, or of its letters if it has few spaces: one run of a sixth of them and
// every sixth of the others. The last one stays, with the full stop.
func thinned(text string, rng *rand.Rand) string {
	words, between := strings.Fields(text), " "
	if len(words) < len(text)/20 {
		words, between = strings.Split(text, ""), ""
	}
	if len(words) < 5 {
		return text
	}
	words, last := words[:len(words)-1], words[len(words)-1]
	run := len(words) / 6
	from := rng.IntN(len(words) - run)
	kept := slices.Delete(words, from, from+run)
	kept = slices.DeleteFunc(kept, func(string) bool { return rng.IntN(6) == 0 })
	return strings.Join(append(kept, last), between)
}

// middle is the place in the middle third of a text where it is best cut: after a comma or the like, else at a space,
// else between two letters. It is 0 for a short text.
func middle(text string) int {
	runes := []rune(text)
	if len(runes) < 12 {
		return 0
	}
	best, rank := 0, 3
	for i := len(runes) / 3; i < 2*len(runes)/3; i++ {
		r := 2
		if unicode.IsSpace(runes[i]) {
			r = 1
		}
		if strings.ContainsRune(",;:—，；：、،؛", runes[i-1]) {
			r = 0
		}
		if r < rank {
			best, rank = i, r
		}
	}
	return len(string(runes[:best]))
}

// ladder is the components of the graph whose edges join a piece with the sentences it has parts of.
func ladder(n int, a, b []piece) Ladder {
	group := make([]int, n)
	for i := range group {
		group[i] = i
	}
	find := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	for _, p := range slices.Concat(a, b) {
		for _, i := range p.of {
			x, y := find(p.of[0]), find(i)
			group[max(x, y)] = min(x, y)
		}
	}
	rungs := make([]Rung, n)
	for k, p := range a {
		g := find(p.of[0])
		rungs[g].Source = append(rungs[g].Source, k)
	}
	for k, p := range b {
		g := find(p.of[0])
		rungs[g].Target = append(rungs[g].Target, k)
	}
	return slices.DeleteFunc(rungs, func(r Rung) bool { return len(r.Source)+len(r.Target) == 0 })
}

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
