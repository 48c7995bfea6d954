package corpus

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus/corpustest"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// TestUnreadableLinesAreCounted: what cannot be read in the encoding that is named is a bad line, in whatever format,
// and a replacement character that a text has of its own is text.
func TestUnreadableLinesAreCounted(t *testing.T) {
	const kana = "\x83\x65\x83\x58\x83\x67" // テスト in Shift JIS
	for name, c := range map[string]struct {
		file, encoding, data string
		texts                []string
		skipped              []uint64
	}{
		"text":              {"a.txt", "shift_jis", kana + "\nb\xa0d\n" + kana + "\x85\n\n" + kana + "\n", []string{"テスト", "テスト"}, []uint64{2, 3}},
		"TSV":               {"a.tsv", "shift_jis", "text\n" + kana + "\n\xfd\n", []string{"テスト"}, []uint64{3}},
		"CSV":               {"a.csv", "shift_jis", "text\n\"" + kana + "\"\n\"\xfd\"\n", []string{"テスト"}, []uint64{3}},
		"JSON lines":        {"a.jsonl", "shift_jis", `{"text":"a\ufffd"}` + "\n" + `{"text":"` + kana + `"}` + "\n" + `{"text":"` + "\xfd" + `"}` + "\n", []string{"a\ufffd", "テスト"}, []uint64{3}},
		"half of a pair":    {"a.txt", "utf-16", "a\x00\n\x00\x00\xd8\n\x00", []string{"a"}, []uint64{2}},
		"UTF-8, said to be": {"a.txt", "UTF8", "a\ufffd\nb\xff\nc\n", []string{"a\ufffd", "c"}, []uint64{2}},
	} {
		t.Run(name, func(t *testing.T) {
			opts := DefaultOptions()
			opts.Encoding = c.encoding
			sentences, counts, err := readAll(c.file, []byte(c.data), opts)
			var texts []string
			for _, s := range sentences {
				texts = append(texts, s.Text)
			}
			var skipped []uint64
			for _, s := range counts.Examples {
				if s.Reason == ReasonNotUTF8 && s.Detail == "cannot be read as "+c.encoding {
					skipped = append(skipped, s.Line)
				}
			}
			if err != nil || !slices.Equal(texts, c.texts) || !slices.Equal(skipped, c.skipped) {
				t.Errorf("%q, counts %+v, error %v", texts, counts, err)
			}
			opts.OnBadLine = FailBadLine
			if _, _, err := readAll(c.file, []byte(c.data), opts); !badinput.Is(err) || !strings.HasSuffix(err.Error(), "than "+c.encoding+" with --encoding") {
				t.Errorf("with fail: %v", err)
			}
		})
	}
}

