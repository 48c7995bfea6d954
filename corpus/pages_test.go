package corpus

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// pageText is a sentence long enough to be the text of a page.
func pageText(n int) string {
	return fmt.Sprintf("Page number %d tells of a tram line that runs from the harbour to the university, and of the people who ride it every day.", n)
}

func warcRecord(n int) string {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!doctype html><html lang=en><body><article><p>" + pageText(n) + "</p><p>" +
		strings.Repeat("It is a long text. ", 20) + "</p></article></body></html>"
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/%d\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		n, len(block), block)
}

// members compresses each record by itself, and tells where each begins.
func members(records ...string) (whole []byte, at []int) {
	var out bytes.Buffer
	for _, r := range records {
		at = append(at, out.Len())
		z := gzip.NewWriter(&out)
		_, _ = io.WriteString(z, r)
		_ = z.Close()
	}
	return out.Bytes(), at
}

// reads returns the first lines of an input's texts, with the lines that were skipped.
func reads(t *testing.T, name string, data []byte, opts Options) (texts []string, counts Counts, err error) {
	t.Helper()
	r, err := Open(input.File{FS: fstest.MapFS{name: {Data: data}}, Path: name}, opts)
	if err != nil {
		return nil, counts, err
	}
	defer func() { _ = r.Close() }()
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			return texts, r.Counts(), nil
		}
		if err != nil {
			return texts, r.Counts(), err
		}
		first, _, _ := strings.Cut(s.Text, "\n")
		texts = append(texts, fmt.Sprintf("%d %s %s", s.Line, s.Doc, first))
	}
}

// TestArchives: archives with a gzip member for each record, or in zstd, give their pages; a member that is damaged or
// an archive that is cut off is refused by name, or left out and counted where the rest is to be read.
func TestArchives(t *testing.T) {
	records := []string{warcRecord(1), warcRecord(2), warcRecord(3)}
	whole, at := members(records...)
	damaged := bytes.Clone(whole)
	for i := at[1] + 40; i < at[1]+60; i++ {
		damaged[i] ^= 0xff
	}
	z, _ := zstd.NewWriter(nil)
	zst := z.EncodeAll([]byte(strings.Join(records, "")), nil)
	for name, c := range map[string]struct {
		name    string
		data    []byte
		pages   string
		damaged uint64
	}{
		"whole":              {"a.warc.gz", whole, "1 2 3", 0},
		"zstd":               {"a.warc.zst", zst, "1 2 3", 0},
		"plain":              {"a.warc", []byte(strings.Join(records, "")), "1 2 3", 0},
		"another name":       {"archive", whole, "1 2 3", 0},
		"a damaged member":   {"a.warc.gz", damaged, "1 3", 1},
		"cut off":            {"a.warc.gz", whole[:len(whole)-60], "1 2", 1},
		"zeros at its end":   {"a.warc.gz", append(bytes.Clone(whole), make([]byte, 512)...), "1 2 3", 0},
		"zeros inside":       {"a.warc.gz", slices.Concat(whole[:at[1]], make([]byte, 512), whole[at[1]:]), "1 2 3", 1},
		"a member before it": {"a.warc.gz", append([]byte("\x1f\x8b\x08\x00"+strings.Repeat("damaged", 20)), whole...), "1 2 3", 1},
		"zstd cut off":       {"a.warc.zst", zst[:len(zst)-20], "", 1},
	} {
		for _, salvage := range []bool{true, false} {
			opts := DefaultOptions()
			if opts.Salvage = salvage && NamedArchive(c.name); salvage && !opts.Salvage {
				continue
			}
			texts, counts, err := reads(t, c.name, c.data, opts)
			if c.damaged > 0 && !salvage {
				if !badinput.Is(err) || !strings.Contains(err.Error(), c.name) {
					t.Errorf("%s: error %v", name, err)
				}
				continue
			}
			if err != nil && len(texts) > 0 {
				t.Errorf("%s: %v", name, err)
			}
			var got []string
			for _, text := range texts {
				_, number, _ := strings.Cut(text, "Page number ")
				number, _, _ = strings.Cut(number, " ")
				got = append(got, number)
			}
			if strings.Join(got, " ") != c.pages || counts.Skipped[ReasonDamaged] != c.damaged {
				t.Errorf("%s: pages %q, counts %+v", name, got, counts)
			}
		}
	}
}

