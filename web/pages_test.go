package web

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bitextmine/bitext"
	"bitextmine/bitext/concordance"
	"bitextmine/web/webtest"
)

func TestPages(t *testing.T) {
	_, ts := sample(t)
	for path, texts := range map[string][]string{
		"/": {
			"<h1>German–Arabic: 134 pairs</h1>", "<svg", "threshold 0.500", "below_threshold", `href="/pairs?show=untranslated`, "Nobody has decided",
			"use-static, 512 dimensions", `<th scope="row" class="text path">corpus.de</th>`, `lang="ar" dir="rtl"`,
		},
		"/search":                                   {`name="q"`, "This bitext has no index"},
		"/search?q=haus+12":                         {"<mark>Haus</mark> Nummer <mark>12</mark> steht", "9 pairs; these are 1 to 9."},
		"/search?q=nummer+111&mode=phrase":          {"<mark>Nummer 111</mark>", "1 pair;"},
		"/search?q=%D8%A7%D9%84%D9%86%D9%87%D8%B1":  {"<mark>النهر</mark>", "134 pairs", `rel="next"`},
		"/search?q=%22nummer+111%22+-nichts":        {"<mark>Nummer 111</mark>", "1 pair;"},
		"/search?q=-Haus":                           {"give a word to look for, without a minus"},
		"/search?q=Haus&in=ar":                      {"No kept pair has"},
		"/search?q=nichts":                          {"No kept pair has"},
		"/search?q=[0-9]{3}&mode=regexp":            {"<mark>100</mark>"},
		"/search?q=(&mode=regexp":                   {"the regular expression cannot be read"},
		"/search?q=Hauz&mode=fuzzy":                 {"other spellings need an index"},
		"/pairs":                                    {"134 pairs; these are 1 to 50", `href="/pair/` + keyOfRow(0) + `"`, `from=50`},
		"/pairs?from=100":                           {"these are 101 to 134", `from=50`},
		"/pairs?from=1000":                          {"The list ends before here: it has 134 pairs."},
		"/pairs?show=rejected&order=near":           {"66 pairs", `>both sides are one text</span>`},
		"/pairs?show=untranslated":                  {"22 pairs"},
		"/pair/" + keyOfRow(5):                      {"<h1>Pair 5</h1>", `data-src="/pair/` + keyOfRow(5) + `/explanation"`},
		"/pair/" + strings.ToUpper(keyOfRow(5)):     {"<h1>Pair 5</h1>"},
		"/pair/5":                                   {"<h1>Pair 5</h1>", "score too low", "not listed", "https://example.org/de/0", "<dt>second</dt>", "corpus.ar#0"},
		"/review?show=kept&order=random":            {"1 of 134", "data-key", `<dialog id="help"`, "Accept", `role="status"`},
		"/review/card?show=all&order=row&at=199":    {"200 of 200", `data-row="199"`},
		"/review/card?show=all&order=row&at=200000": {`data-end="1"`, "The end of this list"},
		"/assets/page.css":                          {"prefers-color-scheme: dark"},
		"/assets/page.js":                           {"use strict"},
		"/assets/icon.svg":                          {"<svg"},
	} {
		wants(t, ts, path, texts...)
	}
	for path, want := range map[string]int{
		"/nothing": http.StatusNotFound, "/pair/200": http.StatusNotFound, "/pair/-1": http.StatusNotFound, "/pair/x": http.StatusNotFound,
		"/pair/" + keyOfRow(200): http.StatusNotFound, "/pair/" + keyOfRow(200) + "/explanation": http.StatusNotFound, "/pair/" + keyOfRow(5)[:33]: http.StatusNotFound,
		"/pairs?show=magic": http.StatusBadRequest, "/pairs?order=magic": http.StatusBadRequest, "/pairs?from=-5": http.StatusBadRequest,
		"/search?q=a&mode=magic": http.StatusBadRequest, "/search?q=%ff": http.StatusBadRequest, "/search?q=a&from=999999": http.StatusBadRequest,
		"/review/card?step=x": http.StatusBadRequest, "/changes?night=000001": http.StatusBadRequest, "/labels": http.StatusNotFound,
		"/?x=1": http.StatusBadRequest, "/pairs?orde=near": http.StatusBadRequest, "/review?label=decided": http.StatusBadRequest, "/pair/" + keyOfRow(5) + "?x": http.StatusBadRequest,
	} {
		if status, body := get(t, ts, path); status != want || !strings.Contains(body, "<h1>") {
			t.Errorf("%s: status %d, want %d: %s", path, status, want, body)
		}
	}
}

