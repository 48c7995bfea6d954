package scorer

import (
	"context"
	"log/slog"

	"bitextmine/pipeline/config"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
	"bitextmine/score"
	"bitextmine/score/fit"
)

// Chooser finds the scorer of a run.
type Chooser struct {
	Config *config.Config
	Models config.Models
	Log    *slog.Logger
}

// Choice says what decides between the candidates of a run.
type Choice struct {
	Scorer *score.Named // nil: the margin decides, or the scorer is yet to be fitted
	ToFit  bool         // the program has no scorer for the encoder, so that one is fitted to the text
}

// Load reads the scorer that the settings name, and warns of what may make it wrong. Then the settings say what goes to
// the strong encoder of two-stage mining.
func (c *Chooser) Load() (Choice, error) {
	choice, err := c.named()
	if err == nil {
		err = c.Config.Promising(choice.ToFit || c.Config.Scored() && choice.Scorer.Refined == nil)
	}
	return choice, err
}

// named reads the scorer that the settings name.
func (c *Chooser) named() (Choice, error) {
	cfg := c.Config
	if !cfg.Scored() {
		if cfg.HasVectors() && cfg.Scorer == score.Auto {
			c.Log.Warn("no encoder is named for the vectors, so the margin decides, not a scorer; " +
				"name the one that made them with --encoder")
		}
		if cfg.Threshold != setting.AutoThreshold || config.UnnamedEncoder(cfg) {
			return Choice{}, nil // the distribution of the margins finds a threshold for vectors of an unnamed encoder
		}
	}
	name := cfg.Scorer
	if name == score.Auto || !cfg.Scored() { // its probabilities find the margin's threshold
		name = score.Default
		ships, err := score.Ships(c.Models.Encoder)
		if err != nil || !ships {
			return Choice{ToFit: err == nil}, err
		}
	}
	return c.chosen(score.Load(name, cfg.K, c.Models.Encoder))
}

// chosen checks a scorer that was read, and logs its warnings.
func (c *Chooser) chosen(scorer *score.Named, warnings []string, err error) (Choice, error) {
	if err == nil && scorer != nil {
		err = scorer.CheckRefine(c.Config.Scorer, c.Models.Strong)
	}
	if err != nil {
		return Choice{}, err
	}
	for _, warning := range warnings {
		c.Log.Warn(warning)
	}
	return Choice{Scorer: scorer}, nil
}

// Settle returns a choice of a scorer that is there: where one is to be fitted, the one that an earlier run over some
// of the same files fitted in this store, or one that is fitted now and stored. Later runs keep it, so that a night
// changes only what its text changes. texts are the input files, and collect runs the tasks of the fit.
func (c *Chooser) Settle(
	ctx context.Context, st *store.Store, choice Choice, texts func() ([]plan.Language, error), collect Collect,
) (Choice, error) {
	if !choice.ToFit {
		return choice, nil
	}
	of, err := filesOf(texts)
	if err != nil {
		return Choice{}, err
	}
	name, earlier, all, err := c.earlier(ctx, st, of)
	switch {
	case err != nil:
	case name == "" || c.Config.Refit:
		earlier.Scorer, err = c.fitAnew(ctx, st, of, all, collect)
	default:
		err = c.follow(ctx, st, name, earlier, of)
	}
	if err != nil {
		return Choice{}, err
	}
	return c.chosen(score.Read(score.Auto, earlier.Scorer, c.Config.K, c.Models.Encoder))
}

// StandIn returns a choice for a plan that is only shown: where a scorer is to be fitted, the default one costs as
// much. ToFit stays set then.
func (c *Chooser) StandIn(
	ctx context.Context, st *store.Store, choice Choice, texts func() ([]plan.Language, error),
) (Choice, error) {
	if !choice.ToFit {
		return choice, nil
	}
	of, err := filesOf(texts)
	if err != nil {
		return Choice{}, err
	}
	name, earlier, _, err := c.earlier(ctx, st, of)
	if err != nil {
		return Choice{}, err
	}
	if name != "" && !c.Config.Refit {
		return c.chosen(score.Read(score.Auto, earlier.Scorer, c.Config.K, c.Models.Encoder))
	}
	scorer, _, err := score.Load(score.Default, c.Config.K, c.Models.Encoder)
	choice, err = c.chosen(scorer, nil, err)
	choice.ToFit = true
	return choice, err
}

// FittedName begins the notes of fitted scorers: a digest of all that they depend on besides the text.
func (c *Chooser) FittedName() string {
	cfg, m := c.Config, c.Models
	of := []any{m.Encoder.Digest, m.Encoder.Tokens, cfg.K, cfg.Source, cfg.Target, fit.FeatureVersions()}
	if cfg.KeepCopies { // untranslated text is among the neighbours then
		of = append(of, cfg.KeepCopies)
	}
	return plan.Digest(of)
}
