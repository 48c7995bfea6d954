package corpus

import (
	"bytes"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"bitextmine/internal/badinput"
	"bitextmine/internal/parquettest"
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
		if err == nil && (counts.check() != nil || counts.Kept != uint64(len(sentences))) {
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

func FuzzParquet(f *testing.F) {
	whole := parquetBytes(f, []shardRow{{Text: "one", Doc: "d"}, {Text: "two", URL: "u"}})
	seeds := []string{string(whole), string(whole[:len(whole)-3]), "PAR1\x00\x00\x00\x00PAR1"}
	for _, file := range parquettest.Seeds(corpusFile(), 0) {
		seeds = append(seeds, string(file))
	}
	fuzzFormat(f, "a", FormatParquet, seeds...)
}

// FuzzShard reads arbitrary bytes as a shard.
func FuzzShard(f *testing.F) {
	f.Add(parquetBytes(f, []shardRow{{Text: "one", Doc: "d"}, {Text: "two", URL: "u"}}))
	f.Add(shardFile().Bytes())
	for _, file := range parquettest.Seeds(shardFile(), columnText) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := OpenShard(parquettest.Save(t, data))
		if err != nil {
			if !badinput.Is(err) {
				t.Fatalf("%v is not a badinput error", err)
			}
			return
		}
		defer r.Close()
		rows := 0
		for _, err = range r.Rows() {
			if err != nil {
				break
			}
			rows++
		}
		if err != nil && !badinput.Is(err) || err == nil && rows != r.NumRows() {
			t.Fatalf("%d rows of %d, %v", rows, r.NumRows(), err)
		}
	})
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

// FuzzLines compares the line reader with bytes.Split.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\nthree"))
	f.Add(bytes.Repeat([]byte("x"), 200))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Open(Input{FS: fstest.MapFS{"a": {Data: data}}, Path: "a"}, Options{Format: FormatText, OnBadLine: SkipBadLine, TextColumn: "text", MaxLineBytes: 5, ShardSize: 1})
		if err != nil {
			t.Skip() // compressed, or UTF-16
		}
		defer r.Close()
		d, ok := r.decoder.(*textDecoder)
		if !ok || compression(data) != "" {
			t.Skip()
		}
		data = bytes.TrimPrefix(data, utf8BOM)
		if len(data) == 0 {
			t.Skip()
		}
		want := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		for i, w := range want {
			line, excess, err := d.in.next()
			w = bytes.TrimSuffix(w, []byte("\r"))
			switch {
			case err != nil:
				t.Fatalf("line %d: %v", i+1, err)
			case len(w) > 5 && excess < int64(len(w)), len(w) <= 5 && !bytes.Equal(line, w):
				t.Fatalf("line %d: %q, %d; want %q", i+1, line, excess, w)
			}
		}
	})
}
