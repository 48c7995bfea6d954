package overview

import (
	"math"

	"bitextmine/web/pairs"
)

// Histogram is how many pairs have which value.
type Histogram struct {
	Bins      []Bin
	Threshold float64
	Unseen    int // pairs without a value: the strong encoder did not see them
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
