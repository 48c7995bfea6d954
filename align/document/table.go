package document

import (
	"fmt"
	"io"
	"strings"

	"bitextmine/align/bead"
	"bitextmine/bitext/table"
)

// Local is the value of found_by in rows that were found by aligning documents.
const Local = "local"

// Choice says which beads become rows.
type Choice struct {
	Deletions bool    // also sentences without a counterpart, with an empty text on the other side
	MinScore  float64 // minimum of Bead.Score; deletions have no score
}

// Rows collects rows of beads, with columns as in a bitext file and n_src, n_tgt (sentences in the spans), src_first
// and tgt_first (the first sentences, counted from 0) and found_by.
type Rows struct {
	choice          Choice
	text, lang, doc [2][]string
	line            [2][]uint64
	first, n        [2][]uint32
	mean            [2][]float32
	score, cosine   []float32
	found           []string
}

// NewRows makes an empty collection.
func NewRows(c Choice) *Rows {
	r := &Rows{choice: c, score: []float32{}, cosine: []float32{}, found: []string{}}
	for side := range 2 { // an empty table must have column types, too
		r.text[side], r.lang[side], r.doc[side], r.line[side] = []string{}, []string{}, []string{}, []uint64{}
		r.first[side], r.n[side], r.mean[side] = []uint32{}, []uint32{}, []float32{}
	}
	return r
}

// Len is the number of rows.
func (r *Rows) Len() int { return len(r.score) }

// Add adds the chosen beads of a pair of documents.
func (r *Rows) Add(a *Aligned) {
	for _, b := range a.Beads {
		if b.Deletion() && r.choice.Deletions || !b.Deletion() && float64(b.Score()) >= r.choice.MinScore {
			r.add(a, b)
		}
	}
}

func (r *Rows) add(a *Aligned, b bead.Bead) {
	for side, d := range [2]*Document{a.Source, a.Target} {
		span := [2]bead.Span{b.Source, b.Target}[side]
		r.text[side] = append(r.text[side], d.text(span))
		r.lang[side] = append(r.lang[side], d.Language)
		r.doc[side] = append(r.doc[side], d.Name)
		line := uint64(0)
		if span.Count > 0 {
			line = d.Lines[span.First]
		}
		r.line[side] = append(r.line[side], line)
		r.first[side] = append(r.first[side], uint32(span.First))
		r.n[side] = append(r.n[side], uint32(span.Count))
		r.mean[side] = append(r.mean[side], [2]float32{b.SourceMean, b.TargetMean}[side])
	}
	r.score, r.cosine, r.found = append(r.score, b.Score()), append(r.cosine, b.Cosine), append(r.found, Local)
}

// Batch makes a batch of the rows, before which a table has first rows.
func (r *Rows) Batch(first uint64) (*table.Batch, error) {
	return table.NewBatch(r.Len(), first, r.columns()...)
}

func (r *Rows) columns() []table.Values {
	out := []table.Values{{Name: "src_text", Text: r.text[0]}, {Name: "tgt_text", Text: r.text[1]}}
	both := func(name string, make func(side int) table.Values) {
		for side, prefix := range [2]string{"src_", "tgt_"} {
			v := make(side)
			v.Name = prefix + name
			out = append(out, v)
		}
	}
	both("lang", func(side int) table.Values { return table.Values{Text: r.lang[side]} })
	out = append(out, table.Values{Name: "score", Float32: r.score}, table.Values{Name: "cosine", Float32: r.cosine})
	both("mean", func(side int) table.Values { return table.Values{Float32: r.mean[side]} })
	both("doc", func(side int) table.Values { return table.Values{Text: r.doc[side]} })
	both("line", func(side int) table.Values { return table.Values{Uint64: r.line[side]} })
	both("first", func(side int) table.Values { return table.Values{Uint32: r.first[side]} })
	return append(out, table.Values{Name: "n_src", Uint32: r.n[0]}, table.Values{Name: "n_tgt", Uint32: r.n[1]},
		table.Values{Name: "found_by", Text: r.found})
}

// WriteLadder writes all beads in vecalign's format: [source sentences]:[target sentences]:cost, counted from 0.
func (a *Aligned) WriteLadder(w io.Writer) error {
	for _, b := range a.Beads {
		cost := 1 - b.Score()
		if b.Deletion() {
			cost = 0
		}
		if _, err := fmt.Fprintf(w, "%s:%s:%.6f\n", numbers(b.Source), numbers(b.Target), cost); err != nil {
			return fmt.Errorf("write beads: %w", err)
		}
	}
	return nil
}

// numbers are a span's sentences as Python writes a list.
func numbers(s bead.Span) string {
	list := make([]string, s.Count)
	for i := range list {
		list[i] = fmt.Sprint(s.First + i)
	}
	return "[" + strings.Join(list, ", ") + "]"
}
