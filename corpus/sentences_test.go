package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

func TestSentences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("one\n\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for s, err := range Sentences(input.File{Path: path}, DefaultOptions()) {
		if err != nil {
			t.Fatal(err)
		}
		if texts = append(texts, s.Text); s.Text == "two" {
			break
		}
	}
	if want := []string{"one", "two"}; !slices.Equal(texts, want) {
		t.Errorf("sentences %q, want %q", texts, want)
	}
	failing := DefaultOptions()
	failing.MaxLineBytes, failing.OnBadLine = 4, FailBadLine
	for name, c := range map[string]struct {
		path      string
		opts      Options
		sentences int // sentences before the error
	}{
		"no file":  {path + "x", DefaultOptions(), 0},
		"bad line": {path, failing, 2},
	} {
		var last error
		n := 0
		for _, err := range Sentences(input.File{Path: c.path}, c.opts) {
			if last != nil {
				t.Errorf("%s: more came after %v", name, last)
			}
			if last = err; err == nil {
				n++
			}
		}
		if !badinput.Is(last) || n != c.sentences {
			t.Errorf("%s: %d sentences, then %v", name, n, last)
		}
	}
}