// TestArchiveEncoding: pages of an archive say their encodings, whatever the setting for other files is.
func TestArchiveEncoding(t *testing.T) {
	record := strings.NewReplacer("text/html", "text/html; charset=utf-8", "harbour", "h\u00e4rbour").Replace(warcRecord(1))
	more := len("; charset=utf-8") + len("\u00e4") - 1
	_, length, _ := strings.Cut(record, "Content-Length: ")
	length, _, _ = strings.Cut(length, "\r\n")
	bytes, err := strconv.Atoi(length)
	if err != nil {
		t.Fatal(err)
	}
	record = strings.Replace(record, "Content-Length: "+length, fmt.Sprintf("Content-Length: %d", bytes+more), 1)
	opts := DefaultOptions()
	opts.Encoding = "windows-1252"
	for _, format := range []Format{FormatAuto, FormatWARC} {
		opts.Format = format
		texts, counts, err := reads(t, "a.warc", []byte(record+warcRecord(2)), opts)
		if err != nil || len(texts) != 2 || !strings.Contains(texts[0], "h\u00e4rbour") {
			t.Errorf("%s: %q, %+v, error %v", format, texts, counts, err)
		}
	}
}

// TestMessages: of a catalogue the translations are read, or the originals; what has no translation is empty.
func TestMessages(t *testing.T) {
	po := `# comment
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"

#: main.c:1
msgid "Open"
msgstr "Öffnen"

#, fuzzy
msgid "Close"
msgstr "Schließen"
msgctxt "menu"
msgid "Save "
"all"
msgstr "Alles "
"\"sichern\""

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d Datei"
msgstr[1] ""
"%d Dateien"
#, fuzzy
#~ msgid "old"
#~ msgstr "alt"

msgid "New"
msgstr "Neu"

msgid "broken
msgstr ""
`
	for column, want := range map[string]string{
		"text":  "7 Öffnen|13 Alles \"sichern\"|19 %d Datei|28 Neu",
		"msgid": "7 Open|13 Save all|19 %d file|28 New",
	} {
		opts := DefaultOptions()
		opts.TextColumn = column
		texts, counts, err := reads(t, "de.po", []byte(po), opts)
		got := strings.ReplaceAll(strings.Join(texts, "|"), "  ", " ")
		if err != nil || got != want || counts.Lines != 6 || counts.Skipped[ReasonEmpty] != 1 || counts.Skipped[ReasonMalformed] != 1 {
			t.Errorf("%s: %q, counts %+v, error %v", column, got, counts, err)
		}
	}
}

