package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/index/backend"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
)

// Estimate is what a run would do and cost.
type Estimate struct {
	plan.Cost
	Work       string        `json:"work"`
	PlanID     string        `json:"plan_id"`
	Search     searching     `json:"search"`
	Backends   []Searched    `json:"backends"`         // what else could search, and what it would cost; empty if nothing is to be searched
	MaxMemory  int64         `json:"max_memory_bytes"` // 0: no bound
	DiskFree   int64         `json:"disk_free_bytes"`  // 0: not a local directory
	Rates      plan.Rates    `json:"rates"`
	Time       time.Duration `json:"time_ns"`
	Inputs     int           `json:"inputs"`
	InputBytes int64         `json:"input_bytes"`
}

// Searched is what one search backend would take for the cells that are left.
type Searched struct {
	Name    string        `json:"name"`
	Time    time.Duration `json:"time_ns"`
	Memory  int64         `json:"memory_bytes"` // of the largest cell
	Refused string        `json:"refused,omitempty"`
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
	if before, err := ReadReport(filepath.Join(r.cfg.Out, ReportName)); err == nil { // if it cannot be read, the run will say so
		r.previous = before
	}
	p, id, err := r.plan(ctx)
	if err != nil {
		return nil, err
	}
	done, err := r.done(ctx, p)
	if err != nil {
		return nil, err
	}
	e := &Estimate{
		Cost: plan.CostOf(p, func(stage, key string) bool { return done[stage+"/"+key] }), Work: r.cfg.Work, PlanID: id,
		Search: r.search, MaxMemory: r.cfg.maxMemory, DiskFree: freeDisk(r.cfg.Work),
	}
	for _, side := range p.Sides {
		e.Inputs += len(side.Inputs)
		for _, in := range side.Inputs {
			e.InputBytes += in.Bytes
		}
	}
	if err := r.calibrate(ctx, p, e, cellShapes(p, done)); err != nil {
		return nil, err
	}
	e.Time = e.Cost.Time(e.Rates)
	bounds := plan.Bounds{MaxMemory: e.MaxMemory, Disk: e.DiskFree}
	if !r.remote {
		bounds.Memory = machineMemory()
	}
	return e, e.Fits(bounds)
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

// calibrate measures what the plan needs to know of this machine: some seconds.
func (r *run) calibrate(ctx context.Context, p *plan.Plan, e *Estimate, cells []backend.Shape) (err error) {
	if e.Encodings > 0 {
		if e.Rates.Encodings, err = r.encodeRate(ctx, p); err != nil {
			return err
		}
	}
	if e.Comparisons == 0 {
		return nil
	}
	estimates, err := r.estimates(ctx, cells)
	if err != nil {
		return err
	}
	for _, one := range estimates {
		s := Searched{Name: one.Name, Time: one.Time, Memory: one.Memory}
		if one.Refused != nil {
			s.Refused = one.Refused.Error()
		}
		e.Backends = append(e.Backends, s)
		if one.Name != e.Search.Backend {
			continue
		}
		if backend.Untimed(one.Refused) {
			continue
		}
		if one.Refused != nil {
			return fmt.Errorf("calibrate the search: %w", one.Refused)
		}
		e.Rates.Comparisons = float64(e.Comparisons) / one.Time.Seconds()
	}
	return nil
}

// encodeTime is how long the sample that tells the encoder's rate takes at least, unless it is the whole shard.
const encodeTime = 400 * time.Millisecond

// encodeRate encodes samples of the first shard, larger each time, until one takes long enough. Each is encoded to its end: what comes first is neither of
// the usual length nor free of the start's costs.
func (r *run) encodeRate(ctx context.Context, p *plan.Plan) (rate float64, err error) {
	w := newWorker(r.cfg, r.Options, r.store, r.model, p)
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
	for n := min(32, shard.Rows); ; n = min(4*n, shard.Rows) {
		rows := make([]uint32, n)
		for i := range rows {
			rows[i] = uint32(i * shard.Rows / n)
		}
		source := encode.Source{
			Name: shard.Name, Digest: shard.SHA256, Language: p.Sides[0].Language, Rows: n, Texts: normalised(reader.RowsAt(rows)),
		}
		begin := time.Now()
		if _, err := encoder.EncodeFile(ctx, filepath.Join(scratch, embeddingName), embedding.DType(r.cfg.DType), source, nil); err != nil {
			return 0, fmt.Errorf("calibrate the encoder: %w", err)
		}
		if spent := time.Since(begin); spent > encodeTime || n == shard.Rows {
			return float64(n) / spent.Seconds(), nil
		}
	}
}
