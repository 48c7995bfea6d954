package match

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corpusshard "bitextmine/corpus/shard"
	"bitextmine/filter"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/view"
)

// withCopies adds to the rejected pairs those that are no candidates, as their text was not translated. Where the
// margin decides they are candidates.
func (t *table) withCopies(ctx context.Context, all []record.Rejected) ([]record.Rejected, error) {
	if t.Scorer == nil {
		return all, nil
	}
	n, shown, err := copiesOf(ctx, t.pair)
	if err != nil || n == 0 {
		return all, err
	}
	reason := filter.Untranslated.Reasons()[0]
	at := slices.IndexFunc(all, func(r record.Rejected) bool { return r.Reason == reason })
	if at < 0 {
		at, all = len(all), append(all, record.Rejected{Reason: reason})
	}
	all[at].Pairs += n
	all[at].Samples = append(all[at].Samples, shown[:min(len(shown), record.MaxSamples-len(all[at].Samples))]...)
	return all, nil
}

// copiesOf reads how many pairs are no candidates of a pair of languages, as their text was not translated, and some of
// them.
func copiesOf(ctx context.Context, p *view.Pair) (n int, shown []record.Sample, err error) {
	var pairs [][2]int32
	for _, key := range p.Plan.Pairs[p.Index].Features {
		out, err := p.Output(ctx, view.Features, key)
		if err != nil {
			return 0, nil, err
		}
		var info featuresInfo
		if err := json.Unmarshal(out.Info, &info); err != nil {
			return 0, nil, fmt.Errorf("read the record of %s: %w", out.Dir, err)
		}
		n += info.Copies
		pairs = append(pairs, info.Shown[:min(len(info.Shown), record.MaxSamples-len(pairs))]...)
	}
	shown = make([]record.Sample, len(pairs))
	err = p.RowsOfPairs(ctx, pairs, func(at, side int, row corpusshard.Row) {
		*[2]*string{&shown[at].Source, &shown[at].Target}[side] = row.Text
	})
	return n, shown, err
}
