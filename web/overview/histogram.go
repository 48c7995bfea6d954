package overview

import (
	"math"

	"bitextmine/bitext/label"
	"bitextmine/score/calibration"
	"bitextmine/web/pairs"
)

// Histogram is how many pairs have which value.
type Histogram struct {
	Bins      []Bin
	Threshold float64
	Unseen    int // pairs without a value: the strong encoder did not see them, or their place in documents decided
}

// Bin is the pairs with a value from Low to below High; the last bin holds its High, too.
type Bin struct {
	Low, High      float64
	Kept, Rejected int
}

// Pairs is the number of pairs in the bin.
func (b Bin) Pairs() int { return b.Kept + b.Rejected }

// Most is the number of pairs in the fullest bin.
func (h *Histogram) Most() (most int) {
	for _, b := range h.Bins {
		most = max(most, b.Pairs())
	}
	return most
}

// wantedBins is about how many bins a histogram has.
const wantedBins = 50

// newHistogram counts pairs. Probabilities go from 0 to 1; the bins of margins have round ends.
func newHistogram(set *pairs.Set, threshold float64) Histogram {
	h := Histogram{Threshold: threshold}
	low, high, width := 0.0, 1.0, 1.0/wantedBins
	if !set.Scored() {
		low, high, width = spread(set)
	}
	n := int(math.Round((high - low) / width))
	for i := range n {
		h.Bins = append(h.Bins, Bin{Low: low + float64(i)*width, High: low + float64(i+1)*width})
	}
	for row := range set.Len() {
		pair := set.Numbers(row)
		value := float64(pair.Value)
		if math.IsNaN(value) {
			h.Unseen++
			continue
		}
		// A float32 such as 0.3 is a little more or less than the end of a bin: the small addition puts it above.
		at := min(n-1, max(0, int((value-low)/width+1e-6)))
		if pair.Kept {
			h.Bins[at].Kept++
		} else {
			h.Bins[at].Rejected++
		}
	}
	return h
}

// spread finds round ends and a round width for bins that hold all values.
func spread(set *pairs.Set) (low, high, width float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for row := range set.Len() {
		if value := float64(set.Numbers(row).Value); !math.IsNaN(value) {
			low, high = min(low, value), max(high, value)
		}
	}
	if low > high { // no values
		return 0, 1, 1.0 / wantedBins
	}
	width = Round((high - low) / wantedBins)
	low = math.Floor(low/width) * width
	high = math.Ceil(high/width+1e-9) * width
	return low, max(high, low+width), width
}

// Round is the least of 1, 2 and 5 times a power of ten that is at least a value; 0.01 if that is nothing.
func Round(value float64) float64 {
	if value <= 0 {
		return 0.01
	}
	power := math.Pow(10, math.Floor(math.Log10(value)))
	for _, times := range []float64{1, 2, 5} {
		if times*power >= value*(1-1e-9) {
			return times * power
		}
	}
	return 10 * power
}

// Reliability sets the scorer's probabilities against what people decided, band by band.
type Reliability struct {
	Bands              []Band
	Accepted, Rejected int // decisions on pairs of the bitext; a pair that was corrected is rejected here
	Elsewhere          int // decisions on pairs that the bitext does not have
	// Expected is the mean probability of the kept pairs: their precision, if the probabilities are right. It is NaN
	// without a scorer.
	Expected float64
	// Precision is the share of kept pairs that are right by the decisions, each band weighted by its kept pairs; NaN as
	// long as bands with kept pairs have no decision.
	Precision, Low, High float64
}

// Judged is the number of decisions that count.
func (r *Reliability) Judged() int { return r.Accepted + r.Rejected }

// Band is the pairs with a probability from Low to below High.
type Band struct {
	Low, High   float64
	Pairs, Kept int
	Probability float64 // mean; NaN without pairs
	Accepted    int
	Rejected    int
	keptJudged  [2]int // accepted, rejected
}

// Judged is the number of the band's pairs that people decided on.
func (b Band) Judged() int { return b.Accepted + b.Rejected }

// Share is the share of the judged pairs that are right as mined.
func (b Band) Share() float64 { return float64(b.Accepted) / float64(b.Judged()) }

// Interval is Wilson's 95% interval of the share.
func (b Band) Interval() (low, high float64) {
	share := calibration.Wilson(b.Accepted, b.Judged())
	return share.Low, share.High
}

const bands = 10

// newReliability compares a run's pairs with the labels. Without a scorer there are no bands.
func newReliability(set *pairs.Set, labels []label.Label) Reliability {
	r := Reliability{Expected: math.NaN(), Precision: math.NaN()}
	if !set.Scored() {
		for _, l := range labels {
			r.count(set, l)
		}
		return r
	}
	r.Bands = make([]Band, bands)
	sum, kept := 0.0, 0
	for row := range set.Len() {
		pair := set.Numbers(row)
		if math.IsNaN(float64(pair.Value)) {
			continue
		}
		b := &r.Bands[bandOf(pair.Value)]
		b.Pairs++
		b.Probability += float64(pair.Value)
		if pair.Kept {
			b.Kept++
			kept++
			sum += float64(pair.Value)
		}
	}
	for i := range r.Bands {
		b := &r.Bands[i]
		b.Low, b.High = float64(i)/bands, float64(i+1)/bands
		b.Probability /= float64(b.Pairs)
	}
	r.Expected = sum / float64(kept)
	for _, l := range labels {
		row, ok := r.count(set, l)
		if !ok {
			continue
		}
		if pair := set.Numbers(row); !math.IsNaN(float64(pair.Value)) {
			r.Bands[bandOf(pair.Value)].judge(l.Right(), pair.Kept)
		}
	}
	r.estimate(kept)
	return r
}

// count counts a label, and finds its pair.
func (r *Reliability) count(set *pairs.Set, l label.Label) (row int, ok bool) {
	keys, err := pairs.Keys(l.Source, l.Target)
	if err == nil {
		row, ok = set.Find(keys)
	}
	switch {
	case !ok:
		r.Elsewhere++
	case l.Right():
		r.Accepted++
	default:
		r.Rejected++
	}
	return row, ok
}

func bandOf(probability float32) int {
	return min(bands-1, max(0, int(float64(probability)*bands+1e-6)))
}

func (b *Band) judge(accepted, kept bool) {
	side := 1
	if accepted {
		b.Accepted++
		side = 0
	} else {
		b.Rejected++
	}
	if kept {
		b.keptJudged[side]++
	}
}

// estimate is the precision of a stratified sample, with the normal approximation of its 95% interval.
func (r *Reliability) estimate(kept int) {
	precision, variance := 0.0, 0.0
	for _, b := range r.Bands {
		if b.Kept == 0 {
			continue
		}
		n := b.keptJudged[0] + b.keptJudged[1]
		if n == 0 {
			return
		}
		weight, share := float64(b.Kept)/float64(kept), float64(b.keptJudged[0])/float64(n)
		// With one of each added, a band with decisions of one kind alone is not taken to be certain.
		smooth := float64(b.keptJudged[0]+1) / float64(n+2)
		precision += weight * share
		variance += weight * weight * smooth * (1 - smooth) / float64(n)
	}
	if kept == 0 {
		return
	}
	half := z * math.Sqrt(variance)
	r.Precision, r.Low, r.High = precision, max(0, precision-half), min(1, precision+half)
}

// z is the 97.5% quantile of the normal distribution.
const z = 1.959964
