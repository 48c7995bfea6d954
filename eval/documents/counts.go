// Package documents measures alignments of documents against gold standards, and makes documents whose gold is known.
//
// # Collections
//
// The package also makes collections of documents of which it is known which are translations of each other, and
// measures how many of them are found.
package documents

import (
	"fmt"
	"slices"

	"bitextmine/align/bead"
	"bitextmine/align/match"
	"bitextmine/eval/report"
)

// Hits are the beads of one ladder that stand in another.
type Hits struct {
	Strict int // equal beads
	Lax    int // beads that share a sentence of either side with one bead or several, and equal ones
	All    int
}

// BeadCounts counts beads as vecalign's score.py does (after Sennrich and Volk, 2011). Deletions count for precision,
// but not for recall.
type BeadCounts struct{ Precision, Recall Hits }

// Add counts a pair of documents.
func (c *BeadCounts) Add(gold, found Ladder) {
	c.Precision.add(found, gold)
	c.Recall.add(gold.paired(), found.paired())
}

// paired is the ladder without deletions.
func (l Ladder) paired() Ladder {
	return slices.DeleteFunc(slices.Clone(l), func(r Rung) bool { return len(r.Source) == 0 || len(r.Target) == 0 })
}

// add counts the beads that stand in the other ladder. A bead that is repeated counts once.
func (h *Hits) add(beads, others Ladder) {
	equal := map[string]bool{}
	targets := map[int]map[int]bool{} // target sentences by source sentence
	for _, o := range others {
		equal[o.key()] = true
		for _, s := range o.Source {
			if targets[s] == nil {
				targets[s] = map[int]bool{}
			}
			for _, t := range o.Target {
				targets[s][t] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, b := range beads {
		if key := b.key(); seen[key] || len(b.Source)+len(b.Target) == 0 {
			continue
		} else {
			seen[key] = true
			h.All++
			if equal[key] {
				h.Strict++
				h.Lax++
				continue
			}
		}
		if b.overlaps(targets) {
			h.Lax++
		}
	}
}

func (r Rung) key() string { return fmt.Sprint(r.Source, r.Target) }

// overlaps reports whether a sentence of the target is aligned with one of the source.
func (r Rung) overlaps(targets map[int]map[int]bool) bool {
	for _, s := range r.Source {
		for _, t := range r.Target {
			if targets[s][t] {
				return true
			}
		}
	}
	return false
}

// Part is a figure of counts, strict and lax.
type Part struct{ Strict, Lax float64 }

func (h Hits) part() Part {
	all := float64(max(h.All, 1))
	return Part{100 * float64(h.Strict) / all, 100 * float64(h.Lax) / all}
}

// Figures are precision, recall and their harmonic mean, in percent.
func (c BeadCounts) Figures() (precision, recall, f1 Part) {
	precision, recall = c.Precision.part(), c.Recall.part()
	return precision, recall, Part{harmonic(precision.Strict, recall.Strict), harmonic(precision.Lax, recall.Lax)}
}

func harmonic(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}

// NewLadderReport makes an empty report. by names the aligner.
func NewLadderReport(by string) *report.Report {
	return &report.Report{
		Protocol: "beads",
		Definition: [2]string{
			"Beads that are equal to gold ones (strict), or share a sentence of either side with one (lax): precision of all beads, deletions too,",
			"recall of the gold beads without deletions, and their harmonic mean, in percent (Sennrich and Volk, 2011; vecalign's score.py).",
		},
		Encoder: by,
		Label:   "set",
		Columns: []report.Column{
			{Name: "strict P"}, {Name: "strict R"}, {Name: "strict F1"}, {Name: "lax P"}, {Name: "lax R"},
			{Name: "lax F1"},
			{Name: "beads", Kind: report.Count}, {Name: "gold", Kind: report.Count},
		},
	}
}

// AddLadderRow adds the figures of a set.
func AddLadderRow(r *report.Report, name string, c BeadCounts) {
	p, q, f := c.Figures()
	r.Rows = append(r.Rows, report.Row{Name: name,
		Cells: []any{p.Strict, q.Strict, f.Strict, p.Lax, q.Lax, f.Lax, c.Precision.All, c.Recall.All}})
}

// Ladder is the beads of a pair of documents: the numbers of their sentences, counted from 0. Unlike those of package
// align/bead, a gold standard's need not follow each other.
type Ladder []Rung

// Rung is a bead of a ladder.
type Rung struct{ Source, Target []int }

// LadderOf makes a ladder of beads.
func LadderOf(beads []bead.Bead) Ladder {
	out := make(Ladder, len(beads))
	for i, b := range beads {
		out[i] = Rung{numbers(b.Source), numbers(b.Target)}
	}
	return out
}

func numbers(s bead.Span) []int {
	out := make([]int, s.Count)
	for i := range out {
		out[i] = s.First + i
	}
	return out
}

// Right is the number of pairs that belong together.
func (m *Pairing) Right(pairs []match.Pair) (n int) {
	for _, p := range pairs {
		if m.Gold[p.Source] == p.Target {
			n++
		}
	}
	return n
}

// NewPairingReport makes an empty report. by names the encoder.
func NewPairingReport(by string) *report.Report {
	return &report.Report{
		Protocol: "docs",
		Definition: [2]string{
			"Documents made of line-aligned sentences, among as many others: recall is the share of the source documents whose pair is the right one,",
			"precision the share of the pairs that are right, in percent.",
		},
		Encoder: by,
		Label:   "set",
		Columns: []report.Column{{Name: "precision"}, {Name: "recall"}, {Name: "pairs", Kind: report.Count},
			{Name: "gold", Kind: report.Count}},
	}
}

// AddPairingRow adds the figures of a set.
func AddPairingRow(r *report.Report, name string, m *Pairing, pairs []match.Pair) {
	right := 100 * float64(m.Right(pairs))
	precision, recall := right/float64(max(len(pairs), 1)), right/float64(max(len(m.Gold), 1))
	r.Rows = append(r.Rows, report.Row{Name: name, Cells: []any{precision, recall, len(pairs), len(m.Gold)}})
}
