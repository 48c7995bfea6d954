package analysis

import (
	"context"
	"math"

	"bitextmine/encode/embedding"
	"bitextmine/index"
)

// Hubs describes how unevenly sentences are found, in a line-aligned set.
type Hubs struct {
	Skewness float64 // skewness of the k-occurrences of targets (Radovanović et al., 2010)
	Error    float64 // percent of sources whose nearest target by cosine is not that of their line
}

// FindHubs searches the k nearest targets of each source.
func FindHubs(ctx context.Context, searcher index.Searcher, source, target embedding.Matrix, k int) (Hubs, error) {
	found, err := searcher.Search(ctx, index.Side{Vectors: source}, index.Side{Vectors: target}, k, nil)
	if err != nil {
		return Hubs{}, err
	}
	occurrences, wrong := make([]float64, target.N), 0
	for i := range source.N {
		near := found.Source.IDs[i*found.Source.K : (i+1)*found.Source.K]
		for _, j := range near {
			if j >= 0 {
				occurrences[j]++
			}
		}
		if near[0] != int32(i) {
			wrong++
		}
	}
	return Hubs{skewness(occurrences), 100 * float64(wrong) / float64(source.N)}, nil
}

// skewness is the third standardised moment; 0 of values that are all equal.
func skewness(values []float64) float64 {
	mean, second, third := 0.0, 0.0, 0.0
	for _, x := range values {
		mean += x / float64(len(values))
	}
	for _, x := range values {
		second += (x - mean) * (x - mean) / float64(len(values))
		third += (x - mean) * (x - mean) * (x - mean) / float64(len(values))
	}
	if second == 0 {
		return 0
	}
	return third / math.Pow(second, 1.5)
}
