package run

import (
	"strings"
	"testing"

	"bitextmine/pipeline"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/plan"
)

// TestRatesAreReadable: no number of a plan or a status is written with an exponent.
func TestRatesAreReadable(t *testing.T) {
	var e pipeline.Estimate
	e.Stages = []plan.StageCost{{Name: "search", Items: 20_000_000, Unit: "comparisons", Rate: 1.5e7}, {Name: "judge", Items: 9, Unit: "pairs", Rate: 0.25}}
	s := status{Status: &admin.Status{Stages: []admin.StageStatus{{Stage: "search", Unit: "comparisons", Rate: 1.5e7}, {Stage: "judge", Unit: "pairs", Rate: 0.25}}}}
	var plan, now strings.Builder
	if err := printPlan(&plan, &e, false); err != nil {
		t.Fatal(err)
	}
	if err := printStatus(&now, s); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"20.0M", "15.0M", "0.25"} {
		if !strings.Contains(plan.String(), part) {
			t.Errorf("no %s in the plan: %s", part, plan.String())
		}
	}
	for _, part := range []string{"15.0M comparisons/s", "0.25 pairs/s"} {
		if !strings.Contains(now.String(), part) {
			t.Errorf("no %s in the status: %s", part, now.String())
		}
	}
}
