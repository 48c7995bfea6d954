package calibration

import "math"

const (
	// minMisfitPairs is how many pairs a threshold must keep for Misfit to look at it.
	minMisfitPairs = 100
	// misfitDeviations is beyond chance for the largest of all comparisons of two thresholds: of simulated texts with
	// known pairs of their kind, 1 of 50 had more.
	misfitDeviations = 3.4
)

// Misfit is the estimate at which injected pairs contradict the text most, beyond chance: the precision would be lower
// than above a lower threshold, or more pairs would be right than are kept. ok is false if there is none. Then the
// text's own translations are not as easy to find as the injected pairs, and what is estimated is wrong in either
// direction: of injected pairs that are harder, precision is far too high and the threshold too low. estimates are
// those of c.
func (c Outcomes) Misfit(estimates []Estimate) (most Estimate, ok bool) {
	grid, right := make([]float64, len(estimates)), make([]float64, len(c.Whole))
	for g, e := range estimates {
		grid[g] = e.Threshold
	}
	for i, p := range c.Whole {
		right[i] = p.Right
	}
	found := counts(right, grid)
	largest := misfitDeviations
	chance := 2 / math.Sqrt(float64(max(1, len(c.Whole))))
	for above, e := range estimates {
		if e.Kept < minMisfitPairs {
			break
		}
		kept := float64(e.Kept)
		if !ok && e.Right.Low > (1+chance)*(kept+math.Sqrt(kept)) {
			most, ok = e, true
		}
		for below := range above {
			if by := fall(found[above], found[below], kept, float64(estimates[below].Kept)); by > largest {
				largest, most, ok = by, e, true
			}
		}
	}
	return most, ok
}

// fall is how much lower the precision is above a threshold than above a lower one, in standard deviations. found are
// the injected pairs that are found above them, kept the text's. Precision is m r / N, so it falls if of the injected
// pairs a smaller share is above the higher threshold than of the text's, whatever m is.
func fall(found, foundBelow, kept, keptBelow float64) float64 {
	if foundBelow == 0 || kept == keptBelow {
		return 0
	}
	share := kept / keptBelow
	return (share - found/foundBelow) / math.Sqrt(share*(1-share)*(1/foundBelow+1/keptBelow))
}
