package multiway_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/multiway"
)

// fixtureLines are the sentences of the fixtures in a language.
func fixtureLines(t *testing.T, code string) []string {
	t.Helper()
	_, path, _ := strings.Cut(text(t, code)[0], "=")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// mixedText writes the sentences of the fixtures in two languages into one file, in turns, and some of a third.
func mixedText(t *testing.T) string {
	t.Helper()
	var lines strings.Builder
	var sides [3][]string
	for i, code := range []string{"de", "en", "fr"} {
		sides[i] = fixtureLines(t, code)
	}
	for i := range sides[0] {
		for side, code := range []string{"deu_Latn", "en", "fr"} {
			fmt.Fprintf(&lines, `{"id":"%d-%d","l":%q,"text":%q}`+"\n", i, side, code, sides[side][i])
		}
	}
	path := filepath.Join(t.TempDir(), "mixed.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mixedConfig(t *testing.T, file string) pipeline.Config {
	t.Helper()
	cfg := settings(t, []string{"mixed=" + file})
	cfg.Source, cfg.Target = "de", "en"
	cfg.DocColumn = "id"
	return cfg
}

// TestMixedTextIsSortedByARun: by identified language and by a column; what did not change is not sorted
// again unless it was removed.
func TestMixedTextIsSortedByARun(t *testing.T) {
	file := mixedText(t)
	for _, column := range []string{"", "l"} {
		cfg := mixedConfig(t, file)
		cfg.LangColumn = column
		if err := multiway.Unmix(t.Context(), &cfg); err != nil {
			t.Fatal(err)
		}
		if len(cfg.SourceText) != 1 || len(cfg.TargetText) != 1 || cfg.LanguageText != nil || cfg.DocColumn != "doc" {
			t.Fatalf("%+v", cfg.Input)
		}
		for side, path := range []string{cfg.SourceText[0], cfg.TargetText[0]} {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n, wrong := 0, 0
			for line := range strings.Lines(string(data)) {
				if n++; !strings.Contains(line, fmt.Sprintf(`-%d","url"`, side)) {
					wrong++
				}
			}
			if n < 110 || wrong > 2 || column != "" && (n != 120 || wrong > 0) {
				t.Errorf("%q: %s has %d sentences, %d of another language", column, path, n, wrong)
			}
		}
		before, err := os.Stat(cfg.SourceText[0])
		if err != nil {
			t.Fatal(err)
		}
		again := mixedConfig(t, file)
		again.Out, again.LangColumn = cfg.Out, column
		if err := multiway.Unmix(t.Context(), &again); err != nil {
			t.Fatal(err)
		}
		if after, err := os.Stat(cfg.SourceText[0]); err != nil || !os.SameFile(before, after) || !slices.Equal(again.SourceText, cfg.SourceText) {
			t.Errorf("%q: what did not change was sorted again: %v", column, err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := multiway.Unmix(t.Context(), &pipeline.Config{}); err != nil {
			t.Errorf("without mixed text: %v", err)
		}
		again = mixedConfig(t, file)
		again.Out, again.LangColumn = cfg.Out, column
		if err := multiway.Unmix(t.Context(), &again); err != nil {
			t.Fatal(err)
		}
		if after, err := os.Stat(cfg.SourceText[0]); err != nil || os.SameFile(before, after) {
			t.Errorf("%q: what changed was not sorted again: %v", column, err)
		}
		if err := os.Remove(cfg.TargetText[0]); err != nil {
			t.Fatal(err)
		}
		again = mixedConfig(t, file)
		again.Out, again.LangColumn = cfg.Out, column
		if err := multiway.Unmix(t.Context(), &again); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(cfg.TargetText[0]); err != nil {
			t.Errorf("%q: what was removed was not sorted again: %v", column, err)
		}
	}
}

// TestSmallFilesAreSortedTogether: many pages make few directories, a changed one leaves the others as they are, what
// no language has is counted, and a page's path is its address.
func TestSmallFilesAreSortedTogether(t *testing.T) {
	dir := t.TempDir()
	const pages = 700
	page := func(i int, language, text string) string {
		path := filepath.Join(dir, fmt.Sprintf("%04d.html", i))
		html := fmt.Sprintf("<!doctype html><html lang=%s><body><article><p>%s</p></article></body></html>", language, text)
		if err := os.WriteFile(path, []byte(html), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	de, en := fixtureLines(t, "de"), fixtureLines(t, "en")
	for i := range pages {
		if i%2 == 0 {
			page(i, "de", de[i%len(de)]+" "+de[(i+1)%len(de)])
		} else {
			page(i, "en", en[i%len(en)]+" "+en[(i+1)%len(en)])
		}
	}
	page(pages, "fr", "Le musée est fermé le lundi, mais la bibliothèque reste ouverte toute la semaine.")
	cfg := mixedConfig(t, filepath.Join(dir, "*.html"))
	cfg.DocColumn = ""
	sorted := func() map[string]time.Time {
		one := cfg
		if err := multiway.Unmix(t.Context(), &one); err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(one.SortWarnings, "\n"); !strings.HasPrefix(said, "mixed text: 1 records are in none of the languages, or too unsurely, and are left out ("+
			filepath.Join(cfg.Out, "sorted", "*", "other.jsonl")+")") { // lines of pages may follow: sites are told by group
			t.Errorf("the warnings are %q", said)
		}
		times := map[string]time.Time{}
		for _, path := range one.SourceText {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			times[path] = info.ModTime()
		}
		data, err := os.ReadFile(one.SourceText[0])
		if err != nil || !strings.Contains(string(data), fmt.Sprintf(`"url":%q`, filepath.Join(dir, "0000.html"))) {
			t.Errorf("%v: %.300s", err, data)
		}
		return times
	}
	before := sorted()
	page(4, "de", de[7]+" "+de[9])
	changed := 0
	after := sorted()
	for path, at := range after {
		if !at.Equal(before[path]) {
			changed++
		}
	}
	if len(before) > 12 || len(after) != len(before) || changed != 1 {
		t.Errorf("%d directories, then %d, of which %d changed", len(before), len(after), changed)
	}
}

// TestMixedTextOfOneLanguageEach: a file without text in a language has none for that side, which a run would warn of.
func TestMixedTextOfOneLanguageEach(t *testing.T) {
	dir := t.TempDir()
	for _, code := range []string{"de", "en"} {
		lines := strings.Join(fixtureLines(t, code), "\n") + "\n"
		large := strings.Repeat(lines, 1<<20/len(lines)+1) // is sorted by itself
		if err := os.WriteFile(filepath.Join(dir, code+".txt"), []byte(large), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := mixedConfig(t, dir)
	cfg.DocColumn = ""
	if err := multiway.Unmix(t.Context(), &cfg); err != nil {
		t.Fatal(err)
	}
	for side, files := range [][]string{cfg.SourceText, cfg.TargetText} {
		if code := []string{"de", "en"}[side]; len(files) != 1 || !strings.Contains(files[0], code+".txt-") {
			t.Errorf("the %s text is %q", code, files)
		}
	}
}

// TestSortedPages: what stands on every page of a site is left out from the sixth page on, as when pages are cut.
func TestSortedPages(t *testing.T) {
	dir := t.TempDir()
	var pages []string
	for i, lines := range slices.Collect(slices.Chunk(fixtureLines(t, "en")[:48], 6)) {
		path := filepath.Join(dir, fmt.Sprintf("%d.html", i))
		page := "<!doctype html><html lang=en><body><article><p>" + strings.Join(lines, "</p><p>") + "</p><p>All rights reserved by the company.</p></article></body></html>"
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, path)
	}
	files, err := input.Expand(nil, pages)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	s, err := multiway.Sort(t.Context(), files, out, multiway.Sorting{Languages: []string{"en"}, MinScore: 0.5, In: corpus.DefaultOptions()})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "en.jsonl"))
	if n := strings.Count(string(data), "All rights"); err != nil || n != 5 || s.LeftOut != 3 || s.Rows["en"] != 8 {
		t.Errorf("%d pages have the notice, %d lines are left out of %d pages: %v", n, s.LeftOut, s.Rows["en"], err)
	}
}

// TestSortedPagesByTheirOwnText: a page goes to the language of what is left of it, and nowhere if nothing is.
func TestSortedPagesByTheirOwnText(t *testing.T) {
	dir := t.TempDir()
	var files []input.File
	notice := "<p>" + strings.Join(fixtureLines(t, "en")[:5], "</p><p>") + "</p>"
	for i, line := range fixtureLines(t, "de")[:8] {
		for name, own := range map[string]string{"empty": "", "page": "<p>" + line + "</p>" + notice} {
			path := filepath.Join(dir, fmt.Sprintf("%s%d.html", name, i))
			if err := os.WriteFile(path, []byte("<html><body><main><p>Kontakt 4711</p>"+own+"</main></body></html>"), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, input.File{Path: path})
		}
	}
	s, err := multiway.Sort(t.Context(), files, dir, multiway.Sorting{Languages: []string{"de"}, MinScore: 0.5, In: corpus.DefaultOptions()})
	if err != nil || s.Rows["de"] != 3 || s.Rows[multiway.OtherLanguages] < 5 {
		t.Errorf("%v, %v", s, err)
	}
}

// TestSortWithoutBadFiles: a damaged file ends sorting, or leaves nothing in the output and a warning; of a web archive
// what is not damaged stays.
func TestSortWithoutBadFiles(t *testing.T) {
	dir := t.TempDir()
	var rows, records bytes.Buffer
	compressed := gzip.NewWriter(&rows)
	for i, line := range fixtureLines(t, "en")[:100] {
		fmt.Fprintf(compressed, `{"text":%q}`+"\n", line)
		page := gzip.NewWriter(&records)
		fmt.Fprintf(page, "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://example.org/%d\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			i, len(line), line)
		if err := page.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"a.jsonl": []byte(`{"text":"The first sentence stays, and so does the last one."}`),
		"b.jsonl.gz": rows.Bytes()[:rows.Len()-100], "c.warc.gz": records.Bytes()[:records.Len()-20]} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := input.Expand(nil, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	how := multiway.Sorting{Languages: []string{"en"}, MinScore: 0.5, In: corpus.DefaultOptions()}
	for _, file := range files[1:] {
		_, err := multiway.Sort(t.Context(), []input.File{file}, filepath.Join(dir, "out"), how)
		if !badinput.Is(err) || !strings.HasPrefix(err.Error(), file.Path) || strings.Count(err.Error(), "--on-bad-file skip") != 1 {
			t.Errorf("error %v", err)
		}
	}
	how.SkipBad = true
	s, err := multiway.Sort(t.Context(), files, filepath.Join(dir, "out"), how)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(s.Warnings, "\n")
	total := 0
	for code, n := range s.Rows {
		data, err := os.ReadFile(filepath.Join(dir, "out", code+".jsonl"))
		if err != nil || strings.Count(string(data), "\n") != n || strings.Contains(string(data), "b.jsonl.gz") {
			t.Errorf("%s.jsonl has not %d rows of the other files: %v", code, n, err)
		}
		total += n
	}
	if total != 100 || !strings.Contains(said, "b.jsonl.gz: its gzip data") || !strings.Contains(said, "1 parts of "+files[2].Path) {
		t.Errorf("%d rows, want 1 of the first file and 99 of the archive; warnings %q", total, said)
	}
}

// TestSortOnAFullDisk: it is told as such, is no defect of a file that is read, and leaves no part of the output.
func TestSortOnAFullDisk(t *testing.T) {
	short := filepath.Join(t.TempDir(), "short.txt") // is written at the end alone
	if err := os.WriteFile(short, []byte(strings.Join(fixtureLines(t, "de")[:3], "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, skip := range map[string]bool{short: false, mixedText(t): false, mixedText(t): true} {
		dir := t.TempDir()
		if err := os.Symlink("/dev/full", filepath.Join(dir, "de.jsonl")); err != nil {
			t.Fatal(err)
		}
		_, err := multiway.Sort(t.Context(), []input.File{{Path: text}}, dir,
			multiway.Sorting{Languages: []string{"de", "en"}, MinScore: 0.5, In: corpus.DefaultOptions(), SkipBad: skip})
		left, _ := filepath.Glob(filepath.Join(dir, "[eo]*.jsonl"))
		if !badinput.Is(err) || !strings.Contains(err.Error(), dir+": the disk is full; free") || strings.Contains(err.Error(), "--on-bad-file") || left != nil {
			t.Errorf("%s, skip %v: error %v, left %q", text, skip, err, left)
		}
	}
}

// TestWarningsOfSortingAreInTheReport: of the run that sorts, and of the next, which does not sort again.
func TestWarningsOfSortingAreInTheReport(t *testing.T) {
	file := mixedText(t)
	damaged := filepath.Join(t.TempDir(), "damaged.jsonl.gz")
	if err := os.WriteFile(damaged, []byte{0x1f, 0x8b, 8, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	out := ""
	var sorted [2][]time.Time // when each group of files was
	for turn := range 2 {
		cfg := mixedConfig(t, file)
		cfg.LanguageText = append(cfg.LanguageText, "mixed="+damaged)
		cfg.OnBadFile = "skip"
		if turn > 0 {
			cfg.Out = out
		}
		out = cfg.Out
		if err := multiway.Unmix(t.Context(), &cfg); err != nil {
			t.Fatal(err)
		}
		r, err := mine(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		about := slices.DeleteFunc(r.Warnings, func(w string) bool { return !strings.Contains(w, damaged) })
		if len(about) != 1 || !strings.HasPrefix(about[0], "a file is left out: ") {
			t.Errorf("run %d warns %q", turn, about)
		}
		written, err := filepath.Glob(filepath.Join(out, "sorted", "*", "sorted.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range written {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			sorted[turn] = append(sorted[turn], info.ModTime())
		}
	}
	if len(sorted[0]) == 0 || !slices.Equal(sorted[0], sorted[1]) {
		t.Errorf("sorted at %v, then at %v", sorted[0], sorted[1])
	}
}

// TestMixedTextWithoutWhatCannotBeOpened: a link to nothing is refused, or left out with a warning; a file whose name
// is almost as long as names may be is sorted.
func TestMixedTextWithoutWhatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(mixedText(t))
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "a.jsonl")
	if err := errors.Join(os.Symlink(filepath.Join(dir, "nothing"), link),
		os.WriteFile(filepath.Join(dir, "x"+strings.Repeat("ä", 122)+".jsonl"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	cfg := mixedConfig(t, dir)
	cfg.LangColumn = "l"
	one := cfg
	if err := multiway.Unmix(t.Context(), &one); !badinput.Is(err) || !strings.Contains(err.Error(), link) || !strings.Contains(err.Error(), "--on-bad-file skip") {
		t.Errorf("error %v", err)
	}
	cfg.OnBadFile = "skip"
	one = cfg
	if err := multiway.Unmix(t.Context(), &one); err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(one.SourceText[0])
	if err != nil || bytes.Count(lines, []byte("\n")) != 120 || len(one.SourceText) != 1 || !utf8.ValidString(one.SourceText[0]) {
		t.Errorf("%d sentences in %q, %v", bytes.Count(lines, []byte("\n")), one.SourceText, err)
	}
	if len(one.SortWarnings) == 0 || !strings.HasPrefix(one.SortWarnings[0], "a file is left out: "+link) {
		t.Errorf("the warnings are %q", one.SortWarnings)
	}
	cfg.LanguageText = []string{"mixed=" + link}
	if err := multiway.Unmix(t.Context(), &cfg); !badinput.Is(err) || !strings.Contains(err.Error(), link) {
		t.Errorf("without another file: error %v", err)
	}
}

// TestSortKeepsTheOtherScript: traditional Chinese is Chinese, unless both scripts are wanted.
func TestSortKeepsTheOtherScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mixed.txt")
	text := "委员会将于明年秋天发表关于旧桥状况的报告，并将征求居民的意见。\n委員會將於明年秋天發表關於舊橋狀況的報告，並將徵求居民的意見。\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, languages := range map[int][]string{2: {"zh", "en"}, 1: {"zh", "zh-Hant"}} {
		s, err := multiway.Sort(t.Context(), []input.File{{Path: path}}, t.TempDir(), multiway.Sorting{Languages: languages, MinScore: 0.5, In: corpus.DefaultOptions()})
		if err != nil || s.Rows["zh"] != want || s.Rows[languages[1]] != 2-want {
			t.Errorf("%v: %v, %v", languages, s, err)
		}
	}
}

// TestSortDoubtfulPages: the sentences of a page that CLD2 identifies decide about those that it does not.
func TestSortDoubtfulPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pages.jsonl")
	page := `{"text":"Она работает и по выходным.\nМост закрыт до весны.\nНа площади играет оркестр."}` + "\n"
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := multiway.Sort(t.Context(), []input.File{{Path: path}}, t.TempDir(), multiway.Sorting{Languages: []string{"en", "ru"}, MinScore: 0.5, In: corpus.DefaultOptions()})
	if err != nil || s.Rows["ru"] != 1 {
		t.Errorf("%v, %v", s, err)
	}
}

func TestMixedTextRefuses(t *testing.T) {
	file := mixedText(t)
	for want, change := range map[string]func(*pipeline.Config){
		"name it with --text mixed=FILES": func(cfg *pipeline.Config) { cfg.LanguageText, cfg.LangColumn = nil, "l" },
		"leave the others out":            func(cfg *pipeline.Config) { cfg.LanguageText = append(cfg.LanguageText, "de="+file) },
		"leave one of them out":           func(cfg *pipeline.Config) { cfg.LangColumn, cfg.LangModel = "l", file },
		"name each column once":           func(cfg *pipeline.Config) { cfg.DocMeta = "date=datum" },
		"stands for something else":       func(cfg *pipeline.Config) { cfg.DocMeta = "date,doc" },
		"src_format, src_encoding":        func(cfg *pipeline.Config) { cfg.SourceCharset = "windows-1252" },
		"nofile":                          func(cfg *pipeline.Config) { cfg.LanguageText = []string{"mixed=nofile"} },
		"no column":                       func(cfg *pipeline.Config) { cfg.LangColumn = "lang" },
		"read its own files": func(cfg *pipeline.Config) {
			cfg.LanguageText = []string{"mixed=" + filepath.Dir(cfg.Out)}
		},
		"fastText": func(cfg *pipeline.Config) { cfg.LangModel = file },
	} {
		cfg := mixedConfig(t, file)
		change(&cfg)
		if err := multiway.Unmix(t.Context(), &cfg); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for _, columns := range []string{"date=datum", "date,doc"} { // of the settings alone, too
		cfg := mixedConfig(t, file)
		cfg.DocMeta = columns
		if err := multiway.Check(&cfg); !badinput.Is(err) {
			t.Errorf("%s: %v", columns, err)
		}
	}
}
