package fit

import (
	"encoding/json"
	"fmt"
	"os"

	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/score"
	"bitextmine/score/feature"
)

// Set is the examples of one host corpus with the settings that they depend on. It can be stored in a file, so that a
// scorer can be fitted on several language pairs.
type Set struct {
	Encoder  score.Encoder    `json:"encoder"`
	K        int              `json:"k"`
	Tokens   bool             `json:"tokens"`
	Features []string         `json:"features"` // name@version
	Known    score.KnownPairs `json:"planted"`
	Refine   *Refiner         `json:"refine,omitempty"` // of two-stage mining; nil: one encoder
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
