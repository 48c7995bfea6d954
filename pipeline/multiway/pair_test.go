package multiway

import (
	"fmt"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
)

func TestPairs(t *testing.T) {
	for _, test := range []struct{ langs, pivot, pairs, want string }{
		{langs: "de,en,fr", want: "[de-en de-fr en-fr]"},
		{langs: "deu, eng fra", want: "[de-en de-fr en-fr]"},
		{langs: "de,en,fr", pivot: "en", want: "[de-en fr-en]"},
		{langs: "de,fr", pivot: "en", want: "[de-en fr-en]"},
		{pairs: "de-en,fr-en", want: "[de-en fr-en]"},
		{pairs: "en-zho_Hant,zh-Hant-de", want: "[en-zh-Hant zh-Hant-de]"},
		{pairs: "zh-Hant-en,de-en-GB,de-CA-ca", want: "[zh-Hant-en de-en de-ca]"},

		{langs: "de", want: "names one language"},
		{langs: "de,en,deu", want: "deu stands twice"},
		{langs: "de,nonsense", want: "langs:"},
		{langs: "en", pivot: "en", want: "names no language beside the pivot"},
		{langs: "de,en", pivot: "nonsense", want: "pivot:"},
		{pivot: "en", want: "names no language beside the pivot"},
		{pairs: "de", want: `"de" is no pair`},
		{pairs: "de-xyz1", want: `"de-xyz1" is no pair`},
		{pairs: "en-CA-fr", want: "lang_pairs: en-CA-fr may be en with ca or en with fr; write it without regions"},
		{pairs: "de-de", want: "one language on both sides"},
		{pairs: "de-en,en-de", want: "lang_pairs: en-de stands twice"},
		{pairs: "de-en", langs: "de,en", want: "leave those out"},
	} {
		var cfg config.Config
		cfg.Langs, cfg.Pivot, cfg.LangPairs = test.langs, test.pivot, test.pairs
		pairs, err := Pairs(&cfg)
		got := fmt.Sprint(pairs)
		if err != nil {
			got = err.Error()
			if !badinput.Is(err) {
				t.Errorf("%+v: the error is not of bad input: %v", test, err)
			}
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%+v gives %s", test, got)
		}
	}
}

func TestSettingsOfOnePairAreRefused(t *testing.T) {
	for want, set := range map[string]func(*config.Config){
		"src:":                  func(c *config.Config) { c.Source = "de" },
		"tgt_text:":             func(c *config.Config) { c.TargetText = []string{"x"} },
		"src_format":            func(c *config.Config) { c.TargetFormat = "tsv" },
		"src_emb and tgt_emb:":  func(c *config.Config) { c.TargetEmb = []string{"x"} },
		"gold:":                 func(c *config.Config) { c.Gold = "x" },
		`"de:x" is not`:         func(c *config.Config) { c.LanguageText = []string{"de:x"} },
		`text: nonsense=x:`:     func(c *config.Config) { c.LanguageText = []string{"nonsense=x"} },
		"but the run is of de":  func(c *config.Config) { c.LanguageText = []string{"fr=x"} },
		`text: "de=" is not of`: func(c *config.Config) { c.LanguageText = []string{"de="} },
	} {
		cfg := config.Config{}
		set(&cfg)
		if _, err := Configs(cfg, []Pair{{"de", "en"}}); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// TestTextOfOnePairByLanguage: --text LANGUAGE=FILES names the sides of a run over one pair, too.
func TestTextOfOnePairByLanguage(t *testing.T) {
	of := func(source, target string, text ...string) *config.Config {
		var cfg config.Config
		cfg.Source, cfg.Target, cfg.LanguageText = source, target, text
		return &cfg
	}
	cfg := of("deu", "en", "en=b", "de=a", "en=c")
	if err := Unmix(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(cfg.SourceText, cfg.TargetText, cfg.LanguageText); got != "[a] [b c] []" {
		t.Errorf("the sides are %s", got)
	}
	twice := of("de", "en", "de=a")
	twice.SourceText = []string{"x"}
	for says, cfg := range map[string]*config.Config{"both name text in de": twice, "but the run is of de, en": of("de", "en", "de=a", "fr=b")} {
		if err := Unmix(t.Context(), cfg); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q", err, says)
		}
	}
}
