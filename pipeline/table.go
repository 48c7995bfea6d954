package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/filter"
	"bitextmine/mine"
)

// writeChunk is how many pairs have their texts in memory at once: some 300 MB of ordinary sentences.
const writeChunk = 512 << 10

// table is the bitext before its texts are fetched.
type table struct {
	worker    *worker
	sentences [2]*sentences
	*judged
}

// wanted returns the places of the candidates to write, best first: those kept, or all.
func (t *table) wanted(all bool) []int {
	var at []int
	for i, v := range t.verdicts {
		if all || v == mine.Kept {
			at = append(at, i)
		}
	}
	return at
}

// rows fetches the texts of some candidates.
func (t *table) rows(ctx context.Context, at []int) ([]bitext.Row, error) {
	rows := make([]bitext.Row, len(at))
	source, target := make([]placed, len(at)), make([]placed, len(at))
	for i, n := range at {
		c, v := t.Candidates[n], t.verdicts[n]
		rows[i] = bitext.Row{
			Score: c.Score, Cosine: c.Cosine, SourceMean: c.SourceMean, TargetMean: c.TargetMean,
			SourceRank: c.SourceRank, TargetRank: c.TargetRank,
		}
		rows[i].Keep, rows[i].Reasons = filter.Decide(v)
		t.addScores(n, &rows[i].Prob, &rows[i].Features)
		source[i] = placed{t.sentences[0].first[c.Source], &rows[i].Source}
		target[i] = placed{t.sentences[1].first[c.Target], &rows[i].Target}
	}
	return rows, errors.Join(t.worker.fill(ctx, 0, source), t.worker.fill(ctx, 1, target))
}

// placed is a sentence to fill and where it stands.
type placed struct {
	place
	sentence *bitext.Sentence
}

// fill reads the sentences' texts and provenance, each shard once, in row order.
func (w *worker) fill(ctx context.Context, side int, wanted []placed) error {
	slices.SortFunc(wanted, func(a, b placed) int { return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.row, b.row)) })
	for len(wanted) > 0 {
		n := 1
		for n < len(wanted) && wanted[n].shard == wanted[0].shard {
			n++
		}
		shard := &w.plan.Sides[side].Shards[wanted[0].shard]
		path, err := w.shardPath(ctx, shard)
		if err != nil {
			return err
		}
		if err := fillShard(path, bitext.Sentence{Lang: w.plan.Sides[side].Language, Shard: shard.Name}, wanted[:n]); err != nil {
			return err
		}
		wanted = wanted[n:]
	}
	return nil
}

// fillShard reads one shard's wanted rows, in ascending order; a row may be wanted more than once. What they share is in common.
func fillShard(path string, common bitext.Sentence, wanted []placed) (err error) {
	rows := make([]uint32, len(wanted))
	for i, w := range wanted {
		rows[i] = w.row
	}
	reader, err := corpus.OpenShard(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	at := 0
	for row, err := range reader.RowsAt(rows) {
		if err != nil {
			return err
		}
		sentence := common
		sentence.Text, sentence.Key, sentence.Row = row.Text, row.Key, rows[at]
		sentence.Doc, sentence.URL, sentence.Line = row.Doc, row.URL, row.Line
		*wanted[at].sentence = sentence
		at++
	}
	if at != len(wanted) {
		return fmt.Errorf("shard %s gave %d of %d rows", path, at, len(wanted))
	}
	return nil
}