// TestPairsOfDocuments: a pair that aligned documents alone found has no numbers of mining, says what it has, and is
// in a list of its own.
func TestPairsOfDocuments(t *testing.T) {
	rows := webtest.Rows(12)
	for i := range rows {
		rows[i].Alignment = &bitext.Alignment{FoundBy: bitext.Global, Sentences: [2]uint32{1, 1}}
	}
	row := &rows[1]
	row.Alignment = &bitext.Alignment{FoundBy: bitext.Local, Sentences: [2]uint32{2, 3}, Bead: &bitext.Bead{Score: 0.625, DocScore: 0.875}}
	row.Prob, row.Score, row.SourceMean, row.TargetMean = nil, 0, 0, 0
	dir := filepath.Join(t.TempDir(), "run")
	webtest.Write(t, dir, rows, webtest.Began)
	_, ts := served(t, dir)
	const none = `<td class="text number">–</td>`
	body := wants(t, ts, "/pair/1", `<dt>probability</dt><dd class="number">–</dd>`, `<dt>margin</dt><dd class="number">–</dd>`, "neighbours</th>"+none+none,
		"<dd>aligned documents alone</dd>", `<dd class="number">2:3</dd>`, "0.625", "0.875")
	if strings.Contains(body, ">0.000<") {
		t.Error("the page has numbers that the pair has not")
	}
	wants(t, ts, "/pair/0", "<dd>mining alone</dd>", `<dd class="number">1:1</dd>`, `neighbours</th><td class="text number">0.400</td>`)
	wants(t, ts, "/pairs", `<option value="found_by:local">kept, found by aligned documents alone</option>`, "8 pairs")
	wants(t, ts, "/pairs?show=found_by:local", "1 pair;", `href="/pair/`+keyOf([2][16]byte{row.Source.Key, row.Target.Key})+`"`)
	wants(t, ts, "/pairs?show=found_by:global", "7 pairs")
	if status, _ := get(t, ts, "/pairs?show=found_by:both"); status != http.StatusBadRequest {
		t.Errorf("a list of none: status %d", status)
	}
}

