package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

func TestGatherLists(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"one word", "run --src-text a --k 4", "run --src-text a --k 4"},
		{"a shell's glob", "run --src-text a b c --tgt-text d e --k 4", "run --src-text a --src-text b --src-text c --tgt-text d --tgt-text e --k 4"},
		{"repeated", "run --src-text a --src-text b", "run --src-text a --src-text b"},
		{"with =", "run --src-text=a b", "run --src-text=a b"},
		{"no word", "run --src-text", "run --src-text"},
		{"then a flag", "run --src-text --k 4", "run --src-text --k 4"},
		{"other flags keep their word", "run --out o x", "run --out o x"},
		{"nothing after --", "run --src-text a -- b", "run --src-text a -- b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gatherLists(strings.Fields(c.in)); !slices.Equal(got, strings.Fields(c.want)) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestSettingsLayers: defaults < --config < environment < flags, and each value knows where it came from.
func TestSettingsLayers(t *testing.T) {
	preset := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(preset, []byte("k: 8\nmargin: distance\nthreshold: 0.1\ncorpora: {de: [a.txt, b.txt]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MINE_MARGIN", "absolute")
	t.Setenv("MINE_THRESHOLD", "0.2")
	t.Setenv("MINE_TGT_TEXT", "x.txt"+string(os.PathListSeparator)+"y z.txt")
	var s settings
	cmd := newRoot()
	s.register(cmd)
	if err := cmd.ParseFlags([]string{"--config", preset, "--threshold", "0.3", "--src-text", "a, b.txt"}); err != nil {
		t.Fatal(err)
	}
	cfg, origins, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Retrieval != "max" || cfg.K != 8 || cfg.Margin != "absolute" || cfg.Threshold != 0.3 ||
		!slices.Equal(cfg.TargetText, []string{"x.txt", "y z.txt"}) || !slices.Equal(cfg.SourceText, []string{"a, b.txt"}) ||
		!slices.Equal(cfg.Corpora["de"], []string{"a.txt", "b.txt"}) || cfg.Corpora["en"] == nil {
		t.Errorf("settings %+v", cfg)
	}
	want := map[string]string{
		"retrieval": "default", "k": "config " + preset, "margin": "environment MINE_MARGIN", "threshold": "flag --threshold",
	}
	for _, o := range origins {
		if w, ok := want[o.key]; ok && w != o.origin {
			t.Errorf("%s comes from %s, want %s", o.key, o.origin, w)
		}
	}
}

// TestWrongValues: every value that does not fit is told with the place where it stands, none is bent until it fits.
func TestWrongValues(t *testing.T) {
	for _, c := range []struct{ name, yaml, env, want string }{
		{"a word for a number", "k: four", "", `config FILE: k is "four" but must be a whole number`},
		{"several at once", "threads: [1]\nk: four\nkk: 1", "", `config FILE: k is "four" but must be a whole number; setting "kk" is not known, ` + "`mine config` lists the settings; threads is [1] but must be a whole number"},
		{"a fraction for a whole number", "k: 4.7", "", "config FILE: k is 4.7 but must be a whole number"},
		{"a list for a number", "threads: [1]", "", "config FILE: threads is [1] but must be a whole number"},
		{"not a number", "threshold: .nan", "", "config FILE: threshold is NaN but must be a number"},
		{"a word for a switch", "keep_below: maybe", "", `config FILE: keep_below is "maybe" but must be true or false`},
		{"a number for a switch", "keep_below: 1", "", "config FILE: keep_below is 1 but must be true or false"},
		{"a list for a text", "out: [a]", "", `config FILE: out is ["a"] but must be a text`},
		{"a map for a list", "src_text: {a: b}", "", `config FILE: src_text is {"a":"b"} but must be a list of texts`},
		{"a word for the corpora", "corpora: all", "", `config FILE: corpora is "all" but must be lists of texts by name`},
		{"a list for the corpora", "corpora: [a]", "", `config FILE: corpora is ["a"] but must be lists of texts by name`},
		{"a language no one knows", "corpora: {qq: a}", "", `config FILE: corpora: language "qq": not a known code; use ISO 639-1, ISO 639-3 or FLORES, such as de, deu or deu_Latn`},
		{"a language under two codes", "corpora: {deu: a, de: b}", "", "config FILE: corpora: de and deu are the same language; list its files once"},
		{"the environment", "", "MINE_K=abc", `environment: MINE_K is "abc" but must be a whole number`},
		{"the environment's corpora", "", "MINE_CORPORA=a", `environment: MINE_CORPORA is "a" but must be lists of texts by name`},
		{"no YAML", "k: : 4", "", "config FILE is not YAML: While parsing config: yaml: mapping values are not allowed in this context"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "mine.yaml")
			if err := os.WriteFile(file, []byte(c.yaml), 0o600); err != nil {
				t.Fatal(err)
			}
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			_, _, err := mergeLayers([]string{file}, newRun().Flags(), allSettings)
			if want := strings.ReplaceAll(c.want, "FILE", file); err == nil || err.Error() != want || !badinput.Is(err) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// TestValuesThatFit: other spellings of a value, an empty one, and corpora under any code of their language.
func TestValuesThatFit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	text := "k: \"8\"\nmargin:\nmax_memory: 4000000\nthreshold: 1\ncorpora: {deu: a.txt, zho_Hant: [b.txt]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MINE_KEEP_BELOW", "true")
	cfg, _, err := mergeLayers([]string{file}, newRun().Flags(), allSettings)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.K != 8 || cfg.Margin != "ratio" || cfg.MaxMemory != "4000000" || cfg.Threshold != 1 || !cfg.KeepBelow ||
		!slices.Equal(cfg.Corpora["de"], []string{"a.txt"}) || !slices.Equal(cfg.Corpora["zh-Hant"], []string{"b.txt"}) {
		t.Errorf("settings %+v", cfg)
	}
}

func TestRefusedCallsExitWithTwo(t *testing.T) {
	preset := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(preset, []byte("thresold: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"walk"},
		{"run", "--bogus"},
		{"run", "--k", "four"},
		{"run", "--src", "de", "--tgt", "en", "--threshold", "nan"},
		{"run", "--src", "de", "--tgt", "en", "--threshold", "-inf"},
		{"run", "--src", "de", "--tgt", "en", "--precision", "nan"},
		{"calibrate", "--src", "de", "--tgt", "en", "--for-precision", "nan"},
		{"run", "stray"},
		{"run"},
		{"run", "--config", "nowhere"},
		{"run", "--config", preset, "--src", "de", "--tgt", "en"},
		{"run", "--src", "de", "--tgt", "en", "--gold", "nowhere"},
		{"config", "stray"},
		{"train"},
		{"train", "--config", "nowhere.yaml", "--out", "trained"},
		{"round", "--train", "nowhere.yaml"},
	} {
		if code := execute(t.Context(), args); code != exitPermanent {
			t.Errorf("mine %s: exit code %d, want %d", strings.Join(args, " "), code, exitPermanent)
		}
	}
}

// TestRefusedBeforeAnyWork: what a run could not search or encode with is told before it makes its output directory.
func TestRefusedBeforeAnyWork(t *testing.T) {
	noLibrary := filepath.Join(t.TempDir(), "libonnxruntime.so")
	if err := os.WriteFile(noLibrary, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no such backend":         {[]string{"--search", "annoy"}, "annoy"},
		"no such index":           {[]string{"--search", "faiss:Blah"}, "Blah"},
		"codes that do not fit":   {[]string{"--search", "faiss:IVF8,PQ7np"}, "512 dimensions"},
		"a GPU that is not there": {[]string{"--search", "faiss-gpu:Flat"}, "GPU"},
		"nprobe of exact":         {[]string{"--nprobe", "4"}, "nprobe"},
		"nprobe of a graph":       {[]string{"--search", "faiss:HNSW8,Flat", "--nprobe", "4"}, "nprobe"},
		"negative ef_search":      {[]string{"--search", "faiss:HNSW8,Flat", "--ef-search", "-4"}, "ef_search"},
		"no such library":         {[]string{"--onnxruntime", "nowhere.so"}, "nowhere.so"},
		"no library":              {[]string{"--onnxruntime", noLibrary}, noLibrary},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range []string{"run", "plan"} {
				out := filepath.Join(t.TempDir(), "mined")
				root := newRoot()
				root.SetArgs(append([]string{command, "--src", "de", "--tgt", "en", "--out", out}, c.args...))
				err := root.ExecuteContext(t.Context())
				if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("mine %s: error %v; want one badinput sentence that says %q", command, err, c.says)
				}
				if _, err := os.Stat(out); err == nil {
					t.Errorf("mine %s has made the output directory", command)
				}
			}
		})
	}
}

