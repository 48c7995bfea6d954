package overview

import (
	"strings"

	"bitextmine/pipeline/record"
	"bitextmine/web/pairs"
)

// Reason is why pairs were rejected.
type Reason struct {
	Name    string
	Meaning string
	Pairs   int
	InFile  bool // the bitext has the pairs
	Samples []record.Sample
}

// meanings of the reasons that mining gives (docs/formats.md).
var meanings = map[string]string{
	"below_threshold": "what decides is below the threshold",
	"taken":           "a better pair has one of its sentences",
	"not_proposed":    "the retrieval rule asks for a proposal from the other side, too",
	"below_floor":     "the margin is too low for the strong encoder to look at it",
	"label":           "a person rejected it",
	"src_language":    "the source is surely in another language than its corpus",
	"tgt_language":    "the target is surely in another language than its corpus",
	"untranslated":    "both sides are the same text",
}

// Meaning says what a reason means.
func Meaning(reason string) string {
	if rule, ok := strings.CutPrefix(reason, "filter:"); ok {
		return "the rule " + rule + " of mine filter"
	}
	return meanings[reason]
}

// reasons returns the reasons of the bitext's pairs. If it has only kept pairs, it returns the counts in run.json.
func reasons(set *pairs.Set, r *record.Report) []Reason {
	var all []Reason
	known := map[string]bool{}
	for _, one := range set.Reasons() {
		known[one.Name] = true
		all = append(all, Reason{Name: one.Name, Meaning: Meaning(one.Name), Pairs: one.Pairs, InFile: true})
	}
	for _, one := range r.Rejected {
		if !known[one.Reason] {
			all = append(all, Reason{Name: one.Reason, Meaning: Meaning(one.Reason), Pairs: one.Pairs,
				Samples: one.Samples})
		}
	}
	return all
}
