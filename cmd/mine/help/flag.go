package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/cmd/mine/flags"
)

// maxFlagColumns bounds the column of names. The text of a flag with a longer name begins on the next line.
const maxFlagColumns = 34

// The titles of flags without a group.
const (
	ownTitle    = "Flags"
	commonTitle = "Help and log"
)

// commonFlags are the flags of every command.
var commonFlags = []string{"help", flags.AllHelp, "verbose", "version"}

// section is a titled list of flags.
type section struct {
	title string
	flags []*pflag.Flag
}

// writeFlags lists the flags of a command, in sections.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	sections, hidden := sectionsOf(cmd)
	width := 0
	for _, s := range sections {
		for _, f := range s.flags {
			if n := len(heading(f)); n <= maxFlagColumns {
				width = max(width, n)
			}
		}
	}
	for _, s := range sections {
		fmt.Fprintf(b, "\n%s:\n", s.title)
		for _, f := range s.flags {
			_, usage := pflag.UnquoteUsage(f)
			writeEntry(b, heading(f), width+2, append(strings.Fields(usage), shownDefault(f)...))
		}
	}
	if hidden > 0 {
		fmt.Fprintf(b, "\n`%s --%s` shows %d more flags.\n", cmd.CommandPath(), flags.AllHelp, hidden)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(b, "\n`%s COMMAND --help` shows the help of a command.\n", cmd.CommandPath())
	}
}

// sectionsOf returns the flags of a command that its help shows, and the number of those that it does not. A section
// begins with the flags that --help shows or, if the command has few flags, with those that are not settings of a run.
func sectionsOf(cmd *cobra.Command) (sections []section, hidden int) {
	long := cmd.Flags().Lookup(flags.AllHelp)
	all := long != nil && long.Value.String() == "true"
	first, rest := map[string][]*pflag.Flag{}, map[string][]*pflag.Flag{}
	titles := []string{ownTitle}
	visit := func(f *pflag.Flag) {
		group, early := flags.GroupOf(f)
		title := string(group)
		switch {
		case slices.Contains(commonFlags, f.Name):
			title, early = commonTitle, true
		case long == nil || group == "":
			title, early = ownTitle, group == ""
		case !early && !all:
			hidden++
			return
		}
		if !slices.Contains(titles, title) && !slices.Contains(flags.Groups, group) {
			titles = append(titles, title)
		}
		if early {
			first[title] = append(first[title], f)
		} else {
			rest[title] = append(rest[title], f)
		}
	}
	cmd.LocalFlags().VisitAll(visit)
	cmd.InheritedFlags().VisitAll(visit)
	titles = slices.DeleteFunc(titles, func(title string) bool { return title == commonTitle })
	for _, group := range flags.Groups {
		titles = append(titles, string(group))
	}
	for _, title := range append(titles, commonTitle) {
		if both := slices.Concat(first[title], rest[title]); len(both) > 0 {
			sections = append(sections, section{title, both})
		}
	}
	return sections, hidden
}

// heading is a flag's name with its shorthand and the kind of its value.
func heading(f *pflag.Flag) string {
	name := "      --" + f.Name
	if f.Shorthand != "" {
		name = fmt.Sprintf("  -%s, --%s", f.Shorthand, f.Name)
	}
	kind, _ := pflag.UnquoteUsage(f)
	switch kind {
	case "stringArray", "strings", "uints":
		kind = "list"
	case "uint":
		kind = "int"
	}
	if kind == "" {
		return name
	}
	return name + " " + kind
}

// shownDefault is the default of a flag, except zero and what the text of the flag says itself.
func shownDefault(f *pflag.Flag) []string {
	if slices.Contains([]string{"", "0", "false", "[]", "0s"}, f.DefValue) || strings.Contains(f.Usage, "(default") {
		return nil
	}
	return []string{fmt.Sprintf("(default %s)", f.DefValue)}
}
