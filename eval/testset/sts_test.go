package testset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestSTSBehindALink checks that a link to the directory of the sets works like the directory.
func TestSTSBehindALink(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sets", "2016", "turns.test.tsv")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("5\ta\tb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "sets"), link); err != nil {
		t.Fatal(err)
	}
	sets, err := FindSTS(link)
	if err != nil || len(sets) != 1 || sets[0].Year != "2016" || sets[0].Name != "turns" {
		t.Errorf("got %+v, %v", sets, err)
	}
}

// TestSTSOfMTEB reads JSON lines with a language in each, and without.
func TestSTSOfMTEB(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "STS22")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("Ein Artikel. ", 5000)
	for name, lines := range map[string]string{
		"test.jsonl": `{"lang":"de-fr","score":1.5,"sentence1":"` + long + `","sentence2":"Un\tarticle "}` + "\n" +
			`{"lang":"ar","score":null,"sentence1":"a","sentence2":"b"}` + "\n" +
			`{"lang":"ar","score":4,"sentence1":"c","sentence2":"d"}` + "\n",
		"zh-en.jsonl":    `{"id":"1_2","score":2,"sentence1":"e","sentence2":"f"}` + "\n",
		"zh-en.jsonl.gz": "not read, as the file beside it is the same",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sets, err := FindSTS(dir)
	if err != nil || len(sets) != 3 {
		t.Fatalf("%+v, %v", sets, err)
	}
	for i, want := range []struct {
		name, first, second, text string
		score                     float64
		unscored                  int
	}{{"ar", "ar", "ar", "c", 4, 1}, {"de-fr", "de", "fr", strings.TrimSpace(long), 1.5, 0}, {"zh-en", "zh", "en", "e", 2, 0}} {
		got, err := ReadSTS(sets[i])
		if err != nil || got.Year != "STS22" || got.Name != want.name || got.FirstSide.Language != want.first ||
			got.SecondSide.Language != want.second || len(got.Scores) != 1 || got.Scores[0] != want.score ||
			got.FirstSide.Texts[0] != want.text || got.Unscored != want.unscored {
			t.Errorf("%s: %.200v, %v", want.name, got, err)
		}
	}
	for name, c := range map[string]struct{ line, says string }{
		"de.jsonl":   {`{"score":1,"sentence1":"a"}`, "de.jsonl:1: the line has no sentence1 or no sentence2"},
		"fr.jsonl":   {`[1]`, "fr.jsonl:1: the line is not an object"},
		"test.jsonl": {`{"score":1,"sentence1":"a","sentence2":"b"}`, "must be LANG or LANG-LANG"},
	} {
		bad := t.TempDir()
		if err := os.WriteFile(filepath.Join(bad, name), []byte(c.line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sets, err := FindSTS(bad)
		if err == nil {
			_, err = ReadSTS(sets[0])
		}
		if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
