// Package refine is the stage of two-stage mining that gives the sentences on a pair's shortlist their vectors of the
// strong encoder, one task for each shard.
//
// A task's key holds the shortlist, the shard and the strong encoder, so it is planned like any other, though its rows
// are only known once the shortlist is there. Its output has exactly those rows and depends on nothing else. What
// changes from night to night is the list, by a few sentences; so a task takes over the vectors that earlier outputs of
// its shard have, whatever floor or fast encoder they were made for, and encodes the rest. The ledger of strong vectors
// names those outputs when the plan is made. They save time and change no byte: one that is gone or damaged costs its
// sentences' encoding again. A sentence is encoded twice only if it was in none of its shard's last four outputs, or if
// new text that comes before moved its first occurrence to another shard.
package refine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	stageencode "bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/stage/shortlist"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.Refine, Version: 4, Unit: "sentences", After: []string{view.Shortlisting}, GPU: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Plan, Stage.Ledger = planPairs, ledger
	Stage.Check, Stage.Uses, Stage.Run, Stage.Count, Stage.Rate = check, stage.UseBases(view.Refine), run, count, rate
	stage.Register(Stage)
}

// args is a shard of one side of a pair.
type args struct {
	Pair  int      `json:"pair"`
	Side  int      `json:"side"` // 0 source, 1 target
	Shard int      `json:"shard"`
	Bases []string `json:"bases,omitempty"` // earlier outputs of the shard, newest first
}

// spec lists all that the vectors depend on.
type spec struct {
	Shortlist string // key
	Shard     string // digest
	Place     int    // the shard's number among those of its side
	Side      string
	Language  string // chooses the encoder's prefix
	Encoder   string // digest of the strong one
	DType     string
	Device    string `json:",omitempty"` // setting.Arithmetic
}

// shares are the measured shares of sentences on shortlists: of use-static on the BUCC-style sets, above ratio margins
// and from probabilities of its scorer.
var (
	sharesAbove = []shares{{1, 0.64}, {1.06, 0.30}, {1.1, 0.16}, {1.15, 0.08}, {1.2, 0.05}, {1.3, 0.03}}
	sharesFrom  = []shares{{0.003, 0.05}, {0.01, 0.04}, {0.5, 0.03}}
)

type shares struct{ least, share float64 }

// share is the part of the sentences that a shortlist is expected to have.
func share(s plan.Settings) float64 {
	measured, least := sharesAbove, s.RefineFloor
	if s.RefineDoubt > 0 {
		measured, least = sharesFrom, s.RefineDoubt
	}
	for _, seen := range measured {
		if least <= seen.least {
			return seen.share
		}
	}
	return measured[len(measured)-1].share
}

// wanted says whether the settings ask for two-stage mining.
func wanted(s *plan.Settings) bool { return s.Refine != "" }

// planPairs asks for the strong vectors of every pair if the settings name a strong encoder.
func planPairs(b *stage.Builder) error {
	if !wanted(&b.Settings) {
		return nil
	}
	for pair := range b.Pairs {
		if err := want(b, pair); err != nil {
			return err
		}
	}
	return nil
}

// want asks for the strong vectors of every shard of a pair and sets the pair's Refined.
func want(b *stage.Builder, pair int) error {
	list, err := shortlist.Want(b, pair)
	if err != nil {
		return err
	}
	before := stage.Before[plan.Earlier](b, Stage, pair)
	refined := &[2][]string{}
	for side := range refined {
		language := b.Side(pair, side)
		for i, s := range language.Shards {
			key := Stage.Key(spec{list, s.SHA256, i, plan.SideNames[side], language.Code, b.Settings.Refine, b.Settings.DType, b.Settings.RefineDevice})
			refined[side] = append(refined[side], key)
			bases := before.Others(side, s.SHA256, key)
			items := int64(share(b.Settings) * float64(s.Rows))
			b.Add(Stage, key, items, cost(b, items), args{pair, side, i, bases})
		}
	}
	b.Pairs[pair].Refined = refined
	return nil
}

// cost is, in memory, that of encoding in a process that still has the first encoder. On disk the new vectors are
// written apart first.
func cost(b *stage.Builder, items int64) stage.Cost {
	dim := int64(b.Refiner.Dim)
	return stage.Cost{
		Fixed: stageencode.Memory(b.Refiner.Dim, b.Settings.RefineDevice) + b.Weights.Encoder + b.Weights.Refiner,
		Disk:  items * (4 + 2*dim*embedding.DType(b.Settings.DType).Size()),
		Read:  items * stage.RowBytes,
	}
}

func check(p *plan.Plan, t *plan.Task) error {
	err := stage.CheckPairShard(p, t)
	if err == nil && p.Refiner == nil {
		err = errors.New("the plan names no strong encoder")
	}
	return err
}

// count is the number of sentences that are to be encoded: those on the list that no earlier output has.
func count(ctx context.Context, f *view.Files, t *plan.Task) int64 {
	a, err := stage.Args[args](t)
	if err != nil {
		return t.Items
	}
	if _, there := shortlist.ReadInfo(ctx, f.Store, f.Plan, a.Pair); !there {
		return estimate(ctx, f, t, a.Bases)
	}
	left, err := shortlist.Rows(ctx, f, a.Pair, a.Side, a.Shard)
	if err != nil {
		return t.Items // the task will say why
	}
	s := &f.Plan.Side(a.Pair, a.Side).Shards[a.Shard]
	for _, base := range a.Bases {
		out, err := f.Store.Get(ctx, store.Task{Stage: Stage.Name, Key: base})
		if err != nil {
			continue
		}
		if has, err := view.ReadRows(out.Path(view.RowsFile), s.Rows); err == nil {
			left = slices.DeleteFunc(left, func(row uint32) bool {
				_, found := slices.BinarySearch(has[0], row)
				return found
			})
		}
	}
	return int64(len(left))
}

