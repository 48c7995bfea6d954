package exporting

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gopkg.in/yaml.v3"

	"bitextmine/bitext/table"
	"bitextmine/curate/filtering"
	"bitextmine/filter/rule"
	"bitextmine/internal/badinput"
)

const pairs = 1000

// source is a table of pairs: row i has the score (i*37)%101, the document doc-(i/10), and every seventh is not kept.
func source(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, "src_text\ttgt_text\tsrc_lang\ttgt_lang\tscore\tsrc_doc\tkeep\tsrc_url")
	for i := range pairs {
		fmt.Fprintf(&b, "Satz %d\tsentence %d\tde\ten\t%d\tdoc-%d\t%v\thttps://a/%d\n", i, i, i*37%101, i/10, i%7 != 0, i)
	}
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, opts Options) *Report {
	t.Helper()
	opts.Table, opts.Breaks = table.DefaultOptions(), Escape
	report, err := Run(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// rows reads some columns of a file.
func rows(t *testing.T, path string, names ...string) (all []string) {
	t.Helper()
	r, err := table.Open([]string{path}, table.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			var row []string
			for _, name := range names {
				texts, err := b.Texts(name)
				if err != nil {
					t.Fatal(err)
				}
				text, _ := texts(i)
				row = append(row, text)
			}
			all = append(all, strings.Join(row, " "))
		}
	}
}

func TestConditions(t *testing.T) {
	in, least := source(t), 50.0
	for name, c := range map[string]struct {
		opts Options
		want func(i int) bool
	}{
		"kept":      {Options{}, func(i int) bool { return i%7 != 0 }},
		"all":       {Options{All: true}, func(int) bool { return true }},
		"score":     {Options{MinScore: &least}, func(i int) bool { return i%7 != 0 && i*37%101 >= 50 }},
		"condition": {Options{All: true, Where: condition(t, "score < 3 or src_doc == 'doc-5'")}, func(i int) bool { return i*37%101 < 3 || i/10 == 5 }},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for i := range pairs {
				if c.want(i) {
					want = append(want, fmt.Sprintf("Satz %d", i))
				}
			}
			c.opts.Files, c.opts.Format, c.opts.Out = []string{in}, "tsv", filepath.Join(t.TempDir(), "out.tsv")
			report := run(t, c.opts)
			if got := rows(t, c.opts.Out, "src_text"); !slices.Equal(got, want) || report.Written != uint64(len(want)) || report.Read != pairs {
				t.Errorf("%d rows, %+v, want %d", len(got), report, len(want))
			}
		})
	}
}

func condition(t *testing.T, text string) *rule.Set {
	t.Helper()
	s, err := rule.Condition(text, "--where")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSort(t *testing.T) {
	in := source(t)
	for _, ascending := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out.parquet")
		run(t, Options{Files: []string{in}, Format: "parquet", Out: out, All: true, Sort: "score", Ascending: ascending})
		got := rows(t, out, "src_text", "score")
		order := make([]int, pairs)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if ascending {
				return a*37%101 - b*37%101
			}
			return b*37%101 - a*37%101
		})
		for n, i := range order {
			if want := fmt.Sprintf("Satz %d %d", i, i*37%101); got[n] != want {
				t.Fatalf("row %d is %q, want %q", n, got[n], want)
			}
		}
	}
}

// TestSortOfLargeNumbers: numbers that are one as float32 are in their order, rows without a number last.
func TestSortOfLargeNumbers(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "pairs.jsonl"), filepath.Join(t.TempDir(), "out.tsv")
	text := ""
	for i, n := range []string{"16777217", "null", "16777216", "0.10000000000000003", "1e300", "0.1", "16777218", "1e301"} {
		text += fmt.Sprintf(`{"src_text":"Satz %d","tgt_text":"sentence","n":%s}`+"\n", i, n)
	}
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for ascending, want := range map[bool]string{true: "5 3 2 0 6 4 7 1", false: "7 4 6 0 2 3 5 1"} {
		run(t, Options{Files: []string{in}, Format: "tsv", Out: out, Sort: "n", Ascending: ascending})
		if got := strings.ReplaceAll(strings.Join(rows(t, out, "src_text"), " "), "Satz ", ""); got != want {
			t.Errorf("ascending %v: %s, want %s", ascending, got, want)
		}
	}
}

