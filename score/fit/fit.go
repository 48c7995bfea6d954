// Package fit fits a scorer on known pairs that were injected into two corpora.
//
// Terms. An example is a candidate of an injected sentence. It is true if it is a known pair and false otherwise.
// Examples form groups, one for each known pair; a fold of the cross-validation has whole groups. An unpaired sentence
// was injected without its translation, so all its examples are false. A set is the examples from one pair of corpora
// with the settings that they depend on. A set can be stored in a file, and a scorer can be fitted on several sets.
package fit

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/score"
	"bitextmine/score/feature"
)

// DefaultShare is the default share of sentences that have a translation. Comparable corpora have a few percent,
// crawled sites many more. An error by a factor of two shifts the log odds by 0.7.
const DefaultShare = 0.1

// Scorer fits a scorer on one or more sets of examples, which must be of one encoder. share is the expected share of
// the corpora's sentences that have a translation. The features in without get the weight 0.
func Scorer(name string, sets []*Set, share float64, without []string) (*score.Scorer, error) {
	all, err := join(sets, share)
	if err != nil {
		return nil, err
	}
	for _, unused := range without {
		at := feature.Index(unused)
		if at < 0 {
			return nil, badinput.Errorf("without = %s is not a feature; the features are %s", unused, strings.Join(feature.Names(), ", "))
		}
		for i := range all.Values.Len() {
			all.Values.Of(i)[at] = 0 // a constant feature gets no weight
		}
	}
	scorer, err := all.fit(nil, all.unpairedWeight(share))
	if err != nil {
		return nil, err
	}
	return named(scorer, name, share, sets), nil
}

// named adds to a scorer that was fitted without a base what it was fitted on.
func named(s *score.Scorer, name string, share float64, sets []*Set) *score.Scorer {
	first := sets[0]
	s.Share = share
	s.Name, s.Encoder, s.K, s.Tokens = name, first.Encoder, first.K, first.Tokens
	return described(s, sets)
}

// Refine fits what the strong encoder of two-stage mining adds to a scorer, on sets of examples with its cosines. All
// else of the scorer stays, also the share that it expects.
func Refine(base *score.Scorer, name string, sets []*Set) (*score.Scorer, error) {
	all, err := join(sets, base.Share)
	if err != nil {
		return nil, err
	}
	if sets[0].Refine == nil {
		return nil, badinput.Errorf("the examples have no cosines of a strong encoder, which is all that is fitted where a scorer is the base: name it with --refine")
	}
	if err := sameEncoder(base, sets[0]); err != nil {
		return nil, err
	}
	scorer, err := all.fit(base, all.unpairedWeight(base.Share))
	if err != nil {
		return nil, err
	}
	scorer.Name, scorer.Unknown = name, nil // which the strong encoder adds nothing to
	return described(scorer, sets), nil
}

// sameEncoder refuses examples that say nothing about a scorer.
func sameEncoder(base *score.Scorer, set *Set) error {
	if base.Encoder.Digest != set.Encoder.Digest || base.K != set.K {
		return badinput.Errorf("the base was fitted on encoder %s with k = %d, the examples are of %s with k = %d: fit a scorer without a base",
			base.Encoder.Name, base.K, set.Encoder.Name, set.K)
	}
	return nil
}

// described adds to a scorer what it was fitted on.
func described(s *score.Scorer, sets []*Set) *score.Scorer {
	if refine := sets[0].Refine; refine != nil {
		s.Refined.Encoder, s.Refined.Floor = refine.Encoder, refine.Floor
	}
	s.FittedOn = slices.Clone(s.FittedOn)
	for _, set := range sets {
		s.FittedOn = append(s.FittedOn, set.Known)
	}
	return s
}

// join puts the examples of sets together, which must be of one kind.
func join(sets []*Set, share float64) (*Examples, error) {
	if !(share > 0 && share < 1) {
		return nil, badinput.Errorf("share = %g must be between 0 and 1: the part of the corpora's sentences that has a translation", share)
	}
	all := &Examples{}
	first := sets[0]
	for _, set := range sets {
		if set.Encoder != first.Encoder || set.K != first.K || set.Tokens != first.Tokens {
			return nil, badinput.Errorf("examples of encoder %s with k = %d and of %s with k = %d cannot make one scorer: make all with the same settings",
				first.Encoder.Name, first.K, set.Encoder.Name, set.K)
		}
		if (set.Refine == nil) != (first.Refine == nil) || set.Refine != nil && *set.Refine != *first.Refine {
			return nil, badinput.Errorf("examples of two-stage mining with different strong encoders or floors cannot make one scorer: make all with the same --refine and --refine-floor")
		}
		all.Add(set.Examples)
	}
	return all, nil
}

// Set is the examples of one host corpus with the settings that they depend on. It can be stored in a file, so that a
// scorer can be fitted on several language pairs.
type Set struct {
	Encoder  score.Encoder    `json:"encoder"`
	K        int              `json:"k"`
	Tokens   bool             `json:"tokens"`
	Features []string         `json:"features"` // name@version
	Known    score.KnownPairs `json:"known"`
	Refine   *Refiner         `json:"refine,omitempty"` // the strong encoder of two-stage mining; nil: one encoder
	// Own are candidates of the host corpora's own sentences, of which it is not known whether they are translations.
	// A scorer that is fitted on the way is adapted to them; nil: none.
	Own feature.Values `json:"own,omitempty"`
	Examples
}

// Refiner is the strong encoder of two-stage mining, and the margin of the candidates that it sees.
type Refiner struct {
	Encoder score.Encoder `json:"encoder"`
	Floor   float64       `json:"floor"`
}

// FeatureVersions names the program's features.
func FeatureVersions() []string {
	names := make([]string, len(feature.All))
	for i, f := range feature.All {
		names[i] = fmt.Sprintf("%s@%d", f.Name, f.Version)
	}
	return names
}

// NewSet combines examples with the settings that they depend on.
func NewSet(model *model.Model, k int, known score.KnownPairs, examples Examples) *Set {
	return &Set{
		Encoder: score.Encoder{Name: model.Name, Digest: model.Digest}, K: k, Tokens: model.Tokens.Output != "",
		Features: FeatureVersions(), Known: known, Examples: examples,
	}
}

// Write publishes an examples file.
func (s *Set) Write(path string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode examples: %w", err)
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

// ReadSet reads an examples file.
func ReadSet(path string) (*Set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, badinput.Errorf("examples file %s cannot be read: %w", path, err)
	}
	s := &Set{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, badinput.Errorf("%s is not an examples file (%w); write one with mine fit-scorer --save-examples", path, err)
	}
	if fmt.Sprint(s.Features) != fmt.Sprint(FeatureVersions()) {
		return nil, badinput.Errorf("the examples in %s have the features of another version of the program: write them again with mine fit-scorer", path)
	}
	if s.check() != nil || (s.Refine == nil) != (s.Strong == nil) || len(s.Values)%feature.Count != 0 || len(s.Own)%feature.Count != 0 {
		return nil, badinput.Errorf("%s is damaged: it has %d values, %d labels and %d groups; write it again with mine fit-scorer", path, len(s.Values), len(s.True), len(s.Group))
	}
	return s, nil
}
