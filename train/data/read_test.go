package data

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"bitextmine/bitext"
	"bitextmine/internal/badinput"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeGzip(t *testing.T, name, text string) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, name, b.String())
}

// source is de-en of files.
func source(files ...string) Source {
	s := DefaultSource()
	s.Files, s.Src, s.Tgt = files, "de", "en"
	return s
}

func config(sources ...Source) Config {
	c := DefaultConfig()
	c.Sources = sources
	return c
}

// read gathers pairs as src|tgt and checks that every line is accounted for.
func read(t *testing.T, c Config) ([]string, Stats) {
	t.Helper()
	var stats Stats
	var got []string
	for p, err := range Pairs(t.Context(), c, &stats) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p.Source+"|"+p.Target)
	}
	kept := uint64(0)
	for _, f := range stats.Files {
		sum := f.Kept
		for _, n := range f.Dropped {
			sum += n
		}
		if sum != f.Lines {
			t.Errorf("%s: not every line is accounted for", f)
		}
		kept += f.Kept
	}
	if kept != uint64(len(got)) {
		t.Errorf("%d pairs, %d counted", len(got), kept)
	}
	return got, stats
}

func wantDropped(t *testing.T, stats Stats, want map[Reason]uint64) {
	t.Helper()
	if got := stats.Total().Dropped; !maps.Equal(got, want) {
		t.Errorf("dropped %v, want %v", got, want)
	}
}

func TestTSV(t *testing.T) {
	text := "phpdoc\tEin  Hund.\tA dog.\n" +
		"yast\tNein\tNo\n" +
		"phpdoc\t\tempty\n" +
		"phpdoc\tleer\t \n" +
		"\n" +
		"phpdoc\tzwei\n" +
		"phpdoc\tEin Hund.\tA dog.\n" +
		"pydocs\t\xff\tbroken\n" +
		"pydocs\tgeheim\tsecret\n" +
		"pydocs\t\"Katze\tCat\r\n"
	for name, path := range map[string]string{"plain": write(t, "a.tsv", text), "gzip": writeGzip(t, "a.tsv.gz", text)} {
		t.Run(name, func(t *testing.T) {
			s := source(path)
			s.Columns = []string{"source", "src", "tgt"}
			s.Where = map[string][]string{"source": {"phpdoc", "pydocs"}}
			c := config(s)
			c.Exclude = []string{write(t, "test.en", "nothing\n  secret \n")}
			got, stats := read(t, c)
			if want := []string{"Ein Hund.|A dog.", "\"Katze|Cat"}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			wantDropped(t, stats, map[Reason]uint64{Filtered: 1, EmptySource: 1, EmptyTarget: 1, "empty": 1, Malformed: 1, Duplicate: 1, "not_utf8": 1, HeldOut: 1})
			if stats.HeldOut != 2 {
				t.Errorf("%d held-out sentences", stats.HeldOut)
			}
		})
	}
}

func TestHeader(t *testing.T) {
	s := source(write(t, "a.tsv", "src\ttgt\neins\tone\n"))
	s.Header = true
	got, stats := read(t, config(s))
	if !slices.Equal(got, []string{"eins|one"}) || stats.Files[0].Lines != 1 {
		t.Errorf("%q, %s", got, stats.Files[0])
	}
}

