package cut

import (
	"fmt"
	"log/slog"

	"bitextmine/pipeline/plan"
)

// Split logs which files' records are divided into sentences, and returns a warning for each language with plain text
// whose lines look like documents.
func Split(log *slog.Logger, languages []plan.Language) (warnings []string) {
	for _, l := range languages {
		var divided, long []plan.Input
		for _, in := range l.Inputs {
			switch {
			case in.Corpus != nil && in.Corpus.Split != "":
				divided = append(divided, in)
			case in.Seen != nil:
				long = append(long, in)
			}
		}
		if len(divided) > 0 {
			log.Info(fmt.Sprintf("the records of %d of %d %s files are divided into sentences%s; --split off leaves them as they are",
				len(divided), len(l.Inputs), l.Code, measured(divided[0])))
		}
		if len(long) > 0 {
			warnings = append(warnings, fmt.Sprintf("the lines of %d of %d %s files look like documents%s, and each is taken for "+
				"a sentence: --split on divides them", len(long), len(l.Inputs), l.Code, measured(long[0])))
		}
	}
	return warnings
}

// measured describes the first records of an input; empty if they were not looked at.
func measured(in plan.Input) string {
	if in.Seen == nil {
		return ""
	}
	return fmt.Sprintf(" (%s: %v)", in.Path, *in.Seen)
}
