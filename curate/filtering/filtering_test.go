package filtering

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

	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
	"bitextmine/corpus"
	"bitextmine/filter/annotate"
	"bitextmine/filter/rule"
	"bitextmine/internal/badinput"
)

func rulesOf(t *testing.T, conditions string) *rule.Set {
	t.Helper()
	s, err := rule.Parse([]byte("rules: {"+conditions+"}"), "test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pairsFile is a TSV of pairs whose names say what is wrong with them.
func pairsFile(t *testing.T, rows int) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, "src_text\ttgt_text\tsrc_lang\ttgt_lang\tkind")
	for i := range rows {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "Der Zug Nummer %d fährt um acht.\tTrain number %d leaves at eight.\tde\ten\tgood\n", i, i)
		case 1:
			fmt.Fprintf(&b, "Im Jahr %d war hier nichts.\tThere was nothing here in %d.\tde\ten\tnumber\n", 1000+i, 5000+i)
		case 2:
			fmt.Fprintf(&b, "Das ist FÃ¼r MÃ¼ller %d &amp; Co.\tThat is for Müller %d & Co.\tde\ten\tmojibake\n", i, i)
		case 3:
			fmt.Fprintf(&b, "Immer derselbe Satz.\tAlways the same sentence.\tde\ten\tcopy\n")
		case 4:
			fmt.Fprintf(&b, "Ja %d\tA far longer sentence number %d that says many other things about the weather and the news.\tde\ten\tlength\n", i, i)
		}
	}
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, opts Options, file string) *Report {
	t.Helper()
	opts.Files, opts.Table.SourceColumn, opts.Table.TargetColumn, opts.Temp = []string{file}, table.SourceText, table.TargetText, t.TempDir()
	report, err := Run(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// column reads a whole column of a Parquet file as texts; lists are joined by commas.
func column(t *testing.T, path, name string) (all []string) {
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
		lists, err := b.Lists(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			all = append(all, strings.Join(lists(i), ","))
		}
	}
}

// firstNumber is the first value of a column of numbers.
func firstNumber(t *testing.T, path, name string) (value float64) {
	t.Helper()
	err := table.Each(t.Context(), []string{path}, table.DefaultOptions(), func(_ *table.Reader, b *table.Batch) error {
		numbers, err := b.Numbers(name)
		if err == nil {
			value = numbers(0)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestFilter(t *testing.T) {
	const rows = 100
	file, out := pairsFile(t, rows), filepath.Join(t.TempDir(), "out.parquet")
	rules := rulesOf(t, "number: numbers_differ > 1, mojibake: mojibake > 0, copy: copy == 2, length: length_ratio > 5")
	report := run(t, Options{Rules: rules, Fix: true, Samples: 2, Out: out}, file)
	if report.Pairs != rows || report.Kept != rows/5+1 || report.Reused || report.Fixed != rows/5 {
		t.Errorf("report %+v", report)
	}
	kinds, reasons := column(t, out, "kind"), column(t, out, "reasons")
	copies := 0
	for i, kind := range kinds {
		want := "filter:" + kind
		if kind == "copy" {
			if copies++; copies == 1 {
				want = ""
			}
		}
		if kind == "good" {
			want = ""
		}
		if reasons[i] != want {
			t.Errorf("row %d, %s, has the reasons %q", i, kind, reasons[i])
		}
	}
	if got := column(t, out, "src_fixed")[2]; got != "Das ist Für Müller 2 & Co." {
		t.Errorf("repaired: %q", got)
	}
	if got := column(t, out, "src_text")[2]; !strings.Contains(got, "MÃ¼ller") {
		t.Errorf("the original is %q", got)
	}
	for _, of := range report.Rules {
		if of.Rejected != rows/5 && of.Name != "copy" || of.Alone != of.Rejected || len(of.Samples) != 2 || len(of.With) != 0 {
			t.Errorf("%+v", of)
		}
	}
}

// TestAgain: other thresholds on an annotated file give what they give at once, without annotating again.
func TestAgain(t *testing.T) {
	dir := t.TempDir()
	file, loose, again, direct := pairsFile(t, 200), filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet"), filepath.Join(dir, "c.parquet")
	tight := func() *rule.Set { return rulesOf(t, "any: numbers_differ > 1 or mojibake > 0, short: length_src < 10") }
	run(t, Options{Rules: rulesOf(t, "all: length_src > 0"), Out: loose}, file)
	if report := run(t, Options{Rules: tight(), Out: again}, loose); !report.Reused || report.Before != 0 {
		t.Errorf("%+v", report)
	}
	if report := run(t, Options{Rules: tight(), Out: direct}, file); report.Reused {
		t.Error("a file without annotations was taken to have them")
	}
	a, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(direct)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Error("filtering again gives another file than filtering at once")
	}
	if report := run(t, Options{Rules: tight(), Anew: true}, loose); report.Reused {
		t.Error("--annotate-again was ignored")
	}
}

// TestOtherSubject: annotations of other languages or columns are computed again, and languages that are stated are
// written.
func TestOtherSubject(t *testing.T) {
	dir := t.TempDir()
	in, first, second, third := filepath.Join(dir, "in.tsv"), filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet"), filepath.Join(dir, "c.parquet")
	if err := os.WriteFile(in, []byte("Das ist FÃ¼r &amp;\tThat is for &\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	filter := func(file, out, source, target string, columns ...string) *Report {
		t.Helper()
		opts := Options{Files: []string{file}, Table: table.DefaultOptions(), Rules: rulesOf(t, "never: length_src < 0"), Out: out, Fix: true, Temp: dir}
		opts.Table.Source, opts.Table.Target = source, target
		if len(columns) > 0 {
			opts.Table.SourceColumn, opts.Table.TargetColumn, opts.Table.MustName = columns[0], columns[1], true
		}
		report, err := Run(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	filter(in, first, "de", "en")
	if got := column(t, first, "src_lang")[0] + column(t, first, "tgt_lang")[0]; got != "deen" {
		t.Errorf("the languages are %q", got)
	}
	for name, c := range map[string]struct {
		source, target string
		columns        []string
		again          bool
	}{
		"as before":         {"de", "en", nil, false},
		"without languages": {"", "", nil, false},
		"other languages":   {"ru", "en", nil, true},
		"fixed texts":       {"", "", []string{"src_fixed", "tgt_fixed"}, true},
	} {
		if report := filter(first, second, c.source, c.target, c.columns...); report.Others != c.again || report.Reused == c.again {
			t.Errorf("%s: %+v", name, report)
		}
		script, markup := firstNumber(t, second, "script_src"), firstNumber(t, second, "markup")
		if (script == 0) != (c.source == "ru") || (markup == 0) != (c.columns != nil) {
			t.Errorf("%s: script_src is %v, markup %v", name, script, markup)
		}
	}
	filter(first, second, "", "", "src_fixed", "tgt_fixed")
	if report := filter(second, third, "", ""); !report.Reused || firstNumber(t, third, "markup") != 0 {
		t.Errorf("annotations of the fixed texts are not taken: %+v", report)
	}
}

// TestTexts: an annotated table in a text format can be filtered again, and what mining rejected stays rejected.
func TestTexts(t *testing.T) {
	names := append([]string{"src_text", "tgt_text", "keep", "reasons"}, annotate.Names()...)
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(names, "\t"))
	for _, start := range []string{"Haus\thouse\ttrue\t", "Baum\ttree\tfalse\ttaken,filter:old", "Hof\tyard\tfalse\tfilter:old", "Tür\tdoor\tfalse\t"} {
		fmt.Fprintln(&b, start+strings.Repeat("\t5", len(names)-4))
	}
	file := filepath.Join(t.TempDir(), "x.tsv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "x.parquet")
	report := run(t, Options{Rules: rulesOf(t, "r: length_src < 5, null: score > 1"), Out: out}, addColumn(t, file, "score", ""))
	if !report.Reused || report.Kept != 2 || report.Before != 2 {
		t.Errorf("%+v", report)
	}
	if got := column(t, out, "reasons"); !slices.Equal(got, []string{"", "taken", "", "not_kept"}) {
		t.Errorf("reasons %q", got)
	}
}

func addColumn(t *testing.T, file, name, value string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if i == 0 {
			fmt.Fprintln(&b, line+"\t"+name)
		} else {
			fmt.Fprintln(&b, line+"\t"+value)
		}
	}
	wider := filepath.Join(t.TempDir(), "wider.tsv")
	if err := os.WriteFile(wider, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return wider
}

func TestBadRuns(t *testing.T) {
	file := pairsFile(t, 5)
	for name, c := range map[string]struct {
		opts Options
		want string
	}{
		"an unknown column":    {Options{Files: []string{file}, Rules: rulesOf(t, "r: mojibak > 1")}, `is "mojibake" meant?`},
		"a missing file":       {Options{Files: []string{file + ".not"}, Rules: rulesOf(t, "")}, "no such file"},
		"columns of one's own": {Options{Files: []string{addColumn(t, addColumn(t, file, "title", "News"), "numbers", "12")}, Rules: rulesOf(t, "")}, "would replace numbers, title: rename"},
		"an unreadable row":    {Options{Files: []string{addColumn(t, file, "keep", "7")}, Rules: rulesOf(t, "")}, "neither true nor false"},
		"another text":         {Options{Files: []string{file}, Rules: rulesOf(t, ""), Table: table.Options{SourceColumn: "src_text", TargetColumn: "english"}}, "does not name both columns"},
	} {
		if c.opts.Table.SourceColumn == "" {
			c.opts.Table = table.DefaultOptions()
		}
		c.opts.Out = filepath.Join(t.TempDir(), "out.parquet")
		if _, err := Run(context.Background(), c.opts); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestReportTable(t *testing.T) {
	file := pairsFile(t, 50)
	report := run(t, Options{Rules: rulesOf(t, "number: numbers_differ > 1, all: length_src > 0"), Samples: 1}, file)
	var out strings.Builder
	report.Summary(&out)
	if err := report.Table(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0 of 50 pairs kept (0.0%)", "number  10        20.0%   0      all (10)", "all     50        100.0%  40     number (10)",
		"\nnumber: numbers_differ > 1\n  row ", "\n    Im Jahr 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// TestWarnings: what may have been read otherwise than was meant is said.
func TestWarnings(t *testing.T) {
	const german, english = "Dieser Satz ist ganz sicher auf Deutsch geschrieben.", "This sentence is certainly written in English."
	for name, c := range map[string]struct{ line, want string }{
		"swapped": {english + "\t" + german, "1 have each side in the language of the other"},
		"unnamed": {german + "\t" + english + "\tweb", "no line names the 3 columns"},
		"none":    {german + "\t" + english, ""},
	} {
		path := filepath.Join(t.TempDir(), "in.tsv")
		if err := os.WriteFile(path, []byte(c.line+"\n\xff\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		opts := Options{Files: []string{path}, Rules: rulesOf(t, "never: length_src < 0"), Table: table.DefaultOptions()}
		opts.Table.Source, opts.Table.Target, opts.Table.SkipBad = "de", "en", true
		report, err := Run(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		warnings := strings.Join(report.Warnings(), "\n")
		if (c.want == "") != (warnings == "") || !strings.Contains(warnings, c.want) {
			t.Errorf("%s: %q", name, warnings)
		}
		var out strings.Builder
		if report.Summary(&out); !strings.Contains(out.String(), "; 1 lines that cannot be read are left out") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
	report := run(t, Options{Rules: rulesOf(t, "all: length_src > 0")}, pairsFile(t, 5))
	if warnings := report.Warnings(); len(warnings) != 1 || !strings.Contains(warnings[0], "no pair is kept") {
		t.Errorf("%q", warnings)
	}
}

// TestLabels: what people decided stands, whatever the rules say.
func TestLabels(t *testing.T) {
	in, out := pairsFile(t, 20), filepath.Join(t.TempDir(), "out.parquet")
	of := func(source, target string, accepted bool) label.Label {
		a, b := corpus.KeyOf(source), corpus.KeyOf(target)
		return label.Label{Source: fmt.Sprintf("%x", a[:]), Target: fmt.Sprintf("%x", b[:]), Accepted: accepted}
	}
	opts := Options{Rules: rulesOf(t, `number: "src_text == 'Im Jahr 1001 war hier nichts.' or tgt_text == 'Always the same sentence.'"`), Out: out, Labels: []label.Label{
		of("Der Zug Nummer 0 fährt um acht.", "Train number 0 leaves at eight.", false),
		of("Im Jahr 1001 war hier nichts.", "There was nothing here in 5001.", true),
	}}
	opts.Labels[1].SourceText, opts.Labels[1].TargetText, opts.Labels[1].By = "Im Jahr 1001 war hier nichts.", "There was nothing here in 1001.", "Ann"
	for _, again := range []bool{false, true} {
		if again {
			in, opts.Labels = out, nil
			opts.Out = filepath.Join(t.TempDir(), "again.parquet")
		}
		run(t, opts, in)
		want := []string{"label", "", "", "filter:number"}
		if got := column(t, opts.Out, "tgt_text")[1]; got != "There was nothing here in 1001." {
			t.Errorf("again %v: the corrected text is %q", again, got)
		}
		if got := column(t, opts.Out, "label")[:3]; !slices.Equal(got, []string{"rejected", "edited", ""}) {
			t.Errorf("again %v: the labels are %q", again, got)
		}
		if got := column(t, opts.Out, "reasons")[:4]; !slices.Equal(got, want) {
			t.Errorf("again %v: the reasons are %q, want %q", again, got, want)
		}
	}
}

// TestLabelsOfOthers: a column of numbers that is named as people's decisions are has none.
func TestLabelsOfOthers(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in.jsonl"), filepath.Join(t.TempDir(), "out.parquet")
	if err := os.WriteFile(in, []byte(`{"src_text":"Das Haus.","tgt_text":"The house.","label":1}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := run(t, Options{Rules: rulesOf(t, "all: length_src > 0"), Out: out}, in)
	if got := firstNumber(t, out, "label"); got != 1 || report.Kept != 0 {
		t.Errorf("the label is %v, %+v", got, report)
	}
}

// TestUnitsWithoutATranslation are left out, and counted.
func TestUnitsWithoutATranslation(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.xlf")
	text := `<xliff srcLang="de" trgLang="en"><segment><source>Das Haus ist groß.</source><target>The house is big.</target></segment><segment><source>Neu.</source></segment></xliff>`
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), Options{Files: []string{in}, Table: table.DefaultOptions(), Rules: rulesOf(t, "never: \"length_src < 0\"")})
	var out strings.Builder
	if report.Summary(&out); err != nil || report.Pairs != 1 || !strings.Contains(out.String(), "; 1 without a text on one side are left out") {
		t.Errorf("%+v, %v: %s", report, err, out.String())
	}
}

// TestRowsOfOtherLanguages: a row of which a text is null is no pair, and one with an empty text is a bad one.
func TestRowsOfOtherLanguages(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in.jsonl"), filepath.Join(t.TempDir(), "out.parquet")
	rows := `{"src_text":null,"tgt_text":"Three languages."}` + "\n" + `{"src_text":"Das Haus.","tgt_text":"The house."}` + "\n" + `{"src_text":"Das Haus.","tgt_text":""}` + "\n"
	if err := os.WriteFile(in, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	report := run(t, Options{Rules: rulesOf(t, "empty: words_tgt == 0"), Out: out}, in)
	if report.Pairs != 2 || report.Kept != 1 || report.Lacking != 1 {
		t.Errorf("%+v", report)
	}
	if got := firstNumber(t, out, "group"); got != 1 {
		t.Errorf("the first pair is of the group %v", got)
	}
}
