package multiway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext/table"
	"bitextmine/encode/encodetest"
	"bitextmine/fixtures"
	"bitextmine/pipeline"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

func options() pipeline.Options {
	return pipeline.Options{Progress: progress.Silent, Log: slog.New(slog.DiscardHandler), Version: "test"}
}

// text writes sentences of the fixtures that stand in all the languages, a file for each, and returns the setting that
// names them.
func text(t *testing.T, languages ...string) (named []string) {
	t.Helper()
	data, err := fixtures.Text.ReadFile("text/parallel.tsv")
	if err != nil {
		t.Fatal(err)
	}
	header, rest, _ := strings.Cut(string(data), "\n")
	columns := map[string]int{}
	for i, name := range strings.Split(header, "\t") {
		columns[name] = i
	}
	files := make([]strings.Builder, len(languages))
	n := 0
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		whole := true
		for _, l := range languages {
			whole = whole && cells[columns[l]] != ""
		}
		if !whole || n == 120 {
			continue
		}
		n++
		for i, l := range languages {
			files[i].WriteString(cells[columns[l]] + "\n")
		}
	}
	dir := t.TempDir()
	for i, l := range languages {
		path := filepath.Join(dir, l+".txt")
		if err := os.WriteFile(path, []byte(files[i].String()), 0o600); err != nil {
			t.Fatal(err)
		}
		named = append(named, l+"="+path)
	}
	return named
}

func settings(t *testing.T, text []string) pipeline.Config {
	t.Helper()
	var cfg pipeline.Config
	cfg.LanguageText = text
	cfg.Format, cfg.TextColumn, cfg.OnBadLine, cfg.MaxLineBytes, cfg.ShardSize = "auto", "text", "skip", 1<<16, 50
	cfg.Encoder, cfg.DType, cfg.Search = encodetest.Bag(), "float16", "exact"
	cfg.Decision = setting.Decision{K: 4, Margin: "ratio", Retrieval: "max", Threshold: 1.06}
	cfg.Keep, cfg.Out = 1, filepath.Join(t.TempDir(), "out")
	return cfg
}

func mine(ctx context.Context, cfg pipeline.Config) (*record.Report, error) {
	return pipeline.Run(ctx, cfg, options())
}

func TestManyPairsAreTheRunsOfEachPair(t *testing.T) {
	named := text(t, "de", "en", "fr")
	cfg := settings(t, named)
	cfg.Langs = "de,en,fr"
	encoded := map[string]int{}
	r, err := multiway.Run(t.Context(), cfg, options().Log, func(ctx context.Context, one pipeline.Config) (*record.Report, error) {
		r, err := mine(ctx, one)
		if err == nil {
			for _, s := range r.Stages {
				encoded[s.Name] += s.Tasks - s.Cached
			}
		}
		return r, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if encoded["encode"] != 9 || encoded["search"] != 27 { // three shards of three languages, nine cells of three pairs
		t.Errorf("encoded %d shards and searched %d cells, want 9 and 27", encoded["encode"], encoded["search"])
	}
	for _, pair := range []string{"de-en", "de-fr", "en-fr"} {
		source, target, _ := strings.Cut(pair, "-")
		alone := settings(t, nil)
		alone.Source, alone.Target = source, target
		for _, text := range named {
			l, file, _ := strings.Cut(text, "=")
			switch l {
			case source:
				alone.SourceText = []string{file}
			case target:
				alone.TargetText = []string{file}
			}
		}
		single, err := mine(t.Context(), alone)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read(t, single.Bitext.Path), read(t, filepath.Join(cfg.Out, pair, pair+".parquet"))) {
			t.Errorf("the bitext of %s is another than that of its own run", pair)
		}
	}
	checkTable(t, cfg.Out, r)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkTable: most of the 120 sentences come together in all three languages, and each row's texts are translations.
func checkTable(t *testing.T, out string, r *multiway.Report) {
	t.Helper()
	var written multiway.Report
	if err := json.Unmarshal(read(t, filepath.Join(out, multiway.ReportName)), &written); err != nil {
		t.Fatal(err)
	}
	if written.Rows[3] != r.Rows[3] || len(written.Pairs) != 3 {
		t.Errorf("the report on disk is %+v, in memory %+v", written, r)
	}
	if lines := bytes.Count(read(t, filepath.Join(out, multiway.ConflictsName)), []byte("\n")); lines != r.Conflicts+1 {
		t.Errorf("%d lines of conflicts, want a heading and %d", lines, r.Conflicts)
	}
	reader, err := table.Open([]string{filepath.Join(out, multiway.TableName)}, table.Options{SourceColumn: "de", TargetColumn: "en"})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for {
		b, err := reader.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		links, err := b.Numbers("links")
		if err != nil {
			t.Fatal(err)
		}
		german, err := b.Texts("de")
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if text, known := german(i); !known || text == "" || links(i) < 2 || links(i) > 3 {
				t.Errorf("row %d: %q with %v links", i, text, links(i))
			}
		}
		rows += b.Len()
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if rows != r.Rows[3] || rows < 60 {
		t.Errorf("the table has %d rows, the report says %d; 60 of 120 are expected at least", rows, r.Rows[3])
	}
}

// TestMetricsOfPairs: the collector reads only names that end in .prom.
func TestMetricsOfPairs(t *testing.T) {
	cfg := settings(t, text(t, "de", "en"))
	cfg.Metrics = filepath.Join("collected", "mine.prom")
	configs, err := multiway.Configs(cfg, []multiway.Pair{{Source: "de", Target: "en"}})
	if err != nil || configs[0].Metrics != filepath.Join("collected", "mine.de-en.prom") {
		t.Errorf("%+v, %v", configs, err)
	}
}

func TestAPairThatFailsDoesNotHoldUpTheOthers(t *testing.T) {
	cfg := settings(t, text(t, "de", "en", "fr"))
	cfg.LangPairs = "de-en,fr-en"
	mined := 0
	r, err := multiway.Run(t.Context(), cfg, options().Log, func(ctx context.Context, one pipeline.Config) (*record.Report, error) {
		if one.Source == "de" {
			return nil, errors.New("the disk is gone")
		}
		mined++
		return &record.Report{}, nil
	})
	if err == nil || !strings.Contains(err.Error(), "1 of 2 pairs failed: de-en: the disk is gone") || mined != 1 {
		t.Errorf("%d pairs were mined, the error is %v", mined, err)
	}
	if r == nil || r.Pairs[0].Failed == "" || r.Pairs[1].Failed != "" {
		t.Errorf("the report is %+v", r)
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, multiway.TableName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a table was written without a pair: %v", err)
	}
}
