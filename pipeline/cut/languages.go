package cut

import (
	"fmt"
	"slices"
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
		all := len(of[l]) > 0 && len(of[l]) == len(languages[l].Inputs) && !slices.ContainsFunc(of[l], mixed)
		swapped = swapped && all && of[l][0].Most.Code == languages[1-l].Code
	}
	for l, files := range of {
		for _, part := range []bool{false, true} {
			some := slices.DeleteFunc(slices.Clone(files), func(d doubted) bool { return mixed(d) != part })
			if len(some) > 0 {
				warnings = append(warnings, warning(languages[l].Code, some, swapped))
			}
		}
	}
	return warnings, swapped
}

// mixed reports whether most of a file is in its language.
func mixed(d doubted) bool { return d.Mixed }

// warning tells of files that are mixed, or of files that are not.
func warning(code string, files []doubted, swapped bool) string {
	var named []string
	for _, f := range files[:min(len(files), maxNamed)] {
		named = append(named,
			fmt.Sprintf("%s is %.0f%% %s (%s)", f.Path, 100*f.Share, f.Most.Code, strings.Join(f.Most.Texts, " | ")))
	}
	if more := len(files) - maxNamed; more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	is, advice := "is not", "give each file to the side of its language"
	if mixed(files[0]) {
		is, advice = "is only in part", "what is in the other language makes no pair; --keep-foreign keeps it"
	} else if swapped {
		advice = "swap --src and --tgt, or the files"
	}
	return fmt.Sprintf("text that is said to be %s %s, by a sample of its sentences: %s; %s",
		code, is, strings.Join(named, "; "), advice)
}
