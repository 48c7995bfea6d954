package multiway_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/multiway"
)

// fixtureLines are the sentences of the fixtures in a language.
func fixtureLines(t *testing.T, code string) []string {
	t.Helper()
	_, path, _ := strings.Cut(text(t, code)[0], "=")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// mixedText writes the sentences of the fixtures in two languages into one file, in turns, and some of a third.
func mixedText(t *testing.T) string {
	t.Helper()
	var lines strings.Builder
	var sides [3][]string
	for i, code := range []string{"de", "en", "fr"} {
		sides[i] = fixtureLines(t, code)
	}
	for i := range sides[0] {
		for side, code := range []string{"deu_Latn", "en", "fr"} {
			fmt.Fprintf(&lines, `{"id":"%d-%d","l":%q,"text":%q}`+"\n", i, side, code, sides[side][i])
		}
	}
	path := filepath.Join(t.TempDir(), "mixed.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mixedConfig(t *testing.T, file string) pipeline.Config {
	t.Helper()
	cfg := settings(t, []string{"mixed=" + file})
	cfg.Source, cfg.Target = "de", "en"
	cfg.DocColumn = "id"
	return cfg
}

// TestMixedTextIsSortedByARun: by identified language and by a column; what did not change is not sorted again.
func TestMixedTextIsSortedByARun(t *testing.T) {
	file := mixedText(t)
	for _, column := range []string{"", "l"} {
		cfg := mixedConfig(t, file)
		cfg.LangColumn = column
		if err := multiway.Unmix(t.Context(), &cfg); err != nil {
			t.Fatal(err)
		}
		if len(cfg.SourceText) != 1 || len(cfg.TargetText) != 1 || cfg.LanguageText != nil || cfg.DocColumn != "doc" {
			t.Fatalf("%+v", cfg.Input)
		}
		for side, path := range []string{cfg.SourceText[0], cfg.TargetText[0]} {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n, wrong := 0, 0
			for line := range strings.Lines(string(data)) {
				if n++; !strings.Contains(line, fmt.Sprintf(`-%d","url"`, side)) {
					wrong++
				}
			}
			if n < 110 || wrong > 2 || column != "" && (n != 120 || wrong > 0) {
				t.Errorf("%q: %s has %d sentences, %d of another language", column, path, n, wrong)
			}
		}
		before, err := os.Stat(cfg.SourceText[0])
		if err != nil {
			t.Fatal(err)
		}
		again := mixedConfig(t, file)
		again.Out, again.LangColumn = cfg.Out, column
		if err := multiway.Unmix(t.Context(), &again); err != nil {
			t.Fatal(err)
		}
		if after, err := os.Stat(cfg.SourceText[0]); err != nil || !os.SameFile(before, after) || !slices.Equal(again.SourceText, cfg.SourceText) {
			t.Errorf("%q: what did not change was sorted again: %v", column, err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := multiway.Unmix(t.Context(), &pipeline.Config{}); err != nil {
			t.Errorf("without mixed text: %v", err)
		}
		again = mixedConfig(t, file)
		again.Out, again.LangColumn = cfg.Out, column
		if err := multiway.Unmix(t.Context(), &again); err != nil {
			t.Fatal(err)
		}
		if after, err := os.Stat(cfg.SourceText[0]); err != nil || os.SameFile(before, after) {
			t.Errorf("%q: what changed was not sorted again: %v", column, err)
		}
	}
}

// TestSortedPages: what stands on every page of a site is left out from the sixth page on, as when pages are cut.
func TestSortedPages(t *testing.T) {
	dir := t.TempDir()
	var pages []string
	for i, lines := range slices.Collect(slices.Chunk(fixtureLines(t, "en")[:48], 6)) {
		path := filepath.Join(dir, fmt.Sprintf("%d.html", i))
		page := "<!doctype html><html lang=en><body><article><p>" + strings.Join(lines, "</p><p>") + "</p><p>All rights reserved by the company.</p></article></body></html>"
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, path)
	}
	files, err := input.Expand(nil, pages)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	s, err := multiway.Sort(t.Context(), files, out, multiway.Sorting{Languages: []string{"en"}, MinScore: 0.5, In: corpus.DefaultOptions()})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "en.jsonl"))
	if n := strings.Count(string(data), "All rights"); err != nil || n != 5 || s.LeftOut != 3 || s.Rows["en"] != 8 {
		t.Errorf("%d pages have the notice, %d lines are left out of %d pages: %v", n, s.LeftOut, s.Rows["en"], err)
	}
}

func TestMixedTextRefuses(t *testing.T) {
	file := mixedText(t)
	for want, change := range map[string]func(*pipeline.Config){
		"name it with --text mixed=FILES": func(cfg *pipeline.Config) { cfg.LanguageText, cfg.LangColumn = nil, "l" },
		"leave the others out":            func(cfg *pipeline.Config) { cfg.LanguageText = append(cfg.LanguageText, "de="+file) },
		"leave one of them out":           func(cfg *pipeline.Config) { cfg.LangColumn, cfg.LangModel = "l", file },
		"mixed text has no sides":         func(cfg *pipeline.Config) { cfg.DocMeta = "date=datum" },
		"nofile":                          func(cfg *pipeline.Config) { cfg.LanguageText = []string{"mixed=nofile"} },
		"no column":                       func(cfg *pipeline.Config) { cfg.LangColumn = "lang" },
		"fastText":                        func(cfg *pipeline.Config) { cfg.LangModel = file },
	} {
		cfg := mixedConfig(t, file)
		change(&cfg)
		if err := multiway.Unmix(t.Context(), &cfg); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