func TestBadLinesAreCounted(t *testing.T) {
	short := columnOptions()
	short.MaxLineBytes = 20
	type optional struct {
		Text *string `parquet:"text,optional"`
		Doc  string  `parquet:"doc"`
		URL  string  `parquet:"url"`
	}
	good, long, latin1 := "good", strings.Repeat("x", 21), "caf\xe9"
	tests := []struct {
		name, file, data string
		want             []Skip
	}{
		{"text", "a", "good\n" + long + "\nno\xff\n \n\u00a0\nxxxxxxxxxxxxxxxxxxxx\n", []Skip{
			{2, ReasonTooLong, "21 bytes, at most 20 are read"}, {3, ReasonNotUTF8, "byte 3 (0xff) is not UTF-8"}, {4, ReasonEmpty, ""}, {5, ReasonEmpty, ""}}},
		{"bucc", "a", "i\tgood\n" + strings.Repeat("i\tx\n", 9) + "no tab\n\tno id\n\ni\t \n", []Skip{
			{11, ReasonMalformed, "not id<TAB>sentence"}, {12, ReasonMalformed, "not id<TAB>sentence"}, {13, ReasonEmpty, ""}, {14, ReasonEmpty, ""}}},
		{"tsv", "a.tsv", "doc\turl\ttext\n\t\tgood\nx\ty\na\tb\tc\td\n\t\t\n\t\t\xff\n", []Skip{
			{3, ReasonMalformed, "2 fields, the header has 3"}, {4, ReasonMalformed, "4 fields, the header has 3"}, {5, ReasonEmpty, ""}, {6, ReasonNotUTF8, "byte 1 (0xff) is not UTF-8"}}},
		{"parquet", "a.parquet", string(corpustest.Parquet(t, []optional{{&good, "d", ""}, {nil, "d", ""}, {&long, "", ""}, {&latin1, "", ""}, {&good, "\xff", ""}})), []Skip{
			{2, ReasonEmpty, ""}, {3, ReasonTooLong, "21 bytes, at most 20 are read"}, {4, ReasonNotUTF8, "byte 4 (0xe9) is not UTF-8"}, {5, ReasonNotUTF8, "byte 1 (0xff) is not UTF-8"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, counts, err := readAll(tt.file, []byte(tt.data), short)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(counts.Examples, tt.want) {
				t.Errorf("got  %+v\nwant %+v", counts.Examples, tt.want)
			}
			if err := counts.Check(); err != nil || counts.SkippedTotal() != uint64(len(tt.want)) {
				t.Errorf("%+v: %v", counts, err)
			}
			failing := short
			failing.OnBadLine = FailBadLine
			_, _, err = readAll(tt.file, []byte(tt.data), failing)
			first := slices.IndexFunc(tt.want, func(s Skip) bool { return s.Reason != ReasonEmpty })
			if where := fmt.Sprintf("%s:%d: ", tt.file, tt.want[first].Line); err == nil || !badinput.Is(err) || !strings.HasPrefix(err.Error(), where) {
				t.Errorf("with fail: %v, want a badinput error at %s", err, where)
			}
		})
	}
}

func TestBadJSONLines(t *testing.T) {
	tests := []struct {
		name, line string
		reason     Reason
	}{
		{"broken", `{"text":"a"`, ReasonMalformed},
		{"two objects", `{"text":"a"}{"text":"b"}`, ReasonMalformed},
		{"not an object", `["text"]`, ReasonMalformed},
		{"null", `null`, ReasonMalformed},
		{"no column", `{"Text":"a"}`, ReasonNoColumn},
		{"null text", `{"text":null}`, ReasonEmpty},
		{"empty text", `{"text":"\u0020\n"}`, ReasonEmpty},
		{"a number", `{"text":1}`, ReasonMalformed},
		{"doc is a list", `{"text":"a","doc":[]}`, ReasonMalformed},
		{"half a surrogate pair", `{"text":"a\ud800b"}`, ReasonMalformed},
		{"not UTF-8", "{\"text\":\"a\xff\"}", ReasonNotUTF8},
		{"a replacement character is one", `{"text":"\uFFFD\u0061"}`, ""},
		{"a number as document", `{"text":"a","doc":17}`, ""},
	}
	opts := DefaultOptions()
	opts.DocColumn = "doc"
	for want, data := range map[string]string{
		`none of its 1 lines is a usable sentence (1 malformed; line 1: column "doc" is a list, not one value)`:       `{"text":"a","doc":["b"]}`,
		`none of its 1 lines is a usable sentence (1 malformed; line 1: column "doc" is an object, not one value)`:    `{"text":"a","doc":{}}`,
		`none of its 1 lines is a usable sentence (1 malformed; line 1: column "doc" has half of a surrogate pair)`:   `{"text":"a","doc":"\ud800"}`,
		`none of its 1 lines is a usable sentence (1 malformed; line 1: column "text" is not a string); check the fi`: `{"text":["a"],"doc":"b"}`,
	} {
		if _, _, err := readAll("a.jsonl", []byte(data+"\n"), opts); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", data, err)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, counts, err := readAll("a.jsonl", []byte("{\"text\":\"good\",\"doc\":\"\"}\n"+tt.line+"\n"), opts)
			if err != nil {
				t.Fatal(err)
			}
			if tt.reason == "" && counts.Kept == 2 {
				return
			}
			if len(counts.Examples) != 1 || counts.Examples[0].Reason != tt.reason || counts.Examples[0].Line != 2 {
				t.Errorf("got %+v, want %s", counts, tt.reason)
			}
		})
	}
}

func TestLongLineCostsNoMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.txt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte("abcdefgh"), 128<<10)
	for range 100 { // 100 MiB without a line end
		if _, err := f.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	f.WriteString("\ngood\n")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Open(input.File{Path: path}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := r.Next()
	runtime.ReadMemStats(&after)
	if err != nil || s.Line != 2 || r.Counts().Skipped[ReasonTooLong] != 1 {
		t.Fatal(s, err, r.Counts())
	}
	if want := fmt.Sprint(100<<20, " bytes"); !strings.HasPrefix(r.Counts().Examples[0].Detail, want) {
		t.Errorf("detail %q, want %s", r.Counts().Examples[0].Detail, want)
	}
	// All memory ever allocated, not only what is held: stricter than the peak.
	if got := after.TotalAlloc - before.TotalAlloc; got > 2<<20 {
		t.Errorf("the line cost %d bytes of memory", got)
	}
}

func TestExamplesAreFew(t *testing.T) {
	_, counts, err := readAll("a", []byte("good\n"+strings.Repeat("\n\xff\n", 1000)), DefaultOptions())
	if err != nil || len(counts.Examples) != 2*maxExamples || counts.Skipped[ReasonEmpty] != 1000 || counts.Skipped[ReasonNotUTF8] != 1000 {
		t.Errorf("%d examples, %v, %v", len(counts.Examples), counts.Skipped, err)
	}
}
