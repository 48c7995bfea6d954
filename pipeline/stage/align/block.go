package align

import (
	"context"
	"strings"
	"unicode"

	"bitextmine/align/bead"
	"bitextmine/bitext/table"
	"bitextmine/corpus/surface"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/view"
)

// BlockOptions say where blocks end.
type BlockOptions struct {
	Words      int  // that either side of a block has at most; 0: any number
	Paragraphs bool // a block ends where a paragraph ends on both sides
	Missing    int  // sentences in a row without a translation that a block goes on over; -1: any number
}

// BlockCounts sum up blocks.
type BlockCounts struct {
	Documents int // pairs with a block
	Blocks    int
	Beads     int // beads in blocks
	Long      int // beads left out as they alone have more words
}

// block is aligned beads that follow each other in a pair of documents.
type block struct {
	of      *Documents
	number  int // number in its documents, from 0
	beads   int
	score   float32 // sum of the beads'
	words   [2]int
	texts   [2][]string // texts of the beads
	parts   [2][]string // texts of the beads and of the sentences between, beside an empty text
	first   [2]uint32
	n       [2]uint32 // sentences in beads
	missing [2]uint32 // sentences between
	before  [2]uint32 // sentences between the last block, or the beginning, and this one
}

// Blocks makes a bitext of paragraphs or documents of the pairs of documents that a run aligned.
func Blocks(ctx context.Context, p *view.Pair, kept *Kept, o BlockOptions, write func(*table.Batch) error) (c BlockCounts, err error) {
	var some []*block
	words, rows := 0, uint64(0)
	flush := func() error {
		b, err := table.NewBatch(len(some), rows, columnsOf(some, p.Codes())...)
		if err != nil {
			return err
		}
		rows, words, some = rows+uint64(len(some)), 0, nil
		return write(b)
	}
	err = EachDocuments(ctx, p, kept, func(d *Documents) error {
		found, long, err := d.blocks(o)
		if c.Long += long; err != nil || len(found) == 0 {
			return err
		}
		c.Documents++
		c.Blocks += len(found)
		for _, b := range found {
			c.Beads += b.beads
			words += b.words[0] + b.words[1]
		}
		if some = append(some, found...); words < batch*10 && len(some) < table.BatchRows/2 {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush() // an empty one, too: it has the columns
	}
	return c, err
}

// blocks divides a pair of documents. Beads that alone have too many words count as not translated.
func (d *Documents) blocks(o BlockOptions) (all []*block, long int, err error) {
	var covered [2][]bool
	for side := range covered {
		covered[side] = make([]bool, len(d.Texts[side]))
	}
	var beads []bead.Bead
	for _, b := range d.Beads {
		if o.Words > 0 && max(wordsOf(d.text(b, 0)), wordsOf(d.text(b, 1))) > o.Words {
			long++
			continue
		}
		beads = append(beads, b)
		for side, s := range [2]bead.Span{b.Source, b.Target} {
			for i := s.First; i < s.End(); i++ {
				covered[side][i] = true
			}
		}
	}
	var next [2]int
	var last *block
	for k, b := range beads {
		spans := [2]bead.Span{b.Source, b.Target}
		var gaps [2][]string
		for side, s := range spans {
			for i := next[side]; i < s.First; i++ {
				if !covered[side][i] {
					gaps[side] = append(gaps[side], d.Texts[side][i])
				}
			}
			next[side] = max(next[side], s.End())
		}
		ends := last == nil || o.Missing >= 0 && max(len(gaps[0]), len(gaps[1])) > o.Missing
		for side := range spans {
			ends = ends || o.Words > 0 && last.words[side]+wordsOf(d.text(b, side)) > o.Words
		}
		if o.Paragraphs && k > 0 {
			var other int
			for side, s := range [2][2]bead.Span{{beads[k-1].Source, b.Source}, {beads[k-1].Target, b.Target}} {
				before, after := d.Docs[side].Sentences[s[0].End()-1], d.Docs[side].Sentences[s[1].First]
				if before.Place == nil || after.Place == nil {
					return nil, 0, badinput.Errorf("nothing is known of paragraphs, as records were not divided: give a number of words, or document")
				}
				if before.Line != after.Line || before.Place.Paragraph != after.Place.Paragraph {
					other++
				}
			}
			ends = ends || other == 2
		}
		if ends {
			last = &block{of: d, number: len(all), first: [2]uint32{uint32(b.Source.First), uint32(b.Target.First)},
				before: [2]uint32{uint32(len(gaps[0])), uint32(len(gaps[1]))}}
			all = append(all, last)
			gaps = [2][]string{}
		}
		last.add(b, gaps)
	}
	return all, long, nil
}

// add adds a bead and the sentences before it.
func (b *block) add(one bead.Bead, gaps [2][]string) {
	for side, gap := range gaps {
		b.missing[side] += uint32(len(gap))
		b.parts[side] = append(b.parts[side], gap...)
		b.parts[1-side] = append(b.parts[1-side], make([]string, len(gap))...)
	}
	for side, s := range [2]bead.Span{one.Source, one.Target} {
		text := b.of.text(one, side)
		b.texts[side], b.parts[side] = append(b.texts[side], text), append(b.parts[side], text)
		b.words[side] += wordsOf(text)
		b.n[side] += uint32(s.Count)
	}
	b.beads++
	b.score += one.Score()
}

// wordsOf counts words, and the characters of scripts that put no spaces between words.
func wordsOf(text string) (n int) {
	inside := false
	for _, r := range text {
		word := surface.IsWordLetter(r) || surface.IsDigit(r) || inside && unicode.IsMark(r)
		if word && !inside || !word && unicode.IsLetter(r) {
			n++
		}
		inside = word
	}
	return n
}

// columnsOf are the columns of blocks, as docs/export.md lists them.
func columnsOf(all []*block, languages [2]string) (columns []table.Values) {
	texts := func(name string, of func(b *block, side int) string) {
		for side, prefix := range [2]string{"src_", "tgt_"} {
			v := table.Values{Name: prefix + name, Text: make([]string, len(all))}
			for i, b := range all {
				v.Text[i] = of(b, side)
			}
			columns = append(columns, v)
		}
	}
	numbers := func(name string, of func(b *block) uint32) {
		v := table.Values{Name: name, Uint32: make([]uint32, len(all))}
		for i, b := range all {
			v.Uint32[i] = of(b)
		}
		columns = append(columns, v)
	}
	texts("text", func(b *block, side int) string { return strings.Join(b.texts[side], " ") })
	texts("lang", func(_ *block, side int) string { return languages[side] })
	score, docScore := make([]float32, len(all)), make([]float32, len(all))
	for i, b := range all {
		score[i], docScore[i] = b.score/float32(b.beads), float32(b.of.Score)
	}
	columns = append(columns, table.Values{Name: "score", Float32: score}, table.Values{Name: "doc_score", Float32: docScore})
	texts("doc", func(b *block, side int) string { return b.of.Docs[side].Name })
	texts("url", func(b *block, side int) string { return b.of.Docs[side].URL })
	numbers("block", func(b *block) uint32 { return uint32(b.number) })
	numbers("beads", func(b *block) uint32 { return uint32(b.beads) })
	for side, prefix := range [2]string{"src", "tgt"} {
		numbers("n_"+prefix, func(b *block) uint32 { return b.n[side] })
		numbers(prefix+"_first", func(b *block) uint32 { return b.first[side] })
		numbers(prefix+"_missing", func(b *block) uint32 { return b.missing[side] })
		numbers(prefix+"_before", func(b *block) uint32 { return b.before[side] })
		numbers(prefix+"_words", func(b *block) uint32 { return uint32(b.words[side]) })
	}
	for side, name := range [2]string{"src_parts", "tgt_parts"} {
		v := table.Values{Name: name, List: make([][]string, len(all))}
		for i, b := range all {
			v.List[i] = b.parts[side]
		}
		columns = append(columns, v)
	}
	return columns
}
