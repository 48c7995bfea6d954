package corpus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"

	"bitextmine/corpus/corpustest"
	"bitextmine/corpus/input"
)

// readAll reads a file given as bytes under a name.
func readAll(name string, data []byte, opts Options) ([]Sentence, Counts, error) {
	r, err := Open(input.File{FS: fstest.MapFS{name: {Data: data}}, Path: name}, opts)
	if err != nil {
		return nil, Counts{}, err
	}
	defer r.Close()
	var all []Sentence
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, r.Counts(), nil
		}
		if err != nil {
			return all, r.Counts(), err
		}
		all = append(all, s)
	}
}

func columnOptions() Options {
	o := DefaultOptions()
	o.DocColumn, o.URLColumn = "doc", "url"
	return o
}

func TestFormatsTimesCompressions(t *testing.T) {
	type row struct {
		Doc   string `parquet:"doc"`
		Other int64  `parquet:"other"`
		Text  string `parquet:"text"`
		URL   string `parquet:"url"`
	}
	none := []Sentence{{"Eins  zwei", "Eins zwei", "", "", 1, nil}, {"drei", "drei", "", "", 2, nil}, {"vier", "vier", "", "", 4, nil}}
	bucc := []Sentence{{"Eins  zwei", "Eins zwei", "a-1", "", 1, nil}, {"drei", "drei", "a-2", "", 2, nil}, {"vier", "vier", "a-4", "", 3, nil}}
	full := func(lines ...uint64) []Sentence {
		return []Sentence{{"Eins  zwei", "Eins zwei", "a-1", "http://x/1", lines[0], nil}, {"drei", "drei", "a-2", "", lines[1], nil}, {"vier", "vier", "", "", lines[2], nil}}
	}
	tests := []struct {
		name, file, data string
		opts             Options
		format           Format
		want             []Sentence
	}{
		{"text", "a.de", "Eins  zwei\ndrei\n\nvier\n", DefaultOptions(), FormatText, none},
		{"text without last end", "a.txt", "Eins  zwei\ndrei\n\nvier", DefaultOptions(), FormatText, none},
		{"text with CRLF", "a", "Eins  zwei\r\ndrei\r\n\r\nvier\r\n", DefaultOptions(), FormatText, none},
		{"text with BOM", "a", "\xef\xbb\xbfEins  zwei\ndrei\n\nvier\n", DefaultOptions(), FormatText, none},
		{"bucc", "a.de", "a-1\tEins  zwei\na-2\tdrei\na-4\tvier\n", DefaultOptions(), FormatBUCC, bucc},
		{"bucc with BOM and CRLF", "a", "\xef\xbb\xbfa-1\tEins  zwei\r\na-2\tdrei\r\na-4\tvier", DefaultOptions(), FormatBUCC, bucc},
		{"tsv", "a.tsv", "url\tother\ttext\tdoc\nhttp://x/1\t\tEins  zwei\ta-1\n\t\tdrei\ta-2\n\n\tx\tvier\t\n", columnOptions(), FormatTSV, full(2, 3, 5)},
		{"jsonl", "a.JSONL", `{"text":"Eins  zwei","doc":"a-1","url":"http:\/\/x\/1","x":{"text":"no"}}` + "\n" +
			`{"doc":"a-2","text":"dr\u0065i","url":null}` + "\n\n" + `{"text":"vier"}`, columnOptions(), FormatJSONL, full(1, 2, 4)},
		{"ndjson", "a.ndjson", `{"text":"Eins  zwei"}` + "\n" + `{"text":"drei"}` + "\n\n" + `{"text":"vier"}` + "\n", DefaultOptions(), FormatJSONL, none},
		{"parquet", "a.parquet", string(corpustest.Parquet(t, []row{{"a-1", 1, "Eins  zwei", "http://x/1"}, {"a-2", 2, "drei", ""}, {"", 3, "", ""}, {"", 4, "vier", ""}})),
			columnOptions(), FormatParquet, full(1, 2, 4)},
	}
	for _, tt := range tests {
		for kind, pack := range packers {
			if tt.format == FormatParquet && kind != "plain" {
				continue
			}
			t.Run(tt.name+"/"+kind, func(t *testing.T) {
				data, file := pack(t, []byte(tt.data)), tt.file
				if kind != "plain" {
					file += "." + kind
				}
				got, counts, err := readAll(file, data, tt.opts)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, tt.want) {
					t.Errorf("got  %+v\nwant %+v", got, tt.want)
				}
				if counts.Kept != 3 || counts.Check() != nil {
					t.Errorf("counts %+v", counts)
				}
				in := input.File{FS: fstest.MapFS{file: {Data: data}}, Path: file}
				if format, err := detectFormat(in, tt.opts); format != tt.format || err != nil {
					t.Errorf("detectFormat = %s, %v; want %s", format, err, tt.format)
				}
			})
		}
	}
}

