package flags

import (
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/internal/badinput"
)

// NoArguments refuses arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return badinput.Errorf("%q is no command or flag of %s; `%s --help` lists them", args[0], cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

// listFlags take every word that follows them, so that a shell's expansion of `--src-text data/*.de` works.
var listFlags = []string{"--src-text", "--tgt-text", "--src-emb", "--tgt-emb"}

// GatherLists repeats a list flag before each of the words that follow it.
func GatherLists(args []string) []string {
	var out []string
	list := ""
	for i, arg := range args {
		switch {
		case arg == "--":
			return append(out, args[i:]...)
		case strings.HasPrefix(arg, "-"):
			list = ""
			for _, flag := range listFlags {
				if arg == flag {
					list = flag
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

// LanguageFile reads the LANGUAGE=FILE that a flag was given.
func LanguageFile(flag, value string) (language, path string, err error) {
	language, path, ok := strings.Cut(value, "=")
	if !ok || language == "" || path == "" {
		return "", "", badinput.Errorf("%s %q is not LANGUAGE=FILE, such as de=news.de", flag, value)
	}
	return language, path, nil
}
