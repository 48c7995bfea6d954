package exchange

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestColumnsThatNothingNames: files of other programs have the texts behind addresses and scores.
func TestColumnsThatNothingNames(t *testing.T) {
	dir := put(t, map[string]string{
		"bitextor.sent": "src_url\ttrg_url\tsrc_text\ttrg_text\thash\nhttp://a/1\thttp://b/1\teins\tone\t3f\n",
		"hub.tsv":       "id\ttarget\tsource\n7\tone\teins\n", "two.tsv": "source\ttarget\neins\tone\n",
		"hub.csv":      "id,target,source\n7,one,eins\n",
		"raw.tsv":      strings.Repeat("http://a/1\thttps://b/1\teins\tone\t0.5\n", 30),
		"ccmatrix.tsv": strings.Repeat("1.04\teins\tone\n", 30) + "x\teins\tone\n",
		"few.tsv":      "eins\t1\tone\nzwei\t2.5\ttwo\n",
		"one.tsv":      "eins\t1\t0.5\nzwei\t2\t0.5\n",
		"last.tsv":     "1\t0.5\teins\n2\t0.5\tzwei\n",
		"none.tsv":     "1\t0.5\t7\n2\t0.5\t7\n",
		"ids.tsv":      "doc-1\teins\tone\ndoc-2\tzwei\ttwo\n",
		"dates.tsv":    "1999\tone\tx\nEs war 1999.\tIt was 1999.\tx\n2000\t2000\tx\nIm Jahr 2000.\tIn 2000.\tx\n",
	})
	for _, name := range []string{"bitextor.sent", "hub.tsv", "two.tsv", "hub.csv"} {
		if got, err := ReadKnown(filepath.Join(dir, name), "de", "en"); err != nil || !slices.Equal(got, []Pair{{"eins", "one"}}) {
			t.Errorf("%s: %q, error %v", name, got, err)
		}
	}
	for name, words := range map[string][]string{
		"raw.tsv":      {"column 1 has addresses", "--src-column 3 --tgt-column 4", "mine export"},
		"ccmatrix.tsv": {"column 1 has numbers", "--src-column 2 --tgt-column 3"},
		"few.tsv":      {"column 2 has numbers", "--src-column 1 --tgt-column 3"},
		"one.tsv":      {"column 2 has numbers", "fewer than two columns have texts"},
		"last.tsv":     {"column 1 has numbers", "fewer than two columns have texts"},
		"none.tsv":     {"column 1 has numbers", "fewer than two columns have texts"},
	} {
		_, err := ReadKnown(filepath.Join(dir, name), "de", "en")
		refused(t, err, append(words, name)...)
	}
	for name, pairs := range map[string]int{"ids.tsv": 2, "dates.tsv": 4} {
		r, err := Open(inDir(dir, name), TSV, DefaultOptions())
		if got := records(t, r, err); len(got) != pairs || unnamed(r) != 3 {
			t.Errorf("%s: %q, of %d columns", name, got, unnamed(r))
		}
	}
}

// TestNumberedColumns: columns have numbers from 1, whatever a first line names, and what is written again keeps all.
func TestNumberedColumns(t *testing.T) {
	dir := put(t, map[string]string{
		"a.tsv": "1.04\teins\tone\n1.03\tzwei\ttwo\n", "a.csv": "1.04,eins,one\n1.03,zwei,two\n", "a.jsonl": "{}\n",
		"named.tsv": "src_text\ttgt_text\tother\nx\teins\tone\nx\tzwei\ttwo\n",
	})
	opts := DefaultOptions()
	opts.SourceAt, opts.TargetAt = 2, 3
	for _, name := range []string{"a.tsv", "a.csv", "named.tsv"} {
		r, err := Open(inDir(dir, name), FormatOf(name), opts)
		if got := records(t, r, err); !slices.Equal(got, []string{"eins|one", "zwei|two"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	f, err := load(inDir(dir, "a.tsv"), TSV, opts)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := f.Write(&out, []string{"score"}, func(int) []string { return []string{"0.5"} }); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "1.04\teins\tone\t0.5\n1.03\tzwei\ttwo\t0.5\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	opts.TargetAt = 4
	_, err = load(inDir(dir, "a.tsv"), TSV, opts)
	refused(t, err, "a.tsv:1", "no column 4", "--tgt-column")
	_, err = load(inDir(dir, "a.jsonl"), JSONL, opts)
	refused(t, err, "a.jsonl", "numbered columns")
}

// TestNestedKeys: a path leads to a text in an object of an object.
func TestNestedKeys(t *testing.T) {
	opts := DefaultOptions()
	opts.SourceColumn, opts.TargetColumn = "translation.de", "translation.en"
	r, err := Open(memory(`{"translation":{"de":"eins","en":"one"}}`+"\n"+`{"translation.de":"zwei","translation":{"en":"two"}}`+"\n"+`{"translation":3}`+"\n"), JSONL, opts)
	if got, want := records(t, r, err), []string{"eins|one", "zwei|two", "malformed"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
