package help

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
	switch {
	case kind == "":
		return name
	case f.NoOptDefVal != "" && kind != "bool": // A word after the flag is no value of it.
		return name + "[=" + kind + "]"
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

// writeText writes paragraphs. Lines that begin with a space are a table: each stays a line, and what does not fit
// continues under its last column.
func writeText(b *strings.Builder, text string) {
	var words []string
	flush := func() {
		if len(words) > 0 {
			fill(b, "", "", "", words)
			words = nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		switch {
		case line == "":
			flush()
			b.WriteString("\n")
		case line[0] == ' ' || line[0] == '\t':
			flush()
			writeRow(b, strings.ReplaceAll(line, "\t", "    "))
		default:
			words = append(words, strings.Fields(line)...)
		}
	}
	flush()
}

// writeRow writes a line of a table.
func writeRow(b *strings.Builder, line string) {
	if utf8.RuneCountInString(line) <= Width {
		b.WriteString(line + "\n")
		return
	}
	column := len(line) - len(strings.TrimLeft(line, " "))
	if gap := strings.LastIndex(line, "  "); gap >= 0 {
		column = gap + 2
	}
	fill(b, line[:column], strings.Repeat(" ", column), "", strings.Fields(line[column:]))
}

// writeEntry writes a name and, from a column on, words. A name that reaches the column has a line of its own.
func writeEntry(b *strings.Builder, name string, column int, words []string) {
	if len(name) >= column {
		b.WriteString(name + "\n")
		name = ""
	}
	name += strings.Repeat(" ", column-len(name))
	fill(b, name, strings.Repeat(" ", column), "", words)
}

// writeExample writes a command line. A backslash ends each line that continues, so that a shell takes all of them.
// A flag stays on the line of its value.
func writeExample(b *strings.Builder, line string) {
	var words []string
	for _, word := range strings.Fields(line) {
		if n := len(words); n > 0 && strings.HasPrefix(words[n-1], "--") && !strings.HasPrefix(word, "-") &&
			!strings.Contains(words[n-1], " ") {
			words[n-1] += " " + word
		} else {
			words = append(words, word)
		}
	}
	fill(b, "  ", "      ", ` \`, words)
}

// fill writes words in lines that begin with first, or rest after the first of them, and end with more where another
// follows.
func fill(b *strings.Builder, first, rest, more string, words []string) {
	line, empty := first, true
	for i, word := range words {
		room := Width - utf8.RuneCountInString(more)
		if i == len(words)-1 {
			room = Width
		}
		switch {
		case empty:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= room:
			line += " " + word
		default:
			b.WriteString(line + more + "\n")
			line = rest + word
		}
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