// estimate returns the plan's items minus the rows of the newest earlier output.
func estimate(ctx context.Context, f *view.Files, t *plan.Task, bases []string) int64 {
	for _, base := range bases {
		out, err := f.Store.Stat(ctx, store.Task{Stage: Stage.Name, Key: base})
		var had Info
		if err == nil && json.Unmarshal(out.Info, &had) == nil {
			return max(0, t.Items-int64(had.Rows))
		}
	}
	return t.Items
}

// rate measures on the first shard.
func rate(ctx context.Context, e *stage.Env, left []*plan.Task) (float64, error) {
	a, err := stage.Args[args](left[0])
	if err != nil {
		return 0, err
	}
	encoder, err := e.Refiner()
	if err != nil {
		return 0, err
	}
	return stageencode.Rate(ctx, e, encoder, e.Plan.LanguageOf(a.Pair, a.Side), a.Shard)
}

// Info is a task's record of its vectors.
type Info struct {
	Rows    int `json:"rows"`
	Encoded int `json:"encoded"` // rows that this task encoded; the others were taken over
}

// run writes the vectors of a shard's rows on the list.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	of, err := shortlist.Rows(ctx, e.Files, a.Pair, a.Side, a.Shard)
	if err != nil {
		return nil, err
	}
	if err := view.WriteRows(filepath.Join(dir, view.RowsFile), [][]uint32{of}); err != nil || len(of) == 0 {
		return Info{}, err
	}
	language := e.Plan.Side(a.Pair, a.Side)
	r := &refining{env: e, language: language.Code, shard: &language.Shards[a.Shard], rows: of}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.takeOver(ctx, a.Bases); err != nil {
		return nil, err
	}
	left := r.left()
	scratch := filepath.Join(dir, "new")
	if err := os.Mkdir(scratch, 0o777); err != nil {
		return nil, fmt.Errorf("refine %s: %w", r.shard.Name, err)
	}
	if err := r.encode(ctx, scratch, left, meter); err != nil {
		return nil, err
	}
	if err := r.write(filepath.Join(dir, view.EmbeddingFile)); err != nil {
		return nil, fmt.Errorf("refine %s: %w", r.shard.Name, err)
	}
	if err := r.close(); err != nil { // a folder whose files are open cannot be removed on NFS
		return nil, err
	}
	return Info{len(of), len(left)}, os.RemoveAll(scratch)
}

// refining is one shard's rows on their way to their vectors.
type refining struct {
	env      *stage.Env
	language string
	shard    *plan.Shard
	rows     []uint32
	files    []*embedding.File
	from     []vector // vector of each row
}

// vector is a row of one of the files; without a file it is still to be encoded.
type vector struct {
	file *embedding.File
	row  int
}

// takeOver finds rows in earlier outputs of the shard.
func (r *refining) takeOver(ctx context.Context, bases []string) error {
	r.from = make([]vector, len(r.rows))
	return stage.TakeOver(ctx, r.env, Stage, bases, "its sentences are encoded again", func(out *store.Output) error {
		has, file, err := r.env.RefinedIn(out, r.shard)
		if err != nil || file == nil {
			return err
		}
		r.files = append(r.files, file)
		if file.Meta.DType != embedding.DType(r.env.Plan.Settings.DType) {
			return nil
		}
		for i, row := range r.rows {
			if at, found := slices.BinarySearch(has, row); found && r.from[i].file == nil {
				r.from[i] = vector{file, at}
			}
		}
		return nil
	})
}

// left lists the rows that are to be encoded.
func (r *refining) left() []uint32 {
	var left []uint32
	for i, row := range r.rows {
		if r.from[i].file == nil {
			left = append(left, row)
		}
	}
	return left
}

// encode encodes rows of the shard into a file of their own.
func (r *refining) encode(ctx context.Context, dir string, left []uint32, meter progress.Meter) (err error) {
	if len(left) == 0 {
		return nil
	}
	encoder, err := r.env.Refiner()
	if err != nil {
		return err
	}
	reader, err := r.env.OpenShard(ctx, r.shard)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	source := encode.Source{
		Name: r.shard.Name, Digest: r.shard.SHA256, Language: r.language, Rows: len(left), Texts: view.Calm(reader.RowsAt(left), r.language),
	}
	shown, into := 0, filepath.Join(dir, view.EmbeddingFile)
	_, err = encoder.EncodeFile(ctx, into, embedding.DType(r.env.Plan.Settings.DType), source, func(rows int) {
		meter.Add(int64(rows - shown))
		shown = rows
	})
	if err != nil {
		return err
	}
	file, err := embedding.Open(into, embedding.Want{Encoder: r.env.Plan.Settings.Refine, Shard: r.shard.SHA256})
	if err != nil {
		return err
	}
	r.files = append(r.files, file)
	at := 0
	for i := range r.from {
		if r.from[i].file == nil {
			r.from[i] = vector{file, at}
			at++
		}
	}
	return nil
}

// write puts the vectors together. Numbers that were stored are stored again as they are.
func (r *refining) write(path string) error {
	meta := r.files[len(r.files)-1].Meta
	meta.DType = embedding.DType(r.env.Plan.Settings.DType)
	_, err := embedding.Write(path, meta, func(w *embedding.Writer) error {
		row := make([]float32, meta.Dim)
		for _, from := range r.from {
			from.file.Float32(row, from.row, from.row+1)
			if err := w.Append(row); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func (r *refining) close() (err error) {
	for _, file := range r.files {
		err = errors.Join(err, file.Close())
	}
	r.files = nil
	return err
}
