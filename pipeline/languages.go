package pipeline

import (
	"fmt"
	"strings"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage/shard"
)

// Doubted is a file that is not in the language that it is said to be in.
type checkDoubted struct {
	Path string
	shard.Doubt
}

// Foreign are warnings of files that are not in the language of their side. of has those of each language.
func checkForeign(languages []plan.Language, of [][]checkDoubted) (warnings []string, swapped bool) {
	swapped = len(of) == 2
	for l := range languages {
		swapped = swapped && len(of[l]) == len(languages[l].Inputs) && len(of[l]) > 0 && of[l][0].Most.Code == languages[1-l].Code
	}
	for l, files := range of {
		if len(files) == 0 {
			continue
		}
		var named []string
		for _, f := range files[:min(len(files), checkNamedFiles)] {
			named = append(named, fmt.Sprintf("%s is %.0f%% %s (%s)", f.Path, 100*f.Share, f.Most.Code, strings.Join(f.Most.Texts, " | ")))
		}
		if more := len(files) - checkNamedFiles; more > 0 {
			named = append(named, fmt.Sprintf("and %d more", more))
		}
		advice := "give each file to the side of its language"
		if swapped {
			advice = "swap --src and --tgt, or the files"
		}
		warnings = append(warnings, fmt.Sprintf("text that is said to be %s is not, by a sample of its sentences: %s; %s", languages[l].Code, strings.Join(named, "; "), advice))
	}
	return warnings, swapped
}
