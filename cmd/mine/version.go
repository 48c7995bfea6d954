package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the program's. Keys and the bitext hold it, so the commit is not part of it.
const version = "0.1.0"

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit it was built from and the Go version",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "mine", describeBuild(info))
			return err
		},
	}
}

// describeBuild says what the program was built from; info may be nil.
func describeBuild(info *debug.BuildInfo) string {
	if info == nil {
		return version
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
		return fmt.Sprintf("%s, built without a record of the commit, %s", version, info.GoVersion)
	}
	return fmt.Sprintf("%s, commit %s%s, %s", version, commit, changed, info.GoVersion)
}
