package report

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Scored is a pair that a protocol extracted. Correct says whether it is gold.
type Scored struct {
	Source, Target int32 // sentence numbers on their sides
	Score          float64
	Correct        bool
}

// Counts are the numbers that precision, recall and F1 are computed from.
type Counts struct {
	Extracted, Correct, Gold int
}

// Precision is Correct/Extracted in percent, or 0 if nothing was extracted.
func (c Counts) Precision() float64 { return Percent(c.Correct, c.Extracted) }

// Recall is Correct/Gold in percent, or 0 if there is no gold.
func (c Counts) Recall() float64 { return Percent(c.Correct, c.Gold) }

// F1 is the harmonic mean of precision and recall in percent, or 0 if nothing is correct.
func (c Counts) F1() float64 { return Percent(2*c.Correct, c.Extracted+c.Gold) }

// Percent is part/whole in percent, or 0 if whole is 0.
func Percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// CurvePoint is one point of a precision-recall curve: the counts of all pairs down to a score.
type CurvePoint struct {
	Score float64 // score of the last pair included
	Counts
}

// CurveOf returns the precision-recall curve of pairs, which are sorted best first: the counts after each pair.
func CurveOf(pairs []Scored, gold int) []CurvePoint {
	points := make([]CurvePoint, len(pairs))
	counts := Counts{Gold: gold}
	for i, p := range pairs {
		counts.Extracted++
		if p.Correct {
			counts.Correct++
		}
		points[i] = CurvePoint{p.Score, counts}
	}
	return points
}

// ThresholdCurveOf is CurveOf without the points that no threshold reaches: those between pairs of equal score.
func ThresholdCurveOf(pairs []Scored, gold int) []CurvePoint {
	points := CurveOf(pairs, gold)
	reached := points[:0]
	for i, p := range points {
		if i+1 == len(points) || points[i+1].Score != p.Score {
			reached = append(reached, p)
		}
	}
	return reached
}

// BestThreshold returns the point with the highest F1 (the first if several are equal) and its threshold: the midpoint
// between its score and the next, or its own score if no pair follows (LASER's bucc.py fails there). Without a correct
// pair the threshold is 0, as in bucc.py.
func BestThreshold(curve []CurvePoint) (threshold float64, best Counts) {
	if len(curve) > 0 {
		best.Gold = curve[0].Gold
	}
	for i, p := range curve {
		// F1 = 2 correct / (extracted + gold), compared in integers to avoid rounding.
		if p.Correct*(best.Extracted+best.Gold) > best.Correct*(p.Extracted+p.Gold) || best.Correct == 0 &&
			p.Correct > 0 {
			best = p.Counts
			threshold = (p.Score + curve[min(i+1, len(curve)-1)].Score) / 2
		}
	}
	return threshold, best
}

// Extract counts the pairs with a score of at least threshold.
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

// WriteCurves writes the precision-recall curves of reports as TSV: one line per point, best first.
func WriteCurves(path string, reports []*Report) error {
	if !slices.ContainsFunc(reports, func(r *Report) bool { return len(r.Curves) > 0 }) {
		return badinput.Errorf(
			"%s: none of the protocols has a precision-recall curve: evaluate one with a threshold, such as bucc-laser", path)
	}
	return atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriter(f)
		fmt.Fprintln(w, "protocol\tpair\tscore\textracted\tcorrect\tprecision\trecall\tf1")
		for _, r := range reports {
			for _, c := range r.Curves {
				for _, p := range c.Points {
					fmt.Fprintf(w, "%s\t%s\t%v\t%d\t%d\t%.4f\t%.4f\t%.4f\n", r.Protocol, c.Name, p.Score, p.Extracted,
						p.Correct, p.Precision(), p.Recall(), p.F1())
				}
			}
		}
		return w.Flush()
	})
}

// Pair is a pair of sentences that a protocol extracted, or that it should have.
type Pair struct {
	Set            string // languages
	Kind           string
	Score          float64 // score of an extracted pair
	Source, Target string
	IDs            [2]string // ids of both sentences
}

// The kinds of pairs.
const (
	Correct = "correct" // extracted, and in the gold
	Wrong   = "wrong"   // extracted, and not in the gold
	Missed  = "missed"  // gold pair that was not extracted
)

// WritePairs writes the pairs of reports as TSV: of each set the extracted ones, best first, and then the missed ones.
func WritePairs(path string, reports []*Report) error {
	if !slices.ContainsFunc(reports, func(r *Report) bool { return r.Pairs != nil }) {
		return badinput.Errorf(
			"%s: none of the protocols lists pairs: evaluate one that does, such as bucc-laser or tatoeba",
			path)
	}
	return atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriter(f)
		fmt.Fprintln(w, "protocol\tpair\tkind\tscore\tsrc_text\ttgt_text\tsrc_id\ttgt_id")
		for _, r := range reports {
			for _, p := range r.Pairs {
				score := ""
				if p.Kind != Missed {
					score = fmt.Sprint(p.Score)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Protocol, p.Set, p.Kind, score, oneLine(p.Source),
					oneLine(p.Target), p.IDs[0], p.IDs[1])
			}
		}
		return w.Flush()
	})
}

// oneLine is a text as a field of TSV.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
