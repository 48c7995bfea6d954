package eval

import "slices"

// Scored is a pair that a protocol puts forward, with gold's verdict.
type Scored struct {
	Source, Target int32 // sentences of their sides
	Score          float64
	Correct        bool
}

// Counts are what precision, recall and F1 are made of.
type Counts struct {
	Extracted, Correct, Gold int
}

// Precision is Correct/Extracted in percent; 0 when nothing was extracted.
func (c Counts) Precision() float64 { return percent(c.Correct, c.Extracted) }

// Recall is Correct/Gold in percent; 0 when gold is empty.
func (c Counts) Recall() float64 { return percent(c.Correct, c.Gold) }

// F1 is the harmonic mean of precision and recall in percent, 0 when nothing is correct.
func (c Counts) F1() float64 { return percent(2*c.Correct, c.Extracted+c.Gold) }

func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// Point is the state of the walk down the scored pairs after one more of them.
type Point struct {
	Score float64 // of the last pair taken
	Counts
}

// Curve walks down pairs, which stand best first, and returns the counts after each: the precision-recall curve.
func Curve(pairs []Scored, gold int) []Point {
	points := make([]Point, len(pairs))
	counts := Counts{Gold: gold}
	for i, p := range pairs {
		counts.Extracted++
		if p.Correct {
			counts.Correct++
		}
		points[i] = Point{p.Score, counts}
	}
	return points
}

// BestThreshold returns the point of the strictly best F1 (the first of equals) and the threshold that cuts there: the midpoint
// to the next score, or the last score itself where no pair follows (LASER's bucc.py fails there). Without a correct pair the
// threshold is 0, as in bucc.py.
func BestThreshold(curve []Point) (threshold float64, best Counts) {
	if len(curve) > 0 {
		best.Gold = curve[0].Gold
	}
	for i, p := range curve {
		// F1 = 2 correct / (extracted + gold): compared as integers, so that no rounding decides.
		if p.Correct*(best.Extracted+best.Gold) > best.Correct*(p.Extracted+p.Gold) || best.Correct == 0 && p.Correct > 0 {
			best = p.Counts
			threshold = (p.Score + curve[min(i+1, len(curve)-1)].Score) / 2
		}
	}
	return threshold, best
}

// Extract counts the pairs that score at least threshold.
func Extract(pairs []Scored, gold int, threshold float64) Counts {
	counts := Counts{Gold: gold}
	for _, p := range pairs {
		if p.Score >= threshold {
			counts.Extracted++
			if p.Correct {
				counts.Correct++
			}
		}
	}
	return counts
}

// pairSet answers whether a pair is gold.
type pairSet map[[2]int32]struct{}

func newPairSet(gold [][2]int32) pairSet {
	set := make(pairSet, len(gold))
	for _, g := range gold {
		set[g] = struct{}{}
	}
	return set
}

func (s pairSet) has(source, target int32) bool {
	_, ok := s[[2]int32{source, target}]
	return ok
}

// bestFirst sorts by score, keeping the order of equals: pairs come in key order.
func bestFirst(pairs []Scored) {
	slices.SortStableFunc(pairs, func(a, b Scored) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
}
