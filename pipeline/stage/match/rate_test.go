package match

import (
	"math"
	"testing"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// TestRate: the estimates are within a quarter of what was measured.
func TestRate(t *testing.T) {
	for _, c := range []struct {
		scorer  string
		items   int64
		seconds float64
	}{{"a scorer", 20000, 1.17}, {"a scorer", 49968, 2.0}, {"a scorer", 191512, 5.86}, {"", 20000, 0.41}, {"", 49968, 0.67}} {
		env := &stage.Env{Files: &view.Files{Plan: &plan.Plan{}}}
		env.Plan.Settings.Scorer = c.scorer
		rate, err := Stage.Rate(t.Context(), env, []*plan.Task{{Items: c.items}})
		if got := float64(c.items) / rate; err != nil || math.Abs(got/c.seconds-1) > 0.25 {
			t.Errorf("%d sentences with scorer %q take %.2f s, %.2f were measured; error %v", c.items, c.scorer, got, c.seconds, err)
		}
	}
}
