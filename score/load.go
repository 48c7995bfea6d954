package score

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"slices"

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

// Load reads a scorer by name or path, for an encoder and a run with k neighbours; 0: with those of the scorer. It
// returns nil for None. The warnings list what may make its probabilities inaccurate.
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

// Read is Load of a scorer file's content; ref is its name in messages.
func Read(ref string, data []byte, k int, model *model.Model) (_ *Named, warnings []string, err error) {
	scorer, err := Decode(data)
	switch {
	case errors.Is(err, ErrFeatures):
		return nil, nil, badinput.Errorf("scorer %s was fitted by another version of the program (%w): fit it again with mine fit-scorer", ref, err)
	case err != nil:
		return nil, nil, badinput.Errorf("scorer %s cannot be used: %w", ref, err)
	case k > 0 && scorer.K > k:
		return nil, nil, badinput.Errorf("scorer %s uses k = %d neighbours but the run has %d: give --k %d, or fit one with --k %d",
			ref, scorer.K, k, scorer.K, k)
	}
	if scorer.Encoder.Digest != model.Digest {
		warnings = append(warnings, fmt.Sprintf(
			"scorer %s was fitted on %s, not on this run's %s: its probabilities may be inaccurate; fit one on the same texts with mine fit-scorer --scorer-out FILE and run with --scorer FILE, or give --scorer none",
			ref, digested(scorer.Encoder.Name, scorer.Encoder.Digest), digested(model.Name, model.Digest)))
	}
	if scorer.K < k {
		warnings = append(warnings, fmt.Sprintf("scorer %s weighs %d neighbours: k = %d makes the search slower and changes no pair", ref, scorer.K, k))
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

// bins is the number of equal intervals of probability in a reliability diagram.
const bins = 10

// Outcome is the probability of a candidate, whether the candidate is a translation, and the weight of this outcome.
type Outcome struct {
	Probability float32
	True        bool
	Weight      float64
}

// Quality measures how well probabilities agree with outcomes.
type Quality struct {
	Examples    int     `json:"examples"`
	True        int     `json:"true"`
	LogLoss     float64 `json:"log_loss"` // mean, natural logarithm
	Brier       float64 `json:"brier"`    // mean squared error
	Calibration float64 `json:"expected_calibration_error"`
	Precision   float64 `json:"precision"` // precision of those with a probability of at least 0.5
	Recall      float64 `json:"recall"`
	Bins        []Bin   `json:"reliability"`
}

// Bin is one interval of a reliability diagram: the probabilities from Low to below High, their mean, and the share
// that is true.
type Bin struct {
	Low, High   float64
	Examples    int
	Probability float64
	True        float64
}

// Measure compares probabilities with outcomes. The expected calibration error is the mean over the examples of the
// difference between their bin's mean probability and its true share.
func Measure(outcomes []Outcome) Quality {
	q := Quality{Examples: len(outcomes), Bins: make([]Bin, bins)}
	var above, right, all, positive float64
	weights := make([]float64, bins)
	for _, o := range outcomes {
		p, w := float64(o.Probability), o.Weight
		at := min(bins-1, int(p*bins))
		b := &q.Bins[at]
		b.Examples++
		weights[at] += w
		b.Probability += w * p
		outcome := 0.0
		if o.True {
			outcome = 1
			q.True++
			positive += w
			b.True += w
		}
		all += w
		q.Brier += w * (p - outcome) * (p - outcome)
		q.LogLoss -= w * math.Log(max(1e-15, 1-math.Abs(outcome-p)))
		if p >= 0.5 {
			above += w
			right += w * outcome
		}
	}
	for i := range q.Bins {
		b := &q.Bins[i]
		b.Low, b.High = float64(i)/bins, float64(i+1)/bins
		if weights[i] > 0 {
			q.Calibration += math.Abs(b.Probability - b.True)
			b.Probability /= weights[i]
			b.True /= weights[i]
		}
	}
	if all > 0 {
		q.LogLoss, q.Brier, q.Calibration = q.LogLoss/all, q.Brier/all, q.Calibration/all
	}
	q.Precision, q.Recall = ratio(right, above), ratio(right, positive)
	return q
}

func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

// Expected returns the precision and the recall that the probabilities of kept pairs make one expect, where there are
// so many translations in all.
func Expected(kept []float32, translations float64) (precision, recall float64) {
	sum := Sum(kept)
	return ratio(sum, float64(len(kept))), min(1, ratio(sum, translations))
}

// MarginFor returns the lowest score above which the mean probability of pairs is at least precision; scores and
// probabilities belong to the matched pairs, best score first. Where no pair is that certain it is the best score.
func MarginFor(scores, probabilities []float32, precision float64) float64 {
	threshold, sum := math.Inf(1), 0.0
	if len(scores) > 0 {
		threshold = float64(scores[0])
	}
	for i, p := range probabilities {
		sum += float64(p)
		last := i+1 == len(scores)
		if (last || scores[i+1] != scores[i]) && sum >= precision*float64(i+1) {
			threshold = math.Nextafter(float64(scores[i]), math.Inf(-1))
		}
	}
	return threshold
}

// BestExpected returns the score above which pairs have the best expected F-beta: the midpoint between the last that is
// kept and the next. scores and probabilities belong to matched pairs, best score first; expected is the number of
// true pairs in all. Where no pair has a probability the result is the best score, above which there is none.
func BestExpected(scores, probabilities []float32, expected, beta float64) float64 {
	threshold, best, sum := 0.0, 0.0, 0.0
	if len(scores) > 0 {
		threshold = float64(scores[0])
	}
	for i, p := range probabilities {
		sum += float64(p)
		last := i+1 == len(scores)
		if !last && scores[i+1] == scores[i] {
			continue
		}
		if f := (1 + beta*beta) * sum / (float64(i+1) + beta*beta*expected); f > best {
			best, threshold = f, math.Nextafter(float64(scores[i]), math.Inf(-1))
			if !last {
				threshold = (float64(scores[i]) + float64(scores[i+1])) / 2
			}
		}
	}
	return threshold
}

// ThresholdFor returns the lowest probability such that the mean probability of the pairs at or above it is at least
// precision. If the probabilities are calibrated, this is the pairs' precision. probabilities may be in any order. A
// result above 1 means that no pair is that certain.
func ThresholdFor(probabilities []float32, precision float64) float64 {
	sorted := slices.Clone(probabilities)
	slices.SortFunc(sorted, func(a, b float32) int { return cmp.Compare(b, a) })
	threshold, sum := math.Nextafter(1, 2), 0.0
	for i, p := range sorted {
		sum += float64(p)
		if sum/float64(i+1) < precision {
			break // smaller probabilities only lower the mean
		}
		if i+1 == len(sorted) || sorted[i+1] != p {
			threshold = float64(p)
		}
	}
	return threshold
}
