package rescore

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"bitextmine/encode"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// Examples are what one planting showed, as a file keeps them: so a scorer can be fitted on several language pairs.
type Examples struct {
	Encoder  mine.ScorerEncoder `json:"encoder"`
	K        int                `json:"k"`
	Tokens   bool               `json:"tokens"`
	Features []string           `json:"features"` // name@version
	Planted  mine.Planted       `json:"planted"`
	mine.Examples
}

// featureVersions names the program's features.
func featureVersions() []string {
	names := make([]string, len(mine.Features))
	for i, f := range mine.Features {
		names[i] = fmt.Sprintf("%s@%d", f.Name, f.Version)
	}
	return names
}

// NewExamples puts examples together with what they depend on.
func NewExamples(model *encode.Model, k int, planted mine.Planted, examples mine.Examples) *Examples {
	return &Examples{
		mine.ScorerEncoder{Name: model.Name, Digest: model.Digest}, k, model.Tokens.Output != "", featureVersions(), planted, examples,
	}
}

// Write publishes an examples file.
func (e *Examples) Write(path string) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode examples: %w", err)
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

// ReadExamples reads an examples file.
func ReadExamples(path string) (*Examples, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, badinput.Errorf("examples file %s cannot be read: %w", path, err)
	}
	e := &Examples{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, badinput.Errorf("%s is no examples file (%w); write one with mine fit-scorer --save-examples", path, err)
	}
	if fmt.Sprint(e.Features) != fmt.Sprint(featureVersions()) {
		return nil, badinput.Errorf("the examples in %s have the features of another version of the program: plant again with mine fit-scorer", path)
	}
	if e.Values.Len() != len(e.True) || len(e.Group) != len(e.True) || len(e.Alone) != len(e.True) || len(e.Values)%len(mine.Features) != 0 {
		return nil, badinput.Errorf("%s is damaged: it has %d values, %d labels and %d groups; plant again with mine fit-scorer", path, len(e.Values), len(e.True), len(e.Group))
	}
	return e, nil
}

// DefaultShare is the share of sentences with a translation that a scorer expects unless told otherwise. Comparable corpora have a few in a hundred;
// crawled sites many more. Twice too many or too few shifts the log odds by 0.7.
const DefaultShare = 0.1

// Fit fits a scorer on the examples of one or more plantings, which must be of one encoder; share of the corpora's sentences are expected to have a
// translation. The scorer looks at all features but those without, whose terms weigh nothing.
func Fit(name string, sets []*Examples, share float64, without []string) (*mine.Scorer, error) {
	if !(share > 0 && share < 1) {
		return nil, badinput.Errorf("share = %g must be between 0 and 1: the part of the corpora's sentences that has a translation", share)
	}
	var all mine.Examples
	first := sets[0]
	for _, set := range sets {
		if set.Encoder != first.Encoder || set.K != first.K || set.Tokens != first.Tokens {
			return nil, badinput.Errorf("examples of encoder %s with k = %d and of %s with k = %d cannot make one scorer: plant all with the same settings",
				first.Encoder.Name, first.K, set.Encoder.Name, set.K)
		}
		all.Add(set.Examples)
	}
	for _, feature := range without {
		at := slices.Index(mine.FeatureNames(), feature)
		if at < 0 {
			return nil, badinput.Errorf("without = %s is no feature; those there are: %s", feature, strings.Join(mine.FeatureNames(), ", "))
		}
		for i := range all.Values.Len() {
			all.Values.Of(i)[at] = 0 // what never varies gets no weight
		}
	}
	scorer, err := mine.Fit(all, all.Weigh(share))
	if err != nil {
		return nil, err
	}
	scorer.Share = share
	scorer.Name, scorer.Encoder, scorer.K, scorer.Tokens = name, first.Encoder, first.K, first.Tokens
	for _, set := range sets {
		scorer.FittedOn = append(scorer.FittedOn, set.Planted)
	}
	return scorer, nil
}
