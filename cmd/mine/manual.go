package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/internal/badinput"
)

// newManual makes mine manual, which packages are built with.
func newManual() *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR",
		Short:  "Write the manual pages of all commands into a directory, dated by SOURCE_DATE_EPOCH",
		Hidden: true,
		Args:   flags.Arguments("a directory", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
			if err != nil {
				return badinput.Errorf("mine manual: SOURCE_DATE_EPOCH must be the pages' date in seconds since 1970")
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("make the directory of manual pages: %w", err)
			}
			date := time.Unix(seconds, 0).UTC()
			root := cmd.Root()
			root.DisableAutoGenTag = true
			escape(root)
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "mine " + program.Version,
				Manual: "mine"}, args[0])
		},
	}
}

// escape keeps what stands in angle brackets from being taken for HTML.
func escape(cmd *cobra.Command) {
	escaper := strings.NewReplacer("<", `\<`)
	cmd.Short, cmd.Long = escaper.Replace(cmd.Short), escaper.Replace(cmd.Long)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = escaper.Replace(f.Usage) })
	for _, child := range cmd.Commands() {
		escape(child)
	}
}
