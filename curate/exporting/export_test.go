package exporting

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/exchange"
	"bitextmine/bitext/table"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// hard are texts that formats have trouble with.
var hard = []string{
	"plain", "tab\there", "line\nbreak", `back\slash`, `quotes "' and &amp; <b>`, "]]> -->", "你好，世界", "emoji 😀", "control \x01\x1f\u0085 end", "", "null", "a\rb",
	"\ufffe and \ufffd",
}

// batch has the texts above as sources, and their lengths as targets.
func batch(t *testing.T) *table.Batch {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	var b bytes.Buffer
	for i, text := range hard {
		row := map[string]any{
			"src_text": text, "tgt_text": "target " + text, "src_lang": "de", "tgt_lang": "en", "score": float64(i) + 0.5, "n": i, "ok": i%2 == 0,
			"reasons": []string{"a", text}[:i%3%2+1], "url": nil,
		}
		if i == 3 {
			row["url"] = "https://example.org/?a=1&b=2"
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := table.Open([]string{path}, table.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := r.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// written writes the batch twice in a format, and returns the names of its files.
func written(t *testing.T, format string, breaks Breaks) (names []string, err error) {
	t.Helper()
	at := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == format })
	f := &Formats[at]
	dir := t.TempDir()
	var to []io.Writer
	for _, name := range []string{"a", "b"} {
		names = append(names, filepath.Join(dir, name+"."+format))
		file, err := os.Create(names[len(names)-1])
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		}()
		to = append(to, file)
	}
	w := f.Open(to, FormatOptions{SourceColumn: "src_text", TargetColumn: "tgt_text", Breaks: breaks, Metadata: map[string]string{"mine.version": "1 & 2", "mine.k": "4"}})
	for range 2 {
		if err := w.Write(batch(t)); err != nil {
			return names, err
		}
	}
	return names, w.Close()
}

// python runs a program of Debian's python3 on a file and returns what it prints, as JSON.
func python(t *testing.T, program, file string) (rows []map[string]any) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	cmd := exec.Command("python3", "-c", program, file)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestTSVInPython(t *testing.T) {
	names, err := written(t, "tsv", Escape)
	if err != nil {
		t.Fatal(err)
	}
	rows := python(t, `
import csv, json, re, sys
undo = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf8", newline="\n"), delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n"))
print(json.dumps([{k: re.sub(r"\\(.)", lambda m: undo[m.group(1)], v) for k, v in r.items()} for r in rows]))`, names[0])
	if len(rows) != 2*len(hard) {
		t.Fatalf("%d rows, want %d", len(rows), 2*len(hard))
	}
	for i, text := range hard {
		if rows[i]["src_text"] != text || rows[i]["tgt_text"] != "target "+text || rows[i]["n"] == "" {
			t.Errorf("row %d: %q", i, rows[i])
		}
	}
	if rows[3]["url"] != "https://example.org/?a=1&b=2" || rows[2]["ok"] != "true" || rows[2]["score"] != "2.5" || rows[1]["reasons"] != "a,tab\there" {
		t.Errorf("other columns: %q %q", rows[3], rows[1])
	}
}

func TestJSONLInPython(t *testing.T) {
	names, err := written(t, "jsonl", Refuse)
	if err != nil {
		t.Fatal(err)
	}
	rows := python(t, `
import json, sys
print(json.dumps([json.loads(line) for line in open(sys.argv[1], encoding="utf8", newline="\n")]))`, names[0])
	if len(rows) != 2*len(hard) {
		t.Fatalf("%d rows, want %d", len(rows), 2*len(hard))
	}
	for i, text := range hard {
		if rows[i]["src_text"] != text || rows[i]["score"] != float64(i)+0.5 || rows[i]["ok"] != (i%2 == 0) {
			t.Errorf("row %d: %q", i, rows[i])
		}
	}
	if rows[0]["url"] != nil || rows[1]["reasons"].([]any)[1] != "tab\there" {
		t.Errorf("nulls and lists: %v %v", rows[0]["url"], rows[1]["reasons"])
	}
}

func TestCSVInPython(t *testing.T) {
	names, err := written(t, "csv", Escape)
	if err != nil {
		t.Fatal(err)
	}
	rows := python(t, `
import csv, json, sys
print(json.dumps(list(csv.DictReader(open(sys.argv[1], encoding="utf8", newline="")))))`, names[0])
	if len(rows) != 2*len(hard) {
		t.Fatalf("%d rows, want %d", len(rows), 2*len(hard))
	}
	for i, text := range hard {
		if rows[i]["src_text"] != text || rows[i]["tgt_text"] != "target "+text || rows[i]["n"] == "" {
			t.Errorf("row %d: %q", i, rows[i])
		}
	}
}

// TestForTranslators: xmllint reads XLIFF, msgfmt PO.
func TestForTranslators(t *testing.T) {
	for _, tt := range []struct {
		format  string
		command []string
		want    string
	}{
		{"xliff", []string{"xmllint", "--nonet", "--xpath", "concat(count(//*[local-name()='unit']), //@trgLang, //*[local-name()='unit'][4]//*[@category='url'])"},
			"26enhttps://example.org/?a=1&b=2\n"},
		{"po", []string{"msgfmt", "--check-format", "--check-domain", "--statistics", "-o", os.DevNull}, "26 translated messages.\n"},
	} {
		if _, err := exec.LookPath(tt.command[0]); err != nil {
			t.Logf("%s is not installed", tt.command[0])
			continue
		}
		names, err := written(t, tt.format, Refuse)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(tt.command[0], append(tt.command[1:], names[0])...).CombinedOutput(); err != nil || string(out) != tt.want {
			t.Errorf("%s: %v\n%s", tt.format, err, out)
		}
	}
}

// TestPOFrames: msgfmt takes pairs of which one side alone begins or ends with a line break.
func TestPOFrames(t *testing.T) {
	catalogue := poHeader(nil, nil, [2]string{"de", "en"})
	for i, c := range []struct{ source, target, want string }{
		{"Haus\n", "house", `"house\n"`}, {"Haus", "\nhouse\n\n", `"house"`}, {"\nHaus", "house\n", `"\nhouse"`}, {"\nHaus\n\n", "\nhouse\n", `"\nhouse\n"`},
		{"Haus\n", "", `""`}, {"a\nb", "a\nb", `"a\nb"`}, {"\n", "x", `"\nx\n"`},
	} {
		from := len(catalogue)
		catalogue = poUnit(catalogue, &unit{number: uint64(i + 1), texts: [2]string{c.source, c.target}})
		if _, got, _ := strings.Cut(string(catalogue[from:]), "msgstr "); got != c.want+"\n" {
			t.Errorf("%q of %q is written as %s", c.target, c.source, got)
		}
	}
	if _, err := exec.LookPath("msgfmt"); err != nil {
		t.Skip("msgfmt is not installed")
	}
	path := filepath.Join(t.TempDir(), "x.po")
	if err := os.WriteFile(path, catalogue, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("msgfmt", "--check-format", "-o", os.DevNull, path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestTMX validates against the structure of TMX 1.4 by xmllint, and reads the units again.
func TestTMX(t *testing.T) {
	names, err := written(t, "tmx", Refuse)
	if err != nil {
		t.Fatal(err)
	}
	r, err := exchange.Open(input.File{Path: names[0]}, exchange.TMX, exchange.Options{SourceLanguage: "de", TargetLanguage: "en"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * len(hard) {
		rec, err := r.Next()
		want := strings.TrimSpace(strings.NewReplacer("\x01", " ", "\x1f", " ", "\ufffe", " ").Replace(hard[i%len(hard)]))
		if err != nil || strings.TrimSpace(rec.Source) != want {
			t.Errorf("unit %d: %q, want %q; %v", i, rec.Source, want, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("xmllint"); err != nil {
		t.Skip("xmllint is not installed")
	}
	if out, err := exec.Command("xmllint", "--noout", "--nonet", "--dtdvalid", "testdata/tmx14.dtd", names[0]).CombinedOutput(); err != nil {
		t.Errorf("xmllint: %v\n%s", err, out)
	}
	out, err := exec.Command("xmllint", "--nonet", "--xpath", "concat(count(//tu), ' ', //tu[4]/prop[@type='x-url'], ' ', //header/prop[2])", names[0]).Output()
	if want := "26 https://example.org/?a=1&b=2 1 & 2\n"; err != nil || string(out) != want {
		t.Errorf("xmllint finds %q, want %q; %v", out, want, err)
	}
}

// TestUnitsWithoutALanguage: they are no pairs, and are counted.
func TestUnitsWithoutALanguage(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.tmx"), filepath.Join(dir, "out.jsonl")
	err := os.WriteFile(in, []byte(`<tmx version="1.4"><header/><body><tu><tuv xml:lang="de"><seg>Haus</seg></tuv><tuv xml:lang="en"><seg>house</seg></tuv></tu>`+
		`<tu><tuv xml:lang="de"><seg>Baum</seg></tuv><tuv xml:lang="fr"><seg>arbre</seg></tuv></tu></body></tmx>`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Files: []string{in}, Table: table.DefaultOptions(), Format: "jsonl", Out: out, Breaks: Escape}
	opts.Table.Source, opts.Table.Target = "de", "fr"
	report, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	report.Summary(&said)
	if want := "1 of 1 pairs exported; 1 without a text on one side are left out\n"; !strings.HasPrefix(said.String(), want) {
		t.Errorf("it says %q", said.String())
	}
	if data, err := os.ReadFile(out); err != nil || bytes.Count(data, []byte("\n")) != 1 || !bytes.Contains(data, []byte("arbre")) {
		t.Errorf("%s, error %v", data, err)
	}
}

func TestMoses(t *testing.T) {
	names, err := written(t, "moses", Replace)
	if err != nil {
		t.Fatal(err)
	}
	for side, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		if len(lines) != 2*len(hard) {
			t.Fatalf("side %d has %d lines, want %d", side, len(lines), 2*len(hard))
		}
		if lines[1] != []string{"tab\there", "target tab\there"}[side] || lines[2] != []string{"line break", "target line break"}[side] {
			t.Errorf("side %d: %q", side, lines)
		}
	}
}

func TestParquet(t *testing.T) {
	names, err := written(t, "parquet", Refuse)
	if err != nil {
		t.Fatal(err)
	}
	r, err := table.Open(names[:1], table.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Next(context.Background())
	if err != nil || b.Len() != 2*len(hard) || r.Metadata()["mine.k"] != "4" {
		t.Fatalf("%v, %v", b, err)
	}
	texts, err := b.Texts("src_text")
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := texts(2); text != hard[2] {
		t.Errorf("%q", text)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRefused(t *testing.T) {
	for _, format := range []string{"tsv", "moses"} {
		_, err := written(t, format, Refuse)
		if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), "row ") {
			t.Errorf("%s: error %v", format, err)
		}
	}
	if _, err := ParseBreaks("drop"); err == nil || !badinput.Is(err) {
		t.Errorf("error %v", err)
	}
}

// TestRowsInMessages: a row has the number that it has in the file, behind rows that are left out and sorted.
func TestRowsInMessages(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jsonl")
	text := `{"src_text":"a","tgt_text":"b","keep":false,"n":1}
{"src_text":null,"tgt_text":"b","keep":true,"n":2}
{"src_text":"c","tgt_text":"d","keep":true,"n":3}
{"src_text":"e\nf","tgt_text":"g","keep":true,"n":4}
`
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, sort := range []string{"", "n"} {
		for _, how := range []Anonymise{Keep, InTexts} {
			_, err := Run(t.Context(), Options{Files: []string{in}, Table: table.DefaultOptions(), Format: "moses", Out: filepath.Join(dir, "out"),
				Breaks: Refuse, Sort: sort, Anonymise: how})
			if !badinput.Is(err) || !strings.Contains(err.Error(), "row 4:") {
				t.Errorf("sorted by %q, %q: %v", sort, how, err)
			}
		}
	}
	text = "src_text\ttgt_text\tsrc_key\ttgt_key\tsrc_url\ttgt_url\na\tb\tx\ty\t\t\n"
	if err := os.WriteFile(in+".tsv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), Options{Files: []string{in + ".tsv"}, Table: table.DefaultOptions(), Format: "tsv", Out: filepath.Join(dir, "out"), DedupURLs: true})
	if !badinput.Is(err) || !strings.Contains(err.Error(), "row 1: ") {
		t.Errorf("a key of the first row: %v", err)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x00<b>&\ufffe\xff")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "x.tmx")
		dst := tmxHeader(nil, &FormatOptions{}, [2]string{"de"})
		dst = append(dst, `<tu><tuv xml:lang="de"><seg>`...)
		dst = append(escape(dst, text), `</seg></tuv><tuv xml:lang="en"><seg>x</seg></tuv></tu></body></tmx>`...)
		if err := os.WriteFile(path, dst, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := exchange.Open(input.File{Path: path}, exchange.TMX, exchange.Options{SourceLanguage: "de", TargetLanguage: "en"})
		if err == nil {
			_, err = r.Next()
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestOneLanguageInAFile: moses has no place for a second language, and a table of another program says TRUE.
func TestOneLanguageInAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in.csv")
	write := func(rows string) Options {
		if err := os.WriteFile(path, []byte("src_text,tgt_text,src_lang,tgt_lang,keep\n"+rows), 0o600); err != nil {
			t.Fatal(err)
		}
		return Options{Files: []string{path}, Table: table.DefaultOptions(), Format: "moses", Out: filepath.Join(dir, "out"), Breaks: Escape}
	}
	report, err := Run(t.Context(), write("a,b,de,en,TRUE\nc,d,de,en,False\n"))
	if err != nil || report.Written != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	for rows, says := range map[string]string{
		"a,b,de,en,true\nc,d,fr,en,true\n": "one language in a file", "a,b,de,en,yes\n": "row 1 has neither true nor false",
	} {
		if _, err := Run(t.Context(), write(rows)); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// TestRowsWithoutALanguage: formats that name languages refuse rows that do not say them, as XLIFF without its may be.
func TestRowsWithoutALanguage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in.xlf")
	text := `<xliff version="1.2"><file source-language="de"><body><trans-unit id="1"><source>Haus</source><target>house</target></trans-unit></body></file></xliff>`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"tmx", "xliff", "po"} {
		opts := Options{Files: []string{path}, Table: table.DefaultOptions(), Format: format, Out: filepath.Join(dir, "out."+format)}
		if _, err := Run(t.Context(), opts); !badinput.Is(err) || !strings.Contains(err.Error(), "row 1 ") || !strings.Contains(err.Error(), "--tgt") {
			t.Errorf("%s: %v", format, err)
		}
		opts.Table.Source, opts.Table.Target = "de", "en"
		if report, err := Run(t.Context(), opts); err != nil || report.Written != 1 {
			t.Errorf("%s with languages: %+v, %v", format, report, err)
		}
	}
}
