package flags

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// runFlags are the flags of a command that takes every setting.
func runFlags() *pflag.FlagSet {
	var s Settings
	cmd := &cobra.Command{}
	s.Register(cmd)
	return cmd.Flags()
}

// TestSettingsLayers: defaults < --config < environment < flags, and each value knows where it came from.
func TestSettingsLayers(t *testing.T) {
	preset := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(preset, []byte("k: 8\nmargin: distance\nthreshold: 0.1\ncorpora: {de: [a.txt, b.txt]}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MINE_MARGIN", "absolute")
	t.Setenv("MINE_THRESHOLD", "0.2")
	t.Setenv("MINE_TGT_TEXT", "x.txt"+string(os.PathListSeparator)+"y z.txt")
	var s Settings
	cmd := &cobra.Command{}
	s.Register(cmd)
	if err := cmd.ParseFlags([]string{"--config", preset, "--threshold", "0.3", "--src-text", "a, b.txt"}); err != nil {
		t.Fatal(err)
	}
	cfg, origins, err := s.Load()
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
		if w, ok := want[o.Key]; ok && w != o.Origin {
			t.Errorf("%s comes from %s, want %s", o.Key, o.Origin, w)
		}
	}
}

// TestSample: it is mined where nobody names a text, nor the sample itself or its known pairs.
func TestSample(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args, preset string
		want         bool
	}{
		"no text":               {args: "--src deu --tgt en", want: true},
		"many languages":        {args: "--langs de,en", want: true},
		"another config":        {args: "--src de --tgt en", preset: "k: 4\n", want: true},
		"a language without it": {args: "--src de --tgt fr"},
		"no language":           {},
		"a night":               {args: "--src de --tgt en --nightly"},
		"its known pairs":       {args: "--src de --tgt en --gold fixtures:text/de-en.gold"},
		"the sample by name":    {args: "--src de --tgt en --src-text fixtures:text/de.txt --tgt-text fixtures:text/en.txt"},
		"the sample by config":  {args: "--src de --tgt en", preset: "corpora: {de: ['fixtures:text/de.txt'], en: ['fixtures:text/en.txt']}\n"},
		"text of many":          {args: "--langs de,en --text de=a --text en=b"},
		"text of both":          {args: "--src de --tgt en --src-text a --tgt-text b"},
	} {
		var s Settings
		cmd := &cobra.Command{}
		s.Register(cmd)
		args := strings.Fields(c.args)
		if c.preset != "" {
			path := filepath.Join(dir, "mine.yaml")
			if err := os.WriteFile(path, []byte(c.preset), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--config", path)
		}
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Load(); err != nil || s.Sample() != c.want {
			t.Errorf("%s: %v, %v", name, s.Sample(), err)
		}
	}
}

// TestOneConfig: a second one would hide the first.
func TestOneConfig(t *testing.T) {
	flags := runFlags()
	if err := flags.Parse([]string{"--config", "a.yaml"}); err != nil {
		t.Fatal(err)
	}
	if err := flags.Parse([]string{"--config", "b.yaml"}); err == nil || !strings.Contains(err.Error(), "it takes one file") {
		t.Errorf("error %v", err)
	}
}

