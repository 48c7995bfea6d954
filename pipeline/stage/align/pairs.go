package align

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"bitextmine/align/bead"
	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
	"bitextmine/corpus"
	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage/pairdocs"
	"bitextmine/pipeline/view"
)

// Kept has the pairs and the sentences that a bitext keeps, as hashes of their keys, eight bytes each, and the labels.
type Kept struct {
	pairs  []uint64
	sides  [2][]uint64
	labels label.Index
}

// ReadKept reads the kept pairs of a bitext file. Pairs that people rejected are not kept.
func ReadKept(ctx context.Context, file string, labels []label.Label) (_ *Kept, err error) {
	opts := table.DefaultOptions()
	opts.Columns = []string{table.SourceText, table.TargetText, "src_key", "tgt_key", "keep"}
	r, err := table.Open([]string{file}, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	k := &Kept{labels: label.IndexOf(labels)}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		keys, err := label.Keys(b)
		if err != nil {
			return nil, err
		}
		keep, err := b.Keep()
		if err != nil {
			return nil, err
		}
		for i := range b.Len() {
			pair := keys(i)
			if l, labelled := k.labels.Find(pair); keep(i) && (l.Accepted || !labelled) {
				k.pairs = append(k.pairs, hashOf(pair.Source, pair.Target))
				k.sides[0], k.sides[1] = append(k.sides[0], hashOf(pair.Source)), append(k.sides[1], hashOf(pair.Target))
			}
		}
	}
	for _, list := range [][]uint64{k.pairs, k.sides[0], k.sides[1]} {
		slices.Sort(list)
	}
	return k, nil
}

func hashOf(keys ...string) uint64 { return xxhash.Sum64String(strings.Join(keys, ":")) }

func has(list []uint64, h uint64) bool {
	_, found := slices.BinarySearch(list, h)
	return found
}

// Documents is a pair of documents with the beads of it that are kept, in the order of the source.
type Documents struct {
	Docs  [2]*pairdocs.Document
	Texts [2][]string // their sentences as in the input
	Score float64
	Beads []bead.Bead

	corrected map[[2]int][2]string // texts that people gave, by the first sentences of a bead
}

// text is that of a side of a bead, as corrected.
func (d *Documents) text(b bead.Bead, side int) string {
	if texts, ok := d.corrected[[2]int{b.Source.First, b.Target.First}]; ok {
		return texts[side]
	}
	return d.span(b, side)
}

// span is the text of a side of a bead as in the input.
func (d *Documents) span(b bead.Bead, side int) string {
	s := [2]bead.Span{b.Source, b.Target}[side]
	return strings.Join(d.Texts[side][s.First:s.End()], " ")
}

// keys are the keys of a bead's texts.
func (d *Documents) keys(b bead.Bead) (keys [2]string) {
	for side := range keys {
		keys[side] = keyOf(d.span(b, side))
	}
	return keys
}

// Labelled counts the labels that name a bead of several sentences of the documents that a run aligned.
func Labelled(ctx context.Context, p *view.Pair, labels []label.Label) (n int, err error) {
	if !wanted(&p.Plan.Settings) {
		return 0, nil
	}
	named := map[[2]string]bool{}
	for _, l := range labels {
		named[[2]string{l.Source, l.Target}] = true
	}
	err = EachDocuments(ctx, p, nil, func(d *Documents) error {
		for _, b := range d.Beads {
			if b.Source.Count+b.Target.Count == 2 || float64(b.Score()) < p.Plan.Settings.BeadScore {
				continue
			}
			if keys := d.keys(b); named[keys] {
				delete(named, keys)
				n++
			}
		}
		return nil
	})
	return n, err
}

