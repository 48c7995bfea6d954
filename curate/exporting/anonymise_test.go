package exporting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/table"
	"bitextmine/internal/badinput"
)

// contacts is a table of pairs with personal data and addresses.
func contacts(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pairs.jsonl")
	err := os.WriteFile(path, []byte(`{"src_text":"An a@x.de","tgt_text":"To a@x.de","score":1,"src_url":"https://www.amt.example.co.uk/a","tgt_url":"https://EXAMPLE.co.uk/b"}
{"src_text":"Satz","tgt_text":"Sentence","score":3,"src_url":"http://haus.de/1","tgt_url":"http://house.com:8080/1"}
{"src_text":"Tel. 030 1234567","tgt_text":"Dial 030 1234567","score":2,"src_url":"http://haus.de/2","tgt_url":""}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAnonymise(t *testing.T) {
	file := contacts(t)
	for _, c := range []struct {
		how     Anonymise
		sort    string
		columns []string
		want    []string
	}{
		{InTexts, "", []string{"src_text", "tgt_text", "src_masked"}, []string{"An [EMAIL_1] To [EMAIL_1] EMAIL", "Satz Sentence ", "Tel. [PHONE_1] Dial [PHONE_1] PHONE"}},
		{InTexts, "score", []string{"src_text", "tgt_masked"}, []string{"Satz ", "Tel. [PHONE_1] PHONE", "An [EMAIL_1] EMAIL"}},
		{AsColumns, "", []string{"src_text", "tgt_anonymous"}, []string{"An a@x.de To [EMAIL_1]", "Satz Sentence", "Tel. 030 1234567 Dial [PHONE_1]"}},
		{Keep, "", []string{"src_text"}, []string{"An a@x.de", "Satz", "Tel. 030 1234567"}},
	} {
		out := filepath.Join(t.TempDir(), "out.tsv")
		run(t, Options{Files: []string{file}, Format: "tsv", Out: out, Anonymise: c.how, Sort: c.sort})
		if got := rows(t, out, c.columns...); !slices.Equal(got, c.want) {
			t.Errorf("%q sorted by %q: %q, want %q", c.how, c.sort, got, c.want)
		}
	}
	_, err := Run(context.Background(), Options{Files: []string{file}, Table: table.DefaultOptions(), Format: "moses", Out: "x", Anonymise: AsColumns})
	if !badinput.Is(err) || !strings.Contains(err.Error(), "--anonymise texts") {
		t.Errorf("columns of a format without: %v", err)
	}
}

// TestAnonymiseOneSide: a column of one side, or whose counterpart has fewer sentences, is masked.
func TestAnonymiseOneSide(t *testing.T) {
	b, err := table.NewBatch(1, 0,
		table.Values{Name: "src_text", Text: []string{"An a@x.de"}}, table.Values{Name: "tgt_text", Text: []string{"To a@x.de"}},
		table.Values{Name: "src_fixed", Text: []string{"An a@x.de"}}, table.Values{Name: "tgt_fixed", Text: []string{"To a@x.de"}},
		table.Values{Name: "src_parts", List: [][]string{{"An b@x.de", "An a@x.de"}}}, table.Values{Name: "tgt_parts", List: [][]string{{"To b@x.de"}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		from, columns []string // those of the table; nil: all
		want          string
	}{
		{nil, []string{"src_fixed"}, `"src_fixed":"An [EMAIL_1]"}`},
		{nil, []string{"src_parts"}, `"src_parts":["An [EMAIL_1]","An [EMAIL_1]"]}`},
		{[]string{"src_text", "tgt_text", "tgt_fixed", "src_parts"}, nil, `"tgt_fixed":"To [EMAIL_1]","src_parts":["An [EMAIL_1]","An [EMAIL_1]"],"src_masked":["EMAIL"],"tgt_masked":["EMAIL"]}`},
	} {
		some := b
		if c.from != nil {
			if some, err = b.Only(c.from); err != nil {
				t.Fatal(err)
			}
		}
		var data bytes.Buffer
		w := table.NewParquetWriter(&data, nil)
		in, out := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.jsonl")
		if err := errors.Join(w.Write(some), w.Close(), os.WriteFile(in, data.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		run(t, Options{Files: []string{in}, Format: "jsonl", Out: out, Anonymise: InTexts, Columns: c.columns})
		want := `{"src_text":"An [EMAIL_1]","tgt_text":"To [EMAIL_1]",` + c.want + "\n"
		if got, err := os.ReadFile(out); err != nil || string(got) != want {
			t.Errorf("%v of %v: %s, %v; want %s", c.columns, c.from, got, err, want)
		}
	}
}

// TestAnonymiseSets: an anonymised export has the pairs of any other in its sets, and no source text is in two.
func TestAnonymiseSets(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.tsv")
	text := "src_text\ttgt_text\n"
	for i := range 100 { // the phone number is one if it stands on both sides
		text += fmt.Sprintf("Satz %d, Tel. 030 12345%02d\tpair %d\nSatz %d, Tel. 030 12345%02d\tpair %d, dial 030 12345%02d\n", i, i, 2*i, i, i, 2*i+1, i)
	}
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile("pair [0-9]+")
	var sets [2][]string
	for i, how := range []Anonymise{Keep, InTexts} {
		out := filepath.Join(dir, string(how)+"out.tsv")
		report := run(t, Options{Files: []string{in}, Format: "tsv", Out: out, Anonymise: how, Split: Split{Dev: 0.3, Test: 0.2}})
		for _, s := range report.Sets {
			data, err := os.ReadFile(s.Files[0])
			if err != nil {
				t.Fatal(err)
			}
			sets[i] = append(sets[i], strings.Join(number.FindAllString(string(data), -1), ", "))
		}
	}
	if !slices.Equal(sets[0], sets[1]) || len(sets[0]) != 3 {
		t.Errorf("plain sets %q, anonymised ones %q", sets[0], sets[1])
	}
}

func TestDomains(t *testing.T) {
	out := t.TempDir()
	for _, format := range []string{"jsonl", "tmx"} {
		opts := Options{Files: []string{contacts(t)}, Format: format, Out: filepath.Join(out, "out"), Domains: filepath.Join(out, "domains.tsv")}
		opts.Table.Source, opts.Table.Target = "de", "en"
		opts.Table.SourceColumn, opts.Table.TargetColumn = "src_text", "tgt_text"
		if _, err := Run(context.Background(), opts); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(opts.Domains)
		want := "domain\tpairs\tsrc\ttgt\tsrc_characters\ttgt_characters\nhaus.de\t2\t2\t0\t20\t0\n\t1\t0\t1\t0\t16\nexample.co.uk\t1\t1\t1\t9\t9\nhouse.com\t1\t0\t1\t0\t8\n"
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", format, got, err, want)
		}
	}
	_, err := Run(context.Background(), Options{Files: []string{source(t)}, Table: table.DefaultOptions(), Format: "tsv", Out: filepath.Join(out, "x"), Domains: "d"})
	if !badinput.Is(err) || !strings.Contains(err.Error(), "tgt_url") {
		t.Errorf("domains without addresses: %v", err)
	}
}
