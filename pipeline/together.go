package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
)

// Together does the tasks of several runs that share a work directory and an engine as one plan, so that machines do
// not wait for the last task of one pair of languages before the first of the next. Runs whose settings for tasks
// differ have a plan of their own, one after the other. Each run then finds its tasks done, as their keys do not depend
// on the other pairs. The engine's logs go to out. A run whose scorer is fitted first takes no part.
func Together(ctx context.Context, cfgs []Config, out string, opts Options) (_ *multiway.Done, err error) {
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
		if done.Took[i] = !s.scorer.ToFit; done.Took[i] {
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
	var plans joint
	for _, one := range taking {
		request, err := one.cutAndChoose(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s-%s: %w", one.cfg.Source, one.cfg.Target, err)
		}
		plans.add(request)
	}
	for i, request := range plans.requests {
		if err := lead.work(ctx, request, plans.names[i]); err != nil {
			return nil, err
		}
	}
	done.Stages, done.Free = lead.report.Stages, free
	return done, nil
}

// work plans and executes the tasks of several pairs, which are named.
func (m *mining) work(ctx context.Context, request *stage.Request, pairs []string) error {
	if err := stage.ReadLedgers(ctx, m.store, request, m.Log); err != nil {
		return err
	}
	p, err := stage.Build(*request)
	if err != nil {
		return err
	}
	if err := m.keep(ctx, p); err != nil {
		return err
	}
	if err := record.Enter(ctx, m.store, record.Run{Plan: m.report.PlanID, Out: m.cfg.Out, Pairs: pairs}); err != nil {
		return err
	}
	return m.execute(ctx, p)
}

// cutAll cuts the text of all languages of several minings, so that each finds its own cut.
func (m *mining) cutAll(ctx context.Context, of []*mining) error {
	var all languages
	var pairs []plan.Pair
	for _, one := range of {
		texts, err := one.cfg.Texts()
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
	list   []plan.Language
	places map[string]int // those of digests
}

// place returns a language's place, adding it where it is new.
func (l *languages) place(of plan.Language) int {
	digest := plan.Digest(of)
	at, known := l.places[digest]
	if !known {
		if l.places == nil {
			l.places = map[string]int{}
		}
		at = len(l.list)
		l.list, l.places[digest] = append(l.list, of), at
	}
	return at
}

// joint is the input of plans of several pairs: one for those that differ in nothing but their languages.
type joint struct {
	requests  []*stage.Request
	names     [][]string // those of pairs
	languages []*languages
	places    map[string]int // those of digests of all else
}

// add adds the pairs of a request.
func (j *joint) add(r stage.Request) {
	pairs, texts := r.Pairs, r.Languages
	r.Pairs, r.Languages, r.Earlier, r.Settings.ConfigDigest = nil, nil, nil, ""
	digest := plan.Digest([]any{r.Version, r.Settings, r.Encoder, r.Backend, r.Scorer, r.Labels, r.Refiner, r.Judge, r.DocPairs})
	at, known := j.places[digest]
	if !known {
		if j.places == nil {
			j.places = map[string]int{}
		}
		at = len(j.requests)
		j.requests, j.names, j.languages, j.places[digest] = append(j.requests, &r), append(j.names, nil), append(j.languages, &languages{}), at
	}
	to, of := j.requests[at], j.languages[at]
	for _, p := range pairs {
		j.names[at] = append(j.names[at], texts[p.Source].Code+"-"+texts[p.Target].Code)
		p.Source, p.Target = of.place(texts[p.Source]), of.place(texts[p.Target])
		to.Pairs = append(to.Pairs, p)
	}
	to.Languages = of.list
}