func TestDuplicatesAcrossFilesAndDirections(t *testing.T) {
	a, b := source(write(t, "a.tsv", "eins\tone\n")), source(write(t, "b.tsv", "one\teins\ntwo\tzwei\n"))
	b.Src, b.Tgt = "eng", "deu_Latn"
	other := source(write(t, "c.tsv", "eins\tone\n"))
	other.Src = "fr"
	got, stats := read(t, config(a, b, other))
	if want := []string{"eins|one", "two|zwei", "eins|one"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	wantDropped(t, stats, map[Reason]uint64{Duplicate: 1})
}

const tmx = `<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header segtype="sentence"/><body>
<tu><tuv xml:lang="EN-US"><seg>A &amp; <bpt i="1">&lt;b&gt;</bpt>B</seg></tuv><tuv xml:lang="de"><seg>A und <hi>B</hi></seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>only one</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg/></tuv><tuv xml:lang="de"><seg>leer</seg></tuv></tu>
</body></tmx>`

func TestTMX(t *testing.T) {
	got, stats := read(t, config(source(write(t, "a.tmx", tmx), writeGzip(t, "b.tmx.gz", strings.ReplaceAll(tmx, "A", "C")))))
	if want := []string{"A und B|A & B", "C und B|C & B"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	wantDropped(t, stats, map[Reason]uint64{Malformed: 2, EmptyTarget: 2})
}

func TestParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bitext.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := bitext.NewWriter(f, bitext.Metadata{})
	if err != nil {
		t.Fatal(err)
	}
	prob := func(p float32) *float32 { return &p }
	for i, row := range []bitext.Row{
		{Score: 1.2, Prob: prob(0.9), Keep: true},
		{Score: 1.0, Prob: prob(0.9), Keep: true},
		{Score: 1.2, Prob: prob(0.4), Keep: true},
		{Score: 1.2, Prob: prob(0.9), Reasons: []string{"score"}},
	} {
		row.Source.Text, row.Source.Lang = fmt.Sprint("s", i), "de"
		row.Target.Text, row.Target.Lang = fmt.Sprint("t", i), "en"
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	one := 1.1
	half := 0.5
	for _, c := range []struct {
		name    string
		set     func(*Source)
		want    []string
		dropped map[Reason]uint64
	}{
		{"kept", func(*Source) {}, []string{"s0|t0", "s1|t1", "s2|t2"}, map[Reason]uint64{NotKept: 1}},
		{"every row", func(s *Source) { s.Keep = false }, []string{"s0|t0", "s1|t1", "s2|t2", "s3|t3"}, nil},
		{"score", func(s *Source) { s.MinScore = &one }, []string{"s0|t0", "s2|t2"}, map[Reason]uint64{NotKept: 1, LowScore: 1}},
		{"prob", func(s *Source) { s.MinProb = &half }, []string{"s0|t0", "s1|t1"}, map[Reason]uint64{NotKept: 1, LowProb: 1}},
		{"its own languages", func(s *Source) { s.Src, s.Tgt, s.MinScore, s.MinProb = "", "", &one, &half }, []string{"s0|t0"}, map[Reason]uint64{NotKept: 1, LowScore: 1, LowProb: 1}},
	} {
		s := source(path)
		c.set(&s)
		got, stats := read(t, config(s))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		wantDropped(t, stats, c.dropped)
	}
	s := source(path)
	s.Src = "fr"
	err = firstError(config(s))
	if !badinput.Is(err) || !strings.Contains(err.Error(), "3 other_language") {
		t.Errorf("another language: %v", err)
	}
	row := bitext.Row{Keep: true}
	row.Source.Lang, row.Target.Lang = "en", "en" // the target's alone is right
	r := reader{file: &FileStats{}, languages: map[string]string{}}
	if why, err := r.condition(source(path), row); err != nil || why != OtherLanguage {
		t.Errorf("%q, %v of a row of English and English", why, err)
	}
}

func firstError(c Config) error {
	var stats Stats
	for _, err := range Pairs(context.Background(), c, &stats) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestBadInput(t *testing.T) {
	good := write(t, "good.tsv", "eins\tone\n")
	with := func(path string, set func(*Source)) Config {
		s := source(path)
		set(&s)
		return config(s)
	}
	same := func(*Source) {}
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"no file", with("nowhere.tsv", same), "nowhere.tsv"},
		{"empty", with(write(t, "empty.tsv", ""), same), "empty.tsv"},
		{"one-sided", with(write(t, "one.tsv", "a\t\nb\t\n"), same), "2 empty_target"},
		{"one column", with(write(t, "column.tsv", "a\nb\n"), same), "no line has the 2 tab-separated columns src, tgt"},
		{"no language", with(good, func(s *Source) { s.Src, s.Tgt = "", "" }), "write src and tgt"},
		{"half a pair", with(good, func(s *Source) { s.Src = "" }), "write both src and tgt"},
		{"unknown language", with(good, func(s *Source) { s.Src = "qqz9" }), "not a known code"},
		{"twice the language", with(good, func(s *Source) { s.Src = "eng" }), "the same language"},
		{"column", with(good, func(s *Source) { s.Columns = []string{"src", "other"} }), "0 columns tgt"},
		{"where", with(good, func(s *Source) { s.Where = map[string][]string{"domain": {"x"}} }), `the column "domain"`},
		{"where keeps nothing", with(write(t, "w.tsv", "x\teins\tone\n"), func(s *Source) {
			s.Columns, s.Where = []string{"source", "src", "tgt"}, map[string][]string{"source": {"y"}}
		}), "1 filtered"},
		{"a header of TMX", with(write(t, "h.tmx", tmx), func(s *Source) { s.Header = true }), "are for tsv and csv"},
		{"a header that is not said", with(write(t, "n.csv", "src_text,tgt_text\na,b\n"), same), "set header: true"},
		{"a header of TSV that is not said", with(write(t, "n.tsv", "src_text\ttgt_text\na\tb\n"), same), "set header: true"},
		{"a record of CSV", with(write(t, "r.csv", "a,b,c\n"), same), "3 fields, but 2 columns"},
		{"XML", with(write(t, "a.tmx", "<tmx><tu>"), same), "not well-formed"},
		{"no unit", with(write(t, "b.tmx", "<tmx></tmx>"), same), "no translation unit"},
		{"encoding", with(write(t, "c.tmx", `<?xml version="1.0" encoding="latin1"?><tmx/>`), same), "c.tmx"},
		{"cut gzip", with(write(t, "c.tsv.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc"), same), "truncated or corrupt"},
		{"cut gzip in TMX", with(write(t, "d.tmx.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc"), same), "truncated or corrupt"},
		{"not Parquet", with(write(t, "a.parquet", "PAR1"), same), "a.parquet"},
		{"no sources", config(), "sources is empty"},
		{"held-out text in another encoding", func() Config {
			c := with(good, same)
			c.Exclude = []string{write(t, "test.de", "gut\nsch\xf6n\n")}
			return c
		}(), "test.de:2: not_utf8"},
		{"exclude", func() Config { c := with(good, same); c.Exclude = []string{"gone"}; return c }(), "gone"},
	} {
		if err := firstError(c.config); !badinput.Is(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestValidateReportsEverything(t *testing.T) {
	c := Config{Sources: []Source{{Format: "xls"}}, Temperature: 0.5, Buckets: []int{8, 8}}
	err := c.Validate()
	if !badinput.Is(err) {
		t.Fatal(err)
	}
	for _, want := range []string{"files is empty", `"xls"`, "columns src", "temperature", "batch_size", "max_tokens", "8 stands after 8"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestYAML(t *testing.T) {
	c := DefaultConfig()
	text := `
sources:
- {files: [a.tsv.gz], src: de, tgt: en, columns: [source, src, tgt], where: {source: [phpdoc]}}
- {files: [b.parquet], min_score: 1.05, keep: false}
temperature: 2
`
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if a, b := c.Sources[0], c.Sources[1]; !a.Keep || a.Format != Auto || b.Keep || *b.MinScore != 1.05 || len(b.Columns) != 2 || c.BatchSize != 512 {
		t.Errorf("%+v", c)
	}
	d = yaml.NewDecoder(strings.NewReader("sources: [{fils: [a]}]"))
	d.KnownFields(true)
	if err := d.Decode(&c); err == nil {
		t.Error("an unknown field of a source was taken")
	}
}

func TestReadingStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stats Stats
	for _, err := range Pairs(ctx, config(source(write(t, "a.tsv", "eins\tone\n"))), &stats) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	n := 0
	for _, err := range Sentences(t.Context(), config(source(write(t, "a.tsv", "eins\tone\nzwei\ttwo\n")))) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d sentences", n)
	}
}

// TestUntranslatedLines: they are dropped where that is asked for, compared as they are normalised, and counted.
func TestUntranslatedLines(t *testing.T) {
	path := write(t, "a.tsv", "eins\tone\nHTTP  404\tHTTP 404\nzwei\ttwo\n")
	for drop, want := range map[bool]uint64{false: 3, true: 2} {
		s := source(path)
		s.DropSame = drop
		var stats Stats
		for _, err := range Pairs(t.Context(), config(s), &stats) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if f := stats.Files[0]; f.Lines != 3 || f.Kept != want || f.Dropped[SameText] != 3-want {
			t.Errorf("drop_same %v: %s", drop, f)
		}
	}
}

// TestRowsOfOtherFormatsAreNotChosen: settings for mined bitext are not ignored where a file of format auto is none.
func TestRowsOfOtherFormatsAreNotChosen(t *testing.T) {
	prob := 0.9
	for name, change := range map[string]func(*Source){
		"min_prob": func(s *Source) { s.MinProb = &prob }, "min_score": func(s *Source) { s.MinScore = &prob },
		"keep": func(s *Source) { s.Keep = false },
	} {
		s := DefaultSource()
		s.Files, s.Src, s.Tgt = []string{write(t, "pairs.tsv", "ein Haus\ta house\n")}, "de", "en"
		change(&s)
		var stats Stats
		for _, err := range Pairs(t.Context(), config(s), &stats) {
			if !badinput.Is(err) || !strings.Contains(err.Error(), "is no Parquet bitext") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
