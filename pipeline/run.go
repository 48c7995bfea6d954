package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"go.opentelemetry.io/otel/attribute"

	"bitextmine/bitext/exchange"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/mine"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/night"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/scorer"
	"bitextmine/pipeline/stage"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/stage/match"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/calibration"
	"bitextmine/score/fit"
)

// The locks of an output directory: outLockName is held while a run writes its bitext and report there,
// settingsLockName by all runs with the same settings while they are at work.
const (
	outLockName      = "run.lock"
	settingsLockName = "settings.lock"
)

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
	release, err := s.share()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	m, err := s.bitext(ctx)
	if err != nil {
		return nil, err
	}
	if m.previous, err = s.previousIn(m.report); err != nil {
		return nil, err
	}
	languages, err := m.texts()
	if err == nil {
		err = refuseInput(languages, m.bitextIn(cfg.Out))
	}
	if err != nil {
		return nil, err
	}
	p, err := m.mine(ctx)
	if err != nil || cfg.DryRun != nil {
		return m.report, err
	}
	delivered, err := lockfile.Await(ctx, filepath.Join(s.cfg.Out, outLockName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, delivered()) }()
	if _, err := s.previousIn(m.report); err != nil { // again: another run may have ended here meanwhile
		return nil, err
	}
	if err := m.deliver(ctx, p, s.cfg.Out); err != nil {
		return nil, err
	}
	if err := m.report.Write(filepath.Join(s.cfg.Out, record.ReportName)); err != nil {
		return m.report, err
	}
	record.Ended(ctx, m.store, m.Log, m.entry)
	return m.report, nil
}

// Nightly is one night's Run: [night.Night]. Where cfg.DryRun is set it only prints the scripts of the next night.
func Nightly(ctx context.Context, cfg Config, opts Options) (*record.Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	mine := func(
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
		if err != nil || cfg.DryRun != nil {
			return m.report, err
		}
		into, err := dir(m.report)
		if err != nil {
			return nil, err
		}
		if err := m.deliver(ctx, p, into); err != nil {
			return m.report, err
		}
		record.Ended(ctx, m.store, m.Log, m.entry)
		return m.report, nil
	}
	if cfg.DryRun != nil {
		previous, _, _, _ := night.Directory(cfg.Out).Last() // the night itself will warn if it is damaged
		return mine(ctx, previous, func(*record.Report) {}, nil)
	}
	n := &night.Night{Config: cfg, Version: opts.Version, Log: opts.Log, OpenStore: opts.openStore, Mine: mine}
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
	of := []any{config.RecordOf(&cfg, models, choice.Scorer), languages}
	if choice.ToFit { // besides, it depends on the text
		of = append(of, chooser.FittedName())
	}
	return plan.Digest(of), nil
}

