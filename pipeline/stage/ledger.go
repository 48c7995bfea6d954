package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"bitextmine/bitext/label"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
	"bitextmine/score"
)

// Ledger reads and writes what runs leave of a stage's outputs for later runs. A ledger saves work and changes no
// result: a damaged one is reported and ignored.
type Ledger interface {
	// Read returns what earlier runs left for the pairs of a request, in the form that the stage asks [Before] for.
	Read(ctx context.Context, st *store.Store, r Request, log *slog.Logger) (any, error)
	// Write records the outputs of a plan that has been executed.
	Write(ctx context.Context, st *store.Store, p *plan.Plan) error
}

// ReadLedgers sets the request's Earlier from the ledgers of all stages.
func ReadLedgers(ctx context.Context, st *store.Store, r *Request, log *slog.Logger) error {
	earlier := map[string]any{}
	for _, d := range All() {
		if d.Ledger == nil {
			continue
		}
		left, err := d.Ledger.Read(ctx, st, *r, log)
		if err != nil {
			return err
		}
		earlier[d.Name] = left
	}
	r.Earlier = earlier
	return ctx.Err()
}

// WriteLedgers records the outputs of an executed plan in the ledgers of all stages.
func WriteLedgers(ctx context.Context, st *store.Store, p *plan.Plan) (err error) {
	for _, d := range All() {
		if d.Ledger != nil {
			err = errors.Join(err, d.Ledger.Write(ctx, st, p))
		}
	}
	return err
}

// Before returns what earlier runs left of a stage for a pair; nil: nothing.
func Before[T any](b *Builder, d *Descriptor, pair int) *T {
	all, _ := b.earlier[d.Name].([]*T)
	if pair < len(all) {
		return all[pair]
	}
	return nil
}

// ReadPairs reads the ledger of every pair of a request under its name. damage is the warning about a damaged one.
func ReadPairs[T any](
	ctx context.Context, st *store.Store, r Request, log *slog.Logger, name func(*plan.Plan, int) string, damage string,
) ([]*T, error) {
	p := &plan.Plan{Settings: r.Settings, Languages: r.Languages, Pairs: r.Pairs}
	all := make([]*T, len(p.Pairs))
	for pair := range all {
		var err error
		if all[pair], err = record.ReadLedger[T](ctx, st, name(p, pair)); err != nil {
			log.Warn(damage, "damage", err)
		}
	}
	return all, ctx.Err()
}

// ShardLedger is a ledger of one output for each shard: a task takes rows over from the newest outputs of its shard.
type ShardLedger struct {
	// Wanted says whether the settings ask for the stage.
	Wanted func(s *plan.Settings) bool
	// Name is the note of a pair: it holds all that the outputs depend on besides their rows.
	Name func(p *plan.Plan, pair int) string
	// Outputs are the keys of a pair's outputs by side and shard; nil for both sides: the plan has none.
	Outputs func(p *plan.Plan, pair int) [2][]string
	Kept    int    // outputs of a shard that are remembered; of shards of the same bytes, of each
	Damage  string // the warning about a damaged ledger
}

// Read implements [Ledger]; it returns a []*plan.Earlier.
func (l *ShardLedger) Read(ctx context.Context, st *store.Store, r Request, log *slog.Logger) (any, error) {
	if !l.Wanted(&r.Settings) {
		return nil, nil
	}
	return ReadPairs[plan.Earlier](ctx, st, r, log, l.Name, l.Damage)
}

