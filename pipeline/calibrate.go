package pipeline

import (
	"context"
	"errors"

	"bitextmine/bitext/exchange"
	"bitextmine/mine"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/calibrate"
	"bitextmine/score/calibration"
)

// Calibrate injects known pairs into the corpora that cfg names and returns what became of them when all are mined by
// cfg's margin. The corpora are cut, encoded and searched by the tasks of a run, so that either finds the other's work
// done.
func Calibrate(ctx context.Context, cfg Config, known []exchange.Pair, opts Options) (o calibration.Outcomes, err error) {
	out, closeStore, err := onDemand(ctx, cfg, opts, calibrate.Stage.Name, func(*run) func(b *stage.Builder) string {
		return func(b *stage.Builder) string { return calibrate.Want(b, 0, known, mine.Margin(cfg.Margin)) }
	})
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	return calibration.Read(out.Path(calibrate.OutcomesFile))
}
