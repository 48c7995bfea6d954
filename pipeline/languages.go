package pipeline

import (
	"fmt"
	"strings"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage/shard"
)

// namedFiles is how many files a warning names.
const namedFiles = 3

// doubted is a file that is not in the language that it is said to be in.
type doubted struct {
	path string
	shard.Doubt
}

// warnOfLanguages warns of files that are not in the language of their side, before hours go into encoding them.
func (r *run) warnOfLanguages(languages []plan.Language, of [][]doubted) {
	swapped := len(of) == 2
	for l := range languages {
		swapped = swapped && len(of[l]) == len(languages[l].Inputs) && len(of[l]) > 0 && of[l][0].Most.Code == languages[1-l].Code
	}
	for l, files := range of {
		if len(files) == 0 {
			continue
		}
		var named []string
		for _, f := range files[:min(len(files), namedFiles)] {
			named = append(named, fmt.Sprintf("%s is %.0f%% %s (%s)", f.path, 100*f.Share, f.Most.Code, strings.Join(f.Most.Texts, " | ")))
		}
		if more := len(files) - namedFiles; more > 0 {
			named = append(named, fmt.Sprintf("and %d more", more))
		}
		advice := "give each file to the side of its language"
		if swapped {
			advice = "swap --src and --tgt, or the files"
		}
		r.warn("text that is said to be %s is not, by a sample of its sentences: %s; %s", languages[l].Code, strings.Join(named, "; "), advice)
	}
}

// warn logs a warning and adds it to the report.
func (r *run) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.report.Warnings = append(r.report.Warnings, text)
	r.Log.Warn(text)
}