// Write implements [Ledger].
func (l *ShardLedger) Write(ctx context.Context, st *store.Store, p *plan.Plan) error {
	for pair := range p.Pairs {
		keys := l.Outputs(p, pair)
		if keys[0] == nil && keys[1] == nil {
			continue
		}
		before, _ := record.ReadLedger[plan.Earlier](ctx, st, l.Name(p, pair)) // damaged: the outputs of this run suffice
		now := &plan.Earlier{}
		for side := range keys {
			now.Sides[side] = map[string][]string{}
			for i, key := range keys[side] { // shards of the same bytes have outputs of their own
				digest := p.Side(pair, side).Shards[i].SHA256
				now.Sides[side][digest] = append(now.Sides[side][digest], key)
			}
			for digest, outputs := range now.Sides[side] {
				kept := l.Kept * len(outputs)
				for _, key := range before.Others(side, digest, "") {
					if !slices.Contains(outputs, key) {
						outputs = append(outputs, key)
					}
				}
				now.Sides[side][digest] = outputs[:min(len(outputs), kept)]
			}
		}
		if err := record.WriteLedger(ctx, st, l.Name(p, pair), now); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Builder makes a plan. Stages ask each other for the tasks that they need.
type Builder struct {
	*plan.Plan
	Threads int            // threads of each task
	Weights Weights        // weights of the encoders
	Tokens  Tokens         // tokens of the encoder
	Listed  []string       // languages that the encoder's manifest lists
	earlier map[string]any // Request.Earlier
	tasks   map[string][]plan.Task
	seen    map[string]bool
	scorer  *score.Scorer
}

// DecodedScorer is the plan's scorer, which is decoded once for all pairs; nil: it has none.
func (b *Builder) DecodedScorer() (*score.Scorer, error) {
	if b.scorer != nil || len(b.Scorer) == 0 {
		return b.scorer, nil
	}
	scorer, err := score.Decode(b.Scorer)
	if err != nil {
		return nil, badinput.Errorf("the scorer cannot be used: %w", err)
	}
	b.scorer = scorer
	return scorer, nil
}

// Cost is a task's cost in bytes.
type Cost struct {
	// Memory is an upper bound of the anonymous memory of a process that runs the task alone, beside Fixed, which is there
	// however few the rows are.
	Memory, Fixed int64

	Expected int64 // estimate of that memory beside plan.ProcessMemory; 0: what both leave
	Disk     int64 // estimate of the output
	Scratch  int64 // estimate of temporary files at their largest
	Read     int64 // estimate of what it reads
}

// Spilled is how many bytes of a list of the given size go to a temporary file.
func Spilled(size int64) int64 {
	if size <= spill.InMemory {
		return 0
	}
	return size
}

// Held is how many bytes of such a list stay in memory.
func Held(size int64) int64 { return size - Spilled(size) }

// RowBytes is the size of a row of a shard on disk, in bytes: a sentence of news and its provenance.
const RowBytes = 120

// SizeOf is the size of a shard's file in bytes, estimated from its rows if it is not known.
func SizeOf(s *plan.Shard) int64 {
	if s.Bytes > 0 {
		return s.Bytes
	}
	return int64(s.Rows) * RowBytes
}

// KeyBytes is the size of a sentence key.
const KeyBytes = 16

// Scoring is the cost of scoring a pair's candidates as matching does, for the sentences of both sides. On disk it is
// the mapped files of matching.
func Scoring(sentences int64) Cost {
	const held, mapped, candidate = 10, 120, 170
	return Cost{Fixed: 64 << 20, Memory: sentences * held, Disk: sentences * mapped, Read: sentences * (KeyBytes + candidate)}
}

// Weights is the memory of open encoders in bytes, without mapped files.
type Weights struct{ Encoder, Refiner, Judge int64 }

// Tokens is what the encoder's digest does not say of the tokens of sentences.
type Tokens struct {
	Output     string // digest of the output that has their vectors; empty: there is none
	TextPrefix bool   // a prefix that is text, whose tokens are none of the sentence's
	Static     bool   // encoding stores their ids
}

// Request is the input of a plan.
type Request struct {
	Version   string
	Settings  plan.Settings
	Encoder   string // path of its files
	Backend   string // the search backend, where it is another than Settings.Search
	Scorer    json.RawMessage
	Labels    []label.Label
	Languages []plan.Language
	Pairs     []plan.Pair
	Refiner   *plan.Refiner  // two-stage mining's strong encoder; nil: there is none
	Judge     *plan.Judge    // judges pairs in doubt; nil: there is none
	Earlier   map[string]any // what each stage's ledger read
	DocPairs  string         // file of known pairs of documents
	Threads   int
	Weights   Weights
	Tokens    Tokens
	Listed    []string // languages that the encoder's manifest lists
	// Goal asks for the tasks of the plan; nil: those of every run.
	Goal func(*Builder) error
}

// Inputs plans the stages that work on input files.
func Inputs(r Request) (*plan.Plan, error) { return build(r, true) }

// Build plans the stages after those of Inputs. It sets the Vector of every shard that is encoded.
func Build(r Request) (*plan.Plan, error) { return build(r, false) }

func build(r Request, fromInputs bool) (*plan.Plan, error) {
	languages := make([]plan.Language, len(r.Languages))
	for i, l := range r.Languages {
		languages[i] = l
		languages[i].Shards = slices.Clone(l.Shards)
		for j := range languages[i].Shards {
			s := &languages[i].Shards[j]
			s.Vector, s.Described, s.Documents = "", "", "" // whoever asks for them sets them
		}
	}
	b := &Builder{
		Plan: &plan.Plan{
			Version: r.Version, Settings: r.Settings, Encoder: r.Encoder, Backend: r.Backend, Scorer: r.Scorer,
			Refiner: r.Refiner, Judge: r.Judge, Labels: r.Labels, DocPairs: r.DocPairs,
			Languages: languages, Pairs: slices.Clone(r.Pairs),
		},
		Threads: r.Threads, Weights: r.Weights, Tokens: r.Tokens, Listed: r.Listed, earlier: r.Earlier, tasks: map[string][]plan.Task{}, seen: map[string]bool{},
	}
	b.Plan.Settings.ConfigDigest = "" // each pair has its own
	if err := b.ask(r.Goal, fromInputs); err != nil {
		return nil, err
	}
	for _, d := range All() {
		tasks := b.tasks[d.Name]
		if d.FromInputs == fromInputs && (len(tasks) > 0 || r.Goal == nil && !d.OnDemand) {
			b.Waves = append(b.Waves, plan.Wave{Stage: d.Name, Version: d.Version, Unit: d.Unit, Wide: d.Wide, GPU: d.GPU, Tasks: tasks})
		}
	}
	return b.Plan, nil
}

// ask asks for the tasks of the plan.
func (b *Builder) ask(goal func(*Builder) error, fromInputs bool) error {
	if goal != nil {
		return goal(b)
	}
	for _, d := range All() {
		if d.FromInputs != fromInputs || d.Plan == nil {
			continue
		}
		if err := d.Plan(b); err != nil {
			return fmt.Errorf("plan stage %s: %w", d.Name, err)
		}
	}
	return nil
}

// Key is the content key of a task of a stage with this spec.
func (d *Descriptor) Key(spec any) string { return plan.Key(d.Name, d.Version, spec) }

// Has says whether the plan has the task already: two inputs of the same bytes are one task.
func (b *Builder) Has(d *Descriptor, key string) bool { return b.seen[d.Name+"/"+key] }

// Add adds a task unless an equal one is there. Its progress counts items, and Run finds args in the task.
func (b *Builder) Add(d *Descriptor, key string, items int64, cost Cost, args any) {
	if b.Has(d, key) {
		return
	}
	b.seen[d.Name+"/"+key] = true
	data, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("arguments of stage %s: %v", d.Name, err)) // our own plain structs
	}
	memory := cost.Fixed + cost.Memory
	if cost.Expected == 0 {
		cost.Expected = max(memory-plan.ProcessMemory, 0)
	}
	b.tasks[d.Name] = append(b.tasks[d.Name], plan.Task{
		Stage: d.Name, Key: key, Items: items, Memory: memory, Fixed: cost.Fixed, Expected: cost.Expected,
		Disk: cost.Disk, Scratch: cost.Scratch, Read: cost.Read, Args: data,
	})
}
