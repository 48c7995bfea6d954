package split

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// How the weights are found: rounds of labelling and fitting. Lengths of sentences in characters are log-normal around
// typical with the deviation spread; in the first round, which knows the ends of paragraphs only, a space counts as an
// end from the logit first up. All were chosen on FLORES dev.
const (
	rounds, epochs = 4, 2
	rate           = 0.1 // learning rate of Adagrad
	typical        = 90
	spread         = 0.6
	first          = -2.5
	longest        = 900 // characters of a sentence, unless it has no space
)

// document is a text of paragraphs, by its spaces.
type spaceDocument struct {
	places   []int32  // characters of the text before each space's end, then all
	known    []bool   // the space ends a paragraph
	features []uint32 // features of each space, the same number for each
}

// each is the number of features of a space.
func (d *spaceDocument) each() int { return len(d.features) / max(1, len(d.known)) }

func (d *spaceDocument) of(space int) []uint32 { return d.features[space*d.each():][:d.each()] }

// newDocument joins paragraphs with spaces.
func newDocument(paragraphs []string) spaceDocument {
	ends, at := map[int]bool{}, 0
	for _, p := range paragraphs {
		at += len(p)
		ends[at] = true
		at++
	}
	text := strings.Join(paragraphs, " ")
	var d spaceDocument
	var w spaceWindow
	last, count := 0, 0
	for from, to := range Spaces(text) {
		count += utf8.RuneCountInString(text[last:to])
		last = to
		d.places = append(d.places, int32(count))
		d.known = append(d.known, ends[from])
		w.look(text, from, to)
		d.features = w.features(d.features)
	}
	d.places = append(d.places, int32(count+utf8.RuneCountInString(text[last:])))
	return d
}

// fitter has the weights of a logistic regression and the sums of their squared gradients.
type fitter struct {
	weights, squares [buckets]float32
}

// FitSpaces finds the weights for documents of paragraphs. At first the ends of paragraphs are taken for the only ends
// of sentences. Then each document is divided by the weights and the usual length of a sentence, and the weights are
// found again by that.
func FitSpaces(documents [][]string, report func(round, spaces, ends int)) *SpaceModel {
	made := make([]spaceDocument, len(documents))
	for k, paragraphs := range documents {
		made[k] = newDocument(paragraphs)
	}
	var f *fitter
	for round := range rounds {
		var all examples
		for k := range made {
			ends := made[k].known
			if round > 0 {
				bias := 0.0
				if round == 1 {
					bias = first
				}
				ends = f.divide(&made[k], bias)
			}
			all.add(&made[k], ends)
		}
		f = &fitter{}
		random := uint64(1)
		for range epochs {
			f.epoch(&all, &random)
		}
		report(round, len(all.of), all.ends)
	}
	return quantised(f.weights[:])
}

// examples are spaces with what they are said to be.
type examples struct {
	of   []example
	ends int
}

type example struct {
	features []uint32
	end      bool
}

// add takes all spaces that end a sentence, and every second one of the others.
func (e *examples) add(d *spaceDocument, ends []bool) {
	for k, end := range ends {
		if end {
			e.ends++
		}
		if end || k%2 == 0 {
			e.of = append(e.of, example{d.of(k), end})
		}
	}
}

// epoch goes once through the examples in a random order (Fisher and Yates with xorshift).
func (f *fitter) epoch(e *examples, random *uint64) {
	for i := len(e.of) - 1; i > 0; i-- {
		*random ^= *random << 13
		*random ^= *random >> 7
		*random ^= *random << 17
		j := int(*random % uint64(i+1))
		e.of[i], e.of[j] = e.of[j], e.of[i]
	}
	for _, x := range e.of {
		slope := float32(1 / (1 + math.Exp(-float64(f.sum(x.features)))))
		if x.end {
			slope--
		}
		for _, k := range x.features {
			f.squares[k] += slope * slope
			f.weights[k] -= rate * slope / float32(math.Sqrt(float64(f.squares[k]))+1e-6)
		}
	}
}

func (f *fitter) sum(features []uint32) (sum float32) {
	for _, k := range features {
		sum += f.weights[k]
	}
	return sum
}

// divide finds the ends with the greatest sum of their logits, less a bias, and of the sentences' log-likelihoods by
// length. Ends of paragraphs are ends.
func (f *fitter) divide(d *spaceDocument, bias float64) []bool {
	n := len(d.known)
	best, from := make([]float64, n+1), make([]int, n+1) // best way to each space; the last is the end of the text
	for j := range best {
		gain := 0.0
		if j < n {
			if gain = float64(f.sum(d.of(j))) - bias; d.known[j] {
				gain = 1e6
			}
		}
		best[j], from[j] = math.Inf(-1), -1
		for i := j - 1; i >= -1; i-- {
			length, way := float64(d.places[j]), 0.0
			if i >= 0 {
				length, way = float64(d.places[j]-d.places[i]), best[i]
			}
			if length > longest && i < j-1 {
				break
			}
			z := math.Log(length/typical) / spread
			if way += gain - z*z; way > best[j] {
				best[j], from[j] = way, i
			}
		}
	}
	ends := make([]bool, n)
	for j := from[n]; j >= 0; j = from[j] {
		ends[j] = true
	}
	return ends
}

// quantile is the value that a share of the absolute values is below.
func quantile(values []float32, share float64) float32 {
	all := make([]float32, len(values))
	for k, v := range values {
		all[k] = float32(math.Abs(float64(v)))
	}
	slices.Sort(all)
	return all[int(share*float64(len(all)-1))]
}
