package main

import (
	"fmt"
	"math"
	"strings"
)

// gain is by how many points the row that chose the rate is better than that of half of its steps, and its figure.
func (r *result) gain(name string) (points, figure float64, ok bool) {
	all, known := r.chosen.of(name)
	some, also := r.half.of(name)
	return all.figure() - some.figure(), all.figure(), known && also
}

// settled says of a comparison's difference what rows of half of the steps show, by the judged measure or else by that
// which rates are chosen by if its metric is the same. moving is why the difference judges nothing: it moves by more
// than the paper's effect in the second half of the steps, or a system has no such row. unknown is why only its sign
// can be judged. Both are empty if it has settled, and of systems that have no choice of rates.
func (c comparison) settled(b budget, t table, name string) (moving, unknown string) {
	var learned []*result // a start has no rate and does not move
	var signs []float64
	for i, system := range []string{c.better, c.worse} {
		r := t.any(system)
		if r == nil || len(r.tried) == 0 {
			continue
		}
		if r.half == nil {
			return fmt.Sprintf("no row of `%s` has half of the steps, so nothing says whether it had learned what it can", system), ""
		}
		learned, signs = append(learned, r), append(signs, float64(1-2*i))
	}
	if len(learned) == 0 {
		return "", ""
	}
	by := name
	if _, _, ok := learned[0].gain(by); !ok && strings.HasPrefix(b.Choose.Measure, c.protocol+" ") {
		by = b.Choose.Measure
	}
	more, least := 0.0, math.Inf(1)
	for i, r := range learned {
		points, figure, ok := r.gain(by)
		if !ok || c.less != "" {
			return "", "no row of half of the steps says by this metric whether the difference has settled"
		}
		more, least = more+signs[i]*points, min(least, figure)
	}
	switch {
	case len(learned) == 2 && least+c.claimed > 100:
		return "", fmt.Sprintf("both find %.1f%% on %s, which leaves no room to say whether the difference has settled", least, strings.TrimPrefix(by, c.protocol+" "))
	case math.Abs(more) > c.claimed:
		return fmt.Sprintf("in the second half of the steps the difference still moved by %+.1f points", more), ""
	}
	return "", ""
}