// EachDocuments calls each with every pair of documents that a run aligned, in the order of their sources. Where kept
// is nil, all beads are kept.
func EachDocuments(ctx context.Context, p *view.Pair, kept *Kept, each func(*Documents) error) error {
	if !wanted(&p.Plan.Settings) {
		return badinput.Errorf("the run did not align documents: run again with --documents on")
	}
	var sides [2]*pairdocs.Collection
	for side := range sides {
		var err error
		if sides[side], err = pairdocs.ReadDocuments(ctx, p.Files, p.Plan.LanguageOf(p.Index, side)); err != nil {
			return err
		}
	}
	pairs, _, err := pairdocs.Read(ctx, p.Files, p.Index)
	if err != nil {
		return err
	}
	scores := map[[2]int]float64{}
	for _, pair := range pairs {
		scores[[2]int{pair.Source, pair.Target}] = pair.Score
	}
	var some []*Documents
	sentences := 0
	flush := func() error {
		if err := readTexts(ctx, p, some); err != nil {
			return err
		}
		for _, d := range some {
			if d.keep(kept); len(d.Beads) > 0 {
				if err := each(d); err != nil {
					return err
				}
			}
		}
		some, sentences = nil, 0
		return nil
	}
	err = Read(ctx, p.Files, p.Index, func(b *Beads) error {
		d := &Documents{Score: scores[[2]int{b.Source, b.Target}], Beads: b.Beads}
		for side, at := range [2]int{b.Source, b.Target} {
			d.Docs[side] = &sides[side].Documents[at]
			sentences += len(d.Docs[side].Sentences)
		}
		if some = append(some, d); sentences < batch {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// readTexts reads the texts of documents.
func readTexts(ctx context.Context, p *view.Pair, of []*Documents) error {
	for side := range 2 {
		var numbers []int32
		var into []*string
		for _, d := range of {
			d.Texts[side] = make([]string, len(d.Docs[side].Sentences))
			for k, s := range d.Docs[side].Sentences {
				numbers, into = append(numbers, s.Number), append(into, &d.Texts[side][k])
			}
		}
		err := p.RowsOf(ctx, side, numbers, func(at int, _ *plan.Shard, _ uint32, row shard.Row) { *into[at] = row.Text })
		if err != nil {
			return err
		}
	}
	return nil
}

// keep leaves out the beads that the bitext does not keep, and puts the others in the order of their sources.
func (d *Documents) keep(kept *Kept) {
	if kept != nil {
		d.corrected = map[[2]int][2]string{}
		d.Beads = slices.DeleteFunc(d.Beads, func(b bead.Bead) bool {
			keys := d.keys(b)
			if l := kept.labels[keys]; l.Edited() {
				d.corrected[[2]int{b.Source.First, b.Target.First}] = [2]string{l.SourceText, l.TargetText}
			}
			return !has(kept.pairs, hashOf(keys[:]...))
		})
	}
	slices.SortStableFunc(d.Beads, func(a, b bead.Bead) int { return cmp.Compare(a.Source.First, b.Source.First) })
}

func keyOf(text string) string { return hexOf(corpus.KeyOf(corpus.Normalise(text))) }

// hexOf is a key as label.Keys writes it.
func hexOf(key corpus.Key) string { return hex.EncodeToString(key[:]) }

func eachRow(ctx context.Context, p *view.Pair, s *plan.Shard, each func(at int, row shard.Row) error) (err error) {
	r, err := p.OpenShard(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	at := 0
	for row, err := range r.Rows() {
		if err == nil {
			err = each(at, row)
		}
		if err != nil {
			return err
		}
		at++
	}
	return nil
}

// Rest calls each with the distinct sentences of a side that are in no kept pair, in the order of the input.
func Rest(ctx context.Context, p *view.Pair, kept *Kept, side int, each func(of *plan.Shard, at uint32, row shard.Row) error) error {
	numbered := p.Sentences[side]
	used := make([]bool, numbered.Len()) // sentences in a span: only the whole has a key in the bitext
	if wanted(&p.Plan.Settings) {
		err := EachDocuments(ctx, p, kept, func(d *Documents) error {
			for _, b := range d.Beads {
				span := [2]bead.Span{b.Source, b.Target}[side]
				for _, s := range d.Docs[side].Sentences[span.First:span.End()] {
					used[s.Number] = true
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for n := range p.Language(side).Shards {
		s := &p.Language(side).Shards[n]
		err := eachRow(ctx, p, s, func(at int, row shard.Row) error {
			if !numbered.IsFirst(n, at) || used[numbered.Rows[n][at]] || has(kept.sides[side], hashOf(hexOf(row.Key))) {
				return ctx.Err()
			}
			return each(s, uint32(at), row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
