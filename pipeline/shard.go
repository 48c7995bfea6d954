package pipeline

import (
	"context"
	"encoding/json"
	"fmt"

	"bitextmine/corpus"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/store"
)

// cut makes the shards of one input file.
func (w *worker) cut(ctx context.Context, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	in := w.plan.Sides[t.Side].Inputs[t.Input]
	if err := unchanged(in); err != nil {
		return nil, err
	}
	info, err := corpus.WriteShards(ctx, corpusInput(in), w.plan.Settings.Corpus, dir, corpus.ShardOptions{Report: bytesRead(meter)})
	if err != nil {
		return nil, err
	}
	return info, unchanged(in) // so that no half of one text and half of another goes under one key
}

// unchanged compares an input file with what the plan says of it.
func unchanged(in plan.Input) error {
	size, sum, err := digestInput(corpusInput(in))
	if err == nil && (size != in.Bytes || sum != in.SHA256) {
		err = badinput.Errorf("%s was changed while the run was under way; run again once nothing writes to it", in.Path)
	}
	return err
}

func corpusInput(in plan.Input) corpus.Input {
	if in.Builtin {
		return corpus.Input{FS: fixtures.Text, Path: in.Path}
	}
	return corpus.Input{Path: in.Path}
}

// sharding returns what became of an input.
func sharding(ctx context.Context, st *store.Store, in plan.Input, s plan.Settings) (*corpus.Sharding, error) {
	key := plan.ShardKey(in, s)
	out, err := st.Stat(ctx, store.Task{Stage: plan.Shard, Key: key})
	if err != nil {
		return nil, fmt.Errorf("read what was cut from %s: %w", in.Path, err)
	}
	info := &corpus.Sharding{}
	if err := json.Unmarshal(out.Info, info); err != nil {
		return nil, fmt.Errorf("read what was cut from %s: %w", in.Path, err)
	}
	return info, nil
}

// bytesRead turns the sharder's running totals into steps of a meter.
func bytesRead(meter progress.Meter) func(corpus.Progress) {
	var shown int64
	return func(p corpus.Progress) {
		meter.Add(p.Bytes - shown)
		shown = p.Bytes
	}
}
