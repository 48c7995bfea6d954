package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"bitextmine/corpus"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/store"
)

// side is one language's part of a run.
type side struct {
	name     string // "src" or "tgt", as in the bitext's columns
	language string
	shards   []shard // in the order of (path of the input file, place in it): the first occurrence of a sentence is in the first shard that has it
}

// shard is a shard file and its embedding file.
type shard struct {
	name      string // input path#place: the bitext's shard column
	path      string
	digest    string
	rows      int
	embedding embeddingFile
}

func (s *side) rows() int {
	n := 0
	for _, shard := range s.shards {
		n += shard.rows
	}
	return n
}

const shardVersion = 1

// shardSpec is what a file's shards depend on.
type shardSpec struct {
	Input     string // SHA-256 of the file's bytes
	Name      string // without its directory: its extension may tell the format
	Normalise int    // version of corpus.Normalise
	Options   corpus.Options
}

// shardSide cuts the files of one side into shards.
func (r *run) shardSide(ctx context.Context, target bool) (*side, error) {
	language, patterns, flag := r.cfg.side(target)
	s := &side{name: "src", language: language}
	if target {
		s.name = "tgt"
	}
	inputs, err := expand(patterns, language, flag)
	if err != nil {
		return nil, err
	}
	var bytes int64
	digests := make([]string, len(inputs))
	for i, in := range inputs {
		size, sum, err := digestInput(in)
		if err != nil {
			return nil, err
		}
		bytes += size
		digests[i] = sum
	}
	stage := r.start("shard "+language, bytes, progress.Bytes)
	stage.unit = "lines" // how many there are is known at the end
	for i, in := range inputs {
		spec := shardSpec{digests[i], filepath.Base(in.Path), corpus.NormaliseVersion, r.cfg.corpusOptions()}
		out, err := r.store.Do(store.Task{Stage: "shard", Key: store.Key("shard", shardVersion, spec)}, func(dir string) (any, error) {
			return corpus.WriteShards(ctx, in, spec.Options, dir, corpus.ShardOptions{Report: bytesRead(stage.meter)})
		})
		if err != nil {
			return nil, err
		}
		stage.task(out.Cached)
		var info corpus.Sharding
		if err := json.Unmarshal(out.Info, &info); err != nil {
			return nil, fmt.Errorf("read what %s says: %w", out.Dir, err)
		}
		for n, one := range info.Shards {
			s.shards = append(s.shards, shard{
				name: fmt.Sprintf("%s#%d", in.Path, n), path: out.Path(one.File), digest: one.SHA256, rows: one.Rows,
			})
		}
		stage.items += int64(info.Counts.Lines) // of every task, as a cached one costs the digest of its file
		r.report.addInput(s, in, digests[i], info.Counts)
	}
	stage.done(r.report)
	return s, nil
}

// bytesRead turns the sharder's running totals into steps of a meter.
func bytesRead(meter progress.Meter) func(corpus.Progress) {
	var shown int64
	return func(p corpus.Progress) {
		meter.Add(p.Bytes - shown)
		shown = p.Bytes
	}
}
