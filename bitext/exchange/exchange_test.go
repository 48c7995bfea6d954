package exchange

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// put writes files into a new directory.
func put(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func inDir(dir, name string) input.File { return input.File{Path: filepath.Join(dir, name)} }

// memory is a file in memory.
func memory(text string) input.File {
	return input.File{FS: fstest.MapFS{"f": {Data: []byte(text)}}, Path: "f"}
}

// germanEnglish are DefaultOptions for German and English.
func germanEnglish() Options {
	opts := DefaultOptions()
	opts.SourceLanguage, opts.TargetLanguage = "de", "en"
	return opts
}

// refused checks that an error is one sentence about bad input that says certain words.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if !badinput.Is(err) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("error %v is not one sentence about bad input", err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

// records reads a reader to its end, as source|target, or as the reason.
func records(t *testing.T, r Reader, err error) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for n := uint64(1); ; n++ {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Reason != "" {
			got = append(got, string(rec.Reason))
		} else {
			got = append(got, rec.Source+"|"+rec.Target)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return got
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{
		"a.tsv": TSV, "a.TMX": TMX, "a.tmx.gz": TMX, "a.jsonl.zst": JSONL, "a.ndjson": JSONL, "a.csv.gz": CSV, "a.xlf": XLIFF, "a.SDLXLIFF": XLIFF, "a": TSV, "a.gz": TSV, "a.txt": TSV, "tmx": TSV,
	} {
		if got := FormatOf(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestReadTSV(t *testing.T) {
	dir := put(t, map[string]string{"a.tsv": "doc\teins\tone\nweb\tzwei\ttwo\n\ndoc\tdrei\ndoc\t\xff\tthree\r\ndoc\t\tfour\r\n"})
	opts := Options{SourceColumn: "src", TargetColumn: "tgt", Layout: &Layout{Columns: []string{"kind", "src", "tgt"}, Where: map[string][]string{"kind": {"doc"}}}}
	r, err := Open(inDir(dir, "a.tsv"), TSV, opts)
	if got, want := records(t, r, err), []string{"eins|one", "filtered", "empty", "malformed", "not_utf8", "|four"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	opts.Layout.Header = true
	r, err = Open(inDir(dir, "a.tsv"), TSV, opts)
	if got := records(t, r, err); len(got) != 5 {
		t.Errorf("with a header %q", got)
	}
}

// A first line that cannot be read costs no other: the columns are those of the first line that can be.
func TestBadFirstLineOfTSV(t *testing.T) {
	for text, want := range map[string][]string{
		"\n \nsrc_text\ttgt_text\neins\tone\n":                          {"empty", "empty", "eins|one"},
		"caf\xe9\tKaffee\neins\tone\n":                                  {"not_utf8", "eins|one"},
		strings.Repeat("a", MaxLineBytes+1) + "\tb\neins\tone\n":        {"too_long", "eins|one"},
		"\xff\n\xff\nid\ttgt_text\tsrc_text\n1\tone\teins\nzwei\ttwo\n": {"not_utf8", "not_utf8", "eins|one", "malformed"},
	} {
		r, err := Open(memory(text), TSV, DefaultOptions())
		if got := records(t, r, err); !slices.Equal(got, want) {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
	r, err := Open(memory("\xff\neins\n"), TSV, DefaultOptions())
	for err == nil {
		_, err = r.Next()
	}
	refused(t, err, "f:2", "a pair needs two")
}

func TestReadJSONL(t *testing.T) {
	dir := put(t, map[string]string{
		"a.jsonl": `{"src_text":"ein \"Haus\"","tgt_text":"a house","n":1}` + "\n\n" + `{"tgt_text":null,"src_text":"zwei"}` + "\n[]\n" +
			`{"src_text":"drei"}` + "\n" + `{"src_text":3,"tgt_text":"x"}` + "\n" + `{"src_text":"\ud800","tgt_text":"x"}` + "\n{\n",
		"wrong.jsonl": `{"de":"eins","en":"one"}` + "\n", "long.jsonl": `{"src_text":"` + strings.Repeat("a", MaxLineBytes) + `","tgt_text":""}` + "\n",
		"python.jsonl": `{"p":NaN,"src_text":"NaN","tgt_text":"Infinity","q":[-Infinity]}` + "\n" + `{"src_text":"a","tgt_text":-NaN}` + "\n",
		"taken.jsonl":  `{"src_text":"a","tgt_text":"b","own_score":1}` + "\n", "empty.jsonl": "",
	})
	r, err := Open(inDir(dir, "a.jsonl"), JSONL, DefaultOptions())
	want := []string{`ein "Haus"|a house`, "empty", "zwei|", "malformed", "malformed", "malformed", "malformed", "malformed"}
	if got := records(t, r, err); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r, err = Open(inDir(dir, "python.jsonl"), JSONL, DefaultOptions())
	if got, want := records(t, r, err), []string{"NaN|Infinity", "malformed"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	opts := DefaultOptions()
	opts.Added = []string{"own_score"}
	_, err = load(inDir(dir, "wrong.jsonl"), JSONL, opts)
	refused(t, err, "wrong.jsonl:1", `no key "src_text"`, "de, en")
	_, err = load(inDir(dir, "taken.jsonl"), JSONL, opts)
	refused(t, err, "taken.jsonl", "own_score", "--prefix")
	_, err = load(inDir(dir, "long.jsonl"), JSONL, opts)
	refused(t, err, "long.jsonl:1", "too_long")
	_, err = load(inDir(dir, "a.jsonl"), JSONL, opts)
	refused(t, err, "a.jsonl:4", "not a JSON object")
	_, err = load(inDir(dir, "empty.jsonl"), JSONL, opts)
	refused(t, err, "empty.jsonl", "no line")
	_, err = load(inDir(dir, "gone.jsonl"), JSONL, opts)
	refused(t, err, "gone.jsonl", "no such file")
}

func TestReadKnown(t *testing.T) {
	dir := put(t, map[string]string{
		"named.tsv": "id\ttgt_text\tsrc_text\n1\tone\teins\n\n2\t two \tzwei\n", "plain.tsv": "eins\tone\nzwei\ttwo\n",
		"a.jsonl": `{"src_text":"eins","tgt_text":"one"}` + "\n" + `{"src_text":"zwei","tgt_text":"two"}` + "\n",
		"a.tmx": `<tmx><body><tu><tuv xml:lang="de"><seg>eins</seg></tuv><tuv xml:lang="en"><seg>one</seg></tuv></tu>` +
			`<tu><tuv xml:lang="fr"><seg>x</seg></tuv></tu><tu><tuv xml:lang="de"><seg>zwei</seg></tuv><tuv xml:lang="en"><seg>two</seg></tuv></tu></body></tmx>`,
		"ragged.tsv": "eins\tone\nzwei\n", "a.de": "eins\n\nzwei\n", "a.en": "one\n\ntwo\n", "b.en": "one\n",
	})
	want := []Pair{{"eins", "one"}, {"zwei", "two"}}
	for _, name := range []string{"named.tsv", "plain.tsv", "a.jsonl", "a.tmx"} {
		if got, err := ReadKnown(filepath.Join(dir, name), "de", "en"); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, error %v", name, got, err)
		}
	}
	if got, err := ReadKnownAligned(filepath.Join(dir, "a.de"), filepath.Join(dir, "a.en")); err != nil || !slices.Equal(got, want) {
		t.Errorf("aligned: %q, error %v", got, err)
	}
	_, err := ReadKnown(filepath.Join(dir, "ragged.tsv"), "de", "en")
	refused(t, err, "ragged.tsv:2", "1 tab-separated fields instead of 2", "correct the line")
	_, err = ReadKnownAligned(filepath.Join(dir, "a.de"), filepath.Join(dir, "b.en"))
	refused(t, err, "a.de has 3 lines", "b.en has 1")
}

func TestFixturePairs(t *testing.T) {
	_, err := FixturePairs("sw", "en")
	refused(t, err, "sw-en")
	there, err := FixturePairs("deu", "en")
	if err != nil || len(there) != 216+440 {
		t.Fatalf("%d pairs, error %v", len(there), err)
	}
	back, err := FixturePairs("en", "de")
	if err != nil || len(back) != len(there) {
		t.Fatalf("%d pairs turned round, error %v", len(back), err)
	}
	for _, i := range []int{0, 400} {
		if back[i] != (Pair{there[i].Target, there[i].Source}) || there[i].Source == "" {
			t.Errorf("pair %d turned round %q of %q", i, back[i], there[i])
		}
	}
	if portuguese, err := FixturePairs("pt", "zh"); err != nil || len(portuguese) != 440 {
		t.Errorf("%d pairs of pt-zh, error %v", len(portuguese), err)
	}
}

func TestMixedPairs(t *testing.T) {
	for _, c := range []struct {
		source, target string
		pairs          int
		of             string
	}{{"fr", "en", 440, "fr-en"}, {"ha", "en", 440, "none of them ha"}, {"sw", "hu", 440, "none of them sw or hu"}, {"en", "cs", 440, "none of them cs"}} {
		pairs, of, err := MixedPairs(c.source, c.target)
		if err != nil || len(pairs) != c.pairs || !strings.Contains(of, c.of) {
			t.Fatalf("%s-%s: %d pairs of %s, error %v", c.source, c.target, len(pairs), of, err)
		}
		table, err := readTable()
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pairs {
			row := table.rows[i]
			if p.Source == "" || p.Target == "" || p.Source == p.Target {
				t.Fatalf("%s-%s: pair %d is %q", c.source, c.target, i, p)
			}
			if c.target == "en" && p.Target != row["en"] || c.source == "en" && p.Source != row["en"] {
				t.Fatalf("%s-%s: the English of pair %d is not where it belongs: %q", c.source, c.target, i, p)
			}
		}
	}
}
