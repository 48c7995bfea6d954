package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bitextmine/bitext/label"
	"bitextmine/encode/model"
	onnx "bitextmine/encode/session"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/cut"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/search"
	"bitextmine/pipeline/stage/shard"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
	"bitextmine/score"
)

// mining is the steps of one goal in a session: cut, plan, execute. Each step adds to the report.
type mining struct {
	*session
	goal     *stage.Descriptor    // nil: the bitext
	scorer   *score.Named         // nil: the margin decides
	previous *record.Report       // the run before; nil if there is none
	fitted   []record.StageReport // the stages that fitted the scorer in this run
	report   *record.Report
	entry    record.Run // the run in the store's history

	languages []plan.Language // the text before it is cut; nil: it was not looked at
}

// warn logs a warning and adds it to the report.
func (m *mining) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	m.report.Warnings = append(m.report.Warnings, text)
	m.Log.Warn(text)
}

// prepare cuts the text into shards and stores the plan of the rest. goal asks for its tasks; nil: those of every run.
func (m *mining) prepare(ctx context.Context, goal func(*stage.Builder) error) (*plan.Plan, error) {
	request, err := m.cutAndChoose(ctx)
	if err != nil {
		return nil, err
	}
	request.Goal = goal
	p, err := stage.Build(request)
	if err != nil {
		return nil, err
	}
	return p, m.keep(ctx, p)
}

// cutAndChoose cuts the text into shards, chooses how to search and returns the input of the plan of the rest.
func (m *mining) cutAndChoose(ctx context.Context) (request stage.Request, err error) {
	languages, err := m.cut(ctx)
	if err != nil {
		return request, err
	}
	files := m.files(&plan.Plan{})
	if err := cut.Neighbours(ctx, files, m.cfg.K, languages); err != nil {
		return request, err
	}
	if err := cut.Index(m.cfg.Search, languages); err != nil {
		return request, err
	}
	if request, err = m.request(ctx, languages); err != nil {
		return request, err
	}
	choice, err := m.choose(ctx, request)
	if err != nil {
		return request, err
	}
	m.report.Search = record.SearchReport{
		Result: choice.Result, Backend: choice.Backend, Why: choice.Why, Floor: m.cfg.SearchRecall,
	}
	if choice.Backend == exact.Name && !engine.Remote(m.engine) {
		m.report.Search.Kernel = kernel.Best.Name
	}
	return m.searchedBy(ctx, request, choice)
}

// cut executes the plan of the input files and returns the languages with their shards.
func (m *mining) cut(ctx context.Context) ([]plan.Language, error) {
	languages, err := m.texts()
	if err != nil {
		return nil, err
	}
	warnings := cut.Split(m.Log, languages)
	if m.cfg.OneOfMany { // they are logged once for all pairs
		m.report.Warnings = append(m.report.Warnings, m.cfg.SortWarnings...)
	} else {
		warnings = slices.Concat(m.cfg.SortWarnings, warnings)
	}
	if left := m.cfg.Companions(); len(left) > 0 {
		warnings = append(warnings, strings.Join(left, ", ")+", which describes the data beside it, is left out; name it to read it")
	}
	for _, warning := range warnings {
		m.warn("%s", warning)
	}
	p, err := m.planCut(ctx, languages, m.pairs())
	if err != nil {
		return nil, err
	}
	if err := m.executeOn(ctx, m.cutter(), p, false); err != nil {
		return nil, err
	}
	if found, err := cut.RemoveAside(ctx, m.store, p); err != nil {
		return nil, err
	} else if found {
		if err := m.executeOn(ctx, m.cutter(), p, false); err != nil {
			return nil, err
		}
	}
	var before []record.InputReport
	if m.previous != nil && p.SetAside && !m.cfg.Overwrite {
		before = m.previous.Inputs
	}
	text, err := cut.Read(ctx, m.files(p), before, m.cfg.EncodingFlags(), m.warn)
	if err != nil {
		return nil, err
	}
	if text.Swapped && !m.cfg.Swapped {
		return nil, badinput.Errorf("the sides are swapped: the text that is said to be %s is mostly %s, and the other way "+
			"round; swap the languages or their files, or give --swapped to go on", text.Languages[0].Code, text.Languages[1].Code)
	}
	m.report.Inputs, m.report.SetAside = text.Inputs, text.SetAside
	return text.Languages, nil
}

