package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/cmd/mine/run"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
)

// TestFlagsAreTheDeclaredSettings: a command that takes a run's settings has the declared flags, with their help and
// defaults, and no others but its own.
func TestFlagsAreTheDeclaredSettings(t *testing.T) {
	known := map[string]setting.Declared{}
	for _, s := range flags.All {
		if s.Flag != "" {
			known[s.Flag] = s
		}
	}
	if len(known) < 30 {
		t.Fatalf("only %d settings have a flag", len(known))
	}
	own := map[string]string{
		"run": "config nightly engine-dry-run", "plan": "config nightly json simulate", "doctor": "config nightly " +
			"json", "config": "config nightly",
	}
	for _, cmd := range []*cobra.Command{run.NewRun(), run.NewPlan(), run.NewDoctor(), run.NewConfig()} {
		missing := maps.Clone(known)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			s, ok := known[f.Name]
			switch {
			case !ok && !slices.Contains(strings.Fields(own[cmd.Name()]), f.Name):
				t.Errorf("mine %s --%s is no declared setting", cmd.Name(), f.Name)
			case ok && (!strings.HasPrefix(f.Usage, s.Doc) || fmt.Sprint(s.Default) != f.DefValue):
				t.Errorf("mine %s --%s: help %q, default %s; configs/default.yaml has %q, %v", cmd.Name(), f.Name, f.Usage,
					f.DefValue, s.Doc, s.Default)
			}
			delete(missing, f.Name)
		})
		if len(missing) > 0 {
			t.Errorf("mine %s has no flags %v", cmd.Name(), slices.Sorted(maps.Keys(missing)))
		}
	}
}

// TestSharedFlagsAreDeclaredOnce: a flag that is called like a setting of the encoder, the search or the machine is
// that setting in every command.
func TestSharedFlagsAreDeclaredOnce(t *testing.T) {
	help := map[string]string{}
	for _, s := range slices.Concat(setting.List[setting.Encoding](), setting.List[setting.Searching](),
		setting.List[setting.Resources]()) {
		help[s.Flag] = s.Doc
	}
	delete(help, "")
	found := 0
	for _, cmd := range newRoot().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			doc, ok := help[f.Name]
			if f.Name == "device" && (cmd.Name() == "train" || cmd.Name() == "round") {
				return // it is of the training there
			}
			if f.Name == "encoder" && cmd.Name() == "align" {
				return // it counts beside the model of words there, and there is none by default
			}
			if ok && !strings.HasPrefix(f.Usage, doc) {
				t.Errorf("mine %s --%s: help %q, configs/default.yaml has %q", cmd.Name(), f.Name, f.Usage, doc)
			}
			if ok {
				found++
			}
		})
	}
	if found < 40 {
		t.Errorf("only %d flags of %v were found", found, slices.Sorted(maps.Keys(help)))
	}
}

// TestHelpShowsDefaults: also those that are 0.
func TestHelpShowsDefaults(t *testing.T) {
	help := must(t, "run", "--help-all")
	for _, want := range []string{"(default 4)", "(default ratio)", "every core (default 0)", "(default -1)",
		"(default mined)"} {
		if !strings.Contains(help, want) {
			t.Errorf("mine run --help does not show %s", want)
		}
	}
}

