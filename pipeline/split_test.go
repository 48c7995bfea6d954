package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
)

// pages are documents of sentences of one side, in JSON lines: the first of half of them, the rest one by one.
func pages(side, n int) string {
	var out strings.Builder
	for from := 0; from < n; from += 5 {
		var text []string
		for _, line := range meanings(side, from, min(from+5, n)) {
			text = append(text, "The "+line+".")
		}
		fmt.Fprintf(&out, "{\"text\":%q,\"doc\":\"page %d\",\"url\":\"https://example.org/%d\"}\n", strings.Join(text, " "), from/5, from/5)
	}
	return out.String()
}

// TestPagesAreMinedBySentences: what is mined from documents are their sentences, which stand where their places say.
func TestPagesAreMinedBySentences(t *testing.T) {
	x := newText(t)
	for side := range 2 {
		x.put(side, "pages.jsonl", []byte(pages(side, 200)))
	}
	x.put(0, "lines.txt", []byte(strings.Join(meanings(0, 200, 260), "\n")+"\n"))
	x.put(1, "lines.txt", []byte(strings.Join(meanings(1, 200, 260), "\n")+"\n"))
	cfg := x.config(t.TempDir())
	cfg.Split, cfg.DocColumn, cfg.URLColumn, cfg.ShardSize = "auto", "doc", "url", 70
	report := mustRun(t, cfg)
	var texts [2][]string // records of both sides
	for side := range texts {
		data, err := os.ReadFile(filepath.Join(x.dirs[side], "pages.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		texts[side] = strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	placed := 0
	for _, row := range pairs(t, report) {
		for side, s := range []bitext.Sentence{row.Source, row.Target} {
			if !strings.Contains(s.Shard, "pages") {
				if s.Place != nil {
					t.Errorf("%q is of no record that was divided, but has a place %+v", s.Text, s.Place)
				}
				continue
			}
			placed++
			_, after, _ := strings.Cut(texts[side][s.Line-1], `"text":"`)
			if p := s.Place; p == nil || after[p.Start:p.End] != s.Text || s.Doc != fmt.Sprintf("page %d", s.Line-1) || p.Position > 4 {
				t.Errorf("%q stands at %+v of %q", s.Text, s.Place, after)
			}
		}
	}
	if placed < 300 {
		t.Errorf("%d sentences of pages were mined", placed)
	}
	for _, in := range report.Inputs {
		divided := strings.HasSuffix(in.Path, ".jsonl")
		if divided != (in.Split == in.Language) || divided != (in.Seen != nil) || divided && (in.Counts.Records != 40 || in.Counts.Kept != 200) {
			t.Errorf("%+v", in)
		}
	}
	if again := mustRun(t, cfg); searched(again) != 0 || again.Bitext.SHA256 != report.Bitext.SHA256 {
		t.Error("the second run is another")
	}
	whole := x.config(t.TempDir())
	whole.Split, whole.ShardSize = "off", 70
	if one := mustRun(t, whole); one.Counts.SourceUnique != 40+60 {
		t.Errorf("not divided, there are %d sentences", one.Counts.SourceUnique)
	}
}

// TestDocumentLinesAreWarnedOf: plain text is not divided by itself.
func TestDocumentLinesAreWarnedOf(t *testing.T) {
	x := newText(t)
	for side := range 2 {
		var lines []string
		for i := range 40 {
			lines = append(lines, strings.Join(meanings(side, 4*i, 4*i+4), ". The ")+".")
		}
		x.put(side, "a.txt", []byte("The "+strings.Join(lines, "\nThe ")+"\n"))
	}
	cfg := x.config(t.TempDir())
	cfg.Split = "auto"
	report := mustRun(t, cfg)
	if report.Counts.SourceUnique != 40 || len(report.Warnings) < 2 || !strings.Contains(report.Warnings[0], "look like documents") {
		t.Errorf("%d sentences, warnings %q", report.Counts.SourceUnique, report.Warnings)
	}
	cfg.Split, cfg.Out = "on", t.TempDir()
	if report = mustRun(t, cfg); report.Counts.SourceUnique != 160 || hasSplitWarning(report) {
		t.Errorf("%d sentences, warnings %q", report.Counts.SourceUnique, report.Warnings)
	}
}

func hasSplitWarning(r *record.Report) bool {
	return strings.Contains(strings.Join(r.Warnings, " "), "look like documents")
}

// TestPagesAreDividedByASplitter: a learned splitter divides in place of rules, by as many threads as there are, and
// its threshold is part of the keys.
func TestPagesAreDividedByASplitter(t *testing.T) {
	x := newText(t)
	for side := range 2 {
		x.put(side, "pages.jsonl", []byte(pages(side, 100)))
	}
	cfg := x.config(t.TempDir())
	cfg.Split, cfg.Splitter, cfg.SplitterThreshold = "on", encodetest.Splitter(t, nil), 0.25
	report := mustRun(t, cfg)
	if n := report.Counts.SourceUnique; n < 30 {
		t.Errorf("%d sentences by the splitter", n)
	}
	other := x.config(cfg.Work)
	other.Out, other.Split, other.Splitter, other.Threads = t.TempDir(), "on", cfg.Splitter, 3
	other.SplitterThreshold = 0.25
	if again := mustRun(t, other); again.Bitext.SHA256 != report.Bitext.SHA256 {
		t.Error("three threads have another bitext")
	}
	other.SplitterThreshold, other.Out = 0.9, t.TempDir()
	if few := mustRun(t, other); few.Counts.SourceUnique >= report.Counts.SourceUnique {
		t.Errorf("%d sentences at 0.9, %d at 0.25", few.Counts.SourceUnique, report.Counts.SourceUnique)
	}
}

// TestForeignTextIsNamed: a text of documents that are all said to be in another language is not called empty files.
func TestForeignTextIsNamed(t *testing.T) {
	x := newText(t)
	x.put(0, "a.jsonl", []byte(strings.Repeat(`{"text":"It rained.\nThe sun shone.","seg_langs":["fra_Latn","fra_Latn"]}`+"\n", 20)))
	x.put(1, "pages.jsonl", []byte(pages(1, 60)))
	cfg := x.config(t.TempDir())
	cfg.Split = "on"
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "seg_langs") || !strings.Contains(err.Error(), "all 40 lines") {
		t.Error(err)
	}
}
