package align_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/align/match"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
)

// reports are documents of one text, a day after the other, in the form of each side; those of the target in the other
// order.
func (c corpus) reports(days int) {
	c.t.Helper()
	var out [2]strings.Builder
	out[1].WriteString("datum\tdoc\ttext\n")
	for n := range days {
		for i := range 4 {
			text := "report " + words(uint64(i))
			fmt.Fprintf(&out[0], `{"doc":"de-%d","text":%q,"date":"2024-03-%02dT08:00:00Z"}`+"\n", n, text, n+1)
			fmt.Fprintf(&out[1], "%d.3.2024\ten-%d\t%s\n", days-n, n, text)
		}
	}
	for side, name := range [2]string{"a.jsonl", "a.tsv"} {
		if err := os.WriteFile(filepath.Join(c.dirs[side], name), []byte(out[side].String()), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

// TestMetadataPairsDocuments: of documents with the same text the date decides; without it the keys are as before.
func TestMetadataPairsDocuments(t *testing.T) {
	const days = 4
	c := newCorpus(t)
	c.reports(days)
	cfg := c.config()
	plain := mustRun(t, cfg)
	if plain.Counts.Documents.Pairs != days || plain.Counts.Documents.Metadata != nil {
		t.Errorf("without metadata %+v", plain.Counts.Documents)
	}
	cfg.DocMeta, cfg.Overwrite = "date=datum", true
	report := mustRun(t, cfg)
	want := []record.Field{{Name: "date=datum", FieldCounts: match.FieldCounts{Equal: days}}}
	if d := report.Counts.Documents; d.Pairs != days || len(d.Metadata) != 1 || d.Metadata[0] != want[0] {
		t.Errorf("counts %+v", d)
	}
	if report.ConfigDigest == plain.ConfigDigest {
		t.Error("metadata is not in the digest of the settings")
	}
	if all, cached := tasks(report, "encode"); all == 0 || cached != all {
		t.Errorf("%d of %d tasks of encoding were done again, of the same shards", all-cached, all)
	}
	if all, cached := tasks(report, "pairdocs"); all != 1 || cached != 0 {
		t.Errorf("pairing has %d tasks, %d of them cached", all, cached)
	}
	cfg.DocMeta = ""
	if again := mustRun(t, cfg); again.ConfigDigest != plain.ConfigDigest || again.Bitext.SHA256 != plain.Bitext.SHA256 {
		t.Error("without metadata the run is not as before")
	}
}

func TestMetadataRefuses(t *testing.T) {
	c := newCorpus(t)
	c.reports(2)
	for want, change := range map[string]func(*pipeline.Config){
		`doc_meta = date names metadata of documents, which are not looked at`: func(cfg *pipeline.Config) { cfg.Documents, cfg.DocMeta = "off", "date" },
		`doc_meta: "date,," is no list of columns`:                             func(cfg *pipeline.Config) { cfg.DocMeta = "date,," },
		`there is no column "date"; its columns are ["datum" "doc" "text"]`:    func(cfg *pipeline.Config) { cfg.DocMeta = "date" },
		`doc_meta = date helps to find pairs of documents, which doc_pairs`: func(cfg *pipeline.Config) {
			cfg.DocMeta, cfg.DocPairs = "date", filepath.Join(c.dirs[0], "a.jsonl")
		},
	} {
		cfg := c.config()
		change(&cfg)
		if _, err := pipeline.Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestDocumentsRefuse(t *testing.T) {
	c := newCorpus(t)
	for side := range 2 {
		c.put(side, "a.jsonl", translated(side, 0, 2)...)
	}
	for want, change := range map[string]func(*pipeline.Config){
		"the de text has no document of two sentences":        func(cfg *pipeline.Config) { cfg.DocColumn = "" },
		"documents is \"maybe\", choose on or off":            func(cfg *pipeline.Config) { cfg.Documents = "maybe" },
		"doc_pairs = x names pairs of documents, which are":   func(cfg *pipeline.Config) { cfg.Documents, cfg.DocPairs = "off", "x" },
		"doc_pairs: no such file cannot be opened":            func(cfg *pipeline.Config) { cfg.DocPairs = "no such file" },
		"documents = on aligns spans of sentences":            func(cfg *pipeline.Config) { cfg.SourceEmb, cfg.Encoder = []string{"x.npy"}, "" },
		"bead_score = 3 must be from -1 to 1":                 func(cfg *pipeline.Config) { cfg.BeadScore = 3 },
		"give a source and a target document, separated by o": func(cfg *pipeline.Config) { cfg.DocPairs = filepath.Join(c.dirs[0], "a.jsonl") },
	} {
		cfg := c.config()
		change(&cfg)
		if _, err := pipeline.Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	plain := c.config()
	plain.Documents = "off"
	if report := mustRun(t, plain); report.Counts.Documents != nil || report.Settings.Aligning != (setting.Aligning{}) || rowsOf(t, report)[0].Alignment != nil {
		t.Errorf("without documents the report has %+v", report.Settings.Aligning)
	}
}
