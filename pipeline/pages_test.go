package pipeline

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/setting"
)

// pagesOf makes pages of so many lines each of a text, with a line that all have.
func pagesOf(lines []string, each int, language string) (pages []string) {
	for i := 0; i+each <= len(lines); i += each {
		var b strings.Builder
		fmt.Fprintf(&b, "<!doctype html><html lang=%s><head><title>%d</title></head><body><nav>Home</nav><article>", language, i)
		for _, line := range lines[i : i+each] {
			fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(line))
		}
		b.WriteString("<p>© the company, all rights reserved, 2026.</p></article></body></html>")
		pages = append(pages, b.String())
	}
	return pages
}

// goldLines are the sentences of the fixtures that are translations of each other, in both languages.
func goldLines(t *testing.T) (sides [2][]string) {
	t.Helper()
	var texts [2]map[string]string
	for side, name := range []string{"de.txt", "en.txt"} {
		texts[side] = map[string]string{}
		data, err := fixtures.Text.ReadFile("text/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			id, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
			texts[side][id] = text
		}
	}
	gold, err := fixtures.Text.ReadFile("text/de-en.gold")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(gold)) {
		source, target, _ := strings.Cut(strings.TrimSpace(line), "\t")
		sides[0], sides[1] = append(sides[0], texts[0][source]), append(sides[1], texts[1][target])
	}
	return sides
}

