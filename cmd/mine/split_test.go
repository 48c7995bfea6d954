package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"
)

// TestSort divides mixed text by CLD2, by a model of fastText and by a column, by document and by sentence.
func TestSort(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	const german, english, french = "Die Straßenbahn fährt heute später als sonst ab.", "The tram leaves a little later than usual today.",
		"Le tramway part un peu plus tard que d'habitude aujourd'hui."
	mixed := write("mixed.txt", german+"\n"+english+"\n"+french+"\n\xff\n")
	page := write("page.jsonl", fmt.Sprintf(`{"id":"a","l":["deu_Latn"],"text":%q}`, german+" "+english+" Ja.")+"\n")
	texts := func(name, code string) (all []string) {
		data, err := os.ReadFile(filepath.Join(dir, name, code+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var row struct{ Text, Doc, File string }
			if err := json.Unmarshal([]byte(line), &row); err != nil || row.File == "" {
				t.Errorf("%q: %v", line, err)
			}
			all = append(all, row.Text)
		}
		return all
	}
	sorted := func(name string, args ...string) string {
		out := must(t, append([]string{"sort", "--langs", "de,en", "--out", filepath.Join(dir, name)}, args...)...)
		return fmt.Sprintf("%d %q %q %q", strings.Count(out, "left out: not_utf8"), texts(name, "de"), texts(name, "en"), texts(name, "other"))
	}
	lists := func(n int, sides ...[]string) string {
		return fmt.Sprintf("%d %q %q %q", n, sides[0], sides[1], sides[2])
	}
	whole := german + " " + english + " Ja."
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"by CLD2":     {[]string{mixed}, lists(1, []string{german}, []string{english}, []string{french})},
		"by a column": {[]string{page, "--lang-column", "l"}, lists(0, []string{whole}, nil, nil)},
		"by sentence": {[]string{page, "--by", "sentence"}, lists(0, []string{german, "Ja."}, []string{english}, nil)},
		"by a model": {[]string{mixed, "--min-score", "0", "--model", "../../filter/language/testdata/tiny.bin"},
			lists(1, []string{german}, []string{english, french}, nil)},
	} {
		if got := sorted(name, c.args...); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	// CLD2 doubts the whole, which has words that other Slavic languages have, too, but not its sentences.
	doubted := "У берегов Занзибара паром сел на мель, все 212 человек спасены. «Раздался грохот, будто мчится поезд, " +
		"а потом рухнул весь склон», — рассказала учительница Лалита Гхимире. Её школу накрыло оползнем."
	must(t, "sort", write("doubted.txt", doubted+"\n"), "--langs", "ru", "--out", filepath.Join(dir, "doubted"))
	if got := texts("doubted", "ru"); len(got) != 1 || got[0] != doubted {
		t.Errorf("of a text whose sentences are Russian: %q", got)
	}
	for _, args := range [][]string{
		{"sort"}, {"sort", mixed, "--out", dir}, {"sort", mixed, "--langs", "de"}, {"sort", mixed, "--langs", "xx-yy", "--out", dir},
		{"sort", mixed, "--langs", "de", "--out", dir, "--by", "word"}, {"sort", mixed, "--langs", "de", "--out", dir, "--model", mixed},
		{"sort", mixed, "--langs", "de", "--out", dir, "--model", mixed, "--lang-column", "l"},
		{"sort", mixed, "--langs", "de", "--out", dir, "--min-score", "7"}, {"sort", page, "--langs", "de", "--out", dir, "--doc-meta", "score"},
	} {
		if _, err := command(t, args...); !badinput.Is(err) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
}

// TestSortWritesMetadata: what a page says of itself goes along, for mine run --doc-meta.
func TestSortWritesMetadata(t *testing.T) {
	dir := t.TempDir()
	page := writerInto(t, dir)("a.html", `<!DOCTYPE html><html lang="en"><head><meta name="robots" content="noai"><link rel="alternate" hreflang="de" href="https://example.org/de">`+
		`</head><body><article><p>The tram leaves a little later than usual today.</p></article></body></html>`)
	must(t, "sort", page, "--langs", "en", "--out", dir, "--doc-meta", "alternates,noai")
	data, err := os.ReadFile(filepath.Join(dir, "en.jsonl"))
	if err != nil || !strings.Contains(string(data), `"alternates":"example.org/de"`) || !strings.Contains(string(data), `"noai":"noai"`) {
		t.Errorf("%s %v", data, err)
	}
}

// TestSplitSetsAside: a line that is not UTF-8 ends its paragraph and is warned of; files without text are counted.
func TestSplitSetsAside(t *testing.T) {
	write := writerInto(t, t.TempDir())
	wrapped := write("wrapped.txt", "Die Stra\xdfenbahn f\xe4hrt heute\nsehr\nsp\xe4ter, weil die Br\xfccke gepr\xfcft wird.\nals sonst.\n")
	args := []string{"split", "--lang", "de", "--wrapped"}
	code, out, said := captured(t, append(args, wrapped, write("empty.txt", ""), write("blank.jsonl", "{\"text\":\"\"}\n"), write("records.jsonl", "{\"text\":\"Ja.\"}\n{\"text\":\"\"}\n"))...)
	if code != exitDone || out != "Ja.\n\nsehr\nals sonst.\n\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
	for _, want := range []string{"2 of 4 lines of " + wrapped, "windows-1252", "2 records (not_utf8; " + wrapped + ":1: ", "1 records (empty)", "2 files (no text)"} {
		if !strings.Contains(said, want) {
			t.Errorf("standard error has no %q: %s", want, said)
		}
	}
	if _, err := command(t, append(args, write("alone.txt", ""))...); !badinput.Is(err) {
		t.Errorf("of a file without text alone: %v", err)
	}
	into := t.TempDir()
	must(t, "sort", wrapped, "--langs", "fr", "--out", into)
	link := filepath.Join(t.TempDir(), "link.txt")
	if err := os.Symlink("nothing", link); err != nil {
		t.Fatal(err)
	}
	code, _, said = captured(t, "sort", wrapped, link, "--langs", "en,de", "--out", into, "--on-bad-file", "skip")
	if code != exitDone || !strings.Contains(said, "windows-1252") || !strings.Contains(said, "a file is left out: "+link) || !strings.Contains(said, filepath.Join(into, "fr.jsonl")+" is not of this sorting") {
		t.Errorf("mine sort: exit code %d, %s", code, said)
	}
}

// TestPagesOfFilesAreDocuments: the path of a page's file is its id, with which mine docs pairs what mine split wrote.
func TestPagesOfFilesAreDocuments(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	var pages, divided [2]string
	for side, text := range []string{"Die Straßenbahn fährt heute später als sonst ab.", "The tram leaves a little later than usual today."} {
		code := []string{"de", "en"}[side]
		pages[side] = write(code+".html", "<!DOCTYPE html><html><body><article><p>"+text+" 1. 2.</p></article></body></html>")
		divided[side] = filepath.Join(dir, code+".jsonl")
		must(t, "split", pages[side], "--lang", code, "--out", divided[side])
	}
	if out := must(t, "docs", divided[0], divided[1], "--src", "de", "--tgt", "en"); !strings.Contains(out, pages[0]+"\t"+pages[1]+"\t") {
		t.Errorf("%s", out)
	}
}

// TestSplitCapturesOfAPage: a capture of the page that stands before it, in this archive or the last, is set aside.
func TestSplitCapturesOfAPage(t *testing.T) {
	page := "<!DOCTYPE html><html><body><article><p>The tram leaves a little later than usual today.</p></article></body></html>"
	record := fmt.Sprintf("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://example.org/\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		len(page), page)
	write := writerInto(t, t.TempDir())
	out := must(t, "split", write("a.warc", record+record), write("b.warc", record), "--lang", "en", "--format", "jsonl")
	if strings.Count(out, "\n") != 1 {
		t.Errorf("%s", out)
	}
}

// TestTextFilesAreDocuments: each file of plain text or subtitles is a document, named by its path, whose columns
// cannot be named.
func TestTextFilesAreDocuments(t *testing.T) {
	write := writerInto(t, t.TempDir())
	a, b := write("a.txt", "Eins. Zwei.\n\nDrei.\n"), write("b.txt", "Vier.\n")
	c := write("c.srt", "1\n00:00:01,000 --> 00:00:02,000\nFünf\nSechs.\n\n2\n00:00:03,000 --> 00:00:04,000\nSieben. Acht.\n")
	if out := must(t, "split", a, b, c, "--lang", "de"); out != "Eins.\nZwei.\nDrei.\n\nVier.\n\nFünf Sechs.\nSieben.\nAcht.\n\n" {
		t.Errorf("%q", out)
	}
	if out := must(t, "split", a, b, "--lang", "de", "--wrapped"); out != "Eins.\nZwei.\nDrei.\n\nVier.\n\n" {
		t.Errorf("wrapped: %q", out)
	}
	out := must(t, "split", a, b, c, "--lang", "de", "--format", "jsonl")
	for path, n := range map[string]int{a: 3, b: 1, c: 3} {
		if strings.Count(out, fmt.Sprintf(`"doc":%q`, path)) != n {
			t.Errorf("%s", out)
		}
	}
	for _, args := range [][]string{{"--doc-column", "doc"}, {"--url-column", "url"}} {
		for path, format := range map[string]string{a: "text", c: "srt"} {
			_, err := command(t, append([]string{"split", path, "--lang", "de"}, args...)...)
			if !badinput.Is(err) || !strings.Contains(err.Error(), path+" ("+format+") has no columns") {
				t.Errorf("%q: error %v", args, err)
			}
		}
	}
}

// TestSplit divides plain text, wrapped text and records, and sets aside what is no text.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	plain := write("plain.txt", "Dr. Who came. He left.\nA title\n\nIt ended\nat night. So it was.\n")
	if out := must(t, "split", plain, "--lang",
		"en"); out != "Dr. Who came.\nHe left.\nA title\nIt ended\nat night.\nSo it was.\n" {
		t.Errorf("%q", out)
	}
	out := must(t, "split", plain, "--lang", "en", "--wrapped", "--format", "jsonl")
	last := `{"text":"So it was.","doc":"` + plain + `","url":"","file":"` + plain +
		`","line":4,"paragraph":0,"position":1,"start":19,"end":29}`
	if lines := strings.Split(out, "\n"); len(lines) != 6 || lines[4] != last ||
		!strings.Contains(lines[3], `"It ended at night."`) {
		t.Errorf("%s", out)
	}
	pages := write("pages.jsonl", `{"id":"a","text":"One. Two.\nThree.","u":"http://a"}`+"\n"+
		`{"id":"b","text":["x"]}`+"\n"+`{"id":"c","text":"<html><p>x"}`+"\n")
	file := filepath.Join(dir, "out.jsonl")
	must(t, "split", pages, "--lang", "en", "--doc-column", "id", "--url-column", "u", "--out", file)
	data, err := os.ReadFile(file)
	if lines := strings.Split(string(data), "\n"); err != nil || len(lines) != 4 ||
		!strings.HasPrefix(lines[2], `{"text":"Three.","doc":"a","url":"http://a","file":`) ||
		!strings.HasSuffix(lines[2], `"line":1,"paragraph":1,"position":2,"start":10,"end":16}`) {
		t.Errorf("%s %v", data, err)
	}
	fragments := write("fragments.jsonl",
		`{"id":"a","text":"<div>One. <p>Two.</p></div>"}`+"\n"+`{"id":"b","text":"Three."}`+"\n")
	root, said := newRoot(), &bytes.Buffer{}
	root.SetOut(said)
	root.SetErr(said)
	root.SetArgs([]string{"split", fragments, "--lang", "en"})
	if err := root.ExecuteContext(t.Context()); err != nil ||
		said.String() != "Three.\n\n1 records, 1 sentences\nset aside: 1 records (HTML, not text)\n" {
		t.Errorf("%s %v", said, err)
	}
	learned := encodetest.Splitter(t, nil)
	if out := must(t, "split", write("b.txt", "Das Haus war alt. Niemand wusste warum.\n"), "--lang", "de",
		"--splitter", learned, "--splitter-threshold", "0.5"); out != "Das Haus war alt.\nNiemand wusste warum.\n" {
		t.Errorf("%q", out)
	}
	bad := write("bad.srx", `<srx version="2.0"><body><languagerules>`+
		`<languagerule languagerulename="A"><rule break="yes"><beforebreak>(</beforebreak></rule>`+
		`</languagerule></languagerules></body></srx>`)
	for _, args := range [][]string{
		{"split"}, {"split", plain}, {"split", plain, "--lang", "en", "--format", "xml"}, {"split", plain,
			"--lang", "en", "--srx", bad},
		{"split", plain, "--lang", "en", "--max-bytes", "-1"}, {"split", filepath.Join(dir, "none"), "--lang", "en"}, {"split", plain, "--lang", "en", "--splitter", dir},
		{"split", plain, "--lang", "en", "--splitter", learned, "--srx", bad}, {"split", plain, "--lang", "en",
			"--splitter", learned, "--splitter-threshold", "2"},
	} {
		if _, err := command(t, args...); !badinput.Is(err) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
}