// TestValuesOfJSON: objects, and values of several types, stay as they are in JSON lines, also by way of Parquet, and
// are texts elsewhere; a text that looks like an object stays a text.
func TestValuesOfJSON(t *testing.T) {
	dir := t.TempDir()
	in, lines, parquet, tsv := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "out.parquet"), filepath.Join(dir, "out.tsv")
	text := `{"src_text":"Haus","tgt_text":"house","meta":{"a":1,"b":["x",{"c":null}]},"mixed":"x","said":"{\"a\":1}","list":["x"],"ok":true,"n":1.5,"id":12345678901234567890,"whole":1234567890123456789,"part":1234567890123456789}
{"src_text":"Baum","tgt_text":"tree","meta":null,"mixed":{"d":"\u00e4 \\"},"said":"5","list":[],"ok":false,"n":2,"id":1234567890123456789,"whole":7,"part":0.5}
{"src_text":"Hof","tgt_text":"yard","meta":[[1, 2]],"mixed":7,"said":null,"list":null,"ok":null,"n":null,"id":null,"whole":null,"part":9007199254740993}
`
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, Options{Files: []string{in}, Format: "parquet", Out: parquet})
	want := strings.Replace(text, "1, 2", "1,2", 1)
	for _, from := range []string{in, parquet} {
		run(t, Options{Files: []string{from}, Format: "jsonl", Out: lines, Sort: "n", Ascending: true})
		if got, err := os.ReadFile(lines); err != nil || string(got) != want {
			t.Errorf("of %s: %v\n%swant\n%s", filepath.Base(from), err, got, want)
		}
	}
	run(t, Options{Files: []string{in}, Format: "tsv", Out: tsv})
	if got := rows(t, tsv, "meta", "mixed", "said"); !slices.Equal(got, []string{`{"a":1,"b":["x",{"c":null}]} "x" {"a":1}`, ` {"d":"\\u00e4 \\\\"} 5`, "[[1, 2]] 7 "}) {
		t.Errorf("TSV: %q", got)
	}
}

// TestSplit: no document is in two sets, the sets have about their shares, and which set a document is in depends on
// nothing else.
func TestSplit(t *testing.T) {
	in, dir := source(t), t.TempDir()
	split := Split{Dev: 0.2, Test: 0.1}
	report := run(t, Options{Files: []string{in}, Format: "tsv", Out: filepath.Join(dir, "out.tsv.gz"), Compression: "gz", All: true, Split: split})
	set, all := map[string]string{}, 0
	for _, s := range report.Sets {
		documents := map[string]bool{}
		for _, row := range rows(t, filepath.Join(dir, "out."+s.Name+".tsv.gz"), "src_doc", "src_url") {
			document, url, _ := strings.Cut(row, " ")
			if before, ok := set[document]; ok && before != s.Name {
				t.Errorf("%s is in %s and %s", document, before, s.Name)
			}
			set[document], documents[document] = s.Name, true
			if !strings.HasPrefix(url, "https://a/") {
				t.Errorf("the URL is %q", url)
			}
			all++
		}
		if want := map[string]int{"train": 70, "dev": 20, "test": 10}[s.Name]; len(documents) < want-12 || len(documents) > want+12 {
			t.Errorf("%s has %d of 100 documents", s.Name, len(documents))
		}
	}
	if all != pairs || report.SplitBy != "src_doc" {
		t.Errorf("%d pairs, divided by %s", all, report.SplitBy)
	}
	for document, name := range set {
		if got := []string{"train", "dev", "test"}[split.setOf(document)]; got != name {
			t.Errorf("%s is in %s, then in %s", document, name, got)
		}
	}
}

// TestNumbersOfDocuments: documents whose names are numbers are kept together as others are.
func TestNumbersOfDocuments(t *testing.T) {
	dir := t.TempDir()
	in, text := filepath.Join(dir, "in.jsonl"), ""
	for i := range pairs {
		text += fmt.Sprintf(`{"src_text":"Satz %d","tgt_text":"sentence","src_doc":%d}`+"\n", i, 2_000_000+i/10)
	}
	text += `{"src_text":"Satz","tgt_text":"sentence","src_doc":null}` + "\n"
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"", "src_doc"} {
		split, counted := Split{Dev: 0.2, Test: 0.1, By: by}, 0
		report := run(t, Options{Files: []string{in}, Format: "tsv", Out: filepath.Join(dir, "out.tsv"), Split: split})
		for part, s := range report.Sets {
			for _, document := range rows(t, s.Files[0], "src_doc") {
				if document != "" && split.setOf(document) != part || document == "" && part != train {
					t.Errorf("by %q: %q is in %s", by, document, s.Name)
				}
				counted++
			}
		}
		if report.SplitBy != "src_doc" || counted != pairs+1 {
			t.Errorf("by %q: %d pairs, divided by %s", by, counted, report.SplitBy)
		}
	}
}

