package exchange

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

const catalogue = "# head\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n#: a.c:1\nmsgid \"Open \"\n\"file\"\nmsgstr \"Datei öffnen\"\n\n" +
	"#, fuzzy\nmsgid \"Close\"\nmsgstr \"Öffnen\"\n\nmsgid \"Untranslated\"\nmsgstr \"\"\n\nmsgctxt \"menu\"\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"%d Datei\"\nmsgstr[1] \"%d Dateien\"\n"

func poPairs(t *testing.T, content string) (pairs []Pair, reasons []corpus.Reason, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "de.po")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(input.File{Path: path}, FormatOf(path), DefaultOptions())
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return pairs, reasons, nil
		}
		if err != nil {
			return nil, nil, err
		}
		pairs, reasons = append(pairs, rec.Pair), append(reasons, rec.Reason)
	}
}

// TestCatalogueIsBitext: originals with their translations; fuzzy and empty ones are none.
func TestCatalogueIsBitext(t *testing.T) {
	pairs, left, err := poPairs(t, catalogue)
	if !slices.Equal(left, []corpus.Reason{"", Untranslated, Untranslated, ""}) {
		t.Errorf("%q", left)
	}
	if err != nil || !slices.Equal(pairs, []Pair{{"Open file", "Datei öffnen"}, {}, {}, {"%d file", "%d Datei"}}) {
		t.Errorf("%q %v", pairs, err)
	}
	tabs := strings.NewReplacer("msgid ", "msgid\t", "msgstr ", "msgstr", "msgctxt ", "msgctxt\t", "msgstr[0] ", "msgstr[0]\t").Replace(catalogue)
	if got, _, err := poPairs(t, strings.ReplaceAll(tabs, "\n\n", "\n")); err != nil || !slices.Equal(got, pairs) {
		t.Errorf("without blanks behind keywords: %q %v", got, err)
	}
	if _, reasons, err := poPairs(t, catalogue+"\nmsgid \"a\"\nmsgstr broken\n"); err != nil || reasons[len(reasons)-1] != corpus.ReasonMalformed {
		t.Errorf("%v %v", reasons, err)
	}
	for text, want := range map[string]corpus.Reason{"\xe4": corpus.ReasonNotUTF8, `\xe4`: corpus.ReasonNotUTF8, "\ufffd": ""} {
		if _, reasons, err := poPairs(t, catalogue+"\nmsgid \"a\"\nmsgstr \""+text+"\"\n"); err != nil || reasons[len(reasons)-1] != want {
			t.Errorf("%q: %v %v", text, reasons, err)
		}
	}
	long := strings.Repeat("\""+strings.Repeat("x", 1000)+"\"\n", MaxLineBytes/1000+1) // of lines that are none too long
	if _, reasons, err := poPairs(t, catalogue+"\nmsgid \"a\"\nmsgstr \"\"\n"+long); err != nil || reasons[len(reasons)-1] != corpus.ReasonTooLong {
		t.Errorf("%v %v", reasons, err)
	}
	if _, _, err := poPairs(t, "# nothing\n"); !badinput.Is(err) || !strings.Contains(err.Error(), "no message") {
		t.Errorf("no message: %v", err)
	}
	path := filepath.Join(t.TempDir(), "x.po")
	if err := os.WriteFile(path, []byte(catalogue), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(input.File{Path: path}, PO, DefaultOptions()); !badinput.Is(err) || !strings.Contains(err.Error(), "mine export") {
		t.Errorf("a catalogue to score: %v", err)
	}
}
