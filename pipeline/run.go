package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	"go.opentelemetry.io/otel/attribute"

	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/night"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/scorer"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
)

// outLockName is held in the output directory while a run writes its bitext and report there.
const outLockName = "run.lock"

// Run mines as cfg says. It leaves the bitext and run.json in cfg.Out and returns what run.json says. After a run that
// was stopped or failed, the same call goes on from what the store already has.
func Run(ctx context.Context, cfg Config, opts Options) (_ *record.Report, err error) {
	s, err := open(ctx, "", cfg, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if err := s.refuseOthers(); err != nil {
		return nil, err
	}
	m, err := s.bitext(ctx)
	if err != nil {
		return nil, err
	}
	if m.previous, err = s.previousIn(m.report); err != nil {
		return nil, err
	}
	p, err := m.mine(ctx)
	if err != nil || cfg.DryRun != nil {
		return m.report, err
	}
	release, err := lockfile.Await(ctx, filepath.Join(s.cfg.Out, outLockName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if _, err := s.previousIn(m.report); err != nil { // again: another run may have ended here meanwhile
		return nil, err
	}
	if err := m.deliver(ctx, p, s.cfg.Out); err != nil {
		return nil, err
	}
	return m.report, m.report.Write(filepath.Join(s.cfg.Out, record.ReportName))
}

// Nightly is one night's Run: [night.Night].
func Nightly(ctx context.Context, cfg Config, opts Options) (*record.Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n := &night.Night{
		Config: cfg, Version: opts.Version, Log: opts.Log, OpenStore: opts.openStore,
		Mine: func(
			ctx context.Context, previous *record.Report, begun func(*record.Report), dir func(*record.Report) (string, error),
		) (_ *record.Report, err error) {
			s, err := open(ctx, "", cfg, opts)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, s.close(ctx)) }()
			m, err := s.bitext(ctx)
			if err != nil {
				return nil, err
			}
			begun(m.report)
			m.previous = previous
			p, err := m.mine(ctx)
			if err != nil {
				return nil, err
			}
			into, err := dir(m.report)
			if err != nil {
				return nil, err
			}
			return m.report, m.deliver(ctx, p, into)
		},
	}
	return n.Run(ctx)
}

// Digest stands for all that decides the bitext of a run: the text, the encoder, the scorer and the settings. It reads
// the files.
func Digest(cfg Config) (string, error) {
	if err := cfg.Validate(); err != nil {
		return "", err
	}
	models, err := config.OpenModels(&cfg)
	if err != nil {
		return "", err
	}
	chooser := scorer.Chooser{Config: &cfg, Models: models, Log: slog.New(slog.DiscardHandler)} // the run itself will warn
	choice, err := chooser.Load()
	if err != nil {
		return "", err
	}
	languages, err := cfg.Texts()
	if err != nil {
		return "", err
	}
	settings, _ := config.NewRecord(&cfg, models, choice.Scorer)
	of := []any{settings, languages}
	if choice.ToFit { // besides, it depends on the text
		of = append(of, chooser.FittedName())
	}
	return plan.Digest(of), nil
}

// bitext returns the mining of the bitext, after fitting a scorer where the program has none for the encoder.
func (s *session) bitext(ctx context.Context) (*mining, error) {
	m := &mining{session: s}
	choice, err := s.scorers.Settle(ctx, s.store, s.scorer, func(
		ctx context.Context, want func(*stage.Builder) (string, error),
	) (*store.Output, error) {
		fitting := s.mining(fitStage, nil)
		out, err := fitting.output(ctx, want)
		m.fitted = fitting.report.Stages
		return out, err
	})
	if err != nil {
		return nil, err
	}
	m.scorer, m.report = choice.Scorer, s.report(choice.Scorer)
	return m, nil
}

// refuseOthers refuses the output of other settings before anything is computed. A scorer that is to be fitted is not
// known yet.
func (s *session) refuseOthers() error {
	now := s.report(s.scorer.Scorer)
	if previous, err := record.ReadReport(s.cfg.Out); err == nil && s.scorer.ToFit {
		now.Settings.Scorer = previous.Settings.Scorer
		if previous.Settings.Differences(now.Settings) == "" {
			return nil
		}
	}
	_, err := s.previousIn(now)
	return err
}

// previousIn reads the report in the output directory; nil: there is none. It refuses the output of other settings than
// those of now unless it may be overwritten.
func (s *session) previousIn(now *record.Report) (*record.Report, error) {
	previous, err := record.ReadReport(s.cfg.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist), s.cfg.Overwrite:
	case err != nil:
		return nil, err
	case previous.ConfigDigest != now.ConfigDigest:
		return nil, badinput.Errorf("%s holds the output of a run with other settings (%s); name another directory with --out, "+
			"or replace it with --overwrite", s.cfg.Out, previous.Settings.Differences(now.Settings))
	}
	return previous, nil
}

// mine cuts, plans and executes the tasks of the bitext, and returns their plan.
func (m *mining) mine(ctx context.Context) (_ *plan.Plan, err error) {
	cfg := &m.cfg
	ctx, span := record.StartSpan(ctx, "run", attribute.String("src", cfg.Source), attribute.String("tgt", cfg.Target))
	defer func() { record.EndSpan(span, err) }()
	p, err := m.prepare(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	if err := m.execute(ctx, p); err != nil || cfg.DryRun != nil {
		return p, err
	}
	return p, stage.WriteLedgers(ctx, m.store, p)
}
