package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"bitextmine/bitext/exchange"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/score"
	"bitextmine/score/fit"
)

// loadScorer reads the scorer that the settings name, and warns of what may make it wrong. One that is to be fitted
// first is left to settleScorer.
func (r *run) loadScorer() error {
	if !r.cfg.Scored() {
		if r.cfg.HasVectors() && r.cfg.Scorer == score.Auto {
			r.Log.Warn("no encoder is named for the vectors, so the margin decides, not a scorer; name the one that made them with --encoder")
		}
		if r.cfg.Scorer == score.Default {
			r.Log.Info("no scorer of the program knows the strong encoder: its cosine times the margin decides", "threshold", r.cfg.Threshold)
		}
		if r.cfg.Threshold != config.AutoThreshold || config.UnnamedEncoder(&r.cfg) {
			return nil // the distribution of the margins finds a threshold for vectors of an encoder that is not named
		}
	}
	name := r.cfg.Scorer
	if name == score.Auto || !r.cfg.Scored() { // then its probabilities find the margin's threshold
		name = score.Default
		ships, err := score.Ships(r.model)
		if r.unfitted = !ships || r.refiner != nil; err != nil || r.unfitted {
			return err
		}
	}
	return r.decideBy(score.Load(name, r.cfg.K, r.model))
}

// decideBy takes a scorer as it was read.
func (r *run) decideBy(scorer *score.Named, warnings []string, err error) error {
	if err == nil && scorer != nil {
		err = scorer.CheckRefine(r.cfg.Scorer, r.refiner)
	}
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		r.Log.Warn(warning)
	}
	r.scorer, r.unfitted = scorer, false
	if r.report != nil {
		r.report.Settings, r.report.Scorer = config.NewRecord(&r.cfg, r.model, r.refiner, scorer)
		r.report.ConfigDigest = plan.Digest(r.report.Settings)
	}
	return nil
}

// settleScorer takes the scorer that an earlier run fitted in this store, or fits one, where the program has none for
// the encoder. Later runs keep it, so that a night changes only what its text changes.
func (r *run) settleScorer(ctx context.Context) error {
	if !r.unfitted {
		return nil
	}
	name := r.fittedName()
	data, err := r.store.ReadNote(ctx, record.FittedNote, name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && r.cfg.Refit:
		data, err = r.fitScorer(ctx)
		if errors.Is(err, errLittleText) && r.refiner != nil {
			return badinput.Errorf("fewer than %d sentences a side are too few to fit a scorer with the strong encoder on: give --scorer default, and its cosine times the margin decides", fit.MinSentences)
		}
		if errors.Is(err, errLittleText) {
			r.Log.Warn(fmt.Sprintf("the program has no scorer for encoder %s, and fewer than %d sentences a side are too few to fit one on", r.model.Name, fit.MinSentences))
			return r.decideBy(score.Load(score.Default, r.cfg.K, r.model))
		}
		if err == nil {
			err = r.store.WriteNote(ctx, record.FittedNote, name, data)
		}
	case err == nil && !json.Valid(data):
		return badinput.Errorf("the note %s/%s of the fitted scorer is damaged; remove it, or fit again with --refit", record.FittedNote, name)
	}
	if err != nil {
		return err
	}
	return r.decideBy(score.Read(score.Auto, data, r.cfg.K, r.model))
}

// standInScorer takes the scorer that is there, for a plan that is only shown: where one is to be fitted first, the
// default one costs as much.
func (r *run) standInScorer(ctx context.Context) (toFit bool, err error) {
	if !r.unfitted {
		return false, nil
	}
	data, err := r.store.ReadNote(ctx, record.FittedNote, r.fittedName())
	if err == nil {
		return false, r.decideBy(score.Read(score.Auto, data, r.cfg.K, r.model))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if r.refiner != nil {
		return true, nil // the product costs as much
	}
	scorer, _, err := score.Load(score.Default, r.cfg.K, r.model)
	return true, r.decideBy(scorer, nil, err)
}

// fittedName is the note of a fitted scorer: all that it depends on besides the text.
func (r *run) fittedName() string {
	of := []any{r.model.Digest, r.model.Tokens, r.cfg.K, r.cfg.Source, r.cfg.Target, fit.FeatureVersions()}
	if r.refiner != nil {
		of = append(of, r.refiner.Digest, r.cfg.RefineFloor)
	}
	return plan.Digest(of) + ".json"
}

var errLittleText = errors.New("too few sentences")

// fitScorer injects the program's known pairs into the text and fits a scorer: the content of its file. The stages that
// the run itself has too are then done, and fitted keeps what they cost.
func (r *run) fitScorer(ctx context.Context) ([]byte, error) {
	if r.cfg.DryRun != nil {
		return nil, badinput.Errorf("scorer = auto is first fitted to the text, with encoder %s, before the tasks that use it are known: fit it with mine fit-scorer and name it with --scorer", r.model.Name)
	}
	pairs, of, err := exchange.MixedPairs(r.cfg.Source, r.cfg.Target)
	if err != nil {
		return nil, err
	}
	// as manifests name what an encoder was trained on
	sources := fmt.Sprintf("the program's own of phpdoc and pydocs (techdocs.en-%s, techdocs.en-%s)", r.cfg.Source, r.cfg.Target)
	with := r.model.Name
	if r.refiner != nil {
		with += " with " + r.refiner.Name
	}
	r.Log.Info(fmt.Sprintf("the program has no scorer for encoder %s; one is fitted to this text with %d known pairs (%s)", with, len(pairs), of))
	if seen := fit.SeenSource(r.model, sources); seen != "" {
		r.Log.Warn(fmt.Sprintf("encoder %s was trained on %s, as these pairs are: the scorer will expect too much of other text; fit one on other pairs with mine fit-scorer --pairs", r.model.Name, seen))
	}
	begin := time.Now()
	known := stagefit.Known{Name: sources, Pairs: pairs}
	fitting := *r
	fitting.report = config.NewReport(&r.cfg, r.Version, r.model, r.refiner, nil)
	key := ""
	p, err := fitting.plan(ctx, func(b *stage.Builder) error {
		if min(b.Side(0, 0).Rows(), b.Side(0, 1).Rows()) < fit.MinSentences {
			return errLittleText
		}
		key = stagefit.Want(b, 0, known, true)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out, err := fitting.complete(ctx, stagefit.Stage, p, key)
	if err != nil {
		if badinput.Is(err) {
			err = badinput.Errorf("scorer = auto cannot be fitted (%w); choose another encoder, or let the margin decide with --scorer none --threshold 1.06", err)
		}
		return nil, err
	}
	r.fitted = fitting.report.Stages
	set, err := fit.ReadSet(out.Path(stagefit.ExamplesFile))
	if err != nil {
		return nil, err
	}
	scorer, err := fit.OnTheWay(set, r.model)
	if err != nil {
		return nil, err
	}
	q := scorer.Quality
	r.Log.Info(fmt.Sprintf("fitted a scorer in %.1f s: on known pairs left out, precision %.2f and recall %.2f at 0.5, calibration error %.3f",
		time.Since(begin).Seconds(), q.Precision, q.Recall, q.Calibration))
	return scorer.Encode()
}

// scorerData is the scorer's file; nil without one.
func scorerData(scorer *score.Named) json.RawMessage {
	if scorer == nil {
		return nil
	}
	return scorer.Data
}