// TestSharesChange: another share of the one small set moves no document into or out of the other.
func TestSharesChange(t *testing.T) {
	before, after := Split{Dev: 0.1, Test: 0.1}, Split{Dev: 0.1, Test: 0.05}
	moved := 0
	for i := range pairs {
		document := fmt.Sprint("doc-", i)
		from, to := before.setOf(document), after.setOf(document)
		if from != to && (from != test || to != train) {
			t.Errorf("%s moves from set %d to %d", document, from, to)
		}
		if from != to {
			moved++
		}
	}
	if moved < 20 || moved > 80 {
		t.Errorf("%d of %d documents leave the test set", moved, pairs)
	}
}

// TestSetsWithoutPairs: a set that nothing asks for is not written, and one that gets no pair is warned of.
func TestSetsWithoutPairs(t *testing.T) {
	dir := t.TempDir()
	report := run(t, Options{Files: []string{source(t)}, Format: "tsv", Out: filepath.Join(dir, "out.tsv"), Split: Split{Dev: 0.05, By: "src_lang"}})
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 || len(report.Sets) != 2 {
		t.Errorf("%v are written (%v)", files, err)
	}
	if warnings := report.Warnings(); len(warnings) != 1 || !strings.Contains(warnings[0], "set dev has no pair") || !strings.Contains(warnings[0], "src_lang") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestHuggingFace(t *testing.T) {
	in, dir := source(t), filepath.Join(t.TempDir(), "set")
	report := run(t, Options{Files: []string{in}, Format: HuggingFace, Out: dir, Split: Split{Dev: 0.1, Test: 0.1}, Licence: "cc-by-4.0", Columns: []string{"score"}})
	data, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "---\n")
	front, text, found := strings.Cut(rest, "\n---\n")
	var c card
	if err := yaml.Unmarshal([]byte(front), &c); err != nil || !found {
		t.Fatalf("%v in %q", err, data)
	}
	if c.License != "cc-by-4.0" || !slices.Equal(c.Language, []string{"de", "en"}) || c.SizeCategories[0] != "n<1K" || len(c.Configs[0].Files) != 3 {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(text, "857 pairs") || !strings.Contains(text, "`src_doc`") {
		t.Errorf("the text is %q", text)
	}
	written := 0
	for _, name := range []string{"train", "validation", "test"} {
		path := filepath.Join(dir, "data", name+"-00000-of-00001.parquet")
		written += len(rows(t, path, "src_text", "tgt_text", "score"))
		r, err := table.Open([]string{path}, table.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if b, err := r.Next(context.Background()); err == nil && len(b.Columns()) != 3 {
			t.Errorf("%s has %d columns", name, len(b.Columns()))
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if uint64(written) != report.Written || written != 857 {
		t.Errorf("%d pairs written, %d reported", written, report.Written)
	}
}

// TestHuggingFaceWithoutLanguages: a language that is unknown is none of the description.
func TestHuggingFaceWithoutLanguages(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.tsv")
	if err := os.WriteFile(in, []byte("Haus\thouse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string]string{"": "", "de": "language:\n    - de\n"} {
		opts := Options{Files: []string{in}, Format: HuggingFace, Out: filepath.Join(t.TempDir(), "set"), Table: table.DefaultOptions()}
		opts.Table.Source = language
		if _, err := Run(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(opts.Out, "README.md"))
		if err != nil || strings.Contains(string(data), "language:") != (want != "") || !strings.Contains(string(data), want) {
			t.Errorf("%q: %v, %s", language, err, data)
		}
	}
}

// TestWithoutAText: rows of which a text is null or blank are no pairs in any format, and are told.
func TestWithoutAText(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jsonl")
	rows := `{"de":null,"en":"none"}` + "\n" + `{"de":"eins","en":"one"}` + "\n" + `{"de":"","en":"two"}` + "\n" + `{"de":"drei","en":" "}` + "\n" + `{"de":"vier","en":null}` + "\n"
	if err := os.WriteFile(in, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := Options{Files: []string{in}, Version: "7.8", All: true, Table: table.Options{SourceColumn: "de", TargetColumn: "en", Source: "de", Target: "en"}}
	for i := range Formats {
		opts.Format, opts.Out = Formats[i].Name, filepath.Join(dir, "out."+Formats[i].Name)
		report, err := Run(t.Context(), opts)
		var summary strings.Builder
		if err == nil {
			report.Summary(&summary)
		}
		if lines := strings.Split(summary.String(), "\n"); err == nil && (len(lines) != 3 || lines[1] != "  "+strings.Join(report.Sets[0].Files, " ")) {
			t.Errorf("%s: a set of what is not divided has a name: %s", opts.Format, summary.String())
		}
		if err != nil || report.Written != 1 || !strings.HasPrefix(summary.String(), "1 of 1 pairs exported; 4 without a text on one side are left out\n") {
			t.Errorf("%s: %v, %+v: %s", opts.Format, err, report, summary.String())
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "out.moses.de")); err != nil || string(data) != "eins\n" {
		t.Errorf("moses has %q, %v", data, err)
	}
	opts.Format, opts.Out = "tmx", filepath.Join(dir, "out.tmx")
	if _, err := Run(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(opts.Out); err != nil || !bytes.Contains(data, []byte(`creationtoolversion="7.8"`)) {
		t.Errorf("%v: %.200s", err, data)
	}
}

// TestRowsThatAreLeftOutCount: an error names the row of the file, whatever was left out before, and the pairs that are
// counted are those that are not.
func TestRowsThatAreLeftOutCount(t *testing.T) {
	in, dir := filepath.Join(t.TempDir(), "in.csv"), t.TempDir()
	text := "src_text,tgt_text\n,b\n,b\n" + strings.Repeat("a,b\n", table.BatchRows-2) + "\"a\nb\",b\n"
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := Options{Files: []string{in}, Format: "tsv", Out: filepath.Join(dir, "out.tsv"), Table: table.DefaultOptions(), Breaks: Refuse}
	if _, err := Run(t.Context(), opts); !badinput.Is(err) || !strings.Contains(err.Error(), "row 65537:") {
		t.Errorf("error %v", err)
	}
	if report := run(t, opts); report.Read != table.BatchRows-1 || report.Lacking != 2 {
		t.Errorf("%+v", report)
	}
}

// TestEarlierSets: what others wrote is not lost, and no set of an earlier export stays beside new ones.
func TestEarlierSets(t *testing.T) {
	in, dir := source(t), t.TempDir()
	try := func(format, out string, split Split) error {
		opts := Options{Files: []string{in}, Format: format, Out: filepath.Join(dir, out), Split: split, Table: table.DefaultOptions(), Breaks: Escape}
		_, err := Run(t.Context(), opts)
		return err
	}
	refused := func(err error, file string) {
		t.Helper()
		if !badinput.Is(err) || !strings.Contains(err.Error(), file) {
			t.Errorf("%v does not refuse %s", err, file)
		}
	}
	put := func(file, text string) {
		t.Helper()
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	three, two := Split{Dev: 0.1, Test: 0.1}, Split{Dev: 0.1}
	put("theirs/README.md", "# My project\n")
	refused(try(HuggingFace, "theirs", three), "theirs/README.md")
	if data, err := os.ReadFile(filepath.Join(dir, "theirs/README.md")); err != nil || string(data) != "# My project\n" {
		t.Errorf("their README.md is %q (%v)", data, err)
	}
	put("parts/data/test-00000-of-00001.parquet", "")
	refused(try(HuggingFace, "parts", two), "test-00000-of-00001.parquet")
	if err := errors.Join(try(HuggingFace, "ours", three), try(HuggingFace, "ours", two)); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "ours/data/*"))
	if err != nil || len(left) != 2 {
		t.Errorf("%q are left (%v)", left, err)
	}
	put("ours/data/train-00001-of-00002.parquet", "")
	refused(try(HuggingFace, "ours", two), "train-00001-of-00002.parquet")
	if err := errors.Join(try("tsv", "a.tsv", three), try("tsv", "a.tsv", three)); err != nil {
		t.Fatal(err)
	}
	refused(try("tsv", "a.tsv", two), "a.test.tsv")
	refused(try("tsv", "a.tsv", Split{}), "a.train.tsv")
}

// TestHuggingFaceRefused: a set whose files cannot all be written stays as it is.
func TestHuggingFaceRefused(t *testing.T) {
	in, dir := source(t), filepath.Join(t.TempDir(), "set")
	opts := Options{Files: []string{in}, Format: HuggingFace, Out: dir, Split: Split{Dev: 0.1}}
	run(t, opts)
	described, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(dir, "data", "train-00000-of-00001.parquet")
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(blocked, "full"), 0o750); err != nil {
		t.Fatal(err)
	}
	opts.Table = table.DefaultOptions()
	if _, err := Run(t.Context(), opts); err == nil {
		t.Fatal("a set was written over a folder")
	}
	if left, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || !bytes.Equal(left, described) {
		t.Errorf("an export that was refused changed the set's description: %s, %v", left, err)
	}
}

func TestMosesNames(t *testing.T) {
	in, dir := source(t), t.TempDir()
	run(t, Options{Files: []string{in}, Format: "moses", Out: filepath.Join(dir, "corpus"), Compression: "zst", All: true})
	for _, name := range []string{"corpus.de.zst", "corpus.en.zst"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	b, err := table.Open([]string{filepath.Join(dir, "corpus.de.zst"), filepath.Join(dir, "corpus.en.zst")}, table.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Next(context.Background()); err != nil || got.Len() != pairs {
		t.Errorf("%v rows, %v", got, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNoFileOfHalfAnExport: what a compressor still holds after the last pair is written before any file appears.
func TestNoFileOfHalfAnExport(t *testing.T) {
	const child = "MINE_TEST_SMALL_FILES"
	if os.Getenv(child) == "" { // in a process of its own, as the limit holds for the log of all tests, too
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoFileOfHalfAnExport$")
		cmd.Env = append(os.Environ(), child+"=1")
		if said, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(said), "PASS") {
			t.Fatalf("%v: %s", err, said)
		}
		return
	}
	dir := t.TempDir()
	var source strings.Builder
	const lines = 4400 // they compress to 76 kB, of which gzip holds 23 to the end
	for range lines {
		source.WriteString(rand.Text() + "\n")
	}
	in := []string{filepath.Join(dir, "in.de"), filepath.Join(dir, "in.en")}
	for i, text := range []string{source.String(), strings.Repeat("a\n", lines)} {
		if err := os.WriteFile(in[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	for _, compression := range []string{"gz", "zst"} {
		full := syscall.Rlimit{Cur: 68 << 10, Max: limit.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
			t.Fatal(err)
		}
		opts := Options{Files: in, Table: table.DefaultOptions(), Breaks: Escape, Format: "moses", Out: filepath.Join(dir, "out"), Compression: compression}
		_, err := Run(t.Context(), opts)
		if restored := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); restored != nil {
			t.Fatal(restored)
		}
		if !errors.Is(err, syscall.EFBIG) || !badinput.Is(err) || !strings.Contains(err.Error(), "ulimit -f") {
			t.Errorf("%s: error %v", compression, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != len(in) {
		t.Errorf("%v, %v", left, err)
	}
}

func TestBadExports(t *testing.T) {
	in := source(t)
	least := 1.0
	for name, c := range map[string]struct {
		opts Options
		want string
	}{
		"an unknown format":       {Options{Format: "doc"}, "the formats are hf, tsv"},
		"compressed Parquet":      {Options{Format: "parquet", Compression: "gz"}, "compressed inside"},
		"an unknown column":       {Options{Format: "tsv", Columns: []string{"scor"}}, `is "score" meant?`},
		"an unknown order":        {Options{Format: "tsv", Sort: "prob"}, `no column "prob"`},
		"an order of texts":       {Options{Format: "tsv", Sort: "tgt_text"}, "which is no number"},
		"an unknown document":     {Options{Format: "tsv", Split: Split{By: "doc"}}, `no column "doc"`},
		"an unknown condition":    {Options{Format: "tsv", Where: condition(t, "scores > 1")}, `is "score" meant?`},
		"a missing file":          {Options{Format: "tsv", MinScore: &least, Files: []string{in + "x"}}, "no such file"},
		"a folder that is a file": {Options{Format: HuggingFace, Out: in}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := c.opts
			opts.Table, opts.Breaks = table.DefaultOptions(), Escape
			dir := t.TempDir()
			if opts.Out == "" {
				opts.Out = filepath.Join(dir, "out")
			}
			if opts.Files == nil {
				opts.Files = []string{in}
			}
			_, err := Run(context.Background(), opts)
			if err == nil || !strings.Contains(err.Error(), c.want) || !badinput.Is(err) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%d files are left, %v", len(left), err)
			}
		})
	}
	for _, s := range []Split{{Dev: -1}, {Dev: 0.5, Test: 0.5}} {
		if err := s.Validate(); err == nil || !badinput.Is(err) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestTranslatorsColumns: the formats for translators have texts and languages alone, and the columns that are asked
// for; --columns need not name the languages.
func TestTranslatorsColumns(t *testing.T) {
	for _, format := range []string{"tmx", "xliff", "po"} {
		for _, tt := range []struct {
			columns   []string
			has, lack string
		}{{nil, "sentence 5", "score"}, {[]string{"score"}, "score", "doc-0"}, {[]string{"all"}, "doc-0", "\x00"}} {
			out := filepath.Join(t.TempDir(), "out."+format)
			run(t, Options{Files: []string{source(t)}, Format: format, Out: out, Columns: tt.columns})
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if text := string(data); !strings.Contains(text, tt.has) || strings.Contains(text, tt.lack) || !strings.Contains(text, "en") {
				t.Errorf("%s with %q:\n%.800s", format, tt.columns, data)
			}
		}
	}
}

// TestColumnsOnce: a column that is named twice, or that is written anyway, is written once.
func TestColumnsOnce(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.tsv")
	run(t, Options{Files: []string{source(t)}, Format: "tsv", Out: out, Columns: []string{"src_text", "score", "score"}})
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if head, _, _ := strings.Cut(string(data), "\n"); head != "src_text\ttgt_text\tscore" {
		t.Errorf("the columns are %q", head)
	}
}

// TestIDsAreNoDocuments: names that are all different are of sentences, and no set is divided by them.
func TestIDsAreNoDocuments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	text := "src_text\ttgt_text\tsrc_doc\tsrc_url\n"
	for i := range 20 {
		text += fmt.Sprintf("Satz %d\tsentence %d\tde-%d\thttps://a/%d\n", i, i, i, i/2)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	report := run(t, Options{Files: []string{path}, Format: "tsv", Out: filepath.Join(t.TempDir(), "x.tsv"), Split: Split{Dev: 0.3}})
	if report.SplitBy != "src_url" {
		t.Errorf("divided by %s", report.SplitBy)
	}
	if warnings := report.Warnings(); len(warnings) == 0 || !strings.Contains(warnings[0], "by src_url") || !strings.Contains(warnings[0], "--split-by src_doc") {
		t.Errorf("warnings %q", warnings)
	}
	report = run(t, Options{Files: []string{path}, Format: "tsv", Out: filepath.Join(t.TempDir(), "x.tsv")})
	if warnings := report.Warnings(); len(warnings) > 0 {
		t.Errorf("warnings of what is not divided: %q", warnings)
	}
	report = run(t, Options{Files: []string{path}, Format: "tsv", Out: filepath.Join(t.TempDir(), "x.tsv"), Split: Split{Dev: 0.3, Documents: true}})
	if report.SplitBy != "src_doc" {
		t.Errorf("documents are divided by %s", report.SplitBy)
	}
}

// TestAnnotationsOfOtherTexts: what filtering said of texts is not taken for what is said of those that are written in
// their place.
func TestAnnotationsOfOtherTexts(t *testing.T) {
	dir := t.TempDir()
	rules, err := rule.Condition("mojibake > 1", "encoding")
	if err != nil {
		t.Fatal(err)
	}
	filter := func(file, out string) *filtering.Report {
		t.Helper()
		report, err := filtering.Run(t.Context(), filtering.Options{Files: []string{file}, Table: table.DefaultOptions(), Rules: rules, Fix: true, Out: out})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	text, annotated := filepath.Join(dir, "a.tsv"), filepath.Join(dir, "a.parquet")
	if err := os.WriteFile(text, []byte("src_text\ttgt_text\nDas HÃ¤uschen ist grÃ¼n.\tThe little house is green.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if report := filter(text, annotated); report.Kept != 0 {
		t.Fatalf("%d pairs are kept", report.Kept)
	}
	for name, c := range map[string]struct {
		source, target string
		anonymise      Anonymise
		reused         bool
		kept           uint64
	}{
		"the same":  {"src_text", "tgt_text", AsColumns, true, 0},
		"repaired":  {"src_fixed", "tgt_fixed", Keep, false, 1},
		"anonymous": {"src_text", "tgt_text", InTexts, false, 0},
	} {
		opts := Options{Files: []string{annotated}, Format: "parquet", Out: filepath.Join(dir, name+".parquet"), All: true, Anonymise: c.anonymise}
		opts.Table = table.Options{SourceColumn: c.source, TargetColumn: c.target}
		if _, err := Run(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		if report := filter(opts.Out, ""); report.Reused != c.reused || report.Kept != c.kept {
			t.Errorf("%s: reused %v, %d pairs kept", name, report.Reused, report.Kept)
		}
	}
}
