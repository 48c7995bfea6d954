package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/bitext"
	"bitextmine/internal/atomicfile"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/score/feature"
)

const bitextName = "bitext.parquet"

// matched is what the match stage has to say of its bitext.
type matched struct {
	RunID   string   `json:"run_id"`
	Counts  Counts   `json:"counts"`
	Rows    int      `json:"rows"`
	Samples []Sample `json:"samples"`
	// Threshold is the one that was used: with a wanted precision it is found in the matching.
	Threshold float64 `json:"threshold"`
	recall
}

// match scores the candidates of both sides' neighbours, matches them and writes the bitext.
func (w *worker) match(ctx context.Context, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	sources, err := w.sentences[0]()
	if err != nil {
		return nil, err
	}
	targets, err := w.sentences[1]()
	if err != nil {
		return nil, err
	}
	info := &matched{}
	forward, err := w.gather(ctx, t, 0, sources, targets, &info.recall)
	if err != nil {
		return nil, err
	}
	backward, err := w.gather(ctx, t, 1, targets, sources, &info.recall)
	if err != nil {
		return nil, err
	}
	found, err := w.judge(ctx, forward, backward, [2]*sentences{sources, targets})
	if err != nil {
		return nil, err
	}
	meter.Add(t.Items)

	if info.Counts, err = w.counts(ctx); err != nil {
		return nil, err
	}
	c := &info.Counts
	c.SourceUnique, c.TargetUnique, c.Candidates = sources.len(), targets.len(), len(found.Candidates)
	c.Kept, info.Threshold = found.kept, found.threshold
	return info, w.writeBitext(ctx, filepath.Join(dir, bitextName), &table{w, [2]*sentences{sources, targets}, found}, info)
}

// gather puts a side's merged neighbours over its numbered sentences. A sentence that stands in several shards has the same list in
// each.
func (w *worker) gather(ctx context.Context, t *plan.Task, side int, own, partners *sentences, found *recall) (mine.Neighbours, error) {
	k, other := w.plan.Settings.K, &w.plan.Sides[1-side]
	all := mine.NewNeighbours(own.len(), k)
	laid := partners.laid(other, plan.CoverOf(other.Shards))
	for i, key := range t.Merges[side] {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		lists, err := w.lists(ctx, key, w.plan.Sides[side].Shards[i].Rows, len(laid), found)
		if err != nil {
			return all, err
		}
		for row, number := range own.rows[i] {
			if own.first[number] != (place{int32(i), uint32(row)}) {
				continue
			}
			from, cosines := lists.Row(row)
			ids, into := all.Row(int(number))
			copy(into, cosines)
			for j, at := range from {
				if at != mine.None {
					ids[j] = laid[at]
				}
			}
		}
	}
	return all, nil
}

// counts adds up what sharding counted.
func (w *worker) counts(ctx context.Context) (c Counts, err error) {
	for side, into := range []*int{&c.SourceIn, &c.TargetIn} {
		for _, in := range w.plan.Sides[side].Inputs {
			info, err := sharding(ctx, w.store, in, w.plan.Settings)
			if err != nil {
				return c, err
			}
			*into += int(info.Counts.Kept + info.Counts.Duplicates)
			c.Skipped += int(info.Counts.SkippedTotal())
		}
	}
	return c, nil
}

// writeBitext writes the bitext file and completes info.
func (w *worker) writeBitext(ctx context.Context, path string, t *table, info *matched) error {
	info.RunID = runID(w.plan)
	wanted := t.wanted(w.plan.Settings.KeepBelow)
	info.Rows = len(wanted)
	return atomicfile.Write(path, func(f *os.File) error {
		out, err := bitext.NewWriter(f, metadata(w.plan, info))
		if err != nil {
			return err
		}
		for chunk := range slices.Chunk(wanted, writeChunk) {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows, err := t.rows(ctx, chunk)
			if err != nil {
				return err
			}
			for _, row := range rows {
				if err := out.Append(row); err != nil {
					return err
				}
			}
			info.sample(rows)
		}
		return out.Close()
	})
}

// sample keeps the pairs to show: as the bitext stands best first, every row is a candidate, and what is shown is spread over
// the first chunk of kept pairs.
func (m *matched) sample(rows []bitext.Row) {
	if m.Samples != nil {
		return
	}
	m.Samples = []Sample{}
	step := max(1, len(rows)/samples)
	for i := 0; i < len(rows) && len(m.Samples) < samples; i += step {
		if rows[i].Keep {
			m.Samples = append(m.Samples, Sample{rows[i].Score, rows[i].Prob, rows[i].Source.Text, rows[i].Target.Text})
		}
	}
}

// runID is the digest of settings and inputs.
func runID(p *plan.Plan) string {
	var inputs [][2]string
	for _, side := range p.Sides {
		for _, in := range side.Inputs {
			inputs = append(inputs, [2]string{in.Path, in.SHA256})
		}
	}
	return digestOf([]any{p.Settings.ConfigDigest, inputs})
}

// metadata is what the bitext says of its run: nothing that changes between runs of the same inputs and settings.
func metadata(p *plan.Plan, info *matched) bitext.Metadata {
	s, c := p.Settings, info.Counts
	var features []string
	if s.Features {
		features = feature.Names()
	}
	return bitext.Metadata{
		RunID: info.RunID, ConfigDigest: s.ConfigDigest, Encoder: s.EncoderName, EncoderDigest: s.Encoder,
		Search: s.Search, Recall: info.Least, Margin: s.Margin, Retrieval: s.Retrieval, K: s.K, Threshold: info.Threshold,
		Scorer: s.Scorer, Features: features,
		SourceIn: c.SourceIn, TargetIn: c.TargetIn, SourceUnique: c.SourceUnique, TargetUnique: c.TargetUnique,
		Candidates: c.Candidates, Kept: c.Kept, Version: p.Version,
	}
}
