package cut

import (
	"fmt"
	"strings"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage/shard"
)

// doubted is a file whose text is not in the language of its side.
type doubted struct {
	Path string
	shard.Doubt
}

// foreign returns the warnings about files whose text is not in the language of their side, given those files by
// language, and whether the two sides are swapped.
func foreign(languages []plan.Language, of [][]doubted) (warnings []string, swapped bool) {
	swapped = len(of) == 2
	for l := range languages {
		all := len(of[l]) > 0 && len(of[l]) == len(languages[l].Inputs)
		swapped = swapped && all && of[l][0].Most.Code == languages[1-l].Code
	}
	for l, files := range of {
		if len(files) == 0 {
			continue
		}
		var named []string
		for _, f := range files[:min(len(files), maxNamed)] {
			named = append(named,
				fmt.Sprintf("%s is %.0f%% %s (%s)", f.Path, 100*f.Share, f.Most.Code, strings.Join(f.Most.Texts, " | ")))
		}
		if more := len(files) - maxNamed; more > 0 {
			named = append(named, fmt.Sprintf("and %d more", more))
		}
		advice := "give each file to the side of its language"
		if swapped {
			advice = "swap --src and --tgt, or the files"
		}
		warnings = append(warnings, fmt.Sprintf("text that is said to be %s is not, by a sample of its sentences: %s; %s",
			languages[l].Code, strings.Join(named, "; "), advice))
	}
	return warnings, swapped
}
