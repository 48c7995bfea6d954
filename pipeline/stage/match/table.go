package match

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"bitextmine/bitext"
	"bitextmine/corpus/shard"
	"bitextmine/filter"
	"bitextmine/mine"
	"bitextmine/pipeline/view"
)

// writeChunk is how many pairs have their texts in memory at once: some 300 MB of ordinary sentences.
const writeChunk = 512 << 10

// table is the bitext before its texts are fetched.
type table struct {
	pair *view.Pair
	*view.Decision
}

// wanted returns the places of the candidates to write, best first: those kept, or all.
func (t *table) wanted(all bool) []int {
	var at []int
	for i, v := range t.Verdicts {
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
		c := t.Candidates[n]
		rows[i] = bitext.Row{
			Score: c.Score, Cosine: c.Cosine, SourceMean: c.SourceMean, TargetMean: c.TargetMean,
			SourceRank: c.SourceRank, TargetRank: c.TargetRank,
		}
		if t.Refined != nil && !mine.IsNotRefined(t.Refined[n]) {
			rows[i].RefineCosine = &t.Refined[n]
		}
		rows[i].Keep, rows[i].Reasons = filter.Decide(t.Verdicts[n])
		if t.Probabilities != nil {
			probability := t.Probabilities[n]
			rows[i].Prob = &probability
			if t.pair.Plan.Settings.Features {
				rows[i].Features = t.Values.Of(n)
			}
		}
		source[i] = placed{t.pair.Sentences[0].First[c.Source], &rows[i].Source}
		target[i] = placed{t.pair.Sentences[1].First[c.Target], &rows[i].Target}
	}
	return rows, errors.Join(fill(ctx, t.pair, 0, source), fill(ctx, t.pair, 1, target))
}

// placed is a sentence to fill and where it stands.
type placed struct {
	view.Place
	sentence *bitext.Sentence
}

// fill reads the sentences' texts and provenance, each shard once, in row order.
func fill(ctx context.Context, p *view.Pair, side int, wanted []placed) error {
	slices.SortFunc(wanted, func(a, b placed) int { return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Row, b.Row)) })
	language := p.Language(side)
	for len(wanted) > 0 {
		n := 1
		for n < len(wanted) && wanted[n].Shard == wanted[0].Shard {
			n++
		}
		shard := &language.Shards[wanted[0].Shard]
		path, err := p.ShardPath(ctx, shard)
		if err != nil {
			return err
		}
		if err := fillShard(path, bitext.Sentence{Lang: language.Code, Shard: shard.Name}, wanted[:n]); err != nil {
			return err
		}
		wanted = wanted[n:]
	}
	return nil
}

// fillShard reads one shard's wanted rows, in ascending order; a row may be wanted more than once. common has what they
// share.
func fillShard(path string, common bitext.Sentence, wanted []placed) (err error) {
	rows := make([]uint32, len(wanted))
	for i, w := range wanted {
		rows[i] = w.Row
	}
	reader, err := shard.Open(path)
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
