package testset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

func TestReadGoldRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"one column":    {"a\tb\nc\n", "g:2: not source-id"},
		"three columns": {"a\tb\tc\n", "g:1: not source-id"},
		"an empty line": {"a\tb\n\n", "g:2: not source-id"},
		"a pair twice":  {"a\tb\nc\td\na\tb\n", "g:3: the pair a b occurs twice"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadGold(strings.NewReader(c.text), "g"); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

func TestCheckGold(t *testing.T) {
	side := func(name, text string) []input.File {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return []input.File{{Path: path}}
	}
	// The second sentence repeats the first, and its id counts all the same.
	source, target := side("x.de", "de-1\tHallo.\nde-2\tHallo.\n"), side("x.en", "en-1\tHello.\n")
	check := func(gold ...IDs) error {
		return CheckGold(gold, "x.gold", source, target, [2]corpus.Options{corpus.DefaultOptions(), corpus.DefaultOptions()})
	}
	if err := check(IDs{"de-1", "en-1"}, IDs{"de-2", "en-1"}); err != nil {
		t.Error(err)
	}
	for _, missing := range []IDs{{"de-3", "en-1"}, {"de-1", "en-2"}, {"en-1", "de-1"}} {
		if err := check(missing); !badinput.Is(err) || !strings.Contains(err.Error(), "x.gold names ") {
			t.Errorf("%v: error %v", missing, err)
		}
	}
}