// TestPrecisionIsAFraction: 95 is refused with a sentence that says what 95 percent is.
func TestPrecisionIsAFraction(t *testing.T) {
	_, err := command(t, "calibrate", "--src", "de", "--tgt", "en", "--for-precision", "95")
	if want := "mine calibrate: --for-precision 95 must be from 0 to 1; 95 percent is 0.95"; err == nil ||
		err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestShownSettingsAreThoseOfARun: what shows settings says of wrong ones what a run says, and takes those of many
// pairs or without languages.
func TestShownSettingsAreThoseOfARun(t *testing.T) {
	t.Chdir(t.TempDir())
	for i, wrong := range [][]string{
		{"--engine", "kubernetes"}, {"--k", "0"}, {"--k", "-1"}, {"--k", "1000"}, {"--margin", "none"}, {"--tgt", "de"}, {"--threads", "-1"}, {"--search", "exat"}, {"--search", "ivf:0"},
		{"--encoder", "nosuch"}, {"--scorer", "nosuch"}, {"--refine", "nosuch"}, {"--judge", "nosuch"}, {"--gold", "nosuch"}, {"--onnxruntime", "nosuch"},
		{"--engine", "command", "--command", "nosuch {}"}, {"--max-memory", "4"}, {"--lang-column", "x"},
		{"--src-text", "x", "--text", "de=x"}, {"--text", "fr=x"},
		{"--work", "s3:/x"}, {"--out", "s3:x"}, {"--nightly", "--metrics", "x"},
	} {
		args := append([]string{"--src", "de", "--tgt", "en", "--out", filepath.Join(t.TempDir(), "mined")}, wrong...)
		_, want := command(t, append([]string{"run"}, args...)...)
		if out, err := command(t, append([]string{"config"}, args...)...); !badinput.Is(err) || err.Error() != want.Error() || !strings.Contains(out, "margin") {
			t.Errorf("mine config %v: error %v, of a run %v; output %s", wrong, err, want, out)
		}
		if i > 1 {
			continue // mine doctor takes its time
		}
		if out, err := command(t, append([]string{"doctor"}, args...)...); !badinput.Is(err) || !strings.Contains(out, want.Error()) {
			t.Errorf("mine doctor %v: error %v, output %s; of a run %v", wrong, err, out, want)
		}
	}
	must(t, "doctor")
	for _, args := range [][]string{
		{}, {"--src", "de", "--tgt", "en"}, {"--langs", "de,en,fr"}, {"--nightly"}, {"--text", "de=x"}, {"--langs", "de,en", "--text", "mixed=x"},
		{"--src", "de", "--tgt", "en", "--text", "mixed=x"}, {"--max-memory", "1GiB"}, {"--engine", "command", "--command", "env {}"},
	} {
		must(t, append([]string{"config"}, args...)...)
	}
}

// TestTheSampleIsNamed: whoever names no text is told that the program's sample is mined, and no threshold of it is
// written into a config.
func TestTheSampleIsNamed(t *testing.T) {
	dir := t.TempDir()
	for _, gold := range []string{"", "fixtures:text/de-en.gold"} {
		code, _, log := captured(t, "run", "--src", "de", "--tgt", "en", "--out", filepath.Join(dir, "mined"), "--gold", gold)
		if code != 0 || strings.Contains(log, "so the program's sample is mined: name yours") != (gold == "") {
			t.Errorf("gold %q: exit code %d, log %s", gold, code, log)
		}
	}
	config := writerInto(t, dir)("nightly.yaml", "k: 4\n")
	_, err := command(t, "calibrate", "--src", "de", "--tgt", "en", "--config", config, "--write", config, "--out", filepath.Join(dir, "mined"))
	if data, _ := os.ReadFile(config); !badinput.Is(err) || !strings.Contains(err.Error(), "of the program's sample: name yours") || string(data) != "k: 4\n" {
		t.Errorf("error %v, config %s", err, data)
	}
}

// TestSearchSettingsReachEveryCommand: each refuses nprobe with an exact search, as a run does, so each has read it.
func TestSearchSettingsReachEveryCommand(t *testing.T) {
	dir := t.TempDir()
	known, side := filepath.Join(dir, "known.tsv"), filepath.Join(dir, "side.txt")
	for path, text := range map[string]string{known: "Ein Satz.\tA sentence.\n", side: "Ein Satz.\nNoch einer.\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"run", "--out", filepath.Join(dir, "mined")},
		{"calibrate", "--pairs", known},
		{"score", "--src-text", side, "--tgt-text", side},
		{"eval", "retrieval", "--src-text", side, "--tgt-text", side},
	} {
		args = append(args, "--src", "de", "--tgt", "en")
		for _, flag := range []string{"--nprobe", "--ef-search"} {
			_, err := command(t, append(args, flag, "4")...)
			if !badinput.Is(err) || !strings.Contains(err.Error(), "nprobe and ef_search") {
				t.Errorf("mine %s %s 4: error %v", strings.Join(args, " "), flag, err)
			}
		}
	}
}

// TestScoreReadsCorporaBySettings: a corpus in JSONL with another column than text is read by its flag; without
// the flag the error names it.
func TestScoreReadsCorporaBySettings(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	args := []string{
		"score", "--src", "de", "--tgt", "en", "--k", "2", "--src-text", write("a.de", "Ein Hund.\nEin Baum.\n"),
		"--tgt-text", write("a.en", "A dog.\nA tree.\n"), "--src-corpus", write("more.jsonl", `{"body":"Ein Haus."}`+"\n"),
	}
	if _, err := command(t, args...); !badinput.Is(err) ||
		!strings.Contains(err.Error(), `its columns are ["body"]; name one of them with --text-column`) {
		t.Errorf("error %v", err)
	}
	if out := must(t, append(args, "--src-text-column", "body")...); strings.Count(out, "\n") != 2 {
		t.Errorf("output %q", out)
	}
	if _, err := command(t, append(args, "--src-format", "xls")...); !badinput.Is(err) ||
		!strings.Contains(err.Error(), "xls") {
		t.Errorf("error %v", err)
	}
}

func TestVersion(t *testing.T) {
	if out := must(t, "version"); !strings.HasPrefix(out, "mine "+program.Version) || strings.Count(out, "\n") != 1 {
		t.Errorf("mine version prints %q", out)
	}
}

// TestSlurmOptionsNameEveryStage: the comment above the setting lists the stages that it may name.
func TestSlurmOptionsNameEveryStage(t *testing.T) {
	for _, s := range flags.All {
		if s.Key != "slurm_options" {
			continue
		}
		for _, d := range stage.All() {
			if !strings.Contains(s.Doc, d.Name) {
				t.Errorf("the comment %q lacks %s", s.Doc, d.Name)
			}
		}
		return
	}
	t.Error("there is no slurm_options")
}
