// Package program has the version of the program and how commands call the pipeline.
package program

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"bitextmine/pipeline"
	"bitextmine/pipeline/progress"
)

// Version is the program's. Keys and the bitext hold it, so the commit is not part of it.
const Version = "0.1.0"

// RunOptions returns the options that commands pass to the pipeline.
func RunOptions(reporter progress.Reporter) pipeline.Options {
	return pipeline.Options{Progress: reporter, Log: slog.Default(), Version: Version}
}

// Describe says what the program was built from; info may be nil.
func Describe(info *debug.BuildInfo) string {
	if info == nil {
		return Version
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if commit == "" {
		return fmt.Sprintf("%s, built without a record of the commit, %s", Version, info.GoVersion)
	}
	return fmt.Sprintf("%s, commit %s%s, %s", Version, commit, changed, info.GoVersion)
}
