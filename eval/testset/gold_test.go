package testset

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// TestCompressedBUCC: a set whose files are compressed, the gold among them, is found and read.
func TestCompressedBUCC(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"de": "d1\tHallo.\nd2\tTschüss.\n", "en": "e1\tBye.\ne2\tHello.\n", "gold": "d1\te2\nd2\te1\n"} {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		if err := os.WriteFile(filepath.Join(dir, "de-en.train."+name+".gz"), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pairs, err := BUCCPairs(dir, "en")
	if want := []LanguagePair{{Source: "de", Target: "en"}}; err != nil || !slices.Equal(pairs, want) {
		t.Fatalf("%v, %v, want %v", pairs, err, want)
	}
	files, err := FindBUCC(dir, pairs[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, _, rows, err := ReadBUCC(files[0], pairs[0]); err != nil || !slices.Equal(rows, [][2]int32{{0, 1}, {1, 0}}) {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestReadGoldRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"one column":    {"a\tb\nc\n", "g:2: not source-id"},
		"three columns": {"a\tb\tc\n", "g:1: not source-id"},
		"an empty line": {"a\tb\n\nc\td\n", "g:2: the line is empty"},
		"nothing":       {"\n", "has no pairs"},
		"a pair twice":  {"a\tb\nc\td\na\tb\n", "g:3: the pair a b occurs twice"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadGold(strings.NewReader(c.text), "g"); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

// TestReadGold: a byte order mark and empty lines at the end are no pairs.
func TestReadGold(t *testing.T) {
	gold, err := ReadGold(strings.NewReader("\ufeffa\tb\r\nc\td\n\n\n"), "g")
	if want := []IDs{{"a", "b"}, {"c", "d"}}; err != nil || !slices.Equal(gold, want) {
		t.Errorf("%v, %v, want %v", gold, err, want)
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
	read := func(gold ...IDs) (*Gold, error) {
		return CheckGold(gold, "x.gold", source, target, [2]corpus.Options{corpus.DefaultOptions(), corpus.DefaultOptions()})
	}
	check := func(gold ...IDs) error {
		_, err := read(gold...)
		return err
	}
	gold, err := read(IDs{"de-2", "en-1"})
	if err != nil {
		t.Fatal(err)
	}
	if !gold.Has(IDs{"de-1", "en-1"}, "Hallo.", "Hello.") || gold.Has(IDs{"de-1", "en-1"}, "Hallo!", "Hello.") || gold.Len() != 1 {
		t.Error("a repeated sentence is not known by its first id, or another sentence is")
	}
	// Pairs of the same texts are one, as mining finds one.
	if gold, err = read(IDs{"de-1", "en-1"}, IDs{"de-2", "en-1"}); err != nil || gold.Len() != 1 || !gold.Has(IDs{"de-1", "en-1"}, "Hallo.", "Hello.") {
		t.Errorf("two pairs of the same texts: %+v, %v", gold, err)
	}
	// Ids of documents stand for all of their sentences.
	source, target = side("docs.de", "a\tHallo.\na\tHallo.\nb\tHallo.\nb\tTschüss.\n"), side("docs.en", "c\tHello.\nd\tHello.\nd\tBye.\n")
	if gold, err = read(IDs{"a", "c"}, IDs{"b", "d"}); err != nil || gold.Len() != 2 || !gold.Has(IDs{"b", "d"}, "Tschüss.", "Bye.") ||
		!gold.Has(IDs{"b", "d"}, "Hallo.", "Hello.") || gold.Has(IDs{"a", "d"}, "Hallo.", "Bye.") {
		t.Errorf("documents: %+v, %v", gold, err)
	}
	for _, missing := range []IDs{{"de-3", "en-1"}, {"de-1", "en-2"}, {"en-1", "de-1"}} {
		if err := check(missing); !badinput.Is(err) || !strings.Contains(err.Error(), "x.gold names ") {
			t.Errorf("%v: error %v", missing, err)
		}
	}
	// A record that cannot be read may have an id that gold names; its pair is then not found.
	source = side("damaged.de", "a\tHallo.\nb\t\xff\n")
	if gold, err = read(IDs{"a", "c"}, IDs{"b", "d"}); err != nil || gold.Len() != 2 || !gold.Has(IDs{"a", "c"}, "Hallo.", "Hello.") {
		t.Errorf("a damaged line: %+v, %v", gold, err)
	}
	if err := check(IDs{"b", "d"}, IDs{"e", "d"}); !badinput.Is(err) || !strings.Contains(err.Error(), `names "e"`) {
		t.Errorf("another id beside a damaged line: %v", err)
	}
	source = side("whole.de", "a\tHallo.\n")
	for len(target) < 2000 { // many files are not all named
		target = append(target, target[0])
	}
	if err := check(IDs{"a", "e"}); err == nil || !strings.Contains(err.Error(), "docs.en and 1997 more files has that id") || strings.Count(err.Error(), "docs.en") != 3 {
		t.Errorf("error %v", err)
	}
}