// texts finds the input files and reads them for their digests, once.
func (m *mining) texts() (languages []plan.Language, err error) {
	if m.languages != nil {
		return m.languages, nil
	}
	begin := time.Now()
	m.languages, err = m.cfg.Texts()
	m.reading = time.Since(begin)
	return m.languages, err
}

// planCut stores the plan that cuts the input files of languages into shards.
func (m *mining) planCut(ctx context.Context, languages []plan.Language, pairs []plan.Pair) (*plan.Plan, error) {
	settings := m.settings(search.As(m.cfg.Search))
	shard.Group(languages, settings)
	p, err := stage.Inputs(stage.Request{
		Version: m.Version, Settings: settings, Encoder: m.cfg.Encoder, Languages: languages, Pairs: pairs,
	})
	if err != nil {
		return nil, err
	}
	p.SetAside = m.cfg.OnBadFile == config.SkipBadFile
	return p, m.keep(ctx, p)
}

// cutter is the engine that cuts the text: this process where scripts are to be printed, as they depend on the shards.
func (s *session) cutter() engine.Engine {
	if s.cfg.DryRun != nil {
		return engine.Local{Cores: s.cfg.Threads, MaxMemory: s.cfg.MemoryBound()}
	}
	return s.engine
}

// files opens what the tasks of a plan leave in the store.
func (s *session) files(p *plan.Plan) *view.Files { return view.NewFiles(s.store, p, s.cfg.Work) }

// pairs are the pairs of the run, by the places of its languages.
func (m *mining) pairs() []plan.Pair {
	return []plan.Pair{{Source: 0, Target: 1, ConfigDigest: m.report.ConfigDigest}}
}

// settings returns the settings as the specs of tasks take them.
func (m *mining) settings(choice search.Choice) plan.Settings {
	return config.SettingsOf(&m.cfg, choice.Result, m.models, m.scorer)
}

// request returns the input of the plan after cutting, without the search and what earlier runs left.
func (m *mining) request(ctx context.Context, languages []plan.Language) (stage.Request, error) {
	weights, err := m.models.Weights(&m.cfg)
	if err != nil {
		return stage.Request{}, err
	}
	labels, err := label.Latest(m.cfg.Out)
	r := stage.Request{
		Version: m.Version, Encoder: m.cfg.Encoder, Refiner: m.models.Refiner(&m.cfg), Labels: label.Decisions(labels),
		Languages: languages, Pairs: m.pairs(), Threads: m.cfg.Threads, DocPairs: m.cfg.DocPairs, Weights: weights,
		Tokens: tokensOf(m.models.Encoder), Listed: m.models.Encoder.Languages,
	}
	if m.scorer != nil {
		r.Scorer, r.Judge = m.scorer.Data, m.models.PlanJudge(&m.cfg)
	} else if m.models.Judge != nil && m.goal == nil {
		m.warn("no scorer decides, so the judge %s is not asked", m.models.Judge.Name)
	}
	return r, err
}

// tokensOf is what the digest of an encoder does not say of its tokens.
func tokensOf(m *model.Model) stage.Tokens {
	t := stage.Tokens{TextPrefix: m.TextPrefix(), Static: m.Tokens.Static}
	if m.Tokens.Output != "" {
		t.Output = plan.Digest(m.Tokens)
	}
	return t
}

// searchedBy completes a request with how it searches and what earlier runs left.
func (m *mining) searchedBy(ctx context.Context, r stage.Request, choice search.Choice) (stage.Request, error) {
	r.Settings = m.settings(choice)
	r.Settings.Labels = plan.DigestLabels(r.Labels)
	if choice.Backend != choice.Result {
		r.Backend = choice.Backend
	}
	return r, stage.ReadLedgers(ctx, m.store, &r, m.Log)
}

