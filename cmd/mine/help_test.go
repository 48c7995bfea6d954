package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/help"
	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/curate/exporting"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

// commandPaths are the words of every command, without mine.
func commandPaths(cmd *cobra.Command, words []string) [][]string {
	paths := [][]string{words}
	for _, c := range cmd.Commands() {
		paths = append(paths, commandPaths(c, append(words[:len(words):len(words)], c.Name()))...)
	}
	return paths
}

// TestHelpShowsHowAValueIsGiven: one that may be left out only follows an equals sign.
func TestHelpShowsHowAValueIsGiven(t *testing.T) {
	if text := must(t, "status", "--help"); !strings.Contains(text, "--watch[=duration]") || !strings.Contains(text, "--work string") {
		t.Errorf("mine status --help has %s", text)
	}
	if text := strings.Join(strings.Fields(must(t, "score", "--help")), " "); !strings.Contains(text, "(default exact, or ivf above 150000 pairs)") {
		t.Errorf("mine score --help has %s", text)
	}
}

// TestHelpFitsTheTerminal: no line of the help of any command is wider than help.Width, and the help shows each flag.
func TestHelpFitsTheTerminal(t *testing.T) {
	for _, path := range commandPaths(newRoot(), nil) {
		cmd, _, err := newRoot().Find(path)
		if err != nil {
			t.Fatal(err)
		}
		all := "--help"
		if cmd.Flags().Lookup(flags.AllHelp) != nil {
			all = "--" + flags.AllHelp
		}
		for _, ask := range []string{"--help", all} {
			for line := range strings.Lines(must(t, append(path[:len(path):len(path)], ask)...)) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > help.Width {
					t.Errorf("mine %s %s has a line of %d columns: %s", strings.Join(path, " "), ask, n, line)
				}
			}
		}
		shown := must(t, append(path[:len(path):len(path)], all)...)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(shown, "--"+f.Name) {
				t.Errorf("mine %s %s does not show --%s", strings.Join(path, " "), all, f.Name)
			}
		})
	}
}

// TestManyFlagsHaveGroups: every flag of a command with --help-all has a group, and --help shows few of them.
func TestManyFlagsHaveGroups(t *testing.T) {
	long := 0
	for _, cmd := range newRoot().Commands() {
		if cmd.Flags().Lookup(flags.AllHelp) == nil {
			continue
		}
		long++
		first, rest := 0, ""
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			group, early := flags.GroupOf(f)
			switch {
			case f.Name == "help" || f.Name == flags.AllHelp || f.Name == "verbose":
			case group == "":
				t.Errorf("mine %s --%s has no group: call Add of a flags.Group where it is registered", cmd.Name(), f.Name)
			case early:
				first++
			default:
				rest = f.Name
			}
		})
		if first < 10 || first > 30 {
			t.Errorf("the help of mine %s shows %d flags, want about 15 and its own", cmd.Name(), first)
		}
		if short := must(t, cmd.Name(), "--help"); strings.Contains(short, "--"+rest+" ") ||
			!strings.Contains(short, flags.AllHelp) {
			t.Errorf("mine %s --help shows --%s, or not how to see it", cmd.Name(), rest)
		}
	}
	if long < 4 {
		t.Errorf("%d commands have --help-all; want those with the settings of a run", long)
	}
}

// TestManual: every command has its page, which leaves no flag out, and angle brackets survive.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	must(t, "manual", dir)
	page, err := os.ReadFile(filepath.Join(dir, "mine-run.1"))
	if err != nil || !bytes.Contains(page, []byte("Nov 2023")) || !bytes.Contains(page, []byte("id<TAB>sentence")) {
		t.Errorf("mine-run.1, error %v:\n%s", err, page)
	}
	for _, path := range commandPaths(newRoot(), []string{"mine"}) {
		cmd, _, err := newRoot().Find(path[1:])
		if err != nil {
			t.Fatal(err)
		}
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		page, err := os.ReadFile(filepath.Join(dir, strings.Join(path, "-")+".1"))
		if err != nil {
			t.Error(err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(strings.ReplaceAll(string(page), `\-`, "-"), "--"+f.Name) {
				t.Errorf("the page of %s has no --%s", cmd.CommandPath(), f.Name)
			}
		})
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := command(t, "manual", dir); !badinput.Is(err) {
		t.Errorf("without a date: %v", err)
	}
}

