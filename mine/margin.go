package mine

import (
	"fmt"
	"strings"
)

// Margin is the way in which a pair's cosine is compared with b = (A(x) + A(y)) / 2. A is the mean of the cosines of a
// sentence's k nearest neighbours, including the candidate.
type Margin string

// The margins of Artetxe & Schwenk (2019), "Margin-based Parallel Corpus Mining with Multilingual Sentence Embeddings".
const (
	Ratio    Margin = "ratio"    // cos / b
	Distance Margin = "distance" // cos - b
	Absolute Margin = "absolute" // cos
)

// Margins lists every margin by name.
var Margins = []Margin{Ratio, Distance, Absolute}

// ParseMargin finds a margin by its name.
func ParseMargin(name string) (Margin, error) { return parse("margin", name, Margins) }

// Of returns the margin of a pair from its cosine and the means of its two neighbourhoods. A ratio with b = 0 is
// defined as 0, and a negative b divides as it is: -0.2 / -0.1 is 2, as in the reference program. A cosine of float16
// vectors may be 1.0001 and enters as it is.
func (m Margin) Of(cosine, sourceMean, targetMean float32) float32 {
	b := (float64(sourceMean) + float64(targetMean)) / 2
	switch m {
	case Distance:
		return float32(float64(cosine) - b)
	case Absolute:
		return cosine
	default:
		if b == 0 {
			return 0
		}
		return float32(float64(cosine) / b)
	}
}

// Means returns, for every sentence, the mean of the cosines of its first k neighbours, or of all if it has fewer; 0 if
// it has none.
func Means(nb Neighbours, k int) []float32 {
	means := make([]float32, nb.Len())
	for i := range means {
		ids, cosines := nb.Row(i)
		sum, n := 0.0, 0
		for j := 0; j < min(k, nb.K) && ids[j] != None; j++ {
			sum += float64(cosines[j])
			n++
		}
		if n > 0 {
			means[i] = float32(sum / float64(n))
		}
	}
	return means
}

func parse[T ~string](what, name string, known []T) (T, error) {
	names := make([]string, len(known))
	for i, one := range known {
		if string(one) == name {
			return one, nil
		}
		names[i] = string(one)
	}
	return "", fmt.Errorf("%s %q is not known; choose one of %s", what, name, strings.Join(names, ", "))
}