// choose returns how cells are searched. Where auto may take approximate searches the choice changes the results, and
// so it is made once for a store and an output directory.
func (m *mining) choose(ctx context.Context, request stage.Request) (choice search.Choice, err error) {
	if m.cfg.Search != backend.Auto {
		return search.As(m.cfg.Search), nil
	}
	exactOnly := len(m.cfg.Approximate()) == 0
	name := search.NoteOf(m.settings(search.As(backend.Auto)), m.cfg.Searching, m.cfg.Source, m.cfg.Target)
	if !exactOnly {
		var before *record.SearchReport
		if m.previous != nil && m.previous.ConfigDigest == m.report.ConfigDigest {
			before = &m.previous.Search
		}
		if kept, err := search.ReadChoice(ctx, m.store, name, before); err != nil || kept != nil {
			if kept != nil {
				choice = *kept
			}
			return choice, err
		}
	}
	if request, err = m.searchedBy(ctx, request, search.Taking(exact.Name, "")); err != nil {
		return choice, err
	}
	p, err := stage.Build(request)
	if err != nil {
		return choice, err
	}
	done, err := m.files(p).Done(ctx)
	if err != nil {
		return choice, err
	}
	if choice, err = m.chooser.Choose(ctx, search.Left(p, done)); err != nil {
		return choice, err
	}
	m.Log.Info("auto chose a search", "search", choice.Backend, "why", choice.Why)
	if exactOnly {
		return choice, nil
	}
	return choice, search.WriteChoice(ctx, m.store, name, choice)
}

// keep stores a plan where its tasks find it and notes its id.
func (m *mining) keep(ctx context.Context, p *plan.Plan) error {
	data, id, err := p.Encode()
	if err != nil {
		return err
	}
	m.report.PlanID = id
	// Held afterwards, so that a sweep finds the plan of whatever is held.
	if err := m.store.WriteNote(ctx, record.PlansNote, id+".json", data); err != nil {
		return err
	}
	m.held.Add(ctx, m.store, m.Log, id)
	return nil
}

// enter adds the run to the store's history. pairs are those whose tasks are done together; none: it is of one.
func (m *mining) enter(ctx context.Context, pairs ...string) (err error) {
	run := record.Run{Plan: m.report.PlanID, Out: m.cfg.Out, Pairs: pairs}
	if pairs == nil {
		run.Source, run.Target = m.cfg.Source, m.cfg.Target
	}
	if m.goal != nil {
		run.Goal = m.goal.Name
	}
	if run.Into, err = record.Into(m.cfg.Work, m.cfg.Out); err != nil {
		return err
	}
	m.entry, err = record.Enter(ctx, m.store, run)
	return err
}

// execute runs a stored plan on the engine.
func (m *mining) execute(ctx context.Context, p *plan.Plan) error {
	return m.executeOn(ctx, m.engine, p, m.cfg.DryRun != nil)
}

// executeOn runs a stored plan on an engine; with dry it only prints scripts.
func (m *mining) executeOn(ctx context.Context, e engine.Engine, p *plan.Plan, dry bool) (err error) {
	env := m.env(p)
	env.PlanID = m.report.PlanID
	defer func() {
		if env.Encoded() {
			m.report.Versions["onnxruntime"] = onnx.RuntimeVersion()
		}
		err = errors.Join(err, env.Close())
	}()
	job := engine.Job{
		ID: m.report.PlanID, PlanPath: record.PlanPath(m.cfg.Work, m.report.PlanID),
		Out: m.cfg.Out, Device: config.DeviceOfTasks(&m.cfg),
	}
	stages, err := engine.Execute(ctx, e, job, env, m.Progress, dry)
	m.report.Stages = append(m.report.Stages, stages...)
	return err
}

// env returns what tasks of a plan work with in this process.
func (s *session) env(p *plan.Plan) *stage.Env {
	return &stage.Env{
		Files: s.files(p), Model: s.models.Encoder, Resources: s.cfg.Resources, Log: s.Log, OpenEncoder: s.OpenEncoder,
		Processor: s.Processor,
		Begins: func(stage string) {
			if stage == view.Shard { // new text is encoded next
				s.early.Begin()
			}
		},
	}
}

// output runs the goal's task, whose key want returns, with the tasks that it needs, and returns its output.
func (m *mining) output(ctx context.Context, want func(*stage.Builder) (string, error)) (*store.Output, error) {
	key := ""
	p, err := m.prepare(ctx, func(b *stage.Builder) (err error) {
		key, err = want(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	if err := m.execute(ctx, p); err != nil {
		return nil, err
	}
	out, err := m.files(p).Output(ctx, m.goal.Name, key)
	if err == nil {
		record.Ended(ctx, m.store, m.Log, m.entry)
	}
	return out, err
}
