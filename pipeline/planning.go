package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
)

// Estimate is what a run would do and cost.
type Estimate struct {
	plan.Cost
	Work       string        `json:"work"`
	PlanID     string        `json:"plan_id"`
	Search     string        `json:"search"`
	SearchWhy  string        `json:"search_why"`
	MaxMemory  int64         `json:"max_memory_bytes"` // 0: no bound
	DiskFree   int64         `json:"disk_free_bytes"`  // 0: not a local directory
	Rates      plan.Rates    `json:"rates"`
	Time       time.Duration `json:"time_ns"`
	Inputs     int           `json:"inputs"`
	InputBytes int64         `json:"input_bytes"`
}

// Plan cuts the text into shards, which a run would do first and then finds done, and returns what the rest would cost. A run that does
// not fit is a badinput error beside the estimate.
func Plan(ctx context.Context, cfg Config, opts Options) (_ *Estimate, err error) {
	opts.Progress = progress.Silent
	r, err := newRun(ctx, cfg, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.store.Close()) }()
	sides, err := r.shard(ctx)
	if err != nil {
		return nil, err
	}
	p, err := r.planMining(ctx, sides)
	if err != nil {
		return nil, err
	}
	id, err := r.keepPlan(ctx, p)
	if err != nil {
		return nil, err
	}
	done, err := r.done(ctx, p)
	if err != nil {
		return nil, err
	}
	e := &Estimate{
		Cost: plan.CostOf(p, func(stage, key string) bool { return done[stage+"/"+key] }), Work: r.cfg.Work, PlanID: id,
		Search: r.searcher.Name(), SearchWhy: whySearch(r.cfg.Search), MaxMemory: r.cfg.maxMemory, DiskFree: freeDisk(r.cfg.Work),
	}
	for _, side := range p.Sides {
		e.Inputs += len(side.Inputs)
		for _, in := range side.Inputs {
			e.InputBytes += in.Bytes
		}
	}
	if e.Rates, err = r.calibrate(ctx, p, e.Cost); err != nil {
		return nil, err
	}
	e.Time = e.Cost.Time(e.Rates)
	bounds := plan.Bounds{MaxMemory: e.MaxMemory, Disk: e.DiskFree}
	if !r.remote {
		bounds.Memory = machineMemory()
	}
	return e, e.Fits(bounds)
}

// whySearch explains the choice of a backend.
func whySearch(setting string) string {
	if setting == SearchAuto {
		return "auto takes exact search: no pair is lost, and a choice by size would search everything again in the night that tips it"
	}
	return "search = " + setting + " says so"
}

// SearchAuto leaves the choice of a backend to the program.
const SearchAuto = "auto"

// searchName resolves auto. It must not depend on the corpus: the backend is in every cell's key.
func searchName(setting string) string {
	if setting == SearchAuto {
		return "exact"
	}
	return setting
}

// done lists the outputs that the store has of a plan's stages.
func (r *run) done(ctx context.Context, p *plan.Plan) (map[string]bool, error) {
	done := map[string]bool{}
	for _, wave := range p.Waves {
		for entry, err := range r.store.List(ctx, wave.Stage) {
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", r.cfg.Work, err)
			}
			done[wave.Stage+"/"+entry.Name] = true
		}
	}
	return done, nil
}

// freeDisk is the room left for the store; 0 if it is no local directory.
func freeDisk(work string) int64 {
	var fs unix.Statfs_t
	if unix.Statfs(work, &fs) != nil {
		return 0
	}
	return int64(fs.Bavail) * fs.Bsize
}

// machineMemory is what this machine has; 0 if it does not tell.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// calibrationTime is how long each measurement takes at least.
const calibrationTime = 500 * time.Millisecond

// calibrate measures what the plan needs to know of this machine: about a second.
func (r *run) calibrate(ctx context.Context, p *plan.Plan, c plan.Cost) (rates plan.Rates, err error) {
	if c.Encodings > 0 {
		if rates.Encodings, err = r.encodeRate(ctx, p); err != nil {
			return rates, err
		}
	}
	if c.Comparisons > 0 {
		rates.Comparisons, err = r.searchRate(ctx)
	}
	return rates, err
}

// encodeRate encodes sentences of the first shard until the time is up.
func (r *run) encodeRate(ctx context.Context, p *plan.Plan) (rate float64, err error) {
	w := newWorker(r.cfg, r.Options, r.store, r.model, r.searcher, p)
	defer func() { err = errors.Join(err, w.close()) }()
	encoder, err := w.encoder()
	if err != nil {
		return 0, err
	}
	shard := &p.Sides[0].Shards[0]
	path, err := w.shardPath(ctx, shard)
	if err != nil {
		return 0, err
	}
	reader, err := corpus.OpenShard(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	scratch, err := os.MkdirTemp("", "mine-calibration-*")
	if err != nil {
		return 0, fmt.Errorf("calibrate the encoder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	timed, cancel := context.WithCancel(ctx)
	defer cancel()
	begin, rows := time.Now(), 0
	source := encode.Source{
		Name: shard.Name, Digest: shard.SHA256, Language: p.Sides[0].Language, Rows: shard.Rows, Texts: normalised(reader.Rows()),
	}
	_, err = encoder.EncodeFile(timed, filepath.Join(scratch, embeddingName), embedding.DType(r.cfg.DType), source, func(done int) {
		if rows = done; time.Since(begin) > calibrationTime {
			cancel()
		}
	})
	if err != nil && (timed.Err() == nil || ctx.Err() != nil) {
		return 0, fmt.Errorf("calibrate the encoder: %w", err)
	}
	return float64(max(rows, 1)) / time.Since(begin).Seconds(), nil
}

// searchRate searches random cells, larger each time, until one takes long enough.
func (r *run) searchRate(ctx context.Context) (float64, error) {
	random := rand.New(rand.NewPCG(1, 2))
	dim := r.model.Dim
	for n := 2048; ; n *= 2 {
		var sides [2]index.Side
		for s := range sides {
			sides[s].Vectors = embedding.FromFloat32(randomRows(random, n, dim), dim)
		}
		begin := time.Now()
		if _, err := r.searcher.Search(ctx, sides[0], sides[1], r.cfg.K, nil); err != nil {
			return 0, fmt.Errorf("calibrate the search: %w", err)
		}
		if spent := time.Since(begin); spent > calibrationTime/2 || n >= 1<<15 {
			return float64(n) * float64(n) / spent.Seconds(), nil
		}
	}
}

func randomRows(random *rand.Rand, n, dim int) []float32 {
	rows := make([]float32, n*dim)
	for i := range n {
		row, sum := rows[i*dim:(i+1)*dim], 0.0
		for j := range row {
			row[j] = random.Float32() - 0.5
			sum += float64(row[j]) * float64(row[j])
		}
		for j := range row {
			row[j] /= float32(math.Sqrt(sum))
		}
	}
	return rows
}
