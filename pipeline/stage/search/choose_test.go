package search

import (
	"strings"
	"testing"

	"bitextmine/index/backend"
	"bitextmine/pipeline/setting"
)

const inverted = "faiss:IVF8,Flat"

// chooser is of a machine that was measured: an exact pass at 1e9 pairs a second, flat FAISS searches at half, and an
// index at ten times that rate.
func chooser(approximate ...string) *Chooser {
	c := &Chooser{
		Settings: setting.Searching{Search: backend.Auto, SearchApproximate: strings.Join(approximate, " ")}, Dim: 256, K: 4, MemoryLimit: 64 << 30,
		Costs: &backend.Calibration{Dim: 256, K: 4, Options: backend.Options{Threads: 2}, Costs: []backend.Cost{{Name: "exact", Pair: 1e-9}, {Name: "faiss:Flat", Pair: 2e-9}}},
	}
	if len(approximate) > 0 {
		c.Costs.Costs = append(c.Costs.Costs, backend.Cost{Name: approximate[0], Pair: 1e-10})
	}
	return c
}

func TestAutoChooses(t *testing.T) {
	large := []backend.Shape{{Rows: 250000, Cols: 250000}, {Rows: 250000, Cols: 1000}}
	gpu := chooser()
	gpu.Costs.Costs = append(gpu.Costs.Costs, backend.Cost{Name: "faiss-gpu:Flat", Pair: 1e-11})
	remote := chooser(inverted)
	remote.Remote, remote.Engine = true, "slurm"
	tight := chooser(inverted)
	tight.MemoryLimit = 150 << 20
	for name, c := range map[string]struct {
		chooser         *Chooser
		cells           []backend.Shape
		result, backend string
		why             string
	}{
		"the fastest":              {chooser(), large, "exact", "exact", "measured here, exact is expected to take 1m2.8s, faiss:Flat 2m5.5s"},
		"a GPU leaves no trace":    {gpu, large, "exact", "faiss-gpu:Flat", "faiss-gpu:Flat is expected"},
		"an index that is allowed": {chooser(inverted), large, inverted, inverted, "measured here"},
		"what fits":                {tight, large, "exact", "exact", "exact is expected"},
		"too little to measure":    {chooser(inverted), []backend.Shape{{Rows: 5000, Cols: 5000}}, "exact", "exact", "too little to search"},
		"nothing left":             {chooser(), nil, "exact", "exact", "too little to search"},
		"another machine's work":   {remote, large, "exact", "exact", "engine slurm"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.chooser.Choose(t.Context(), c.cells)
			if err != nil {
				t.Fatal(err)
			}
			if got.Result != c.result || got.Backend != c.backend || !strings.Contains(got.Why, c.why) {
				t.Errorf("%+v, want %s by %s because %q", got, c.result, c.backend, c.why)
			}
		})
	}
}
