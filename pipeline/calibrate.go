package pipeline

import (
	"context"

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
	err = withRun(ctx, calibrate.Stage.Name, cfg, opts, func(r *run) error {
		want := func(b *stage.Builder) string { return calibrate.Want(b, 0, known, mine.Margin(cfg.Margin)) }
		out, err := r.onDemand(ctx, calibrate.Stage, want)
		if err == nil {
			o, err = calibration.Read(out.Path(calibrate.OutcomesFile))
		}
		return err
	})
	return o, err
}
