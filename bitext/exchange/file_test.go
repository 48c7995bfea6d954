package exchange

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

var (
	names     = []string{"own_score", "own_rank"}
	oneScore  = []string{"1.5", ""}
	scoreText = "1.5\t"
)

// whole is a file with its pairs.
type whole struct {
	*File
	Sources, Targets []string
}

func (w *whole) add(source, target string) error {
	w.Sources, w.Targets = append(w.Sources, source), append(w.Targets, target)
	return nil
}

func load(in input.File, format Format, opts Options) (w *whole, err error) {
	w = &whole{}
	w.File, err = Load(in, format, opts, w.add)
	return w, err
}

func loadAligned(source, target input.File) (w *whole, err error) {
	w = &whole{}
	w.File, err = LoadAligned(source, target, w.add)
	return w, err
}

// written is a file with the columns names; nil is a pair without values.
func written(t *testing.T, f *whole, values ...[]string) string {
	t.Helper()
	var out strings.Builder
	if err := f.Write(&out, names, func(i int) []string { return values[i] }); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func loaded(t *testing.T, f *whole, err error, sources, targets []string) {
	t.Helper()
	if err != nil || !slices.Equal(f.Sources, sources) || !slices.Equal(f.Targets, targets) {
		t.Fatalf("%+v, error %v; want %q, %q", f, err, sources, targets)
	}
}

func TestTSVKeepsEveryLine(t *testing.T) {
	dir := put(t, map[string]string{
		"named.tsv": "id\ttgt_text\tsrc_text\tnote\n7\tone\teins\tx\n\n8\t\tzwei\ty\n", "plain.tsv": "eins\tone\textra\nzwei\ttwo\t\n",
		"blank.tsv":  "\nsrc_text\ttgt_text\neins\tone\n",
		"ragged.tsv": "eins\tone\nzwei\ttwo\textra\n", "single.tsv": "eins\n", "short.tsv": "eins\tone\nzwei\n", "taken.tsv": "src_text\ttgt_text\town_score\na\tb\t1\n",
	})
	f, err := load(inDir(dir, "named.tsv"), TSV, DefaultOptions())
	loaded(t, f, err, []string{"eins", "", "zwei"}, []string{"one", "", ""})
	want := "id\ttgt_text\tsrc_text\tnote\town_score\town_rank\n7\tone\teins\tx\t" + scoreText + "\n\t\t\t\t\t\n8\t\tzwei\ty\t\t\n"
	if got := written(t, f, oneScore, nil, nil); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	f, err = load(inDir(dir, "blank.tsv"), TSV, DefaultOptions())
	loaded(t, f, err, []string{"", "eins"}, []string{"", "one"})
	if got := written(t, f, nil, oneScore); got != "\t\t\t\nsrc_text\ttgt_text\town_score\town_rank\neins\tone\t"+scoreText+"\n" {
		t.Errorf("wrote %q", got)
	}
	f, err = load(inDir(dir, "plain.tsv"), TSV, DefaultOptions())
	loaded(t, f, err, []string{"eins", "zwei"}, []string{"one", "two"})
	if got := written(t, f, nil, oneScore); got != "eins\tone\textra\t\t\nzwei\ttwo\t\t"+scoreText+"\n" {
		t.Errorf("wrote %q", got)
	}
	opts := DefaultOptions()
	_, err = load(inDir(dir, "short.tsv"), TSV, opts)
	refused(t, err, "short.tsv:2", "1 tab-separated")
	_, err = load(inDir(dir, "ragged.tsv"), TSV, opts)
	refused(t, err, "ragged.tsv:2", "3 tab-separated", "instead of 2")
	_, err = load(inDir(dir, "single.tsv"), TSV, opts)
	refused(t, err, "single.tsv:1", "a pair needs two")
	opts.MustName, opts.Added = true, names
	_, err = load(inDir(dir, "plain.tsv"), TSV, opts)
	refused(t, err, "plain.tsv", `both columns "src_text" and "tgt_text"`)
	_, err = load(inDir(dir, "taken.tsv"), TSV, opts)
	refused(t, err, "taken.tsv", "own_score", "--prefix")
}

func TestAlignedKeepsEveryLine(t *testing.T) {
	dir := put(t, map[string]string{"a.de": "eins\n\nzwei\n\n", "a.en": "one\nnothing\ntwo\n\n", "b.en": "one\n", "tabs.de": "ein\tTab\n"})
	f, err := loadAligned(inDir(dir, "a.de"), inDir(dir, "a.en"))
	loaded(t, f, err, []string{"eins", "", "zwei", ""}, []string{"one", "nothing", "two", ""})
	if lines := strings.Count(written(t, f, oneScore, nil, oneScore, nil), "\n"); lines != 4 {
		t.Errorf("%d lines written of 4", lines)
	}
	f, err = loadAligned(inDir(dir, "tabs.de"), inDir(dir, "b.en"))
	loaded(t, f, err, []string{"ein\tTab"}, []string{"one"})
	if got := written(t, f, oneScore); got != "ein Tab\tone\t"+scoreText+"\n" {
		t.Errorf("a text's tab separates fields: %q", got)
	}
	_, err = loadAligned(inDir(dir, "a.de"), inDir(dir, "b.en"))
	refused(t, err, "a.de", "4 lines", "b.en", "1")
	_, err = loadAligned(inDir(dir, "b.en"), inDir(dir, "a.de"))
	refused(t, err, "a.de", "4", "b.en", "1 lines")
}

// TestTwoFilesAreText: a format with both sides is not read as lines.
func TestTwoFilesAreText(t *testing.T) {
	for _, name := range []string{"a.csv", "a.xlf.gz", "a.parquet"} {
		_, err := OpenAligned(inDir(t.TempDir(), "a.de"), inDir(t.TempDir(), name))
		refused(t, err, name, "no text of lines")
	}
}

func TestJSONLKeepsEverything(t *testing.T) {
	text := `{"tgt_text": "one", "more": {"a": [1, 2]}, "src_text": "eins"} ` + "\n\n" + `{"src_text":"zwei","tgt_text":"two"}` + "\n"
	dir := put(t, map[string]string{"a.jsonl": text})
	f, err := load(inDir(dir, "a.jsonl"), JSONL, DefaultOptions())
	loaded(t, f, err, []string{"eins", "", "zwei"}, []string{"one", "", "two"})
	want := `{"tgt_text": "one", "more": {"a": [1, 2]}, "src_text": "eins","own_score":1.5}` + "\n\n" + `{"src_text":"zwei","tgt_text":"two","own_rank":"NaN"}` + "\n"
	if got := written(t, f, oneScore, nil, []string{"", "NaN"}); got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
}

func TestTMXKeepsEverything(t *testing.T) {
	const tmx = `<?xml version="1.0"?><!-- kept --><tmx version="1.4"><header/><body>
<tu tuid="1"><note>kept too</note><tuv xml:lang="de-DE"><seg>Ein <bpt i="1">&lt;b&gt;</bpt>Haus &amp; Hof</seg></tuv><tuv xml:lang="EN"><seg>a house</seg></tuv></tu>
<tu><tuv xml:lang="fr"><seg>maison</seg></tuv><tuv xml:lang="en"><seg>house</seg></tuv></tu>
</body></tmx>`
	dir := put(t, map[string]string{"a.tmx": tmx})
	f, err := load(inDir(dir, "a.tmx"), TMX, germanEnglish())
	loaded(t, f, err, []string{"Ein Haus & Hof", ""}, []string{"a house", "house"})
	want := strings.Replace(tmx, `<tu tuid="1">`, `<tu tuid="1"><prop type="x-own_score">1.5</prop>`, 1)
	if got := written(t, f, oneScore, nil); got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
}

// TestChangedFile: a file that is another one when it is written is not written with the first one's values.
func TestChangedFile(t *testing.T) {
	for format, texts := range map[Format][2]string{
		TSV:   {"eins\tone\nzwei\ttwo\n", "eins\tone\n"},
		JSONL: {`{"src_text":"a","tgt_text":"b"}` + "\n", `{"src_text":"a","tgt_text":"b"}` + "\n{}\n"},
		TMX:   {tmx, tmx[:100]},
	} {
		dir := put(t, map[string]string{"a": texts[0]})
		f, err := load(inDir(dir, "a"), format, germanEnglish())
		if err != nil {
			t.Fatal(err)
		}
		again := put(t, map[string]string{"a": texts[1]})
		f.inputs[0] = inDir(again, "a")
		err = f.Write(&strings.Builder{}, names, func(int) []string { return oneScore })
		refused(t, err, "has changed since it was read")
	}
}

func FuzzTSV(f *testing.F) {
	f.Add("eins\tone\nzwei\ttwo\n")
	f.Add("tgt_text\tx\tsrc_text\n\n1\t2\t3\r\n")
	f.Fuzz(func(t *testing.T, text string) { fuzzLines(t, TSV, text) })
}

func FuzzJSONL(f *testing.F) {
	f.Add(`{"src_text":"eins","tgt_text":"one"}` + "\n\n" + `{"tgt_text":null,"src_text":""}`)
	f.Add(`{"src_text":"\ud800","tgt_text":"}"} `)
	f.Fuzz(func(t *testing.T, text string) { fuzzLines(t, JSONL, text) })
}

// fuzzLines: any text is refused or read, and written with as many lines as pairs, each JSON object still one.
func fuzzLines(t *testing.T, format Format, text string) {
	f, err := load(memory(text), format, DefaultOptions())
	if err != nil {
		if !badinput.Is(err) {
			t.Fatalf("%v is not about bad input", err)
		}
		return
	}
	values := make([][]string, len(f.Sources))
	for i := range values {
		if f.Sources[i] != "" {
			values[i] = oneScore
		}
	}
	lines := strings.Split(strings.TrimSuffix(written(t, f, values...), "\n"), "\n")
	if f.header > 0 {
		lines = lines[1:]
	}
	if len(f.Targets) != len(f.Sources) || len(lines) != len(f.Sources) && len(f.Sources) > 0 {
		t.Fatalf("%d sources, %d targets, %d lines", len(f.Sources), len(f.Targets), len(lines))
	}
	for _, line := range lines {
		if format == JSONL && !isBlank(line) && !json.Valid([]byte(line)) {
			t.Errorf("wrote %q", line)
		}
	}
}

func FuzzAligned(f *testing.F) {
	f.Add("eins\nzwei\n", "one\ntwo")
	f.Add("eins\n\n", "\r\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		file, err := loadAligned(memory(a), memory(b))
		if err != nil {
			if !badinput.Is(err) {
				t.Fatalf("%v is not about bad input", err)
			}
			return
		}
		got := written(t, file, make([][]string, len(file.Sources))...)
		if lines := strings.Count(got, "\n"); lines != len(file.Sources) || len(file.Targets) != lines || strings.Count(got, "\t") != 3*lines {
			t.Errorf("%d sources, %d targets, wrote %q", len(file.Sources), len(file.Targets), got)
		}
	})
}

// FuzzRow: a line is divided as strings.Split divides it.
func FuzzRow(f *testing.F) {
	layout := Layout{Columns: []string{"kind", "tgt_text", "-", "src_text"}, Where: map[string][]string{"kind": {"a", ""}}}
	r := layout.row(DefaultOptions())
	f.Add("a\tb\tc\td")
	f.Add("\t\t\t")
	f.Add("a\tb")
	f.Fuzz(func(t *testing.T, line string) {
		var rec Record
		r.split(line, &rec)
		fields := strings.Split(line, "\t")
		switch {
		case len(fields) != 4:
			if rec.Reason != corpus.ReasonMalformed {
				t.Errorf("%q is %q", line, rec.Reason)
			}
		case !slices.Contains(layout.Where["kind"], fields[0]):
			if rec.Reason != Filtered {
				t.Errorf("%q is %q", line, rec.Reason)
			}
		case rec.Reason != "" || rec.Pair != Pair{fields[3], fields[1]}:
			t.Errorf("%q gives %+v", line, rec)
		}
	})
}