// TestTooFewSentences: lists of k neighbours need k sentences on either side.
func TestTooFewSentences(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"three": "Ein Satz.\nNoch einer.\nDer dritte.\n", "again": "Der dritte.\nEin Satz.\n", "none": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		files []string
		want  int
	}{
		"three lines":           {[]string{"three"}, exitPermanent},
		"three, and some again": {[]string{"three", "again"}, exitPermanent},
		"three, and lower k":    {[]string{"three", "--k", "3", "--scorer=none"}, exitDone},
		"no line":               {[]string{"none"}, exitPermanent},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"run", "--src", "de", "--tgt", "en", "--tgt-text", "fixtures:text/en.txt", "--out", filepath.Join(t.TempDir(), "mined")}
			for _, f := range c.files {
				if strings.HasPrefix(f, "--") || f == "3" {
					args = append(args, f)
					continue
				}
				args = append(args, "--src-text", filepath.Join(dir, f))
			}
			if code := execute(t.Context(), args); code != c.want {
				t.Errorf("exit code %d, want %d", code, c.want)
			}
		})
	}
}

// TestRunOnFixtures is what a new user types first, but for the output directory.
func TestRunOnFixtures(t *testing.T) {
	t.Chdir(t.TempDir())
	root, out := newRoot(), &bytes.Buffer{}
	root.SetOut(out)
	root.SetArgs([]string{"run", "--src", "de", "--tgt", "en", "--gold", "fixtures:text/de-en.gold", "--out", "mined"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"de sentences", "pairs kept of", "encode", "peak memory", "mined/de-en.parquet", "mined/run.json", "precision"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the summary does not show %q:\n%s", part, out)
		}
	}
	data, err := os.ReadFile("mined/run.json")
	if err != nil {
		t.Fatal(err)
	}
	var report record.Report
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	if report.Counts.Kept < 150 || len(report.Samples) != 5 || report.Counts.SourceIn < 600 {
		t.Errorf("counts %+v, %d samples", report.Counts, len(report.Samples))
	}
}

// TestHelp: every command and flag says what it is for, and no help text's backticks are taken for the name of a flag's
// value.
func TestHelp(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" {
			t.Errorf("%s has no short help", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if value, usage := pflag.UnquoteUsage(f); strings.ContainsAny(value, " `") || usage == "" {
				t.Errorf("%s --%s: the value is called %q, the help is %q", cmd.CommandPath(), f.Name, value, usage)
			}
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot())
}