// archiveOf makes a web archive of pages.
func archiveOf(t *testing.T, pages []string, language string) []byte {
	t.Helper()
	var out bytes.Buffer
	for i, page := range pages {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page
		z := gzip.NewWriter(&out)
		_, err := fmt.Fprintf(z, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/%s/%d\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			language, i, len(block), block)
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestPagesAreMined: folders of HTML and archives of the same pages give the same pairs of documents and sentences, and
// what repeats on all pages is left out from the sixth on. A damaged record is left out by on_bad_file: skip, and ends
// the run otherwise.
func TestPagesAreMined(t *testing.T) {
	dir := t.TempDir()
	var pages [2][]string
	var archives [2]string
	lines := goldLines(t)
	for side, language := range []string{"de", "en"} {
		pages[side] = pagesOf(lines[side], 8, language)
		for i, page := range pages[side] {
			path := filepath.Join(dir, language, fmt.Sprintf("page%02d.html", i))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		archives[side] = filepath.Join(dir, language+".warc.gz")
		if err := os.WriteFile(archives[side], archiveOf(t, pages[side], language), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var kept []int
	for name, texts := range map[string][2]string{"html": {filepath.Join(dir, "de"), filepath.Join(dir, "en")}, "warc": archives} {
		cfg := testConfig(dir, filepath.Join(dir, "out-"+name))
		cfg.SourceText, cfg.TargetText = []string{texts[0]}, []string{texts[1]}
		cfg.Split, cfg.Documents, cfg.DocScore, cfg.BeadScore = setting.SplitAuto, setting.DocumentsOn, 0.3, 0.3
		report := mustRun(t, cfg)
		if d := report.Counts.Documents; d == nil || d.Pairs < len(pages[0])*98/100 {
			t.Errorf("%s: %d pages, documents %+v", name, len(pages[0]), d)
		}
		left := uint64(0)
		for _, in := range report.Inputs {
			left += in.Counts.LeftOut[corpus.LeftBoilerplate]
		}
		if want := uint64(2 * (len(pages[0]) - 5)); left != want {
			t.Errorf("%s: %d lines are left out, want %d", name, left, want)
		}
		kept = append(kept, report.Counts.Kept)
	}
	if kept[0] != kept[1] || kept[0] == 0 {
		t.Errorf("pairs kept %v", kept)
	}

	data, err := os.ReadFile(archives[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(archives[0], data[:len(data)-40], 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(dir, filepath.Join(dir, "cut"))
	cfg.SourceText, cfg.TargetText, cfg.Split = []string{archives[0]}, []string{archives[1]}, setting.SplitAuto
	if _, err := Run(t.Context(), cfg, options()); err == nil || !strings.Contains(err.Error(), archives[0]) {
		t.Errorf("error %v does not name the archive", err)
	}
	cfg.OnBadFile = config.SkipBadFile
	report := mustRun(t, cfg)
	if n := report.Inputs[0].Counts.Skipped[corpus.ReasonDamaged]; n != 1 || !strings.Contains(strings.Join(report.Warnings, "\n"), "damaged") {
		t.Errorf("%d damaged records, warnings %q", n, report.Warnings)
	}
}

// TestExclude: sentences of translations that the user has already are left out of both sides, and counted; a file of
// translations that changes under a run ends it.
func TestExclude(t *testing.T) {
	dir := t.TempDir()
	lines := goldLines(t)
	known := filepath.Join(dir, "known.tsv")
	var rows strings.Builder
	for i := range 50 {
		fmt.Fprintf(&rows, "%s\t%s\n", lines[0][i], lines[1][i])
	}
	if err := os.WriteFile(known, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(dir, filepath.Join(dir, "out"))
	for side, of := range []*[]string{&cfg.SourceText, &cfg.TargetText} {
		path := filepath.Join(dir, fmt.Sprintf("%d.txt", side))
		if err := os.WriteFile(path, []byte(strings.Join(lines[side], "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		*of = []string{path}
	}
	cfg.Exclude, cfg.Work = known, filepath.Join(dir, "work")
	report := mustRun(t, cfg)
	for _, in := range report.Inputs {
		if n := in.Counts.Skipped[corpus.ReasonExcluded]; n != 50 || in.Counts.Kept != uint64(len(lines[0]))-50 {
			t.Errorf("%s: %+v", in.Path, in.Counts)
		}
	}
	for _, row := range pairs(t, report) {
		if strings.Contains(rows.String(), row.Source.Text+"\t") || strings.Contains(rows.String(), "\t"+row.Target.Text+"\n") {
			t.Errorf("%q is mined, though it is known", row.Source.Text)
		}
	}
	if _, err := openExplainer(t, cfg.Out).Explain(t.Context(), lines[0][0], lines[1][0]); err == nil || !strings.Contains(err.Error(), known) {
		t.Errorf("explaining a pair that is left out: %v", err)
	}
	if len(report.Warnings) > 0 {
		t.Errorf("warnings %q", report.Warnings)
	}
	cfg.Exclude, cfg.Out = filepath.Join(dir, "other.tsv"), filepath.Join(dir, "other")
	if err := os.WriteFile(cfg.Exclude, []byte("Ein anderer Satz.\tAnother sentence.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report = mustRun(t, cfg)
	if !slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.Contains(w, "--exclude leaves nothing out") }) {
		t.Errorf("translations of other text: warnings %q", report.Warnings)
	}
	rows.Reset()
	for i := range lines[0] {
		fmt.Fprintf(&rows, "%s\t%s\n", lines[0][i], lines[1][i])
	}
	cfg.Exclude, cfg.Out = filepath.Join(dir, "all.tsv"), filepath.Join(dir, "all")
	if err := os.WriteFile(cfg.Exclude, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "every sentence of the de text stands in "+cfg.Exclude) {
		t.Errorf("all text is left out: %v", err)
	}
	// The same files the other way round: which sentences are left out of a file goes with its side.
	cfg.Exclude, cfg.Source, cfg.Target = known, "en", "de"
	cfg.SourceText, cfg.TargetText, cfg.Out = cfg.TargetText, cfg.SourceText, filepath.Join(dir, "turned")
	for _, in := range mustRun(t, cfg).Inputs {
		if n := in.Counts.Skipped[corpus.ReasonExcluded]; n != 0 {
			t.Errorf("%s: %d sentences are left out, though the translations have the columns the other way round", in.Path, n)
		}
	}
	cfg.Exclude = filepath.Join(dir, "none.tsv")
	if _, err := Run(t.Context(), cfg, options()); err == nil || !strings.Contains(err.Error(), "none.tsv") {
		t.Errorf("error %v", err)
	}
}

// TestCompanionsAreSaid: a README beside data is no text, which a warning says, also where a scorer is first fitted.
func TestCompanionsAreSaid(t *testing.T) {
	cfg := autoConfig(t, strange(t), 300)
	for side, of := range []*[]string{&cfg.SourceText, &cfg.TargetText} {
		folder := filepath.Join(t.TempDir(), fmt.Sprint("side", side))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir((*of)[0]), [2]string{"de.txt", "en.txt"}[side]))
		if err != nil {
			t.Fatal(err)
		}
		var rows strings.Builder
		for line := range strings.Lines(string(text)) {
			fmt.Fprintf(&rows, "{\"text\":%q}\n", strings.TrimSuffix(line, "\n"))
		}
		writeFile(t, filepath.Join(folder, "a.jsonl"), rows.String())
		writeFile(t, filepath.Join(folder, "README.md"), "# A data set\n")
		*of = []string{folder}
	}
	if estimate, err := Plan(t.Context(), cfg, options()); err != nil || estimate.Inputs != 2 {
		t.Errorf("estimate %+v, error %v", estimate, err)
	}
	report := mustRun(t, cfg)
	says := func(w string) bool {
		return strings.Contains(w, filepath.Join("side0", "README.md")) && strings.Contains(w, filepath.Join("side1", "README.md"))
	}
	if len(report.Inputs) != 2 || !slices.ContainsFunc(report.Warnings, says) {
		t.Errorf("%d inputs, warnings %q", len(report.Inputs), report.Warnings)
	}
}
