package flags

import (
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/corpus"
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

// LanguageFile reads the LANGUAGE=FILE that a flag was given.
func LanguageFile(flag, value string) (language, path string, err error) {
	language, path, ok := strings.Cut(value, "=")
	if !ok || language == "" || path == "" {
		return "", "", badinput.Errorf("%s %q is not LANGUAGE=FILE, such as de=news.de", flag, value)
	}
	return language, path, nil
}