// TestSegments: lines of a document that its list of languages says are in another one are left out, and a list in a
// column of metadata gives its first value.
func TestSegments(t *testing.T) {
	opts := DefaultOptions()
	opts.Split, opts.MetaColumns = SplitBy("de", "x"), "lang,prob"
	line := `{"text":"Eins.\nTwo.\nDrei.","lang":["deu_Latn","eng_Latn"],"prob":[0.9,0.1],"seg_langs":["deu_Latn","eng_Latn","und"]}` + "\n"
	r, err := Open(input.File{FS: fstest.MapFS{"a.jsonl": {Data: []byte(line)}}, Path: "a.jsonl"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	s, err := r.Next()
	if err != nil || s.Text != "Eins.\n    \nDrei." || strings.Join(s.Meta, " ") != "deu_Latn 0.9" || r.Counts().LeftOut[LeftForeign] != 1 {
		t.Errorf("%+v, counts %+v, error %v", s, r.Counts(), err)
	}
}

// TestForeignDocuments: lines in another language are counted where nothing is left of their documents, too, and a file
// of such documents alone is not said to be empty.
func TestForeignDocuments(t *testing.T) {
	opts := DefaultOptions()
	opts.Split = SplitBy("de", "x")
	english := strings.Repeat(`{"text":"One.\nTwo.\nThree.","seg_langs":["eng_Latn","eng_Latn","eng_Latn"]}`+"\n", 10)
	mixed := strings.Repeat(`{"text":"Eins.\nTwo.\nDrei.","seg_langs":["deu_Latn","eng_Latn","deu_Latn"]}`+"\n", 10)
	texts, counts, err := reads(t, "a.jsonl", []byte(english+mixed), opts)
	if err != nil || len(texts) != 10 || counts.LeftOut[LeftForeign] != 40 || counts.Skipped[ReasonEmpty] != 10 {
		t.Errorf("%d texts, counts %+v, error %v", len(texts), counts, err)
	}
	_, counts, err = reads(t, "a.jsonl", []byte(english), opts)
	if !errors.Is(err, ErrEmpty) || !badinput.Is(err) || !strings.Contains(err.Error(), "all 30 lines") || !strings.Contains(err.Error(), "seg_langs") || counts.LeftOut[LeftForeign] != 30 {
		t.Errorf("counts %+v, error %v", counts, err)
	}
}

// TestDeepJSON: an object of 10,000 levels is a malformed line, and not the end of the file.
func TestDeepJSON(t *testing.T) {
	deep := `{"text":"deep","x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}"
	opts := DefaultOptions()
	texts, counts, err := reads(t, "a.jsonl", []byte(`{"text":"one"}`+"\n"+deep+"\n"+`{"text":"two"}`+"\n"), opts)
	if err != nil || len(texts) != 2 || counts.Skipped[ReasonMalformed] != 1 {
		t.Errorf("%q, counts %+v, error %v", texts, counts, err)
	}
	if _, _, err := reads(t, "a.json", []byte("["+deep+"]"), opts); err == nil || !json.Valid([]byte("{}")) {
		t.Error("an array of such an object is read")
	}
}

// TestLongMetadata: a page with a long title is read, with the title's whole characters in the bytes that are kept.
func TestLongMetadata(t *testing.T) {
	opts := DefaultOptions()
	opts.MetaColumns = "title,generator"
	long := "x" + strings.Repeat("ä", 600)
	all, counts, err := readAll("a.html", []byte(`<!doctype html><title>`+long+`</title><meta name="generator" content="`+long+`"><article><p>`+pageText(1)+
		"</p><p>"+strings.Repeat("It is a long text. ", 20)+"</p></article>"), opts)
	if err != nil || len(all) != 1 || !slices.Equal(all[0].Meta, []string{long[:1023], long[:999]}) {
		t.Errorf("%d pages, counts %+v, error %v", len(all), counts, err)
	}
}

// TestPageColumns: a column that pages do not have is refused with those that they have.
func TestPageColumns(t *testing.T) {
	opts := DefaultOptions()
	opts.MetaColumns = "date"
	if _, _, err := reads(t, "a.html", []byte("<html>"), opts); !badinput.Is(err) || !strings.Contains(err.Error(), "alternates") {
		t.Errorf("error %v", err)
	}
}

// TestMessagesInUTF8: a message that is not UTF-8, in whatever part, is left out and counted; names in comments and in
// the head are no part of it, and a replacement character is text.
func TestMessagesInUTF8(t *testing.T) {
	po := "msgid \"\"\nmsgstr \"\"\n\"Last-Translator: J\xf6rg\\n\"\n\n# J\xf6rg\nmsgid \"Open\"\nmsgstr \"Auf\"\n\nmsgid \"Close\"\nmsgstr \"\"\n\"schlie\xdfen\"\n\n" +
		"msgid \"caf\xe9\"\nmsgstr \"Lokal\"\n\nmsgid \"Broken\"\nmsgstr \"a\ufffdb\"\n"
	texts, counts, err := reads(t, "de.po", []byte(po), DefaultOptions())
	if err != nil || strings.Join(texts, "|") != "6  Auf|16  a\ufffdb" || counts.Lines != 4 || counts.Skipped[ReasonNotUTF8] != 2 ||
		!strings.Contains(counts.Examples[0].Detail, "msgconv -t UTF-8") {
		t.Errorf("%q, counts %+v, error %v", texts, counts, err)
	}
}

func FuzzPO(f *testing.F) {
	f.Add([]byte("msgid \"\"\nmsgstr \"\"\n\nmsgctxt \"a\"\nmsgid \"b\"\nmsgstr[0] \"c\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, counts, err := reads(t, "a.po", data, DefaultOptions())
		if err != nil && !badinput.Is(err) {
			t.Error(err)
		}
		if err := counts.Check(); err != nil {
			t.Error(err)
		}
	})
}

// TestFormatVersions: pages and catalogues of a format that is named have the version of those that a file's name
// shows.
func TestFormatVersions(t *testing.T) {
	for name, format := range map[string]Format{"crawl.warc.gz": FormatWARC, "de.po": FormatPO} {
		detected := Formats(name, FormatAuto)
		if named := Formats("crawl", format); detected == "" || named != detected {
			t.Errorf("%s: version %q, named %q", name, detected, named)
		}
	}
	if text := Formats("crawl.warc.gz", FormatText); text != "" {
		t.Errorf("text has version %q", text)
	}
}
