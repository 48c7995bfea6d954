package exchange

import (
	stdcsv "encoding/csv"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestReadCSV: records are read as other programs write them, and counted if they cannot be.
func TestReadCSV(t *testing.T) {
	layout := Options{SourceColumn: "src", TargetColumn: "tgt", Layout: &Layout{Columns: []string{"tgt", "kind", "src"}, Where: map[string][]string{"kind": {"doc"}}}}
	named := Options{SourceColumn: "Deutsch", TargetColumn: "English", MustName: true}
	for name, c := range map[string]struct {
		text string
		opts Options
		want []string
	}{
		"a header": {"id,tgt_text,src_text\n1,\"one, \"\"1\"\"\",eins\n2,\"two\nlines\",zwei\n3,three\n4,\"\",vier\n\n5,\"a\"b,c\n6,\xff,d\n", DefaultOptions(),
			[]string{`eins|one, "1"`, "zwei|two\nlines", "malformed", "vier|", "empty", "malformed", "not_utf8"}},
		"semicolons":  {"\xef\xbb\xbfDeutsch;English\r\neins, zwei;one, two\r\n", named, []string{"eins, zwei|one, two"}},
		"no header":   {"eins,one\nzwei,two\n", DefaultOptions(), []string{"eins|one", "zwei|two"}},
		"a layout":    {"one,doc,eins\ntwo,web,zwei\n", layout, []string{"eins|one", "filtered"}},
		"header only": {"src_text,tgt_text\n", DefaultOptions(), nil},
	} {
		r, err := Open(memory(c.text), CSV, c.opts)
		if got := records(t, r, err); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for text, says := range map[string]string{"": "holds no line", "a;b\n": "does not name both columns", "\xff\xfea": "UTF-16"} {
		_, err := Open(memory(text), CSV, named)
		refused(t, err, says)
	}
	_, err := Open(memory("a,b\n"), CSV, layout)
	refused(t, err, "2 fields, but 3 columns")
}

// TestCSVKeepsEveryRecord: what is read is written with further fields, in quotation marks where they are needed.
func TestCSVKeepsEveryRecord(t *testing.T) {
	for text, want := range map[string]string{
		"id;src_text;tgt_text\n1;\"a;\"\"b\";c\n\n3;d;e\n": "id;src_text;tgt_text;own_score;own_rank\n1;\"a;\"\"b\";c;1.5;\n;;;;\n3;d;e;;\n",
		"eins,one\n\"zwei\nzeilen\",two\n":                 "eins,one,1.5,\n\"zwei\nzeilen\",two,,\n",
		"sep=|\nsrc_text|tgt_text\neins|one, 1\n":          "sep=|\nsrc_text|tgt_text|own_score|own_rank\neins|one, 1|1.5|\n",
	} {
		w, err := load(memory(text), CSV, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		got := written(t, w, append([][]string{oneScore}, make([][]string, w.Pairs-1)...)...)
		if got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
		if again, err := load(memory(got), CSV, DefaultOptions()); strings.Contains(text, "src_text") && (err != nil || again.Pairs != w.Pairs) {
			t.Errorf("%q is not read again: %v", got, err)
		}
	}
	_, err := load(memory("a,b\nc\n"), CSV, DefaultOptions())
	refused(t, err, "f:2", "1 fields, the header has 2")
	with := DefaultOptions()
	with.Added = names
	_, err = load(memory("src_text,tgt_text,own_rank\n"), CSV, with)
	refused(t, err, `"own_rank" already`)
}

func FuzzCSV(f *testing.F) {
	f.Add("src_text,tgt_text\n\"a\"\"b\",c\n\n\"d\ne\",\n")
	f.Add("a;b\nc;d\n")
	f.Add("sep=|\na|b\n")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := load(memory(text), CSV, DefaultOptions())
		if err != nil {
			if !badinput.Is(err) {
				t.Fatalf("%v is not about bad input", err)
			}
			return
		}
		out := written(t, w, make([][]string, w.Pairs)...)
		got := stdcsv.NewReader(strings.NewReader(out))
		if rest, said := strings.CutPrefix(out, "sep="); said && len(rest) > 1 && rest[1] == '\n' {
			got = stdcsv.NewReader(strings.NewReader(rest[2:]))
			got.Comma = rune(rest[0])
		} else if !strings.Contains(text, ",") {
			got.Comma = ';'
		}
		records, err := got.ReadAll()
		if n := len(records); err != nil || n != w.Pairs && n != w.Pairs+1 {
			t.Errorf("%d records of %d pairs, %v", n, w.Pairs, err)
		}
	})
}
