package flags

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spelling"
)

// commands are those that do what another name says.
var commands = map[string]string{"review": "serve", "label": "serve"}

// NoArguments refuses arguments. One of a command with subcommands was meant as a subcommand.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	path := cmd.CommandPath()
	if !cmd.HasAvailableSubCommands() {
		return badinput.Errorf("%s takes no arguments, and %q is no flag; `%s --help` shows its flags", path, args[0], path)
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	meant := spelling.Close(args[0], names)
	if meant == "" && slices.Contains(names, commands[args[0]]) {
		meant = commands[args[0]]
	}
	if meant != "" {
		return badinput.Errorf("%s has no command %q; did you mean `%s %s`?", path, args[0], path, meant)
	}
	return badinput.Errorf("%s has no command %q; `%s --help` lists the commands", path, args[0], path)
}

// Arguments refuses fewer arguments than atLeast and more than atMost; what names those that the command takes.
func Arguments(what string, atLeast, atMost int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= atLeast && len(args) <= atMost {
			return nil
		}
		path := cmd.CommandPath()
		return badinput.Errorf("%s takes %s, not %d arguments; `%s --help` shows examples", path, what, len(args), path)
	}
}

// valueKinds describe the values of flags by pflag's names of their types.
var valueKinds = map[string]string{"int": "a whole number", "uint": "a whole number, 0 or more",
	"uint64": "a whole number, 0 or more", "uintSlice": "whole numbers, 0 or more",
	"float64": "a number", "bool": "true or false",
	"duration": "a time such as 90m, 24h, 7d or 2w"}

// elsewhere are options of LASER's and stopes' mining, and what mine run has in their place.
var elsewhere = map[string]string{
	"mode":         "mine run mines, mine score --run scores given pairs, and mine neighbours searches",
	"neighborhood": "give --k",
	"unify":        "equal sentences are one without it",
	"gpu":          "give --device cuda to encode there, and --search cuda to search",
	"src-lang":     "give --src", "trg-lang": "give --tgt", "tgt-lang": "give --tgt",
}

// WrongFlag is the error of a command whose flags could not be read. For an unknown flag it names the one that was
// probably meant.
func WrongFlag(cmd *cobra.Command, err error) error {
	path := cmd.CommandPath()
	if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) {
		if kind := valueKinds[wrong.GetFlag().Value.Type()]; kind != "" {
			return badinput.Errorf("%s: --%s is %q but must be %s", path, wrong.GetFlag().Name, wrong.GetValue(), kind)
		}
	}
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) {
		return badinput.Errorf("%w; `%s --help` shows the flags", err, path)
	}
	given, name := "--"+unknown.GetSpecifiedName(), unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		given, name = "-"+short, short // such as -encoder
	}
	if instead := elsewhere[strings.ReplaceAll(name, "_", "-")]; instead != "" && cmd.Name() == "run" {
		return badinput.Errorf("%s has no flag %s: %s", path, given, instead)
	}
	key := strings.ReplaceAll(name, "-", "_")
	if s, ok := find(All, key); ok && s.Flag == "" && cmd.Flags().Lookup(nightlyFlag) != nil {
		or := " or " + envPrefix + strings.ToUpper(key)
		if s.Type.Kind() == reflect.Map { // a variable has no keys
			or = ""
		}
		return badinput.Errorf("%s: %s is a setting without a flag: give it with --config FILE%s", path, key, or)
	}
	if s, ok := find(All, key); ok && cmd.Flags().Lookup(nightlyFlag) != nil && cmd.Flags().Lookup(s.Flag) == nil {
		return badinput.Errorf("%s has no use for --%s, which mine run has: leave it out", path, s.Flag)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if meant := spelling.Close(name, names); meant != "" {
		return badinput.Errorf("%s has no flag %s; did you mean --%s?", path, given, meant)
	}
	all := "help"
	if cmd.Flags().Lookup(AllHelp) != nil {
		all = AllHelp
	}
	return badinput.Errorf("%s has no flag %s; `%s --%s` shows its flags", path, given, path, all)
}

// listFlags take every word that follows them, so that a shell's expansion of `--src-text data/*.de` works.
var listFlags = []string{"--src-text", "--tgt-text", "--src-emb", "--tgt-emb"}

// GatherLists repeats a list flag of the command that args call before each of the words that follow it.
func GatherLists(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil {
		return args // there is no such command, which executing them says
	}
	var out []string
	list := ""
	for i, arg := range args {
		switch {
		case arg == "--":
			return append(out, args[i:]...)
		case strings.HasPrefix(arg, "-"):
			list = ""
			for _, flag := range listFlags {
				if f := cmd.Flags().Lookup(flag[2:]); arg == flag && f != nil {
					if _, ok := f.Value.(pflag.SliceValue); ok {
						list = flag
					}
				}
			}
			if list != "" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				continue // the flag is added before each of its words
			}
			out = append(out, arg)
			// Which other flags take a word is not known here, so the flag and the word are passed on.
		case list != "":
			out = append(out, list, arg)
		default:
			out = append(out, arg)
		}
	}
	return out
}

// Languages reads --src and --tgt; one that is not given stays empty.
func Languages(source, target string) (pair [2]string, err error) {
	for side, code := range [2]string{source, target} {
		if code == "" {
			continue
		}
		if pair[side], err = corpus.ParseLanguage(code); err != nil {
			return pair, err
		}
	}
	return pair, nil
}

// BothLanguages reads --src and --tgt for a command that needs them.
func BothLanguages(command, source, target string) ([2]string, error) {
	if source == "" || target == "" {
		return [2]string{}, badinput.Errorf("%s: name both languages with --src and --tgt", command)
	}
	return Languages(source, target)
}

// TwoLanguages is BothLanguages for a command whose languages must differ.
func TwoLanguages(command, source, target string) ([2]string, error) {
	pair, err := BothLanguages(command, source, target)
	if err == nil && pair[0] == pair[1] {
		err = badinput.Errorf("%s: --src and --tgt are both %s, as regions are not told apart: name two languages, or two scripts of one (zh, zh-Hant)", command, pair[0])
	}
	return pair, err
}

// ColumnNumbers returns the numbers of the columns of texts, from 1, if --src-column and --tgt-column are numbers; 0 if
// they are names.
func ColumnNumbers(source, target string) (sourceAt, targetAt int, err error) {
	sourceAt, errSource := strconv.Atoi(source)
	targetAt, errTarget := strconv.Atoi(target)
	switch {
	case errSource != nil && errTarget != nil:
		return 0, 0, nil
	case errSource != nil || errTarget != nil || sourceAt < 1 || targetAt < 1 || sourceAt == targetAt:
		return 0, 0, badinput.Errorf("--src-column is %s and --tgt-column %s: give two names, or two different numbers from 1", source, target)
	}
	return sourceAt, targetAt, nil
}

// LanguageFile reads the LANGUAGE=FILE of a --text.
func LanguageFile(value string) (language, path string, err error) {
	language, path, ok := strings.Cut(value, "=")
	if !ok || language == "" || path == "" {
		return "", "", badinput.Errorf("--text %q is not LANGUAGE=FILE, such as de=news.de", value)
	}
	if language, err = corpus.ParseLanguage(language); err != nil {
		return "", "", badinput.Errorf("--text %s: %w", value, err)
	}
	return language, path, nil
}
