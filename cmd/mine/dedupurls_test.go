package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestExportDedupURLs: a run keeps the first place of a sentence, and the export lists all of them, which it reads from
// the text again; text that was changed meanwhile is refused.
func TestExportDedupURLs(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	page := func(url, text string) string { return `{"url":"` + url + `","text":"` + text + `"}` + "\n" }
	write("de1.jsonl", page("http://de/1", "Das Haus am Fluss ist sehr alt.")+page("http://de/2", "Morgen fahren wir nach Berlin.")+page("http://de/3", "Das Haus am Fluss ist sehr alt."))
	write("de2.jsonl", page("http://de/4,5", "Das Haus am Fluss ist sehr alt.")+page("http://de/1", "Der Zug ist heute schnell."))
	write("en1.jsonl", page("http://en/1", "The house by the river is very old.")+page("http://en/2", "Tomorrow we are going to Berlin."))
	write("en2.jsonl", page("http://en/3", "The train is fast today.")+page("http://en/3", "Tomorrow we are going to Berlin."))
	mined, out := filepath.Join(dir, "mined"), filepath.Join(dir, "out.tsv")
	must(t, "run", "--src", "de", "--tgt", "en", "--src-text", filepath.Join(dir, "de?.jsonl"), "--tgt-text", filepath.Join(dir, "en?.jsonl"),
		"--url-column", "url", "--split", "off", "--k", "2", "--scorer", "none", "--threshold", "0", "--encoder", "use-static", "--out", mined)
	export := []string{"export", mined, "--dedup-urls", "--columns", "src_urls,tgt_urls,src_seen,tgt_seen,src_url", "--out", out}
	said := must(t, export...)
	data, err := os.ReadFile(out)
	for _, row := range []string{
		"Das Haus am Fluss ist sehr alt.\tThe house by the river is very old.\thttp://de/1,http://de/3,http://de/4%2C5\thttp://en/1\t3\t1\thttp://de/1\n",
		"Morgen fahren wir nach Berlin.\tTomorrow we are going to Berlin.\thttp://de/2\thttp://en/2,http://en/3\t1\t2\thttp://de/2\n",
	} {
		if err != nil || !strings.Contains(string(data), row) {
			t.Errorf("%q is not in %s %v", row, data, err)
		}
	}
	if !strings.Contains(said, "with 7 addresses; 0 rows repeated a pair") {
		t.Errorf("%s", said)
	}
	some := filepath.Join(dir, "some.parquet")
	must(t, "export", mined, "--where", "src_url == 'http://de/2'", "--out", some)
	if said := must(t, append(export, "--bitext", some)...); !strings.HasPrefix(said, "1 of 1 pairs exported, with 3 addresses") {
		t.Errorf("%s", said)
	}
	write("en2.jsonl", page("http://en/3", "The train is slow today."))
	for want, args := range map[string][]string{
		"en2.jsonl was changed since the run": export,
		"leave it or --blocks out":            append(export, "--blocks", "9"),
		"--bitext says what is kept of a run": {"export", some, "--dedup-urls", "--bitext", some, "--out", out},
	} {
		if _, err := command(t, args...); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "en1.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, export...); !badinput.Is(err) || !strings.Contains(err.Error(), "en1.jsonl, which the run has read, is not there") {
		t.Errorf("text that is not there: %v", err)
	}
}

// TestExportDedupURLsElsewhere: the paths of a run's text may be relative to where the run was started.
func TestExportDedupURLsElsewhere(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	write("de.jsonl", `{"url":"http://de/1","text":"Das Haus am Fluss ist sehr alt."}`+"\n")
	write("en.jsonl", `{"url":"http://en/1","text":"The house by the river is very old."}`+"\n")
	t.Chdir(dir)
	must(t, "run", "--src", "de", "--tgt", "en", "--src-text", "de.jsonl", "--tgt-text", "en.jsonl", "--url-column", "url", "--split", "off",
		"--k", "1", "--scorer", "none", "--threshold", "0.1", "--encoder", "use-static", "--out", "mined")
	t.Chdir(t.TempDir())
	_, err := command(t, "export", filepath.Join(dir, "mined"), "--dedup-urls", "--out", "x.jsonl")
	if !badinput.Is(err) || !strings.Contains(err.Error(), "de.jsonl is not there: its path is relative to the directory in which the run was started") {
		t.Errorf("error %v", err)
	}
}

// TestExportDedupURLsBesideABadFile: of pages that are cut together a bad one is set aside, and the addresses are those
// without it: near copies of pages still have none.
func TestExportDedupURLsBesideABadFile(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	const copied = "<p>Das Haus am Fluss ist sehr alt, und niemand weiß, wer es gebaut hat.</p><p>Morgen fahren wir mit dem ersten Zug nach Berlin.</p>" +
		"<p>Die Brücke bleibt bis zum Frühling geschlossen, weil sie geprüft wird.</p><p>Auf dem Platz spielt am Abend ein Orchester.</p>"
	for i := range 8 {
		text := fmt.Sprintf("<p>Auf der %d. Seite steht nur dieser eine Satz, und zwar allein.</p>", i)
		if i == 3 || i == 6 {
			text = fmt.Sprintf("%s<p>Gelesen %d.</p>", copied, i)
		}
		page := "<!doctype html><html lang=de><body><article>" + text + "</article></body></html>"
		write(fmt.Sprintf("%d.warc", i), fmt.Sprintf("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://example.org/%d\r\n"+
			"Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, len(page), page))
	}
	english := write("en.txt", "The house by the river is very old, and nobody knows who built it.\nTomorrow we are taking the first train to Berlin.\n")
	exported := func(name string) string {
		mined, out := filepath.Join(dir, name), filepath.Join(dir, name+".tsv")
		must(t, "run", "--src", "de", "--tgt", "en", "--src-text", filepath.Join(dir, "?.*"), "--tgt-text", english, "--dedup", "pages", "--on-bad-file", "skip",
			"--k", "2", "--scorer", "none", "--threshold", "0", "--encoder", "use-static", "--out", mined)
		must(t, "export", mined, "--dedup-urls", "--columns", "src_urls,src_seen", "--out", out)
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	want := exported("without")
	if !strings.Contains(want, "https://example.org/3\t1\n") {
		t.Errorf("the copied sentences have not one address: %s", want)
	}
	write("-.txt", "%PDF-1.7 of a page")
	if got := exported("with"); got != want {
		t.Errorf("beside a bad file the addresses are\n%s, else\n%s", got, want)
	}
}
