package match

import (
	"math"
	"testing"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// TestRate: the estimates are within a quarter of what was measured, with a scorer those of its three stages together.
func TestRate(t *testing.T) {
	for _, c := range []struct {
		scorer  string
		items   int64
		seconds float64
	}{{"a scorer", 20000, 1.17}, {"a scorer", 49968, 2.0}, {"a scorer", 191512, 5.86}, {"", 20000, 0.41}, {"", 49968, 0.67}} {
		env := &stage.Env{Files: &view.Files{Plan: &plan.Plan{}}}
		env.Plan.Settings.Scorer = c.scorer
		got := 0.0
		add := func(d *stage.Descriptor, items int64) {
			rate, err := d.Rate(t.Context(), env, []*plan.Task{{Items: items}})
			if err != nil {
				t.Fatal(err)
			}
			got += float64(items) / rate
		}
		if add(Stage, c.items); c.scorer != "" {
			add(Describe, c.items)
			add(Features, c.items/2)
		}
		if math.Abs(got/c.seconds-1) > 0.25 {
			t.Errorf("%d sentences with scorer %q take %.2f s, %.2f were measured", c.items, c.scorer, got, c.seconds)
		}
	}
}
