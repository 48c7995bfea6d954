// Package shard is the stage that cuts input files into shards of unique sentences.
package shard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/setting"

	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.Shard, Version: 1, Unit: progress.Bytes, FromInputs: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Plan, Stage.Check, Stage.Uses, Stage.Run = planAll, check, uses, run
	stage.Register(Stage)
}

// args is an input file of a language.
type args struct {
	Language int `json:"language"`
	Input    int `json:"input"`
}

// spec lists all that a file's shards depend on.
type spec struct {
	Input     string // SHA-256 of the file's bytes
	Name      string // without its directory: its extension may decide the format
	Normalise int    // version of corpus.Normalise
	Options   corpus.Options
}

// Key is the key of an input's task.
func Key(in plan.Input, settings plan.Settings) string {
	return Stage.Key(spec{in.SHA256, filepath.Base(in.Path), corpus.NormaliseVersion, in.Options(settings)})
}

// planAll plans the cutting of every input. Inputs of the same bytes and name are one task.
func planAll(b *stage.Builder) error {
	for l, language := range b.Languages {
		for i, in := range language.Inputs {
			b.Add(Stage, Key(in, b.Settings), in.Bytes, stage.Cost{Memory: memory(in.Options(b.Settings), in.Splitter != nil), Disk: in.Bytes, Read: in.Bytes}, args{l, i})
		}
	}
	return nil
}

// memory is an upper bound that was measured: a row group, the keys of one shard in a map, the decompressor. A record
// that is divided stands in it as it was read, decoded and normalised.
func memory(o corpus.Options, learned bool) int64 {
	bound := 96<<20 + 64*int64(o.ShardSize)
	if learned {
		bound += 16 * corpus.MaxRecordBytes // a record's tokens and their logits; the graph's weights are the process's
	}
	if o.Documents {
		bound += 96 * int64(o.ShardSize) // where each sentence stands, twice where it repeats
		bound += 64 * int64(o.ShardSize*len(o.Metadata()))
	}
	if o.Split != "" {
		bound += 4 * corpus.MaxRecordBytes
	}
	return bound
}

// maxPage is the size of a page that a task which asks for memory bytes may read, if as many tasks as fit read at once.
// 0 is no limit. A page may stand in memory copies times.
func maxPage(r setting.Resources, memory, copies int64) (int64, error) {
	bound, err := setting.ParseBytes(r.MaxMemory)
	if err != nil || bound == 0 {
		return 0, err
	}
	tasks := min(max(bound/max(memory, 1), 1), int64(max(r.Threads, 1)))
	return bound / tasks / copies, nil
}

func check(p *plan.Plan, t *plan.Task) error {
	a, err := stage.Args[args](t)
	if err == nil {
		err = stage.Within("language", a.Language, len(p.Languages))
	}
	if err == nil {
		err = stage.Within("input", a.Input, len(p.Languages[a.Language].Inputs))
	}
	return err
}

// uses names the shards of every input: the later stages read them.
func uses(p *plan.Plan, use func(key string)) {
	for _, language := range p.Languages {
		for _, in := range language.Inputs {
			use(Key(in, p.Settings))
		}
	}
}

// run makes the shards of one input file.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	in := e.Plan.Languages[a.Language].Inputs[a.Input]
	if err := unchanged(in); err != nil {
		return nil, err
	}
	source := in.Source()
	if source.MaxPage, err = maxPage(e.Resources, t.Memory, in.Options(e.Plan.Settings).PageCopies()); err != nil {
		return nil, err
	}
	how := shard.Options{Report: bytesRead(meter)}
	if in.Splitter != nil {
		if how.Learned, err = learned(e, *in.Splitter); err != nil {
			return nil, err
		}
	}
	info, err := shard.Cut(ctx, source, in.Options(e.Plan.Settings), dir, how)
	if e.Plan.SetAside && ofFile(err) {
		return Record{&shard.Result{Shards: []shard.Info{}}, nil, err.Error()}, unchanged(in)
	}
	if err != nil {
		return nil, err
	}
	languages, err := sample(ctx, dir, info.Shards)
	if err != nil {
		return nil, err
	}
	return Record{info, languages, ""}, unchanged(in) // so that no half of one text and half of another goes under one key
}

// learned opens a splitter for all tasks.
func learned(e *stage.Env, s plan.Splitter) (setting.LearnedSplitter, error) {
	return stage.Shared(e, fmt.Sprintf("splitter %s %v", s.Path, s.Threshold), func() (setting.LearnedSplitter, func() error, error) {
		l, err := setting.OpenSplitter(e.Resources, s.Path, s.Threshold)
		if err != nil {
			return l, nil, err
		}
		return l, l.Close, nil
	})
}

// ofFile reports whether an error is one of the content of an input file, and not of the machine or of max_memory,
// which another run may raise.
func ofFile(err error) bool {
	reasons := []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, fs.ErrNotExist, fs.ErrPermission, input.ErrMemory}
	machine := slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) })
	return badinput.Is(err) && !machine
}

// unchanged compares an input file with what the plan says of it.
func unchanged(in plan.Input) error {
	now, err := plan.DigestInput(in.Source())
	if err == nil && (now.Bytes != in.Bytes || now.SHA256 != in.SHA256) {
		err = badinput.Errorf("%s was changed while the run was under way; run again once nothing writes to it", in.Path)
	}
	return err
}

// Record is a task's record of an input.
type Record struct {
	*shard.Result
	Languages *Languages `json:"languages,omitempty"` // nil in records of program versions before 0.2
	Bad       string     `json:"bad,omitempty"`       // why the file cannot be used: it has no shards
}

// Result returns what a task of the stage recorded of an input.
func Result(ctx context.Context, st *store.Store, in plan.Input, s plan.Settings) (*Record, error) {
	out, err := st.Stat(ctx, store.Task{Stage: Stage.Name, Key: Key(in, s)})
	if err != nil {
		return nil, fmt.Errorf("read what was cut from %s: %w", in.Path, err)
	}
	info := &Record{Result: &shard.Result{}}
	if err := json.Unmarshal(out.Info, info); err != nil {
		return nil, fmt.Errorf("read what was cut from %s: %w", in.Path, err)
	}
	return info, nil
}

// Shards gives the shards that an input was cut into their names and places.
func Shards(in plan.Input, s plan.Settings, found []shard.Info) []plan.Shard {
	shards := make([]plan.Shard, len(found))
	for n, one := range found {
		shards[n] = plan.Shard{Name: fmt.Sprintf("%s#%d", in.Path, n), Task: Key(in, s), File: one.File, SHA256: one.SHA256, Rows: one.Rows}
	}
	return shards
}

// bytesRead turns the sharder's running totals into steps of a meter.
func bytesRead(meter progress.Meter) func(shard.Progress) {
	var shown int64
	return func(p shard.Progress) {
		meter.Add(p.Bytes - shown)
		shown = p.Bytes
	}
}
