// Package help prints the help of commands in lines of at most Width columns.
//
// A command with many flags has two helps: --help shows the flags that most calls need, --help-all shows every flag.
// Both are divided into groups. A command with few flags shows all of them in one list.
package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/cmd/mine/flags"
)

// Width is the longest line, in columns.
const Width = 100

// maxFlags is how many flags a command may have whose help shows all of them.
const maxFlags = 40

// Install gives a command and all its subcommands this help.
func Install(root *cobra.Command) {
	root.Flags().Bool("version", false, "print the version")
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { write(cmd.OutOrStdout(), cmd, true) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { write(cmd.OutOrStderr(), cmd, false); return nil })
	root.SetHelpCommand(newCommand())
	root.InitDefaultHelpCmd()
	addFlags(root)
}

// addFlags adds --help, and to commands with many flags --help-all. Flags are shown in the order of their registration.
func addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	long := many(cmd)
	f.BoolP("help", "h", false, "show this help")
	if long {
		f.VarPF(&asked{flags: f}, flags.AllHelp, "", "show every flag of "+cmd.CommandPath()).NoOptDefVal = "true"
	}
	for _, child := range cmd.Commands() {
		addFlags(child)
	}
}

func many(cmd *cobra.Command) bool {
	n := 0
	cmd.LocalFlags().VisitAll(func(*pflag.Flag) { n++ })
	return n > maxFlags
}

// asked is the value of --help-all. To set it also sets --help, which cobra looks for.
type asked struct {
	flags *pflag.FlagSet
	all   bool
}

func (a *asked) String() string { return fmt.Sprint(a.all) }

func (a *asked) Type() string { return "bool" }

func (a *asked) Set(value string) error {
	a.all = value == "true"
	return a.flags.Set("help", value)
}

func write(w io.Writer, cmd *cobra.Command, described bool) {
	var b strings.Builder
	if described {
		text := cmd.Long
		if text == "" {
			text = cmd.Short + "."
		}
		writeText(&b, text)
		b.WriteString("\n")
	}
	writeUsage(&b, cmd)
	if cmd.HasExample() {
		b.WriteString("\nExamples:\n")
		for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", "")) {
			writeExample(&b, strings.TrimSpace(line))
		}
	}
	writeCommands(&b, cmd)
	writeFlags(&b, cmd)
	fmt.Fprint(w, b.String())
}

func writeUsage(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString("Usage:\n")
	if cmd.Runnable() && cmd.HasParent() {
		writeExample(b, cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(b, "  %s COMMAND [flags]\n", cmd.CommandPath())
	}
}

// writeCommands lists the subcommands by their groups.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	width := 0
	shown := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool {
		return !c.IsAvailableCommand() && c.Name() != "help"
	})
	for _, c := range shown {
		width = max(width, len(c.Name()))
	}
	others := &cobra.Group{Title: "Commands"}
	if len(cmd.Groups()) > 0 {
		others.Title = "Other"
	}
	for _, group := range append(slices.Clone(cmd.Groups()), others) {
		headed := false
		for _, c := range shown {
			if c.GroupID != group.ID {
				continue
			}
			if !headed {
				fmt.Fprintf(b, "\n%s:\n", group.Title)
				headed = true
			}
			writeEntry(b, "  "+c.Name(), width+5, strings.Fields(c.Short))
		}
	}
}

// newCommand makes mine help.
func newCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 && found.HasSubCommands() {
				err = found.ValidateArgs(rest)
			}
			if err != nil {
				return err
			}
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion,
			_ cobra.ShellCompDirective) {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range found.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
