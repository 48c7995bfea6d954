package feature

// Feature describes one number that is computed for a candidate. Its version changes when its computation does. A
// scorer fitted on one version is not applied to another.
type Feature struct {
	Name      string
	Version   int
	Low, High float32 // a value outside the range is set to its nearer end
	Tokens    bool    // needs token vectors; 0 without them
	Meaning   string
}

// All lists every feature in the order of a candidate's values. "its k neighbours" are the first k of a sentence's
// list; k is the scorer's. A token's cosines are those with the tokens of the other sentence.
var All = []Feature{
	{"cosine", 1, -1, 1, false, "cosine of the two sentence vectors"},
	{"ratio", 1, 0, 4, false, "ratio margin over its k neighbours"},
	{"distance", 1, -1, 1, false, "distance margin over its k neighbours"},
	{"ratio_without", 1, 0, 4, false, "ratio margin, the candidate left out of both neighbourhoods"},
	{"distance_without", 1, -1, 1, false, "distance margin, the candidate left out of both neighbourhoods"},
	{"gap_src", 1, -1, 1, false, "cosine less that of the source's best other neighbour"},
	{"gap_tgt", 1, -1, 1, false, "cosine less that of the target's best other neighbour"},
	{"cover_src", 2, -1, 1, true, "mean over source tokens of the best cosine, weighted by inverse document frequency"},
	{"cover_tgt", 2, -1, 1, true, "the same of target tokens"},
	{"cover_least", 2, -1, 1, true, "the lower of the two"},
	{"cover_gap_src", 2, -1, 1, true, "mean of the two less the best such mean among the source's other neighbours; 0 if there is none"},
	{"cover_gap_tgt", 2, -1, 1, true, "the same among the target's other neighbours"},
	{"uncovered_src", 2, 0, 1, true, "share of the source tokens' weight whose best cosine is below 0.4"},
	{"uncovered_tgt", 2, 0, 1, true, "share of the target tokens' weight whose best cosine is below 0.4"},
	{"missing_src", 2, 0, 2, true, "mean of the three largest weight x (1 - best cosine) of source tokens"},
	{"missing_tgt", 2, 0, 2, true, "the same of target tokens"},
	{"cubed_src", 1, 0, 1, true, "token coverage of the source with the cubes of the best cosines, 0 of negative ones"},
	{"cubed_tgt", 1, 0, 1, true, "the same of target tokens"},
	{"cubed_gap_src", 1, -1, 1, true, "mean of the two less the best such mean among the source's other neighbours; 0 if there is none"},
	{"cubed_gap_tgt", 1, -1, 1, true, "the same among the target's other neighbours"},
	{"mutual_src", 1, -1, 1, true, "token coverage of the source by mutual matches alone: tokens that are each other's best ones"},
	{"mutual_tgt", 1, -1, 1, true, "the same of target tokens"},
	{"mutual_gap_src", 1, -1, 1, true, "mean of the two less the best such mean among the source's other neighbours; 0 if there is none"},
	{"mutual_gap_tgt", 1, -1, 1, true, "the same among the target's other neighbours"},
	{"length", 1, 0, 3, false, "absolute log ratio of the lengths in characters, less that of the two corpora"},
	{"numbers_differ", 3, 0, 16, false, "numbers in digits that one sentence has and the other lacks"},
	{"numbers_shared", 3, 0, 1, false, "share of all numbers that both have; 0 without numbers"},
	{"numbers_any", 2, 0, 1, false, "1 if either sentence has a number"},
	{"numbers_conflict", 2, 0, 8, false, "numbers, spelled out ones too, that one sentence has in place of others: the fewer of those that only one of them has"},
	{"names", 2, 0, 8, false, "capitalised words of three letters or more that both have, accents apart"},
	{"names_conflict", 2, 0, 1, true, "how unlike all of the other sentence a name of each is: the less of the two sentences' largest 1 - best cosine"},
	{"cognates", 2, 0, 16, false, "words of four letters or more that begin with the same five, accents and case apart"},
	{"punctuation", 2, 0, 16, false, "differences in the counts of eight kinds of marks, at most two each"},
	{"negation", 1, 0, 1, false, "1 if just one of the two sentences has a word that negates, where both languages' are listed"},
	{"tokens", 2, 0, 8, true, "log of one more than the tokens of the shorter sentence"},
}

// Indices of the features in All; a test compares them.
const (
	atCosine = iota
	atRatio
	atDistance
	atRatioWithout
	atDistanceWithout
	atGapSource
	atGapTarget
	atCoverageSource
	atCoverageTarget
	atCoverageMin
	atCoverageGapSource
	atCoverageGapTarget
	atUncoveredSource
	atUncoveredTarget
	atMissingSource
	atMissingTarget
	atCubedSource
	atCubedTarget
	atCubedGapSource
	atCubedGapTarget
	atMutualSource
	atMutualTarget
	atMutualGapSource
	atMutualGapTarget
	atLength
	atNumbersDiffer
	atNumbersShared
	atNumbersAny
	atNumbersConflict
	atNames
	atNamesConflict
	atCognates
	atPunctuation
	atNegation
	atTokens

	// Count is the number of features.
	Count
)

// OfVectors is the number of the features that are computed from the sentence vectors alone. They are the first ones.
const OfVectors = atGapTarget + 1

// Names returns the names in order.
func Names() []string {
	names := make([]string, len(All))
	for i, f := range All {
		names[i] = f.Name
	}
	return names
}

// clamp limits a candidate's values to their documented ranges.
func clamp(values []float32) {
	for i, f := range All {
		values[i] = max(f.Low, min(f.High, values[i]))
	}
}
