package pipeline

import (
	"context"
	"errors"
	"fmt"

	"bitextmine/index/exact"
	"bitextmine/index/kernel"

	"bitextmine/bitext/label"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/align"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/stage/merge"
	"bitextmine/pipeline/stage/refine"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// plan cuts the text into shards, chooses how they are searched, and stores the plan of the rest. goal asks for its
// tasks; nil: those of every run.
func (r *run) plan(ctx context.Context, goal func(*stage.Builder) error) (*plan.Plan, error) {
	languages, err := r.shard(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkNeighbours(ctx, view.NewFiles(r.store, &plan.Plan{}, r.cfg.Work), r.cfg.K, languages); err != nil {
		return nil, err
	}
	if err := checkIndex(r.cfg.Search, languages); err != nil {
		return nil, err
	}
	if err := r.chooseSearch(ctx, languages); err != nil {
		return nil, err
	}
	r.report.Search = record.SearchReport{
		Result: r.search.Result, Backend: r.search.Backend, Why: r.search.Why, Floor: r.cfg.SearchRecall,
	}
	if r.search.Backend == exact.Name && !r.remote {
		r.report.Search.Kernel = kernel.Best.Name
	}
	request, err := r.request(ctx, languages)
	if err != nil {
		return nil, err
	}
	request.Goal = goal
	p, err := stage.Build(request)
	if err != nil {
		return nil, err
	}
	return p, r.storePlan(ctx, p)
}

// shard cuts every input and returns the languages with their shards.
func (r *run) shard(ctx context.Context) ([]plan.Language, error) {
	languages, err := r.cfg.Texts()
	if err != nil {
		return nil, err
	}
	for _, warning := range checkSplit(r.Log, languages) {
		r.warn("%s", warning)
	}
	p, err := stage.Inputs(stage.Request{Version: r.Version, Settings: r.settings(), Encoder: r.cfg.Encoder, Languages: languages, Pairs: r.pairs()})
	if err != nil {
		return nil, err
	}
	p.SetAside = r.cfg.OnBadFile == config.SkipBadFile
	if err := r.storePlan(ctx, p); err != nil {
		return nil, err
	}
	if r.cfg.DryRun != nil { // the scripts that are to be printed depend on the shards
		here := *r
		here.engine, here.remote, here.cfg.DryRun = engine.Local{Cores: r.cfg.Threads, MaxMemory: r.cfg.MemoryBound()}, false, nil
		err = here.execute(ctx, p)
	} else {
		err = r.execute(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	if found, err := r.retryAside(ctx, p, languages); err != nil {
		return nil, err
	} else if found {
		if err := r.execute(ctx, p); err != nil {
			return nil, err
		}
	}
	if err := r.cut(ctx, p, languages); err != nil {
		return nil, err
	}
	return languages, encode.ExternalDigest(ctx, view.NewFiles(r.store, &plan.Plan{Languages: languages}, r.cfg.Work))
}

// pairs are the pairs of the run, by the places of cfg.languages.
func (r *run) pairs() []plan.Pair {
	return []plan.Pair{{Source: 0, Target: 1, ConfigDigest: r.report.ConfigDigest}}
}

// settings returns the settings as the specs of tasks take them.
func (r *run) settings() plan.Settings {
	return config.SettingsOf(&r.cfg, r.search.Result, r.model, r.refiner, r.scorer)
}

// request is what the plan after sharding is made from, with the neighbours that earlier runs left.
func (r *run) request(ctx context.Context, languages []plan.Language) (stage.Request, error) {
	request := stage.Request{
		Version: r.Version, Settings: r.settings(), Encoder: r.cfg.Encoder, Scorer: scorerData(r.scorer),
		Languages: languages, Pairs: r.pairs(), Threads: r.cfg.Threads, DocPairs: r.cfg.DocPairs,
	}
	if err := r.addRefiner(ctx, &request); err != nil {
		return request, err
	}
	var err error
	if request.Aligned, err = align.ReadLedgers(ctx, r.store, request, r.Log); err != nil {
		return request, err
	}
	if request.Labels, err = label.Latest(r.cfg.Out); err != nil {
		return request, err
	}
	request.Settings.Labels = plan.DigestLabels(request.Labels)
	if r.search.Backend != r.search.Result {
		request.Backend = r.search.Backend
	}
	return request, r.readLedgers(ctx, &request)
}

// storePlan puts a plan where its tasks find it and notes its id.
func (r *run) storePlan(ctx context.Context, p *plan.Plan) error {
	data, id, err := p.Encode()
	if err != nil {
		return err
	}
	r.report.PlanID = id
	r.held.Add(ctx, r.store, r.Log, id)
	return r.store.WriteNote(ctx, record.PlansNote, id+".json", data)
}

// ledgerName is the note of what earlier runs merged of a pair.
func ledgerName(p *plan.Plan, pair int) string {
	return plan.Family(p.Settings, p.Side(pair, 0).Code, p.Side(pair, 1).Code) + ".json"
}

// readLedgers adds to a request what earlier runs merged of its pairs and what of that is whole.
func (r *run) readLedgers(ctx context.Context, request *stage.Request) error {
	p := &plan.Plan{Settings: request.Settings, Languages: request.Languages, Pairs: request.Pairs}
	request.Ledgers = make([]*plan.Ledger, len(request.Pairs))
	for pair := range request.Pairs {
		var err error
		if request.Ledgers[pair], err = record.ReadLedger[plan.Ledger](ctx, r.store, ledgerName(p, pair)); err != nil {
			r.Log.Warn("the ledger of merged neighbours is damaged; every cell is read again", "damage", err)
		}
	}
	return r.dropMissingBases(ctx, *request)
}

// dropMissingBases removes from the ledgers the merged neighbours that a plan would start from and that are not whole
// any more.
func (r *run) dropMissingBases(ctx context.Context, request stage.Request) error {
	trial, err := stage.Build(request)
	if err != nil {
		return err
	}
	merge.Bases(trial, func(key string, pair, side int, vector string) {
		if _, failure := r.store.Get(ctx, store.Task{Stage: merge.Stage.Name, Key: key}); failure != nil && ctx.Err() == nil {
			r.Log.Warn("merged neighbours are missing or damaged; their cells are read again", "key", key, "damage", failure)
			delete(request.Ledgers[pair].Sides[side], vector)
		}
	})
	return ctx.Err()
}

// writeLedgers leaves for the next run what this one merged.
func (r *run) writeLedgers(ctx context.Context, p *plan.Plan) error {
	for pair := range p.Pairs {
		if err := record.WriteLedger(ctx, r.store, ledgerName(p, pair), plan.NewLedger(p, pair)); err != nil {
			return err
		}
	}
	return errors.Join(refine.WriteLedger(ctx, r.store, p), align.WriteLedger(ctx, r.store, p))
}

// done lists the outputs that the store has of a plan's stages.
func (r *run) done(ctx context.Context, p *plan.Plan) (func(stage, key string) bool, error) {
	found := map[string]bool{}
	for _, wave := range p.Waves {
		for entry, err := range r.store.List(ctx, wave.Stage) {
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", r.cfg.Work, err)
			}
			found[wave.Stage+"/"+entry.Name] = true
		}
	}
	return func(stage, key string) bool { return found[stage+"/"+key] }, nil
}
