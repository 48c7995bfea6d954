package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/exact"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/score"
)

// finished is the work directory of a run and its plan.
type finished struct {
	work string
	plan.Plan
}

// openRun reads the plan of the finished run whose output directory is dir.
func openRun(dir string) (*finished, error) {
	var report struct {
		Work string `json:"work"`
		Plan string `json:"plan_id"`
	}
	if err := readJSON(filepath.Join(dir, "run.json"), &report); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(report.Work) {
		report.Work = filepath.Join(dir, "work")
	}
	run := &finished{work: report.Work}
	return run, readJSON(filepath.Join(run.work, "plans", report.Plan+".json"), &struct {
		Plan *plan.Plan `json:"plan"`
	}{&run.Plan})
}

func readJSON(path string, to any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// vectors maps a shard's embeddings.
func (r *finished) vectors(s *plan.Shard) (*embedding.File, error) {
	return embedding.OpenArray(filepath.Join(r.work, "encode", s.Vector, "embedding.npy"))
}

// measureRun prints the recall of a run's merged neighbours against exact search of so many rows of each side, spread
// evenly over its shards.
func measureRun(ctx context.Context, dir string, rows, threads int) error {
	run, err := openRun(dir)
	if err != nil {
		return err
	}
	searcher, err := exact.Open(exact.Options{Threads: threads, SourceOnly: true})
	if err != nil {
		return err
	}
	for side := range 2 {
		own := run.Side(0, side)
		var found, sought, all int
		for i := range own.Shards {
			n := min(rows/len(own.Shards), own.Shards[i].Rows)
			f, s, err := sampleShard(ctx, run, searcher, side, i, n)
			if err != nil {
				return err
			}
			found, sought, all = found+f, sought+s, all+n
		}
		fmt.Printf("%s: recall@%d %.4f of %d rows\n", own.Code, run.Settings.K, float64(found)/float64(sought), all)
	}
	return nil
}

// sampleShard counts the true neighbours of n rows of a shard over all shards of the other side, and those that the
// run found.
func sampleShard(ctx context.Context, run *finished, searcher index.Searcher, side, number, n int) (
	found, sought int, err error) {
	k, others, own := run.Settings.K, run.Side(0, 1-side), &run.Side(0, side).Shards[number]
	sample, err := sampleOf(run, side, number, n)
	if err != nil {
		return 0, 0, err
	}
	truth := mine.NewMerger(n, k)
	rows := score.Numbers(0, n)
	total := 0
	for i := range others.Shards {
		file, err := run.vectors(&others.Shards[i])
		if err != nil {
			return 0, 0, err
		}
		result, err := searcher.Search(ctx, index.Side{Vectors: sample}, index.Side{Vectors: file.Matrix}, k, nil)
		if err == nil {
			truth.Add(result.Source, rows, score.Numbers(total, file.N))
		}
		total += file.N
		if err := errors.Join(err, file.Close()); err != nil {
			return 0, 0, err
		}
	}
	lists, err := index.OpenList(filepath.Join(run.work, "merge", run.Pairs[0].Merges[side][number], "neighbours.list"),
		own.Rows, total, k)
	if err != nil {
		return 0, 0, err
	}
	for i := range n {
		ids, want := truth.Neighbours().Row(i)
		_, got := lists.Row(index.Spread(i, n, own.Rows))
		f, s := approximate.Matches(ids, want, got)
		found, sought = found+f, sought+s
	}
	return found, sought, nil
}

// sampleOf copies n rows of a shard's vectors.
func sampleOf(run *finished, side, number, n int) (sample embedding.Matrix, err error) {
	file, err := run.vectors(&run.Side(0, side).Shards[number])
	if err != nil {
		return sample, err
	}
	sample = approximate.Sample(file.Matrix, n)
	return sample, file.Close()
}
