package score

import (
	"errors"
	"fmt"
	"os"
	"path"

	"bitextmine/configs"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// Names of scorers that are not files.
const (
	Auto    = "auto"    // built into the program, where there is one fitted on the run's encoder; else fitted on the way
	Default = "default" // built into the program: fitted on the run's encoder, or else on the default encoder
	None    = "none"    // no scorer: pairs are chosen by margin
)

// Named is a scorer and the bytes of its file, which are part of a plan.
type Named struct {
	*Scorer
	Data []byte
}

// Load reads a scorer by name or path, for an encoder and a run with k neighbours. It returns nil for None. The
// warnings list what may make its probabilities inaccurate.
func Load(ref string, k int, model *model.Model) (_ *Named, warnings []string, err error) {
	var data []byte
	switch ref {
	case None, "":
		return nil, nil, nil
	case Default:
		data, _, err = shipped(model)
	default:
		data, err = os.ReadFile(ref)
	}
	if err != nil {
		return nil, nil, badinput.Errorf("scorer %s is neither auto nor default nor none nor a file that can be read: %w", ref, err)
	}
	return Read(ref, data, k, model)
}

// Read is Load of a scorer file's content; ref is what messages call it.
func Read(ref string, data []byte, k int, model *model.Model) (_ *Named, warnings []string, err error) {
	scorer, err := Decode(data)
	switch {
	case errors.Is(err, ErrFeatures):
		return nil, nil, badinput.Errorf("scorer %s was fitted by another version of the program (%w): fit it again with mine fit-scorer", ref, err)
	case err != nil:
		return nil, nil, badinput.Errorf("scorer %s cannot be used: %w", ref, err)
	case scorer.K > k:
		return nil, nil, badinput.Errorf("scorer %s uses k = %d neighbours but the run has %d: give --k %d, or fit one with --k %d",
			ref, scorer.K, k, scorer.K, k)
	}
	if scorer.Encoder.Digest != model.Digest {
		warnings = append(warnings, fmt.Sprintf(
			"scorer %s was fitted on %s, not on this run's %s: its probabilities may be inaccurate; fit one on the same texts with mine fit-scorer --scorer-out FILE and run with --scorer FILE, or give --scorer none",
			ref, digested(scorer.Encoder.Name, scorer.Encoder.Digest), digested(model.Name, model.Digest)))
	}
	if scorer.Tokens && model.Tokens.Output == "" {
		warnings = append(warnings, fmt.Sprintf("encoder %s has no token vectors, so the scorer's features of tokens are off", model.Name))
	}
	return &Named{scorer, data}, warnings, nil
}

// CheckRefine refuses a scorer that was fitted with another strong encoder than the run has; refiner is nil if it has
// none. One that was fitted without any does: the run fits what its strong encoder adds. name is for the message.
func (s *Scorer) CheckRefine(name string, refiner *model.Model) error {
	switch {
	case s.Refined == nil, refiner != nil && s.Refined != nil && s.Refined.Encoder.Digest == refiner.Digest:
		return nil
	case refiner == nil:
		return badinput.Errorf("scorer %s was fitted for two-stage mining: name the strong encoder, %s, with --refine, or leave --scorer out",
			name, digested(s.Refined.Encoder.Name, s.Refined.Encoder.Digest))
	}
	return badinput.Errorf("scorer %s was fitted with another strong encoder than %s: fit one with mine fit-scorer --refine, or leave --scorer out",
		name, digested(refiner.Name, refiner.Digest))
}

// Ships says whether the program has a scorer that was fitted on the encoder.
func Ships(model *model.Model) (bool, error) {
	_, own, err := shipped(model)
	return own, err
}

// OfDefault is the scorer of the default encoder, which was fitted on pairs of many languages.
func OfDefault() (*Scorer, error) {
	data, _, err := shipped(&model.Model{})
	if err != nil {
		return nil, err
	}
	return Decode(data)
}

// shipped is the program's own scorer for an encoder; for one that it has none for, own is false, and the scorer that
// of the default encoder.
func shipped(model *model.Model) (_ []byte, own bool, err error) {
	const dir = "scorers"
	files, err := configs.Scorers.ReadDir(dir)
	if err != nil {
		return nil, false, err
	}
	var fallback []byte
	for _, file := range files {
		data, err := configs.Scorers.ReadFile(path.Join(dir, file.Name()))
		if err != nil {
			return nil, false, err
		}
		scorer, err := Decode(data)
		if err != nil {
			return nil, false, err
		}
		if scorer.Encoder.Digest == model.Digest {
			return data, true, nil
		}
		if scorer.Encoder.Name == fixtures.Encoder {
			fallback = data
		}
	}
	return fallback, false, nil
}

// digested formats an encoder's name with its digest, to distinguish encoders of the same name.
func digested(name, digest string) string {
	const shown = 12
	return fmt.Sprintf("%s (sha256:%s…)", name, digest[:min(shown, len(digest))])
}