// TestPodKeepsItsKeys: those of a mapping for Kubernetes are not in lower case.
func TestPodKeepsItsKeys(t *testing.T) {
	for text, want := range map[string]string{
		"kubernetes_pod: {nodeSelector: {Disk: SSD}}": `{"nodeSelector":{"Disk":"SSD"}}`,
		"kubernetes_pod: Pod.yaml":                    "Pod.yaml",
	} {
		file := filepath.Join(t.TempDir(), "mine.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := mergeLayers([]string{file}, runFlags(), All)
		if err != nil || cfg.KubernetesPod != want {
			t.Errorf("%s: %q, error %v", text, cfg.KubernetesPod, err)
		}
	}
}

// TestWrongValues: every value that does not fit is told with the place where it stands, none is bent until it fits.
func TestWrongValues(t *testing.T) {
	for _, c := range []struct{ name, yaml, env, want string }{
		{"a word for a number", "k: four", "", `config FILE: k is "four" but must be a whole number`},
		{"several at once", "threads: [1]\nk: four\nkk: 1", "",
			`config FILE: k is "four" but must be a whole number; setting "kk" is not known ` +
				`(is k meant?); threads is [1] but must be a whole number`},
		{"a fraction for a whole number", "k: 4.7", "", "config FILE: k is 4.7 but must be a whole number"},
		{"a list for a number", "threads: [1]", "", "config FILE: threads is [1] but must be a whole number"},
		{"not a number", "threshold: .nan", "", "config FILE: threshold is NaN but must be a number"},
		{"a word for a switch", "keep_below: maybe", "", `config FILE: keep_below is "maybe" but must be true or false`},
		{"a number for a switch", "keep_below: 1", "", "config FILE: keep_below is 1 but must be true or false"},
		{"a list for a text", "out: [a]", "", `config FILE: out is ["a"] but must be a text`},
		{"a map for a list", "src_text: {a: b}", "", `config FILE: src_text is {"a":"b"} but must be a list of texts`},
		{"keys without a value", "tresh: {}\nrules:\nkk: {a: {}}\nmargin:", "", `config FILE: setting "kk" is not known (is k meant?); ` +
			"setting \"rules\" is not known, `mine config` lists the settings; setting \"tresh\" is not known (is text meant?)"},
		{"an empty map for a text", "max_memory: {}", "", `config FILE: max_memory is {} but must be a text`},
		{"a word for the corpora", "corpora: all", "", `config FILE: corpora is "all" but must be lists of texts by name`},
		{"a list for the corpora", "corpora: [a]", "", `config FILE: corpora is ["a"] but must be lists of texts by name`},
		{"a language no one knows", "corpora: {qq: " +
			"a}", "", `config FILE: corpora: language "qq": not a known code; ` +
			`use ISO 639-1, ISO 639-3 or FLORES, such as de, deu or deu_Latn`},
		{"a language under two codes", "corpora: {deu: a, de: b}", "",
			"config FILE: corpora: de and deu are the same language; list its files once"},
		{"the environment", "", "MINE_K=abc", `environment: MINE_K is "abc" but must be a whole number`},
		{"the environment's corpora", "", "MINE_CORPORA=a",
			`environment: MINE_CORPORA is "a" but must be lists of texts by name`},
		{"no colon", "# mine\nk: 4\nthreshold 0.5\n", "", `config FILE is not YAML: line 3 is "threshold 0.5"; write NAME: VALUE`},
		{"no colon and no other line", "threshold 0.5", "", `config FILE is not YAML: line 1 is "threshold 0.5"; write NAME: VALUE`},
		{"no colon before the error", "threshold = 0.5\nk: 4\n", "", `config FILE is not YAML: line 1 is "threshold = 0.5"; write NAME: VALUE`},
		{"no blank", "src:de\ntgt: en\n", "", `config FILE is not YAML: line 1 is "src:de"; write NAME: VALUE`},
		{"no YAML", "k: : 4", "",
			"config FILE is not YAML: While parsing config: yaml: mapping values are not allowed in this context"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "mine.yaml")
			if err := os.WriteFile(file, []byte(c.yaml), 0o600); err != nil {
				t.Fatal(err)
			}
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			_, _, err := mergeLayers([]string{file}, runFlags(), All)
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
	cfg, _, err := mergeLayers([]string{file}, runFlags(), All)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.K != 8 || cfg.Margin != "ratio" || cfg.MaxMemory != "4000000" || cfg.Threshold != 1 || !cfg.KeepBelow ||
		!slices.Equal(cfg.Corpora["de"], []string{"a.txt"}) || !slices.Equal(cfg.Corpora["zh-Hant"], []string{"b.txt"}) {
		t.Errorf("settings %+v", cfg)
	}
}

// TestDefaultsOfReaders: commands that read text without settings read it as a run does.
func TestDefaultsOfReaders(t *testing.T) {
	cfg, _, err := mergeLayers(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cfg.CorpusOptions(), corpus.DefaultOptions(); got[0] != want || got[1] != want {
		t.Errorf("configs/default.yaml %+v, corpus.DefaultOptions %+v", got, want)
	}
}
