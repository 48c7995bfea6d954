package feature

import "testing"

func TestFeaturesAndTheirPlaces(t *testing.T) {
	if len(All) != Count {
		t.Fatalf("%d features, %d places", len(All), Count)
	}
	for name, at := range map[string]int{
		"cosine": atCosine, "gap_tgt": atGapTarget, "negation": atNegation, "cover_least": atCoverageMin, "cover_gap_tgt": atCoverageGapTarget,
		"uncovered_src": atUncoveredSource, "missing_tgt": atMissingTarget, "cubed_src": atCubedSource, "cubed_gap_tgt": atCubedGapTarget, "length": atLength, "numbers_any": atNumbersAny,
		"numbers_conflict": atNumbersConflict, "names": atNames, "names_conflict": atNamesConflict,
		"punctuation": atPunctuation, "tokens": atTokens,
	} {
		if All[at].Name != name {
			t.Errorf("place %d holds %s, not %s", at, All[at].Name, name)
		}
	}
	seen := map[string]bool{}
	for _, f := range All {
		if seen[f.Name] || f.Low >= f.High || f.Version < 1 || f.Meaning == "" {
			t.Errorf("feature %+v is not described, or named twice", f)
		}
		seen[f.Name] = true
	}
}