// bitext returns the mining of the bitext, after fitting a scorer where the program has none for the encoder.
func (s *session) bitext(ctx context.Context) (*mining, error) {
	m := &mining{session: s}
	choice, err := s.scorers.Settle(ctx, s.store, s.scorer, m.texts, func(
		ctx context.Context, want func(*stage.Builder) (string, error),
	) (*store.Output, error) {
		fitting := s.mining(fitStage, nil)
		fitting.languages = m.languages
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

// refuseOthers refuses the output of nights, and of other settings, before anything is computed. A scorer that is to be
// fitted is not known yet.
func (s *session) refuseOthers() error {
	if _, err := os.Lstat(filepath.Join(s.cfg.Out, record.LatestName)); err == nil {
		return badinput.Errorf("%s has nights, which commands that take a run would not find behind this one: give --nightly, or another --out",
			s.cfg.Out)
	}
	_, err := s.previousIn(s.report(s.scorer.Scorer))
	return err
}

// share keeps runs with other settings out of the output directory until release is called. A scorer that is to be
// fitted is the same for runs that have all else in common.
func (s *session) share() (release func() error, err error) {
	if s.cfg.DryRun != nil {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(s.cfg.Out, 0o777); err != nil {
		return nil, badinput.Errorf("output directory %s cannot be made (%w); name another with --out", s.cfg.Out, err)
	}
	settings := s.report(s.scorer.Scorer).Settings
	if s.scorer.ToFit {
		settings.Scorer = ""
	}
	release, err = lockfile.Share(filepath.Join(s.cfg.Out, settingsLockName), plan.Digest([]any{settings}))
	if locked := (*lockfile.Locked)(nil); errors.As(err, &locked) {
		err = fmt.Errorf("a run with other settings writes to %s; name another directory with --out, or wait: %w", s.cfg.Out, err)
	}
	return release, err
}

// previousIn reads the report in the output directory; nil: there is none. It refuses the output of other settings than
// those of now unless it may be overwritten. A scorer that runs fit is no setting.
func (s *session) previousIn(now *record.Report) (*record.Report, error) {
	previous, err := record.ReadReport(s.cfg.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist), s.cfg.Overwrite:
	case err != nil:
		return nil, err
	case previous.ConfigDigest != now.ConfigDigest:
		now := *now
		if s.scorer.ToFit && previous.Scorer != nil && previous.Scorer.Name == score.Auto {
			now.Settings.Scorer = previous.Settings.Scorer
		}
		if others := previous.Differences(&now); others != "" {
			return nil, badinput.Errorf("%s holds the output of a run with other settings (%s); name another directory with --out, "+
				"or replace it with --overwrite", s.cfg.Out, others)
		}
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

// bitextIn is the path of the bitext in a directory.
func (s *session) bitextIn(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%s.parquet", s.cfg.Source, s.cfg.Target))
}

// refuseInput refuses text that the bitext would replace.
func refuseInput(languages []plan.Language, bitext string) error {
	var read []string
	for _, l := range languages {
		for _, in := range l.Inputs {
			read = append(read, in.Path)
		}
	}
	return atomicfile.RefuseInput(bitext, read...)
}

// deliver copies the bitext into a directory and completes the report.
func (m *mining) deliver(ctx context.Context, p *plan.Plan, dir string) error {
	out, err := m.files(p).Output(ctx, match.Stage.Name, p.Pairs[0].Bitext)
	if err != nil {
		return err
	}
	result, err := match.ReadResult(out)
	if err != nil {
		return err
	}
	// it reads the store, so it comes before anything is published
	if err := scorer.Warn(ctx, m.files(p), m.warn); err != nil {
		return err
	}
	if m.Gold != nil {
		if m.report.Gold, err = m.Gold(ctx, out.Path(view.BitextFile)); err != nil {
			return err
		}
	}
	m.report.Stages = record.Joined(m.fitted, m.report.Stages)
	path := m.bitextIn(dir)
	if err := atomicfile.Copy(path, out.Path(view.BitextFile)); err != nil {
		return err
	}
	file := out.Files[0]
	m.report.RunID, m.report.Counts, m.report.Samples = result.RunID, result.Counts, result.Samples
	m.report.Cut = result.Cut
	m.report.Threshold, m.report.Rejected = result.Threshold, result.Rejected
	m.report.Search.Recall, m.report.Search.Least = result.Mean(), result.Least
	if low := m.report.Search.Warning(); low != "" {
		m.warn("%s", low)
	}
	if much := m.report.RejectedWarning(); much != "" {
		m.warn("%s", much)
	}
	m.report.Bitext = record.BitextReport{Path: path, Rows: result.Rows, Bytes: file.Size, SHA256: file.SHA256}
	return nil
}

// fitStage is the goal of fitting a scorer.
var fitStage = stagefit.Stage

// Calibrate injects known pairs into the corpora that cfg names and returns what became of them when all are mined by
// cfg's margin. The corpora are cut, encoded and searched by the tasks of a run, so that either finds the other's work
// done.
func Calibrate(ctx context.Context, cfg Config, known []exchange.Pair, opts Options) (o calibration.Outcomes, err error) {
	err = withOutput(ctx, stagefit.Calibrate, cfg, opts, func(b *stage.Builder) string {
		return stagefit.WantOutcomes(b, 0, known, mine.Margin(cfg.Margin))
	}, func(_ *session) {}, func(out *store.Output) (err error) {
		o, err = calibration.Read(out.Path(stagefit.OutcomesFile))
		return err
	})
	return o, err
}

// Fit injects known pairs into the corpora that cfg names and returns the examples that they and their rivals make. The
// corpora are cut, encoded and searched by the tasks of a run, so that either finds the other's work done.
func Fit(ctx context.Context, cfg Config, known stagefit.Known, opts Options) (set *fit.Set, err error) {
	warn := func(s *session) {
		if seen := fit.SeenSource(s.models.Encoder, known.Name); seen != "" {
			s.Log.Warn(fmt.Sprintf("encoder %s was trained on %s, and pairs it has seen are too easy: a scorer fitted on them "+
				"expects too much of other text; give other pairs if there are any", s.models.Encoder.Name, seen))
		}
	}
	err = withOutput(ctx, fitStage, cfg, opts, func(b *stage.Builder) string {
		return stagefit.Want(b, 0, known, false)
	}, warn, func(out *store.Output) (err error) {
		set, err = fit.ReadSet(out.Path(stagefit.ExamplesFile))
		return err
	})
	return set, err
}

// withOutput runs the task of a stage that is no part of a run, whose key want returns, and reads its output. check
// looks at the session before any task runs.
func withOutput(ctx context.Context, goal *stage.Descriptor, cfg Config, opts Options,
	want func(*stage.Builder) string, check func(*session), read func(*store.Output) error) (err error) {
	s, err := open(ctx, goal.Name, cfg, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	check(s)
	out, err := s.mining(goal, nil).output(ctx, func(b *stage.Builder) (string, error) { return want(b), nil })
	if err != nil {
		return err
	}
	return read(out)
}
