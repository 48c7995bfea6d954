package record

import "fmt"

// Differences names the settings that differ from those of a later report, with both values. Models and scorers go by
// their names, with digests where these are equal.
func (r *Report) Differences(now *Report) string {
	before, after := r.Settings, now.Settings
	oldScorer, newScorer := "", ""
	if r.Scorer != nil {
		oldScorer = r.Scorer.Name
	}
	if now.Scorer != nil {
		newScorer = now.Scorer.Name
	}
	named(&before.Encoder, &after.Encoder, r.Encoder.Name, now.Encoder.Name)
	named(&before.Scorer, &after.Scorer, oldScorer, newScorer)
	named(&before.Refine, &after.Refine, nameOf(r.Refiner), nameOf(now.Refiner))
	named(&before.Judge, &after.Judge, nameOf(r.Judge), nameOf(now.Judge))
	return before.Differences(after)
}

func nameOf(e *EncoderReport) string {
	if e == nil {
		return ""
	}
	return e.Name
}

// named puts names in place of two digests.
func named(before, after *string, oldName, newName string) {
	names := [2]string{oldName, newName}
	switch {
	case *before == *after:
		names[1] = oldName
	case oldName == newName && oldName != "":
		const shown = 12 // digits
		names = [2]string{fmt.Sprintf("%s (%.*s)", oldName, shown, *before), fmt.Sprintf("%s (%.*s)", newName, shown, *after)}
	}
	for i, digest := range []*string{before, after} {
		if *digest != "" && names[i] != "" {
			*digest = names[i]
		}
	}
}