// TestMisspeltNames: an error is one sentence that names what was probably meant, and exits with 2.
func TestMisspeltNames(t *testing.T) {
	for call, says := range map[string]string{
		"rnu":                  "did you mean `mine run`?",
		"walk":                 "`mine --help` lists the commands",
		"help rnu":             "did you mean `mine run`?",
		"review b1":            "did you mean `mine serve`?",
		"model gte":            "did you mean `mine model get`?",
		"completion bsh":       "did you mean `mine completion bash`?",
		"run --enocder x":      "did you mean --encoder?",
		"run -encoder x":       "did you mean --encoder?",
		"run --neighborhood 4": "mine run has no flag --neighborhood: give --k",
		"run --mode search":    "mine neighbours searches",
		"run --unify":          "equal sentences are one",
		"run --gpu":            "give --device cuda",
		"run --src_lang de":    "give --src",
		"run --src en --tgt en --src-text a --tgt-text b": "found by mine neighbours",
		"run --bogus":                                "`mine run --help-all` shows its flags",
		"diff --bogus":                               "`mine diff --help` shows its flags",
		"run --k four":                               `--k is "four" but must be a whole number`,
		"reject x --row abc":                         `mine reject: --row is "abc" but must be whole numbers, 0 or more`,
		"calibrate --threshold 0.5":                  "mine calibrate has no use for --threshold, which mine run has",
		"fit-scorer --lang-pairs de-en":              "mine fit-scorer has no use for --lang-pairs",
		"run stray":                                  `mine run takes no arguments, and "stray" is no flag`,
		"neighbours one":                             "takes two files of vectors, not 1 arguments",
		"model check labse":                          "`mine model get labse` downloads it into ./labse",
		"run --kubernetes-image x":                   "mine run: kubernetes_image is a setting without a flag: give it with --config FILE or MINE_KUBERNETES_IMAGE",
		"plan --slurm-options x":                     "slurm_options is a setting without a flag: give it with --config FILE",
		"encode --kubernetes-image x":                "has no flag",
		"serve x --host example.org:8077":            "give a name alone, without a port",
		"eval xsim beads":                            "beads is no protocol but a command: give `mine eval beads` by itself",
		"model check intfloat/multilingual-e5-small": "`mine model get multilingual-e5-small`",
		"model check laser2":                         "laser2 is not on the Hugging Face hub",
		"model check labs":                           "did you mean labse?",
		"model check use-sttic":                      "did you mean use-static?",
		"model check bogus":                          "one of arctic-embed-l-v2, bekko-a25m",
		"model check x/labse":                        "neither built in",
		"model check bag-ngram":                      "name use-static, which stands for it, too",
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(call))
		err := program.MissingEncoder(root.ExecuteContext(t.Context()))
		if !badinput.Is(err) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("mine %s: error %v, want bad input with %q", call, err, says)
		}
	}
}

// TestMissingEncoderOfARun: the command that searches for translations says how to get an encoder too.
func TestMissingEncoderOfARun(t *testing.T) {
	root := newRoot()
	root.SetArgs([]string{"run", "--src", "de", "--tgt", "en", "--encoder", "labse", "--out", t.TempDir() + "/mined"})
	err := program.MissingEncoder(root.ExecuteContext(t.Context()))
	if err == nil || !strings.Contains(err.Error(), "`mine model get labse`") {
		t.Errorf("error %v, want how to get labse", err)
	}
	out, err := command(t, "doctor", "--src", "de", "--tgt", "en", "--encoder", "labse", "--out", t.TempDir()+"/mined")
	if !badinput.Is(err) || strings.Count(out, "the encoder labse is not on this machine; `mine model get labse`") != 2 {
		t.Errorf("mine doctor says %s (%v)", out, err)
	}
	_, err = command(t, "run", "--src", "de", "--tgt", "en", "--judge", "judge", "--out", t.TempDir()+"/mined")
	if err := program.MissingEncoder(err); err == nil || !strings.Contains(err.Error(), "no judge \"judge\"") || strings.Contains(err.Error(), "labse") {
		t.Errorf("a missing judge: %v", err)
	}
	if _, err := model.Load(model.BuiltIn()[0]); err != nil {
		t.Errorf("the first encoder in the program: %v", err)
	}
}

// TestHelpListsFormats: the help of mine encode lists those of text, that of mine align-docs those that are written.
func TestHelpListsFormats(t *testing.T) {
	words := func(command string) []string {
		return strings.FieldsFunc(must(t, command, "--help"), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	encode, aligned := words("encode"), words("align-docs")
	for _, format := range []corpus.Format{corpus.FormatText, corpus.FormatBUCC, corpus.FormatTSV, corpus.FormatJSONL, corpus.FormatCSV, corpus.FormatJSON,
		corpus.FormatParquet, corpus.FormatPO, corpus.FormatSRT, corpus.FormatVTT, corpus.FormatHTML, corpus.FormatWARC, corpus.FormatEPUB, corpus.FormatMan} {
		if !slices.Contains(encode, string(format)) {
			t.Errorf("mine encode --help lacks %s", format)
		}
	}
	for _, format := range exporting.Formats {
		if !slices.Contains(aligned, format.Name) {
			t.Errorf("mine align-docs --help lacks %s", format.Name)
		}
	}
}