// TestSentencesAreEscaped: a sentence that is a script is text on every page that shows it, and in the report.
func TestSentencesAreEscaped(t *testing.T) {
	dir, ts := sample(t)
	report, err := Report(t.Context(), dir, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{string(report)}
	for _, path := range []string{"/pairs", "/pair/3", "/review?show=all&at=3", "/review/card?show=all&at=3", "/search?q=alert", "/search?q=%3Cscript%3E", "/search?q=%22%3E%3Cscript%3E"} {
		status, body := get(t, ts, path)
		if status != http.StatusOK {
			t.Errorf("%s: status %d", path, status)
		}
		pages = append(pages, body)
	}
	for i, body := range pages {
		if strings.Contains(body, "<script>") || strings.Contains(body, "<img") || strings.Contains(body, `"><`) && strings.Contains(body, `"><script`) {
			t.Errorf("page %d has a sentence's script: %s", i, body)
		}
	}
}

// TestSearchUsesTheIndex: with an index words are found in their forms, on either side.
func TestSearchUsesTheIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	webtest.Run(t, dir, 60)
	path := filepath.Join(dir, "de-ar.parquet")
	x, err := concordance.Open(t.Context(), concordance.Directory(dir, path), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	_, ts := served(t, dir)
	body := wants(t, ts, "/search?q=Häuser", "39 pairs", "<mark>Haus</mark>", `href="/pair/`)
	if strings.Contains(body, "no index") {
		t.Error("the page says that there is no index")
	}
	wants(t, ts, "/search?q=Hauz&mode=fuzzy", "<mark>Haus</mark>")
}

// TestSearchFollowsTheIndex: an index that is made while the page is open is used, also after another run, whose bitext
// it does not describe until it is made again.
func TestSearchFollowsTheIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	rows := webtest.Rows(60)
	webtest.Write(t, dir, rows[:40], webtest.Began)
	_, ts := served(t, dir)
	search := func(text string) func() bool {
		return func() bool { _, body := get(t, ts, "/search?q=H%C3%A4user"); return strings.Contains(body, text) }
	}
	makeIndex := func() {
		path := filepath.Join(dir, "de-ar.parquet")
		x, err := concordance.Open(t.Context(), concordance.Directory(dir, path), path, nil)
		if err == nil {
			err = x.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wants(t, ts, "/search?q=H%C3%A4user", "no index")
	makeIndex()
	waitFor(t, search("26 pairs"))
	webtest.Write(t, dir, rows, webtest.Began.Add(time.Hour))
	waitFor(t, search("no index"))
	makeIndex()
	waitFor(t, search("39 pairs"))
}

// TestExpressionsWhileARunIsReplaced: a regular expression is looked for in the pairs of the run that is shown.
func TestExpressionsWhileARunIsReplaced(t *testing.T) {
	dir, next := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	rows := webtest.Rows(60)
	webtest.Write(t, dir, rows[:40], webtest.Began)
	webtest.Write(t, next, rows[30:], webtest.Began)
	path := filepath.Join(dir, "de-ar.parquet")
	x, err := concordance.Open(t.Context(), concordance.Directory(dir, path), path, nil)
	if err == nil {
		err = x.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, ts := served(t, dir)
	if err := os.Rename(filepath.Join(next, "de-ar.parquet"), path); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"Haus", "Haus&mode=regexp"} {
		wants(t, ts, "/search?q="+word, "26 pairs", "<mark>Haus</mark>")
	}
}

// TestRunsFollowWhileOneIsUsed: a request that takes long, or an index that is being made, keeps no later run from
// being shown.
func TestRunsFollowWhileOneIsUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	rows := webtest.Rows(60)
	webtest.Write(t, dir, rows[:40], webtest.Began)
	s, ts := served(t, dir)
	one, done := s.use()
	defer done()
	for i, n := range []int{50, 60} {
		webtest.Write(t, dir, rows[:n], webtest.Began.Add(time.Duration(i+1)*time.Hour))
		waitFor(t, func() bool { status, _ := get(t, ts, "/pair/"+keyOfRow(n-1)); return status == http.StatusOK })
	}
	if one.ctx.Err() == nil {
		t.Error("an index of the first run would be made still")
	}
	if _, err := one.Pairs.Row(0); err != nil {
		t.Errorf("the run is closed while it is used: %v", err)
	}
}

// TestNights shows the history, what a night changed, and a night that ends while the page is open.
func TestNights(t *testing.T) {
	out := t.TempDir()
	rows := webtest.Rows(90)
	webtest.Night(t, out, 1, rows[:60])
	second := webtest.Night(t, out, 2, rows[10:80])
	s, ts := served(t, out)
	wants(t, ts, "/", second, "&#43;", `href="/changes?night=`+second, "shown here")
	wants(t, ts, "/changes?night="+second, "Removed pairs", "Added pairs", "Das Haus Nummer 0 steht", "000001-2026-03-01")
	third := webtest.Night(t, out, 3, rows)
	waitFor(t, func() bool { _, body := get(t, ts, "/"); return strings.Contains(body, third) })
	if status, _ := postLabel(t, ts, keyOfRow(0), "reject", nil); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(readFile(t, filepath.Join(out, "labels.jsonl")), keyOfRow(0)[:32]) {
		t.Error("the decision is not in the output directory, where later nights look for it")
	}
	if s.shown.Night() != third {
		t.Errorf("shown is %q", s.shown.Night())
	}
	report, err := Report(t.Context(), filepath.Join(out, "runs", second), "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"What " + second + " changed", "<style>", "default-src &#39;none&#39;", third} {
		if !strings.Contains(string(report), text) {
			t.Errorf("the report has no %q", text)
		}
	}
	for _, text := range []string{"<script", "<link", ` href="`, ` src="`} {
		if strings.Contains(string(report), text) {
			t.Errorf("the report refers to something: %s", text)
		}
	}
}

// TestPairsKeepTheirAddresses: an address by row leads to one by keys, which is the same pair's in the next run,
// whatever row it has there; a pair that the run does not have gets a page that says what was decided on it.
func TestPairsKeepTheirAddresses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	rows := webtest.Rows(40)
	webtest.Write(t, dir, rows[:30], webtest.Began)
	_, ts := served(t, dir)
	ts.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, want := range map[string]string{"/pair/12": "/pair/" + keyOfRow(12), "/pair/12/explanation": "/pair/" + keyOfRow(12) + "/explanation"} {
		answer, err := ts.Client().Get(ts.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("Location"); answer.StatusCode != http.StatusFound || got != want {
			t.Errorf("%s: status %d to %q, want %q", path, answer.StatusCode, got, want)
		}
	}
	if status, text := postLabel(t, ts, keyOfRow(3), "reject", nil); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	webtest.Write(t, dir, rows[10:], webtest.Began.Add(time.Hour))
	waitFor(t, func() bool { _, body := get(t, ts, "/pair/"+keyOfRow(35)); return strings.Contains(body, "Nummer 35 ") })
	wants(t, ts, "/pair/"+keyOfRow(12), "<h1>Pair 2</h1>", "Nummer 12 ")
	if status, body := get(t, ts, "/pair/"+keyOfRow(3)); status != http.StatusNotFound || !strings.Contains(body, "This run does not have the pair") || !strings.Contains(body, "somebody rejected it") {
		t.Errorf("a pair of the run before: status %d: %s", status, body)
	}
}

func TestBadRuns(t *testing.T) {
	empty := t.TempDir()
	broken := filepath.Join(t.TempDir(), "run")
	webtest.Run(t, broken, 10)
	if err := os.WriteFile(filepath.Join(broken, "de-ar.parquet"), []byte("PAR1 and nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	labelled := filepath.Join(t.TempDir(), "run")
	webtest.Run(t, labelled, 10)
	if err := os.WriteFile(filepath.Join(labelled, "labels.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{empty: "no run has ended there", broken: "is not Parquet or is damaged", labelled: "not a label"} {
		if _, err := Open(t.Context(), Options{Dir: dir}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}