// detectFormat is the format in which Open reads the input.
func detectFormat(in input.File, opts Options) (Format, error) {
	src, err := input.Open(in)
	if err != nil {
		return "", err
	}
	r := &Reader{src: src, opts: opts, closeDecoder: func() {}}
	_, err = r.begin()
	return r.format, errors.Join(err, r.Close())
}

// TestTabsOfPlainText: a file that was taken for plain text although most of its lines have tabs is warned of, unless
// its format was named.
func TestTabsOfPlainText(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		format Format
		tabbed uint64
		warned bool
	}{
		"an empty column":       {"a-1\t\tEins\na-2\t\tzwei\n", FormatAuto, 2, true},
		"a line without an id":  {"no id\na-1\tEins\na-2\tzwei\n", FormatAuto, 2, true},
		"few lines":             {"Eins\nzwei\tdrei\nvier\n", FormatAuto, 1, false},
		"indented text":         {"\tEins\n\tzwei\t\n", FormatAuto, 0, false},
		"ids":                   {"a-1\tEins\na-2\tzwei\n", FormatAuto, 0, false},
		"text by the format":    {"a-1\t\tEins\na-2\t\tzwei\n", FormatText, 0, false},
		"columns by the format": {"a-1\t\tEins\na-2\t\tzwei\n", FormatBUCC, 0, false},
	} {
		path := filepath.Join(t.TempDir(), "a.de")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		opts := DefaultOptions()
		opts.Format = c.format
		r, err := Open(input.File{Path: path}, opts)
		if err != nil {
			t.Fatal(err)
		}
		for range r.All() {
		}
		counts := r.Counts()
		if got := counts.TabsWarning("a.de"); counts.Tabbed != c.tabbed || (got != "") != c.warned {
			t.Errorf("%s: %d lines have tabs, warning %q", name, counts.Tabbed, got)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDetect(t *testing.T) {
	ten := strings.Repeat("id-1\tsentence here\n", 10)
	tests := []struct {
		name, file, head string
		whole            bool
		want             Format
	}{
		{"ids", "a.txt", ten, true, FormatBUCC},
		{"a tab later on does not matter", "a", ten + "x\ty\tz\n", true, FormatBUCC},
		{"two tabs", "a", "id\ta\tb\n", true, FormatText},
		{"a sentence before the tab", "a", "two words\tsentence\n", true, FormatText},
		{"an empty id", "a", "\tsentence\n", true, FormatText},
		{"a line without", "a", "id\ts\nno tab\n", true, FormatText},
		{"one long unfinished line", "a", "id\tlong", false, FormatText},
		{"one whole line without end", "a", "id\tlong", true, FormatBUCC},
		{"suffix below compression", "a.tsv.zst", "x", true, FormatTSV},
		{"parquet by its magic", "part-0", "PAR1....", true, FormatParquet},
		{"empty", "a", "", true, FormatText},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := detect(tt.file, []byte(tt.head), tt.whole); got != tt.want {
				t.Errorf("detect = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestFatalInputs(t *testing.T) {
	type other struct {
		Sentence string  `parquet:"sentence"`
		Score    float64 `parquet:"score"`
	}
	type wrong struct {
		Text float64 `parquet:"text"`
	}
	type lists struct {
		Text []string `parquet:"text"`
	}
	fine := corpustest.Parquet(t, []struct {
		Text string `parquet:"text"`
	}{{"good"}})
	tests := []struct {
		name, file, data string
		want             []string // parts of the error
	}{
		{"empty", "a.txt", "", []string{"a.txt: ", "no line"}},
		{"empty tsv", "a.tsv", "", []string{"a.tsv: ", "no line"}},
		{"header only", "a.tsv", "text\n", []string{"a.tsv: ", "no line"}},
		{"empty jsonl", "a.jsonl", "", []string{"a.jsonl: ", "no line"}},
		{"empty parquet", "a.parquet", "", []string{"a.parquet: ", "no line"}},
		{"nothing usable, with NULs", "a.txt", "\xe4\n\x00\xe4\xff\n\x00\x00\n", []string{"a.txt: ", "2 not_utf8"}},
		{"nothing usable", "a.txt", "\n\xff\n \n", []string{"a.txt: ", "none of its 3 lines is a usable sentence (2 empty, 1 not_utf8; line 2: byte 1 (0xff) is not UTF-8)"}},
		{"utf-16 without a mark", "a.txt", "E\x00i\x00n\x00s\x00\n\x00\xe4\x00h\x00\n\x00", []string{"a.txt: ", "UTF-16", "iconv -f UTF-16LE", "--encoding utf-16le"}},
		{"utf-16 of the other order", "a.txt", "\x00E\x00i\x00n\x00s\x00\n\x042\x04@", []string{"a.txt: ", "UTF-16", "iconv -f UTF-16BE", "--encoding utf-16be"}},
		{"utf-16 without ASCII", "a.txt", "\x2d\x4e\x87\x65\x02\x30\n\x00\x0a\x4e\x77\x6d\x00\x4e\x02\x30\n\x00\x42\xd8", []string{"a.txt: ", "--encoding utf-16le"}},
		{"utf-16", "a.txt", "\xff\xfea\x00", []string{"a.txt: ", "UTF-16", "iconv"}},
		{"a PDF", "a.txt", "%PDF-1.7\n1 0 obj\n", []string{"a.txt is a PDF and no text"}},
		{"an office document", "a.jsonl", "PK\x03\x04\x14\x00", []string{"a.jsonl is a ZIP archive or an office document and no text"}},
		{"a tar archive", "a.txt.gz", string(packers["gz"](t, []byte("a.txt"+strings.Repeat("\x00", 252)+"ustar\x0000"))), []string{"a.txt.gz is a tar archive and no text"}},
		{"an Arrow file", "a.arrow", "ARROW1\x00\x00\xff\xff\xff\xff", []string{"a.arrow is an Arrow file and no text"}},
		{"a stream of Arrow", "a.arrow", "\xff\xff\xff\xff\x98\x00\x00\x00\x10\x00\x00\x00", []string{"a.arrow is a stream of Arrow", "load_from_disk(FOLDER).to_parquet"}},
		{"LZ4", "a.txt", "\x04\x22\x4d\x18\x64\x40\xa7\x39", []string{"a.txt is compressed with LZ4", "lz4 -d"}},
		{"LZMA", "a.txt", "\x5d\x00\x00\x80\x00\xff\xff", []string{"a.txt is compressed with LZMA", "xz -d"}},
		{"base64", "a.gz", string(packers["gz"](t, []byte(strings.Repeat("RXMgcmVnbmV0IHNlaXQgZ2VzdGVybiBzY2hvbiB3aWVkZXIuCg==\n", 20)))), []string{"a.gz has lines in base64", "base64 -d"}},
		{"a part of a page", "a.txt", "<div>\n<p>It rained.</p>\n</div>\n", []string{"a.txt is HTML, not text; read it with --format html"}},
		{"TMX", "a.tmx", "<?xml version=\"1.0\"?>\n<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n<tmx version=\"1.4\"><header/>\n<body>\n", []string{"a.tmx is TMX, a file of pairs", "mine export a.tmx"}},
		{"XLIFF", "a.xlf", "\xef\xbb\xbf<!-- by\na program -->\n<xliff version=\"1.2\">\n", []string{"a.xlf is XLIFF, a file of pairs"}},
		{"tsv without column", "a.tsv", "de\ten\nx\ty\n", []string{"a.tsv:1: ", `"text"`, `"de" "en"`}},
		{"jsonl without column", "a.jsonl", "\n{\"sentence\":\"x\",\"id\":1}\n", []string{"a.jsonl:2: ", `"text"`, `"id" "sentence"`}},
		{"parquet without column", "a.parquet", string(corpustest.Parquet(t, []other{{"x", 1}})), []string{"a.parquet: ", `"text"`, `"sentence" "score"`}},
		{"parquet column of numbers", "a.parquet", string(corpustest.Parquet(t, []wrong{{1}})), []string{"a.parquet: ", `"text"`, "DOUBLE"}},
		{"parquet column of lists", "a.parquet", string(corpustest.Parquet(t, []lists{{[]string{"x"}}})), []string{`a.parquet: column "text" has lists, not strings`}},
		{"parquet of lists alone", "a.parquet", string(corpustest.Parquet(t, []struct{ Words []string }{{[]string{"x"}}})), []string{`"text"`, `"Words (lists)"`}},
		{"not parquet", "a.parquet", "some text that is not Parquet", []string{"a.parquet: ", "corrupt"}},
		{"truncated parquet", "a.parquet", string(fine[:len(fine)-20]), []string{"a.parquet: ", "corrupt"}},
		{"packed parquet", "a.parquet.gz", string(packers["gz"](t, fine)), []string{"a.parquet.gz: ", "decompress"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readAll(tt.file, []byte(tt.data), DefaultOptions())
			corpustest.BadInput(t, err, tt.want...)
		})
	}
}

// TestTaggedLines: lines of sentences with tags are read by whoever says that they are text.
func TestTaggedLines(t *testing.T) {
	opts := DefaultOptions()
	opts.Format = FormatText
	sentences, _, err := readAll("a.txt", []byte("<p>It rained.</p>\n<p>It snowed.</p>\n"), opts)
	if err != nil || len(sentences) != 2 || sentences[1].Text != "<p>It snowed.</p>" {
		t.Errorf("%v, error %v", sentences, err)
	}
}

func TestParquetColumns(t *testing.T) {
	type dict struct {
		Text  string `parquet:"text,dict"`
		Doc   int64  `parquet:"doc"`
		URL   string `parquet:"url,optional,snappy"`
		Large []byte `parquet:"large"`
	}
	var rows []dict
	for i := range 5000 {
		rows = append(rows, dict{fmt.Sprintf("sentence %d", i%700), int64(i), strings.Repeat("u", i%3), []byte{byte(i)}})
	}
	// Small pages and row groups: batches must cross both.
	data := corpustest.Parquet(t, rows, parquet.PageBufferSize(4096), parquet.MaxRowsPerRowGroup(1700))
	got, counts, err := readAll("a.parquet", data, columnOptions())
	if err != nil || counts.Kept != 5000 {
		t.Fatal(counts, err)
	}
	for i, s := range got {
		want := Sentence{rows[i].Text, rows[i].Text, fmt.Sprint(i), rows[i].URL, uint64(i + 1), nil}
		if !reflect.DeepEqual(s, want) {
			t.Fatalf("row %d: %+v, want %+v", i, s, want)
		}
	}
	opts := DefaultOptions()
	opts.TextColumn = "large"
	got, _, err = readAll("a.parquet", data, opts)
	if err != nil || !slices.ContainsFunc(got, func(s Sentence) bool { return s.Text == "A" && s.Line == 'A'+1 }) {
		t.Errorf("byte array column: %d sentences, %v", len(got), err)
	}
}

func TestValidateReportsAll(t *testing.T) {
	err := Options{Format: "xls", OnBadLine: "warn"}.Validate()
	corpustest.BadInput(t, err, "format", "on_bad_line", "text_column", "max_line_bytes", "shard_size")
	if err := DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
}

// TestOptionalAddresses: a file of any format with columns may be without addresses if these are optional.
func TestOptionalAddresses(t *testing.T) {
	type row struct {
		Doc  string `parquet:"doc"`
		Text string `parquet:"text"`
	}
	for name, data := range map[string]string{
		"a.tsv": "doc\ttext\na\tOne.\n", "a.csv": "doc,text\na,One.\n", "a.jsonl": `{"doc":"a","text":"One."}`, "a.json": `[{"doc":"a","text":"One."}]`,
		"a.parquet": string(corpustest.Parquet(t, []row{{"a", "One."}})),
	} {
		opts := columnOptions()
		if _, _, err := readAll(name, []byte(data), opts); err == nil || !strings.Contains(err.Error(), `no column "url"`) {
			t.Errorf("%s: error %v", name, err)
		}
		opts.OptionalURL = true
		if all, _, err := readAll(name, []byte(data), opts); err != nil || len(all) != 1 || all[0].Doc != "a" || all[0].URL != "" {
			t.Errorf("%s: %+v, error %v", name, all, err)
		}
	}
}
