package exporting

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/table"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// repeated is a table in which a pair stands three times.
func repeated(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pairs.jsonl")
	err := os.WriteFile(path, []byte(`{"src_text":"Impressum","tgt_text":"Imprint","score":1,"src_url":"http://a/1","tgt_url":"http://a/2"}
{"src_text":"Satz","tgt_text":"Sentence","score":3,"src_url":"http://a/1","tgt_url":"http://a/2"}
{"src_text":"Impressum ","tgt_text":"Imprint","score":2,"src_url":"http://b/1,2","tgt_url":""}
{"src_text":"Impressum","tgt_text":"Imprint","score":1,"src_url":"http://a/1","tgt_url":"http://c/2"}
{"src_text":"Impressum","tgt_text":"Legal notice","score":0.5,"src_url":"http://d/1","tgt_url":"http://d/2"}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDedupURLs(t *testing.T) {
	key := corpus.KeyOf
	text := func(_ context.Context, side int, do func(corpus.Key, string)) error {
		if side == 1 {
			do(key("Imprint"), "http://x/2")
			do(key("other"), "http://x/3")
			return nil
		}
		for _, url := range []string{"http://x/1", "", "http://y/1", "http://x/1"} {
			do(key("Impressum"), url)
		}
		return nil
	}
	names := []string{"src_text", "src_urls", "tgt_urls", "src_seen", "tgt_seen"}
	for name, c := range map[string]struct {
		opts Options
		want []string
	}{
		"rows": {Options{}, []string{"Impressum http://a/1,http://b/1%2C2 http://a/2,http://c/2 3 3", "Satz http://a/1 http://a/2 1 1", "Impressum http://d/1 http://d/2 1 1"}},
		"sorted": {Options{Sort: "score", Columns: []string{"src_urls", "tgt_urls", "src_seen", "tgt_seen"}},
			[]string{"Satz http://a/1 http://a/2 1 1", "Impressum  http://a/1,http://b/1%2C2 http://a/2,http://c/2 3 3", "Impressum http://d/1 http://d/2 1 1"}},
		"condition": {Options{Where: condition(t, "score >= 1.5")}, []string{"Satz http://a/1 http://a/2 1 1", "Impressum  http://b/1%2C2  1 1"}},
		"a run's text": {Options{Places: text, Where: condition(t, "score != 3")},
			[]string{"Impressum http://x/1,http://y/1 http://x/2 4 1", "Impressum http://x/1,http://y/1 http://d/2 4 1"}},
	} {
		c.opts.Files, c.opts.Format, c.opts.Out, c.opts.DedupURLs = []string{repeated(t)}, "tsv", filepath.Join(t.TempDir(), "out.tsv"), true
		report := run(t, c.opts)
		if got := rows(t, c.opts.Out, names...); !slices.Equal(got, c.want) || report.Written != uint64(len(c.want)) {
			t.Errorf("%s: %q, want %q, %+v", name, got, c.want, report)
		}
		var said strings.Builder
		if report.Summary(&said); name == "rows" && !strings.Contains(said.String(), "3 of 5 pairs exported, with 6 addresses; 2 rows repeated a pair") {
			t.Errorf("%s", said.String())
		}
	}
}

// TestDedupURLsFormats: formats with lists have one for each side, those for translators a note for each address, and
// one that has texts alone is refused, as is a table without addresses.
func TestDedupURLsFormats(t *testing.T) {
	for format, want := range map[string]string{
		"jsonl": `"src_urls":["http://a/1","http://b/1,2"],"src_seen":3,`,
		"tmx":   `<prop type="x-src_urls">http://a/1</prop><prop type="x-src_urls">http://b/1,2</prop><prop type="x-tgt_urls">`,
		"xliff": `<note category="src_urls">http://b/1,2</note>`,
		"csv":   `"http://a/1,http://b/1%2C2"`,
		"po":    "#. src_urls: http://b/1,2\n",
		"hf":    "PAR1",
	} {
		out := filepath.Join(t.TempDir(), "out")
		opts := Options{Files: []string{repeated(t)}, Format: format, Out: out, DedupURLs: true, Table: table.DefaultOptions()}
		opts.Table.Source, opts.Table.Target = "de", "en"
		report, err := Run(context.Background(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(report.Sets[0].Files[0]); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %q is not in %s %v", format, want, data, err)
		}
	}
	bare := filepath.Join(t.TempDir(), "bare.tsv")
	if err := os.WriteFile(bare, []byte("a\tb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, opts := range map[string]Options{
		"moses has texts alone": {Files: []string{repeated(t)}, Format: "moses"},
		"--dedup-urls: the bit": {Files: []string{bare}, Format: "tsv"},
	} {
		opts.Table, opts.Out, opts.DedupURLs = table.DefaultOptions(), filepath.Join(t.TempDir(), "out"), true
		if _, err := Run(context.Background(), opts); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
