package rescore

import (
	"encoding/json"
	"fmt"
	"os"

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
	if e.Values.Len() != len(e.True) || len(e.Group) != len(e.True) || len(e.Values)%len(mine.Features) != 0 {
		return nil, badinput.Errorf("%s is damaged: it has %d values, %d labels and %d groups; plant again with mine fit-scorer", path, len(e.Values), len(e.True), len(e.Group))
	}
	return e, nil
}

// Fit fits a scorer on the examples of one or more plantings, which must be of one encoder.
func Fit(name string, sets []*Examples) (*mine.Scorer, error) {
	var all mine.Examples
	first := sets[0]
	for _, set := range sets {
		if set.Encoder != first.Encoder || set.K != first.K || set.Tokens != first.Tokens {
			return nil, badinput.Errorf("examples of encoder %s with k = %d and of %s with k = %d cannot make one scorer: plant all with the same settings",
				first.Encoder.Name, first.K, set.Encoder.Name, set.K)
		}
		all.Add(set.Examples)
	}
	scorer, err := mine.Fit(all)
	if err != nil {
		return nil, err
	}
	scorer.Name, scorer.Encoder, scorer.K, scorer.Tokens = name, first.Encoder, first.K, first.Tokens
	for _, set := range sets {
		scorer.FittedOn = append(scorer.FittedOn, set.Planted)
	}
	return scorer, nil
}
