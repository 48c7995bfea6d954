// Package calibration estimates the precision and recall of every threshold without gold, from known pairs that were
// injected.
package calibration

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/resample"
)

// Outcomes are the results of known pairs that were injected among the user's sentences and mined with them one-to-one
// (mine.Max), so that a threshold only cuts.
//
// Half of the known pairs are injected whole. Of the others only the source is injected, so any partner that it gets is
// wrong. Recall r is the share of whole pairs that are found. Of the user's n source sentences, m have a translation
// and n - m have none. Of the first, a share r is paired correctly and a share w wrongly; of the second, a share f is
// paired. So the number of pairs found is N = m (r + w) + (n - m) f, which gives m, and precision = m r / N.
//
// This assumes that injected pairs are as easy to find as the user's own, so inject pairs of the same kind of text.
type Outcomes struct {
	Found    []float64 // scores of the pairs in which both sentences are the user's own
	Sources  int       // n
	Whole    []Pair    // pairs that were injected whole
	Unpaired []float64 // scores of the partners of unpaired sources; -Inf if there is none
	Dropped  int       // known pairs that were not injected: the text, or a pair before, has a sentence of theirs
}

// Pair is the result of a pair that was injected whole; -Inf means not found.
type Pair struct {
	Right float64 // score of the pair itself
	Wrong float64 // score of another partner of its source
}

// Interval is an estimate with its 95% bootstrap interval over the injected pairs.
type Interval struct{ Value, Low, High float64 }

// Estimate is the expected result of a threshold. Precision, recall and F1 are fractions.
type Estimate struct {
	Threshold             float64
	Kept                  int // number of the user's own pairs that score above it
	Precision, Recall, F1 Interval
	// Right is the number of the user's own pairs above it that are right, as the injected pairs have it. It may exceed
	// Kept: precision is at most 1.
	Right Interval
}

// gridPoints is the number of thresholds that are evaluated, spread evenly over the pairs found.
const gridPoints = 200

// Estimate returns an estimate for each of a grid of thresholds, lowest first. resamples is the number of bootstrap
// samples, drawn from seed.
func (c Outcomes) Estimate(resamples int, seed uint64) []Estimate {
	grid := c.grid()
	kept := counts(c.Found, grid)
	values := c.at(grid, kept, c.Whole, c.Unpaired)
	rng := rand.New(rand.NewPCG(seed, 0))
	samples := make([][]rates, resamples)
	pairs, unpaired := make([]Pair, len(c.Whole)), make([]float64, len(c.Unpaired))
	for s := range samples {
		resample.Draw(rng, c.Whole, pairs)
		resample.Draw(rng, c.Unpaired, unpaired)
		samples[s] = c.at(grid, kept, pairs, unpaired)
	}
	out := make([]Estimate, len(grid))
	for g := range out {
		interval := func(of func(rates) float64) Interval {
			drawn := make([]float64, resamples)
			for s := range samples {
				drawn[s] = of(samples[s][g])
			}
			low, high := resample.Interval(of(values[g]), drawn)
			return Interval{of(values[g]), low, high}
		}
		out[g] = Estimate{
			Threshold: grid[g], Kept: int(kept[g]),
			Precision: interval(func(r rates) float64 { return r.precision }),
			Recall:    interval(func(r rates) float64 { return r.recall }),
			F1:        interval(rates.f1),
			Right:     interval(func(r rates) float64 { return r.right }),
		}
	}
	return out
}

// grid spreads distinct thresholds evenly over the scores found, lowest first.
func (c Outcomes) grid() []float64 {
	scores := slices.Clone(c.Found)
	for _, p := range c.Whole {
		if !math.IsInf(p.Right, -1) {
			scores = append(scores, p.Right)
		}
	}
	slices.Sort(scores)
	var grid []float64
	for i := range gridPoints {
		if len(scores) > 0 {
			grid = append(grid, scores[i*len(scores)/gridPoints])
		}
	}
	return slices.Compact(grid)
}

// counts returns the number of scores above each threshold of an ascending grid.
func counts(scores, grid []float64) []float64 {
	out := make([]float64, len(grid))
	for _, s := range scores {
		at, _ := slices.BinarySearch(grid, s) // number of thresholds below s
		if at > 0 {
			out[at-1]++
		}
	}
	for g := len(out) - 2; g >= 0; g-- {
		out[g] += out[g+1]
	}
	return out
}

