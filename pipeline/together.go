package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
)

// Together does the tasks of several runs that share a work directory and an engine as one plan, so that machines do
// not wait for the last task of one pair of languages before the first of the next. Runs whose settings for tasks
// differ have a plan of their own, one after the other. Each run then finds its tasks done, as their keys do not depend
// on the other pairs. The engine's logs go to out. A run whose scorer is fitted first takes no part, nor does one that
// is no night and whose output directory has nights or other settings: it will be refused.
func Together(ctx context.Context, cfgs []Config, out string, nightly bool, opts Options) (_ *multiway.Done, err error) {
	done := &multiway.Done{Took: make([]bool, len(cfgs))}
	var all, taking []*mining
	free := func() (err error) {
		for _, m := range all {
			err = errors.Join(err, m.close(ctx))
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, free())
		}
	}()
	quiet := opts
	quiet.Log = slog.New(slog.DiscardHandler) // each run will say it of its own
	for i, cfg := range cfgs {
		s, err := open(ctx, "", cfg, quiet)
		if err != nil {
			return nil, err
		}
		all = append(all, s.mining(nil, s.scorer.Scorer))
		if done.Took[i] = !s.scorer.ToFit && (nightly || s.refuseOthers() == nil); done.Took[i] {
			taking = append(taking, all[i])
		}
	}
	if len(taking) < 2 {
		return &multiway.Done{Took: make([]bool, len(cfgs)), Free: free}, nil
	}
	first := *taking[0].session // its store, engine and list of held plans serve all
	first.Options, first.cfg.Out = opts, out
	lead := first.mining(nil, taking[0].scorer)
	if err := lead.cutAll(ctx, taking); err != nil {
		return nil, err
	}
	var plans []*joint
	for _, one := range taking {
		request, err := one.cutAndChoose(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", multiway.Pair{Source: one.cfg.Source, Target: one.cfg.Target}, err)
		}
		plans = join(plans, request)
	}
	for _, j := range plans {
		if err := lead.work(ctx, j.Request); err != nil {
			return nil, err
		}
	}
	done.Stages, done.Free = lead.report.Stages, free
	return done, nil
}

// work plans and executes the tasks of several pairs.
func (m *mining) work(ctx context.Context, request stage.Request) error {
	if err := stage.ReadLedgers(ctx, m.store, &request, m.Log); err != nil {
		return err
	}
	p, err := stage.Build(request)
	if err != nil {
		return err
	}
	if err := m.keep(ctx, p); err != nil {
		return err
	}
	var pairs []string
	for pair := range p.Pairs {
		pairs = append(pairs, multiway.Pair{Source: p.Side(pair, 0).Code, Target: p.Side(pair, 1).Code}.String())
	}
	if err := m.enter(ctx, pairs...); err != nil {
		return err
	}
	if err := m.execute(ctx, p); err != nil {
		return err
	}
	if m.cfg.DryRun == nil {
		record.Ended(ctx, m.store, m.Log, m.entry)
	}
	return nil
}

// cutAll cuts the text of all languages of several minings, so that each finds its own cut.
func (m *mining) cutAll(ctx context.Context, of []*mining) error {
	var all languages
	var pairs []plan.Pair
	for _, one := range of {
		texts, err := one.texts()
		if err != nil {
			return err
		}
		for _, p := range one.pairs() {
			p.Source, p.Target = all.place(texts[p.Source]), all.place(texts[p.Target])
			pairs = append(pairs, p)
		}
	}
	p, err := m.planCut(ctx, all.list, pairs)
	if err != nil {
		return err
	}
	return m.executeOn(ctx, m.cutter(), p, false)
}

// languages are the texts of several pairs, each once.
type languages struct {
	list    []plan.Language
	digests []string
}

// place returns a language's place, adding it where it is new.
func (l *languages) place(of plan.Language) int {
	digest := plan.Digest(of)
	at := slices.Index(l.digests, digest)
	if at < 0 {
		at = len(l.list)
		l.list, l.digests = append(l.list, of), append(l.digests, digest)
	}
	return at
}

// joint is the input of a plan of pairs that differ in nothing but their languages.
type joint struct {
	stage.Request
	languages languages
	digest    string // stands for all else
}

// join adds the pairs of a request to the plan that they fit into, or to a new one.
func join(plans []*joint, r stage.Request) []*joint {
	pairs, texts := r.Pairs, r.Languages
	r.Pairs, r.Earlier, r.Settings.ConfigDigest = nil, nil, ""
	digest := plan.Digest([]any{r.Version, r.Settings, r.Encoder, r.Backend, r.Scorer, r.Labels, r.Refiner, r.Judge, r.DocPairs})
	at := slices.IndexFunc(plans, func(j *joint) bool { return j.digest == digest })
	if at < 0 {
		at, plans = len(plans), append(plans, &joint{Request: r, digest: digest})
	}
	j := plans[at]
	for _, p := range pairs {
		p.Source, p.Target = j.languages.place(texts[p.Source]), j.languages.place(texts[p.Target])
		j.Pairs = append(j.Pairs, p)
	}
	j.Languages = j.languages.list
	return plans
}
