package testset

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"bitextmine/internal/badinput"
)

// Verdict says what the label of a pair means.
type Verdict int8

// A pair whose label is neither, such as XNLI's neutral, is left out.
const (
	LeftOut Verdict = iota
	Alike
	Unlike
)

// The labels of pairs as words and as numbers. PAWS-X and MRPC number two classes, and Hugging Face numbers XNLI's
// three: with a 2 in the set, 0 is entailment.
var (
	wordVerdicts = map[string]Verdict{"entailment": Alike, "contradiction": Unlike, "true": Alike, "false": Unlike}
	twoClasses   = map[float64]Verdict{1: Alike, 0: Unlike}
	xnliClasses  = map[float64]Verdict{0: Alike, 1: LeftOut, 2: Unlike}
)

// Verdicts reads the labels of a set of pairs. xnli says that they are XNLI's three classes as numbers. Other numbers
// are a badinput error; other words are left out.
func (s Labelled) Verdicts() (verdicts []Verdict, xnli bool, err error) {
	numbers := map[string]float64{} // the numeric labels
	for _, label := range s.Labels {
		if n, err := strconv.ParseFloat(label, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			numbers[label], xnli = n, xnli || n == 2
		}
	}
	classes := twoClasses
	if xnli {
		classes = xnliClasses
	}
	for _, n := range numbers {
		if _, known := classes[n]; !known {
			return nil, false, badinput.Errorf("%s of %s has the labels %s: numbers must be 1 (positive) and 0 (negative), "+
				"or XNLI's 0 (entailment), 1 (neutral) and 2 (contradiction)", s.Name, s.File, listed(numbers))
		}
	}
	verdicts = make([]Verdict, len(s.Labels))
	for i, label := range s.Labels {
		if n, numeric := numbers[label]; numeric {
			verdicts[i] = classes[n]
		} else {
			verdicts[i] = wordVerdicts[strings.ToLower(label)]
		}
	}
	return verdicts, xnli, nil
}

// listed names the first labels in order of their numbers.
func listed(numbers map[string]float64) string {
	const most = 10
	labels := slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		if numbers[a] != numbers[b] {
			return int(math.Copysign(1, numbers[a]-numbers[b]))
		}
		return strings.Compare(a, b)
	})
	if len(labels) > most {
		labels = append(labels[:most], "...")
	}
	return strings.Join(labels, ", ")
}