type rates struct{ precision, recall, right float64 }

func (r rates) f1() float64 {
	if r.precision+r.recall == 0 {
		return 0
	}
	return 2 * r.precision * r.recall / (r.precision + r.recall)
}

// at estimates every threshold of the grid from one set of injected pairs.
func (c Outcomes) at(grid, kept []float64, pairs []Pair, unpaired []float64) []rates {
	right, wrong := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		right[i], wrong[i] = p.Right, p.Wrong
	}
	r, w, f := counts(right, grid), counts(wrong, grid), counts(unpaired, grid)
	scale(r, len(pairs))
	scale(w, len(pairs))
	scale(f, len(unpaired))
	m := c.translated(kept, r, w, f, len(unpaired))
	out := make([]rates, len(grid))
	for g := range out {
		out[g].recall, out[g].right = r[g], m*r[g]
		if kept[g] > 0 {
			out[g].precision = min(1, out[g].right/kept[g])
		} else {
			out[g].precision = 1 // no pair is kept, so none is wrong
		}
	}
	return out
}

func scale(values []float64, n int) {
	for i := range values {
		values[i] /= float64(max(1, n))
	}
}

// translated estimates m by least squares over the thresholds: N - n f = m (r + w - f). Each equation is weighted by
// the accuracy of f.
func (c Outcomes) translated(kept, r, w, f []float64, unpaired int) float64 {
	n := float64(c.Sources)
	var top, bottom float64
	for g := range kept {
		d := r[g] + w[g] - f[g]
		weight := 1 / (1 + kept[g] + n*n*f[g]*(1-f[g])/float64(max(1, unpaired)))
		top += weight * d * (kept[g] - n*f[g])
		bottom += weight * d * d
	}
	if bottom == 0 {
		return 0
	}
	return max(0, min(n, top/bottom))
}

// BestF1 is the estimate with the highest F1; if several are equal, the one with the lowest threshold.
func BestF1(estimates []Estimate) Estimate {
	return slices.MaxFunc(estimates, func(a, b Estimate) int {
		return cmp.Or(cmp.Compare(a.F1.Value, b.F1.Value), cmp.Compare(b.Threshold, a.Threshold))
	})
}

// ForPrecision is the lowest threshold above which the estimated precision is at least wanted. ok is false if there is
// none. Thresholds above it do not count: the highest have few pairs, and with none of the injected ones among them
// their precision is 0 whatever that of the many below.
func ForPrecision(estimates []Estimate, wanted float64) (e Estimate, ok bool) {
	for _, e := range estimates {
		if e.Kept > 0 && e.Precision.Value >= wanted {
			return e, true
		}
	}
	return e, false
}

// stored is Outcomes as a file has them: null is a pair that was not found.
type stored struct {
	Sources  int           `json:"sources"`
	Dropped  int           `json:"dropped"`
	Whole    [][2]*float64 `json:"whole"` // right, wrong
	Unpaired []*float64    `json:"unpaired"`
	Found    []float64     `json:"found"`
}

// Write publishes the outcomes as a file.
func (c *Outcomes) Write(path string) error {
	s := stored{Sources: c.Sources, Dropped: c.Dropped, Found: c.Found}
	for i := range c.Whole {
		s.Whole = append(s.Whole, [2]*float64{orNull(c.Whole[i].Right), orNull(c.Whole[i].Wrong)})
	}
	for _, score := range c.Unpaired {
		s.Unpaired = append(s.Unpaired, orNull(score))
	}
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode outcomes: %w", err)
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

// Read reads a file that Write wrote.
func Read(path string) (o Outcomes, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return o, fmt.Errorf("read outcomes: %w", err)
	}
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return o, badinput.Errorf("%s is not a file of outcomes (%w): remove it and run again", path, err)
	}
	o = Outcomes{Sources: s.Sources, Dropped: s.Dropped, Found: s.Found}
	for _, p := range s.Whole {
		o.Whole = append(o.Whole, Pair{Right: orNotFound(p[0]), Wrong: orNotFound(p[1])})
	}
	for _, score := range s.Unpaired {
		o.Unpaired = append(o.Unpaired, orNotFound(score))
	}
	return o, nil
}

func orNull(score float64) *float64 {
	if math.IsInf(score, -1) {
		return nil
	}
	return &score
}

func orNotFound(score *float64) float64 {
	if score == nil {
		return notFound
	}
	return *score
}
