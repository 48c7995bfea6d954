package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"bitextmine/bitext"
	"bitextmine/corpus/corpustest"
	"bitextmine/internal/badinput"
)

func fileOf(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, opts Options, files ...string) (*Batch, error) {
	t.Helper()
	r, err := Open(files, opts)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	b, err := r.Next(context.Background())
	if err != nil {
		return nil, err
	}
	if _, err := r.Next(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("after the last row: %v", err)
	}
	return b, nil
}

func column(t *testing.T, b *Batch, name string) (all []string) {
	t.Helper()
	texts, err := b.Texts(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Len() {
		text, known := texts(i)
		if !known {
			text = "null"
		}
		all = append(all, text)
	}
	return all
}

func TestFormats(t *testing.T) {
	tmx := `<tmx version="1.4"><header/><body>` +
		`<tu><tuv xml:lang="de"><seg>Haus</seg></tuv><tuv xml:lang="en"><seg>house</seg></tuv></tu>` +
		`<tu><tuv xml:lang="de-AT"><seg>Baum</seg></tuv></tu></body></tmx>`
	xliff := `<xliff srcLang="en" trgLang="de-AT"><segment><source>house</source><target>Haus</target></segment></xliff>`
	languages := DefaultOptions()
	languages.Source, languages.Target = "de", "en"
	named := Options{SourceColumn: "a", TargetColumn: "b"}
	for _, c := range []struct {
		name, file, content string
		opts                Options
		want                map[string][]string
		columns             string
	}{
		{"TSV with names", "x.tsv", "url\tsrc_text\ttgt_text\nu\tHaus\thouse\n\tBaum\ttree\n", DefaultOptions(),
			map[string][]string{"src_text": {"Haus", "Baum"}, "tgt_text": {"house", "tree"}, "url": {"u", ""}}, "url src_text tgt_text"},
		{"TSV without names", "x.tsv", "Haus\thouse\t1\n\n", DefaultOptions(),
			map[string][]string{"src_text": {"Haus", ""}, "tgt_text": {"house", ""}, "column_3": {"1", ""}}, "src_text tgt_text column_3"},
		{"TSV with a blank line before its names", "x.tsv", "\n\nsrc_text\ttgt_text\nHaus\thouse\n", DefaultOptions(),
			map[string][]string{"src_text": {"Haus"}, "tgt_text": {"house"}}, "src_text tgt_text"},
		{"TSV with other names", "x.txt", "a\tb\nHaus\thouse\n", named, map[string][]string{"a": {"Haus"}, "b": {"house"}}, "a b"},
		{"JSON lines", "x.jsonl", `{"tgt_text":"house","src_text":"H\"aus","n":1,"list":["x","y"],"ok":true,"deep":{"a":1}}` + "\n" +
			`{"src_text":"Baum","tgt_text":null,"n":2.5}` + "\n", DefaultOptions(),
			map[string][]string{"src_text": {`H"aus`, "Baum"}, "tgt_text": {"house", "null"}, "deep": {`{"a":1}`, "null"}}, "tgt_text src_text n list ok deep"},
		{"TMX", "x.tmx", tmx, languages, map[string][]string{"src_text": {"Haus", "Baum"}, "tgt_text": {"house", ""}, "src_lang": {"de", "de"}}, "src_text tgt_text src_lang tgt_lang"},
		{"CSV with names", "x.csv", "url;tgt_text;src_text\r\nu;\"a \"\"big\"\" house\";Haus\r\n\r\n", DefaultOptions(),
			map[string][]string{"src_text": {"Haus", ""}, "tgt_text": {`a "big" house`, ""}, "url": {"u", ""}}, "url tgt_text src_text"},
		{"CSV without names", "x.csv", "Haus,\"two\nlines\"\n", DefaultOptions(),
			map[string][]string{"src_text": {"Haus"}, "tgt_text": {"two\nlines"}}, "src_text tgt_text"},
		{"XLIFF", "x.xlf", xliff, languages, map[string][]string{"src_text": {"Haus"}, "tgt_text": {"house"}, "tgt_lang": {"en"}}, "src_text tgt_text src_lang tgt_lang"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := read(t, c.opts, fileOf(t, c.file, c.content))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, column := range b.Columns() {
				names = append(names, column.Name)
			}
			if got := strings.Join(names, " "); got != c.columns {
				t.Errorf("columns %s, want %s", got, c.columns)
			}
			for name, want := range c.want {
				if got := column(t, b, name); !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
	languages.Whole = true
	r, err := Open([]string{fileOf(t, "x.tmx", tmx)}, languages)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if b, err := r.Next(t.Context()); err != nil || b.Len() != 1 || r.Lacking() != 1 {
		t.Errorf("whole units: %v, %d left out, error %v", b, r.Lacking(), err)
	}
	b, err := read(t, DefaultOptions(), fileOf(t, "a", "Haus\nBaum\n"), fileOf(t, "b", "house\ntree\n"))
	if err != nil || !slices.Equal(column(t, b, "tgt_text"), []string{"house", "tree"}) {
		t.Errorf("line-aligned files: %v", err)
	}
}

// TestNestedTexts: a path leads to a text in a struct or an object, as the hub's data sets of translations have them.
func TestNestedTexts(t *testing.T) {
	type languages struct {
		De string `parquet:"de"`
		En string `parquet:"en"`
	}
	type row struct {
		ID          string    `parquet:"id"`
		Translation languages `parquet:"translation"`
	}
	opts := DefaultOptions()
	opts.SourceColumn, opts.TargetColumn = "translation.de", "translation.en"
	files := []string{
		fileOf(t, "x.parquet", string(corpustest.Parquet(t, []row{{"1", languages{"Haus", "house"}}, {"2", languages{"Baum", "tree"}}}))),
		fileOf(t, "x.jsonl", `{"id":"1","translation":{"de":"Haus","en":"house"}}`+"\n"+`{"id":"2","translation":{"de":"Baum","en":"tree"}}`+"\n"),
		fileOf(t, "y.jsonl", `{"id":"1","translation.de":"Haus","translation.en":"house"}`+"\n"+`{"id":"2","translation.de":"Baum","translation.en":"tree"}`+"\n"),
	}
	for _, file := range files {
		b, err := read(t, opts, file)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][]string{"id": {"1", "2"}, "translation.de": {"Haus", "Baum"}, "translation.en": {"house", "tree"}} {
			if got := column(t, b, name); !slices.Equal(got, want) {
				t.Errorf("%s: %s %q", file, name, got)
			}
		}
	}
	var pairs []string
	err := EachPair(t.Context(), files[0], "translation.de", "translation.en", func(source, target string) error {
		pairs = append(pairs, source+"|"+target)
		return nil
	})
	if err != nil || !slices.Equal(pairs, []string{"Haus|house", "Baum|tree"}) {
		t.Errorf("%q, %v", pairs, err)
	}
	opts.TargetColumn = "translation.fr"
	if _, err := read(t, opts, files[0]); !badinput.Is(err) {
		t.Errorf("a path to nothing: %v", err)
	}
}

// TestPropertiesOfTMX: what a TMX says of its units and texts are columns.
func TestPropertiesOfTMX(t *testing.T) {
	opts := DefaultOptions()
	opts.Source, opts.Target = "de", "en"
	unit := func(unit, german, english string) string {
		return `<tu>` + unit + `<tuv xml:lang="en">` + english + `<seg>house</seg></tuv><tuv xml:lang="de">` + german + `<seg>Haus</seg></tuv></tu>`
	}
	prop := func(kind, value string) string { return `<prop type="` + kind + `">` + value + `</prop>` }
	late := strings.Repeat(unit(prop("score", "1"), "", ""), propertyUnits)
	b, err := read(t, opts, fileOf(t, "x.tmx", `<tmx version="1.4"><header>`+prop("x-run", "no")+`</header><body>`+
		unit(prop("score", "0.5")+prop("x-src_lang", "de-AT"), prop("source-document", "http://a/1")+prop("source-document", "http://b/1?x&amp;y"), prop("source-document", "http://c/1")+prop("checksum-seg", "3f"))+
		unit("", "", "")+late+unit(prop("late", "x")+prop("score", "2"), "", "")+`</body></tmx>`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"score": "0.5", "src_url": "http://a/1,http://b/1?x&y", "tgt_url": "http://c/1", "tgt_checksum_seg": "3f", "src_lang": "de", "src_text": "Haus"} {
		if got := column(t, b, name); len(got) != propertyUnits+3 || got[0] != want {
			t.Errorf("%s: %.60q, want %q first", name, got, want)
		}
	}
	if got := column(t, b, "score"); got[1] != "" || got[2] != "1" || got[propertyUnits+2] != "2" {
		t.Errorf("scores %.40q", got)
	}
	if len(b.Columns()) != 8 {
		t.Errorf("%d columns", len(b.Columns()))
	}
}

// TestColumnsOfText: columns are chosen by number, a header of Bitextor names them, and a guess is said.
func TestColumnsOfText(t *testing.T) {
	second := DefaultOptions()
	second.SourceAt, second.TargetAt = 3, 2
	for name, c := range map[string]struct {
		file, text      string
		opts            Options
		columns, source string
		rows, unnamed   int
	}{
		"by number":           {"a.tsv", "web\tone\teins\nweb\ttwo\tzwei\n", second, "column_1 tgt_text src_text", "eins", 2, 0},
		"by number in CSV":    {"a.csv", "web,one,eins\n", second, "column_1 tgt_text src_text", "eins", 1, 0},
		"number and header":   {"a.tsv", "src_text\tb\tc\ttgt_text\nweb\tone\teins\t\n", second, "column_1 tgt_text src_text column_4", "eins", 1, 0},
		"a Bitextor header":   {"a.tsv", "src_url\ttrg_url\tsrc_text\ttrg_text\nu\tv\teins\tone\n", DefaultOptions(), "src_url tgt_url src_text tgt_text", "eins", 1, 0},
		"a header of the hub": {"b.tsv", "id\tsource\ttarget\n1\teins\tone\n", DefaultOptions(), "id src_text tgt_text", "eins", 1, 0},
		"nothing names them":  {"a.tsv", "eins\tone\tweb\n", DefaultOptions(), "src_text tgt_text column_3", "eins", 1, 3},
		"two columns":         {"a.tsv", "eins\tone\n", DefaultOptions(), "src_text tgt_text", "eins", 1, 0},
	} {
		r, err := Open([]string{fileOf(t, c.file, c.text)}, c.opts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var names []string
		for _, column := range b.Columns() {
			names = append(names, column.Name)
		}
		if got := strings.Join(names, " "); got != c.columns || b.Len() != c.rows || column(t, b, "src_text")[0] != c.source || r.Unnamed() != c.unnamed {
			t.Errorf("%s: %d rows of %s, %d unnamed", name, b.Len(), got, r.Unnamed())
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{"a.tsv": "eins\tone\n", "a.jsonl": "{}\n"} {
		if _, err := Open([]string{fileOf(t, file, text)}, second); !badinput.Is(err) {
			t.Errorf("%s has no third column: %v", file, err)
		}
	}
}

// TestSkipBad: what cannot be read is left out and counted, in every format of lines.
func TestSkipBad(t *testing.T) {
	long := strings.Repeat("a", 300<<10)
	skip := DefaultOptions()
	skip.SkipBad = true
	for file, text := range map[string]string{
		"a.tsv":   "\xff\tx\neins\tone\nzwei\n\xff\tx\n" + long + "\tx\ndrei\tthree\n",
		"a.csv":   "src_text,tgt_text\neins,one\nzwei\n\xff,x\n" + long + ",x\ny\ndrei,three\n",
		"a.jsonl": `{"src_text":"eins","tgt_text":"one","n":1}` + "\n{\n{\"src_text\":3,\"tgt_text\":\"x\"}\n" + `{"src_text":"a","tgt_text":"b","tgt_text":"c"}` + "\n" + long + "\n" + `{"src_text":"drei","tgt_text":"three"}` + "\n",
	} {
		path := fileOf(t, file, text)
		if _, err := read(t, DefaultOptions(), path); !badinput.Is(err) {
			t.Errorf("%s is read: %v", file, err)
		}
		r, err := Open([]string{path}, skip)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if got := strings.Join(column(t, b, "src_text"), " "); got != "eins drei" || r.Bad() != 4 {
			t.Errorf("%s: %s, %d bad", file, got, r.Bad())
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open([]string{fileOf(t, "a.tsv", "\xff\n")}, skip); !badinput.Is(err) {
		t.Errorf("a file without a line that can be read: %v", err)
	}
}

// TestSpacedNumbers: a space behind the comma of CSV is no part of a number.
func TestSpacedNumbers(t *testing.T) {
	b, err := read(t, DefaultOptions(), fileOf(t, "x.csv", "src_text,tgt_text,score,keep\na,b, 0.9, true\n"))
	if err != nil {
		t.Fatal(err)
	}
	score, err := b.Numbers("score")
	if err != nil || score(0) != 0.9 {
		t.Errorf("score %v, %v", score(0), err)
	}
	if keep, err := b.Keep(); err != nil || !keep(0) {
		t.Errorf("kept: %v", err)
	}
}

// TestNaN: numbers that JSON does not have are missing ones, as Python's json writes them.
func TestNaN(t *testing.T) {
	file := `{"src_text":"NaN","tgt_text":"b","p":0.5}` + "\n" + `{"src_text":"c","tgt_text":"d","p":NaN}` + "\n" + `{"src_text":"e","tgt_text":"f","p":-Infinity}` + "\n"
	b, err := read(t, DefaultOptions(), fileOf(t, "x.jsonl", file))
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Numbers("p")
	if err != nil || p(0) != 0.5 || p(1) == p(1) || p(2) == p(2) {
		t.Errorf("%v %v %v, %v", p(0), p(1), p(2), err)
	}
}

func TestNumbersAndLists(t *testing.T) {
	b, err := read(t, DefaultOptions(), fileOf(t, "x.jsonl", `{"src_text":"a","tgt_text":"b","n":1,"f":2.5,"ok":true,"list":["x","y"],"large":1e20}`+"\n"+
		`{"src_text":"a","tgt_text":"b","n":3,"large":100000000000000000000}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"n": "1 3", "f": "2.5 NaN", "ok": "1 NaN", "large": "1e+20 1e+20"} {
		numbers, err := b.Numbers(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(numbers(0), numbers(1)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if c := b.Columns(); c[len(c)-1] != (Column{"large", Number}) {
		t.Errorf("whole numbers of JavaScript: %+v", c)
	}
	if appendJSON(array.NewFloat64Builder(memory.DefaultAllocator), []byte("12345678901234567890")) {
		t.Error("a column of floats takes a whole number of which it loses digits")
	}
	lists, err := b.Lists("list")
	if err != nil || !slices.Equal(lists(0), []string{"x", "y"}) || lists(1) != nil {
		t.Errorf("lists: %v", err)
	}
	if _, err := b.Numbers("list"); err == nil || !badinput.Is(err) {
		t.Errorf("a list as a number: %v", err)
	}
}

func TestBadInput(t *testing.T) {
	languages := DefaultOptions()
	languages.Source, languages.Target = "de", "en"
	for _, c := range []struct {
		name, file, content, want string
		opts                      Options
	}{
		{"no such column", "x.jsonl", `{"src_txt":"a","tgt_text":"b"}`, `is "src_txt" meant?`, DefaultOptions()},
		{"default names that must be there", "x.tsv", "a\tb\n", "does not name both columns",
			Options{SourceColumn: SourceText, TargetColumn: TargetText, MustName: true}},
		{"no names", "x.tsv", "a\tb\n", "does not name both columns", Options{SourceColumn: "x", TargetColumn: "y"}},
		{"one field", "x.tsv", "a\n", "a pair needs two", DefaultOptions()},
		{"more fields", "x.tsv", "a\tb\na\tb\tc\n", ":2: 3 tab-separated fields instead of 2", DefaultOptions()},
		{"more fields of CSV", "x.csv", "a,b\na,b,c\n", ":2: 3 fields, the header has 2", DefaultOptions()},
		{"CSV with other names", "x.csv", "id,Deutsch,English\n1,a,b\n", "name those of the texts", DefaultOptions()},
		{"CSV that is not UTF-8", "x.csv", "a,b\n\xff,b\n", ":2: not_utf8", DefaultOptions()},
		{"an empty CSV", "x.csv", "", "holds no", DefaultOptions()},
		{"XLIFF of other languages", "x.xliff", `<xliff srcLang="fr" trgLang="en"/>`, `from "fr" to "en"`, languages},
		{"a name twice", "x.tsv", "src_text\ttgt_text\tx\tx\n", `two columns "x"`, DefaultOptions()},
		{"not UTF-8", "x.tsv", "a\tb\n\xff\tb\n", ":2: not_utf8", DefaultOptions()},
		{"no object", "x.jsonl", "[1]\n", "not a JSON object", DefaultOptions()},
		{"a text that is a number", "x.jsonl", `{"src_text":"a","tgt_text":"b"}` + "\n" + `{"src_text":2020,"tgt_text":2020}`, `:2: the value of "src_text"`, DefaultOptions()},
		{"a key twice", "x.jsonl", `{"src_text":"a","src_text":"a"}`, "there twice", DefaultOptions()},
		{"more after the object", "x.jsonl", `{"src_text":"a"} 1`, "something follows", DefaultOptions()},
		{"an empty file", "x.tsv", "", "holds no", DefaultOptions()},
		{"blank lines", "x.tsv", "\n \n", "all its lines are blank", DefaultOptions()},
		{"TMX without languages", "x.tmx", "<tmx/>", "name two with --src and --tgt", DefaultOptions()},
		{"truncated TMX", "x.tmx", "<tmx><body><tu>", "well-formed", languages},
		{"no Parquet", "x.parquet", "PAR1 and nothing else", "is not Parquet or is damaged", DefaultOptions()},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(t, c.opts, fileOf(t, c.file, c.content))
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := Open([]string{"a", "b", "c"}, DefaultOptions()); err == nil || !badinput.Is(err) {
		t.Errorf("three files: %v", err)
	}
}

// mined is a bitext as mine run writes it.
func mined(t *testing.T, rows int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := bitext.NewWriter(&out, bitext.Metadata{RunID: "r", Features: []string{"length"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		prob := float32(i) / float32(rows)
		row := bitext.Row{
			Source: bitext.Sentence{Text: fmt.Sprintf("Satz %d", i), Lang: "de", Key: [16]byte{byte(i), 1}, Shard: "a#0", Row: uint32(i), Doc: "d", URL: "http://a/", Line: 7},
			Target: bitext.Sentence{Text: fmt.Sprintf("sentence %d", i), Lang: "en", Key: [16]byte{byte(i), 2}, Shard: fmt.Sprintf("b#%d", i%3), Row: uint32(i)},
			Score:  1.5, Prob: &prob, Features: []float32{2}, Keep: i%2 == 0,
		}
		if !row.Keep {
			row.Prob, row.Reasons = nil, []string{"taken", "x"}
		}
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestParquetKeepsEverything: what is read and written again is the same bitext to its own reader.
func TestParquetKeepsEverything(t *testing.T) {
	const rows = BatchRows + 10
	path := fileOf(t, "a.parquet", string(mined(t, rows)))
	again := filepath.Join(t.TempDir(), "b.parquet")
	out, err := os.Create(again)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open([]string{path}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	w := NewParquetWriter(out, r.Metadata())
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		numbers := make([]uint32, b.Len())
		if b, err = b.With(Values{Name: "more", Uint32: numbers}, Values{Name: "cosine", Float32: make([]float32, b.Len())}); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.Close(), w.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	want, got := rowsOf(t, path), rowsOf(t, again)
	if len(got) != rows || !slices.Equal(want, got) {
		t.Errorf("%d rows differ from the %d written", len(got), len(want))
	}
}

func rowsOf(t *testing.T, path string) (all []string) {
	t.Helper()
	r, err := bitext.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Metadata()["run_id"] != "r" {
		t.Error("the metadata are lost")
	}
	for row, err := range r.Rows(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		prob := float32(-1)
		if row.Prob != nil {
			prob = *row.Prob
		}
		row.Prob = nil
		all = append(all, fmt.Sprintf("%v %v", row, prob))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEqualRows: a table that is compressed to nothing is read again, and takes no more memory than a batch may.
func TestEqualRows(t *testing.T) {
	for _, c := range []struct{ rows, batch, size int }{{3000, 3000, 16_000}, {70_000, BatchRows, 500}, {20_000, 1000, 16_000}} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		source, target := strings.Repeat("Haus ", c.size/5), strings.Repeat("tree ", c.size/5)
		w := NewParquetWriter(f, nil)
		for from := 0; from < c.rows; from += c.batch {
			n := min(c.batch, c.rows-from)
			b, err := NewBatch(n, 0, Values{Name: "src_text", Text: slices.Repeat([]string{source}, n)}, Values{Name: "tgt_text", Text: slices.Repeat([]string{target}, n)})
			if err == nil {
				err = w.Write(b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		rows, largest := 0, 0
		err = Each(t.Context(), []string{path}, DefaultOptions(), func(_ *Reader, b *Batch) error {
			if text := column(t, b.Slice(b.Len()-1, b.Len()), "tgt_text"); text[0] != target {
				t.Errorf("row %d: %.20q", rows, text)
			}
			rows, largest = rows+b.Len(), max(largest, 2*b.Len()*c.size)
			return nil
		})
		if err != nil || rows != c.rows || largest > 80<<20 {
			t.Errorf("%d of %d rows, %d bytes at a time: %v", rows, c.rows, largest, err)
		}
	}
}

func TestTruncatedParquet(t *testing.T) {
	whole := mined(t, 100)
	for _, n := range []int{0, 4, 100, len(whole) / 2, len(whole) - 1} {
		if _, err := read(t, DefaultOptions(), fileOf(t, "x.parquet", string(whole[:n]))); err == nil || !badinput.Is(err) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add("x.tsv", []byte("a\tb\nc\td"))
	f.Add("x.csv", []byte("a,\"b\"\"\"\n\nc,\"d\ne\""))
	f.Add("x.jsonl", []byte(`{"src_text":"a","tgt_text":["b"],"n":-1.5}`))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if strings.ContainsAny(name, "/\x00") || name == "" || len(name) > 50 || name == "." || name == ".." {
			return
		}
		b, err := read(t, DefaultOptions(), fileOf(t, name, string(content)))
		if err != nil && !badinput.Is(err) {
			t.Errorf("%q: %v", content, err)
		}
		if err == nil && b.Len() == 0 {
			t.Error("no rows and no error")
		}
	})
}

// TestTypesOfOtherPrograms: bytes that are UTF-8 are texts, also behind the first rows, dates and times have texts, and
// whole numbers no exponents.
func TestTypesOfOtherPrograms(t *testing.T) {
	type row struct {
		Source []byte `parquet:"src_text"`
		Target []byte `parquet:"tgt_text,optional"`
		Raw    []byte `parquet:"raw"`
		Day    int32  `parquet:"day,date"`
		At     int64  `parquet:"at,timestamp(microsecond)"`
		N      uint32 `parquet:"n"`
		M      int32  `parquet:"m"`
	}
	rows := slices.Repeat([]row{{[]byte("größer"), []byte("larger"), []byte{0xff, 1}, 19_849, 1_715_000_000_500_000, 1_201_974, -1_234_567}}, BatchRows)
	rows[1].Target = nil
	rows = append(rows, row{Source: []byte("Satz \xff"), Target: []byte("sentence"), Raw: []byte("ab")})
	r, err := Open([]string{fileOf(t, "a.parquet", string(corpustest.Parquet(t, rows)))}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	line := func(b *Batch, i int) string {
		cells, err := b.Cells()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range cells {
			text := "null"
			if !c.Null(i) {
				text = string(c.Append(nil, i))
			}
			all = append(all, text)
		}
		return strings.Join(all, " ")
	}
	b, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const values = "ff01 2024-05-06 2024-05-06T12:53:20.5Z 1201974 -1234567"
	some, err := b.Select([]int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{line(b, 0), line(some, 0), line(some, 1)}; !slices.Equal(got, []string{"größer larger " + values, "größer null " + values, "größer larger " + values}) {
		t.Errorf("%q", got)
	}
	if b, err = r.Next(t.Context()); err != nil || line(b, 0) != "Satz \xff sentence 6162 1970-01-01 1970-01-01T00:00:00Z 0 0" {
		t.Errorf("the last row: %q, %v", line(b, 0), err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUnknownTimeZone: a time in a zone that this machine does not know is one in UTC.
func TestUnknownTimeZone(t *testing.T) {
	kind := &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Nowhere/Town"}
	times := array.NewTimestampBuilder(memory.DefaultAllocator, kind)
	times.AppendValues([]arrow.Timestamp{0, 1500}, nil)
	b := &Batch{rows: 2, fields: []arrow.Field{{Name: "at", Type: kind}}, columns: []arrow.Array{times.NewArray()}}
	b, err := b.Select([]int{1})
	if err != nil {
		t.Fatal(err)
	}
	if cells, err := b.Cells(); err != nil || string(cells[0].Append(nil, 0)) != "1970-01-01T00:00:01.5Z" {
		t.Errorf("%v", err)
	}
}

// TestNullsInLists: rows that are selected keep the nulls in their lists.
func TestNullsInLists(t *testing.T) {
	lists := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32)
	numbers := lists.ValueBuilder().(*array.Int32Builder)
	lists.Append(true)
	numbers.Append(1)
	lists.Append(true)
	numbers.AppendValues([]int32{2, 0, 3}, []bool{true, false, true})
	lists.AppendNull()
	kind := arrow.ListOf(arrow.PrimitiveTypes.Int32)
	b := &Batch{rows: 3, fields: []arrow.Field{{Name: "numbers", Type: kind}}, columns: []arrow.Array{lists.NewArray()}}
	some, err := b.Select([]int{2, 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(some.columns[0]); got != "[(null) [2 (null) 3]]" {
		t.Errorf("the lists are %s", got)
	}
}

// TestColumnOfNulls: a column that has no type, as of tables of pandas that have nothing in it, is one of texts.
func TestColumnOfNulls(t *testing.T) {
	fields := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.Null, Nullable: true}}, nil)
	b := batchOf((&parquetSource{}).texted(array.NewRecord(fields, []arrow.Array{array.NewNull(2)}, 2)), 0)
	cells, err := b.Cells()
	if err != nil || cells[0].Kind != Text || !cells[0].Null(0) || !cells[0].Null(1) {
		t.Errorf("cells %+v, %v", cells, err)
	}
}

// TestBatchesStay: a batch stays valid after its reader reads on and closes.
func TestBatchesStay(t *testing.T) {
	r, err := Open([]string{fileOf(t, "a.parquet", string(mined(t, BatchRows+1)))}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	first, err := r.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"src_lang": "de", "src_text": "Satz 65535"} {
		if got := column(t, first, name); len(got) != BatchRows || got[BatchRows-1] != want {
			t.Errorf("%s of the last of %d rows is %q", name, len(got), got[len(got)-1])
		}
	}
}

// TestRows: rows keep their numbers in the file, whatever is left out and joined.
func TestRows(t *testing.T) {
	whole := DefaultOptions()
	whole.Whole = true
	text := strings.Repeat("a\tb\n", BatchRows-1) + "\tb\na\tb\n" + "\tb\na\tb\n"
	r, err := Open([]string{fileOf(t, "a.tsv", text)}, whole)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	first, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	some, err := first.Slice(10, 20).Select([]int{3, 1})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := Join([]*Batch{some, second})
	if err != nil {
		t.Fatal(err)
	}
	got := []uint64{first.Row(0), first.Row(BatchRows - 2), second.Row(0), second.Row(1), joined.Row(0), joined.Row(1), joined.Row(3), joined.Slice(2, 4).Row(1)}
	if want := []uint64{1, BatchRows - 1, BatchRows + 1, BatchRows + 3, 14, 12, BatchRows + 3, BatchRows + 3}; !slices.Equal(got, want) {
		t.Errorf("rows %d, want %d", got, want)
	}
}

// TestUsual: two columns become the usual texts, in the place of others of these names.
func TestUsual(t *testing.T) {
	b, err := NewBatch(1, 0, Values{Name: "n", Text: []string{"1"}}, Values{Name: "src_text", Text: []string{"old"}},
		Values{Name: "tgt_text", Text: []string{"house"}}, Values{Name: "de", Text: []string{"Haus"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ source, target, names, texts string }{
		{"src_text", "tgt_text", "n src_text tgt_text de", "old house"},
		{"tgt_text", "src_text", "src_text tgt_text n de", "house old"},
		{"de", "tgt_text", "src_text tgt_text n", "Haus house"},
	} {
		got, err := b.Usual(c.source, c.target)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, column := range got.Columns() {
			names = append(names, column.Name)
		}
		if texts := column(t, got, "src_text")[0] + " " + column(t, got, "tgt_text")[0]; texts != c.texts || strings.Join(names, " ") != c.names {
			t.Errorf("%s and %s: columns %q, texts %q", c.source, c.target, names, texts)
		}
	}
	if _, err := b.Usual("fr", "de"); !badinput.Is(err) {
		t.Errorf("a column that is not there: %v", err)
	}
}
