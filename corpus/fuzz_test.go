package corpus

import (
	"testing"
	"unicode/utf8"

	"bitextmine/corpus/corpustest"
	"bitextmine/internal/badinput"
)

// fuzzFormat reads arbitrary bytes in one format. Reading must end with sentences that satisfy the package's contract
// or with a badinput error, and never with a panic or a lost line.
func fuzzFormat(f *testing.F, name string, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	opts := columnOptions()
	opts.Format, opts.MaxLineBytes = format, 100
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			t.Skip()
		}
		sentences, counts, err := readAll(name, data, opts)
		if err != nil && !badinput.Is(err) {
			t.Fatalf("%v is not a badinput error", err)
		}
		if err == nil && (counts.Check() != nil || counts.Kept != uint64(len(sentences))) {
			t.Fatalf("%+v for %d sentences", counts, len(sentences))
		}
		last := uint64(0)
		for _, s := range sentences {
			if s.Line <= last {
				t.Fatalf("line %d after line %d", s.Line, last)
			}
			last = s.Line
			if s.Normal == "" || s.Normal != Normalise(s.Text) || len(s.Text) > 100 {
				t.Fatalf("unusable sentence %#v", s)
			}
			if !utf8.ValidString(s.Text) || !utf8.ValidString(s.Doc) || !utf8.ValidString(s.URL) {
				t.Fatalf("not UTF-8: %#v", s)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	fuzzFormat(f, "a", FormatText, "", "one\ntwo\r\n\n", "\xef\xbb\xbfx", "\xff\xfex", "\xff\n")
}

func FuzzBUCC(f *testing.F) {
	fuzzFormat(f, "a", FormatBUCC, "id\tone\nno\n\tx\n\n", "a\tb\tc\r\n")
}

func FuzzTSV(f *testing.F) {
	fuzzFormat(f, "a", FormatTSV, "text\tdoc\turl\na\tb\tc\n\nx\n", "url\ttext\ttext\tdoc\r\n1\t2\t3\t4")
}

func FuzzJSONL(f *testing.F) {
	fuzzFormat(f, "a", FormatJSONL, `{"text":"a\u00e9\ud83d\ude00","doc":1,"url":null}`+"\n{}\n", `{"text":"\ud800","doc":"","url":""}`, "[]\nnull\n")
}

func FuzzJSON(f *testing.F) {
	fuzzFormat(f, "a", FormatJSON, `[{"text":"a\u00e9 \"x\"","doc":NaN,"url":"[,]"}, "b", null, {"text":["c"]}]`+"\n", `[]`, `[{"text":"a"} 1, -Infinity, "\\"]x`)
}

func FuzzSRT(f *testing.F) {
	fuzzFormat(f, "a", FormatSRT, "1\n00:00:01,000 --> 00:00:02,000\nOne is\n\n2\n00:00:03,000 --> 00:00:02,000\nnot\n\n00:00:03,000 --> 00:00:04,000\n- two\n- three\n",
		"1\ntext\n2\n99999999999999999999:00:00 --> 0:0:0\n")
}

func FuzzVTT(f *testing.F) {
	fuzzFormat(f, "a", FormatVTT, "WEBVTT\n\nNOTE a\nb\n\nid\n00:01.000 --> 00:02.000 align:start\n<v A>One &amp; &#x110000; two</v>\n")
}

// columns is a row of a Parquet file with the columns of columnOptions.
type columns struct {
	Text string `parquet:"text"`
	Doc  string `parquet:"doc"`
	URL  string `parquet:"url"`
}

func FuzzParquet(f *testing.F) {
	whole := corpustest.Parquet(f, []columns{{Text: "one", Doc: "d"}, {Text: "two", URL: "u"}})
	fuzzFormat(f, "a", FormatParquet, string(whole), string(whole[:len(whole)-3]), "PAR1\x00\x00\x00\x00PAR1")
}

// FuzzCompression reads arbitrary bytes through every decompressor, in the format that is detected.
func FuzzCompression(f *testing.F) {
	var seeds []string
	for kind, pack := range packers {
		if kind != "bz2" { // needs the bzip2 program
			seeds = append(seeds, string(pack(f, []byte("text\tdoc\turl\none\ttwo\tthree\n"))))
		}
	}
	seeds = append(seeds, "BZh91AY&SY\x00", "\x28\xb5\x2f\xfd", "\x50\x2a\x4d\x18\x00\x00\x00\x00")
	fuzzFormat(f, "a", FormatAuto, seeds...)
}
