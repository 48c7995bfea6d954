package multiway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bitextmine/bitext/table"
	"bitextmine/encode/encodetest"
	"bitextmine/fixtures"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
)

// TestMain is the program, too: engines start it as mine task PLAN INDEX.
func TestMain(m *testing.M) {
	if len(os.Args) < 4 || os.Args[1] != "task" {
		encodetest.Main(m)
	}
	if err := task(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func task(args []string) (err error) {
	cfg := pipeline.TaskConfig{Plan: args[0]}
	if cfg.Index, err = strconv.Atoi(args[1]); err != nil {
		return err
	}
	f := flag.NewFlagSet("task", flag.ContinueOnError)
	f.IntVar(&cfg.Offset, "offset", 0, "")
	f.IntVar(&cfg.Step, "step", 0, "")
	f.IntVar(&cfg.End, "end", 0, "")
	f.IntVar(&cfg.Threads, "threads", 0, "")
	if err := errors.Join(f.Parse(args[2:]), encodetest.SetLibrary()); err != nil {
		return err
	}
	return pipeline.RunTasks(context.Background(), cfg, options())
}

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
	cfg.SortWarnings = []string{"some records are left out"}
	encoded := map[string]int{}
	var log bytes.Buffer
	opts := options()
	opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	r, err := multiway.Run(t.Context(), cfg, false, opts.Log, nil, func(ctx context.Context, one pipeline.Config) (*record.Report, error) {
		r, err := pipeline.Run(ctx, one, opts)
		if err == nil {
			if !slices.Contains(r.Warnings, cfg.SortWarnings[0]) {
				t.Errorf("the report of %s warns of %q", one.Out, r.Warnings)
			}
			for _, s := range r.Stages {
				encoded[s.Name] += s.Tasks - s.Cached
			}
		}
		return r, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), cfg.SortWarnings[0]); n != 1 {
		t.Errorf("%d warnings of what all pairs share", n)
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

// TestPairsOnAnEngineAreOnePlan: what an engine runs is one plan for all pairs, so that a wave is launched once; each
// pair then finds its tasks done, and its bitext is that of a run in this process.
func TestPairsOnAnEngineAreOnePlan(t *testing.T) {
	named := text(t, "de", "en", "fr")
	launches := filepath.Join(t.TempDir(), "launches")
	run := func(engine, line string) (pipeline.Config, *multiway.Report) {
		cfg := settings(t, named)
		cfg.Langs, cfg.Engine, cfg.Command, cfg.CommandJobs, cfg.Threads = "de,en,fr", engine, line, 1, 2
		r, err := multiway.Run(t.Context(), cfg, false, options().Log, together(&cfg), mine)
		if err != nil {
			t.Fatal(err)
		}
		return cfg, r
	}
	local, _ := run("local", "")
	cfg, r := run("command", "echo wave >> '"+launches+"'; sh -e {tasks}")
	if n := bytes.Count(read(t, launches), []byte("wave")); n != 5 { // shard, encode, search, merge, match
		t.Errorf("%d launches for three pairs, want 5", n)
	}
	computed := map[string]int{}
	for _, s := range r.Stages {
		computed[s.Name] += s.Tasks - s.Cached
	}
	if computed["encode"] != 9 || computed["search"] != 27 || computed["match"] != 3 {
		t.Errorf("the report says that %v tasks were done together", computed)
	}
	if first := firstRun(t, cfg); first.Of() != "de-en, de-fr, en-fr" || first.Out != cfg.Out {
		t.Errorf("the store's first run is that of %s into %s", first.Of(), first.Out)
	}
	for _, pair := range []string{"de-en", "de-fr", "en-fr"} {
		of := filepath.Join(pair, pair+".parquet")
		if !bytes.Equal(read(t, filepath.Join(cfg.Out, of)), read(t, filepath.Join(local.Out, of))) {
			t.Errorf("the bitext of %s is another than that of a run in this process", pair)
		}
	}
	cells := filepath.Join(cfg.Out, "work", "search", "*")
	before, err := filepath.Glob(cells)
	cfg.K = 5
	_, refused := multiway.Run(t.Context(), cfg, false, options().Log, together(&cfg), mine)
	after, unread := filepath.Glob(cells)
	if !badinput.Is(refused) || !strings.Contains(refused.Error(), "3 of 3 pairs failed") || !strings.Contains(refused.Error(), "other settings") {
		t.Errorf("the error with other settings is %v", refused)
	}
	if n := bytes.Count(read(t, launches), []byte("wave")); len(before) == 0 || !slices.Equal(after, before) || n != 5 || errors.Join(err, unread) != nil {
		t.Errorf("the run that is refused leaves %d cells of %d, after %d launches", len(after), len(before), n)
	}
}

// TestDamageOnAnEngine: an engine takes what is listed for made, so whoever finds that an output is damaged removes it,
// and the next run makes it again.
func TestDamageOnAnEngine(t *testing.T) {
	cfg := settings(t, nil)
	for i, named := range text(t, "de", "en") {
		code, file, _ := strings.Cut(named, "=")
		*[]*string{&cfg.Source, &cfg.Target}[i] = code
		*[]*[]string{&cfg.SourceText, &cfg.TargetText}[i] = []string{file}
	}
	cfg.Engine, cfg.Command, cfg.CommandJobs, cfg.Threads = "command", "sh -e {tasks}", 1, 1
	report, err := mine(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	work, want := filepath.Join(cfg.Out, "work"), read(t, report.Bitext.Path)
	run := func() error { _, err := mine(t.Context(), cfg); return err }
	search := func() error { // the plan's 9 cells, after the vectors of 6 shards
		task := pipeline.TaskConfig{Plan: record.PlanPath(work, report.PlanID), Index: 6, Step: 1, End: 15}
		task.Threads = 1
		return errors.Join(os.RemoveAll(filepath.Join(work, "search")), pipeline.RunTasks(t.Context(), task, options()))
	}
	for _, c := range []struct {
		file string
		find func() error
	}{{"shard/*/task.json", run}, {"encode/*/embedding.npy", search}, {"match/*/bitext.parquet", run}} {
		files, err := filepath.Glob(filepath.Join(work, c.file))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s, %v", c.file, err)
		}
		data := read(t, files[0])
		data[len(data)/2] ^= 1
		data[len(data)/2+1] ^= 1
		if err := os.WriteFile(files[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.find(); err == nil || badinput.Is(err) || !strings.Contains(err.Error(), "it was removed, and mine run makes it again") {
			t.Errorf("%s: error %v", c.file, err)
		}
		if err := run(); err != nil || !bytes.Equal(read(t, report.Bitext.Path), want) {
			t.Errorf("%s: error %v of the run that makes it again", c.file, err)
		}
	}
}

// firstRun is the first run that the store of a run has seen.
func firstRun(t *testing.T, cfg pipeline.Config) record.Run {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(cfg.Out, "work"), options().Log)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := record.History(t.Context(), st)
	if err = errors.Join(err, st.Close()); err != nil || len(runs) == 0 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	return runs[0]
}

func together(cfg *pipeline.Config) multiway.Together {
	if !cfg.Remote() {
		return nil
	}
	return func(ctx context.Context, cfgs []pipeline.Config, out string) (*multiway.Done, error) {
		return pipeline.Together(ctx, cfgs, out, false, options())
	}
}

// TestPairsGoOnAlone: where the tasks of all pairs cannot be done together, as one language's text is a PDF, the pairs
// without it are mined.
func TestPairsGoOnAlone(t *testing.T) {
	cfg := settings(t, text(t, "de", "en", "fr"))
	cfg.Langs, cfg.Engine, cfg.Command, cfg.CommandJobs, cfg.Threads = "de,en,fr", "command", "{}", 2, 1
	if err := os.WriteFile(strings.TrimPrefix(cfg.LanguageText[2], "fr="), []byte("%PDF-1.7 of French"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := multiway.Run(t.Context(), cfg, false, options().Log, together(&cfg), mine)
	if err == nil || r == nil || r.Pairs[0].Failed != "" || r.Pairs[0].Kept == 0 || r.Pairs[1].Failed == "" || r.Pairs[2].Failed == "" {
		t.Errorf("the report is %+v, the error %v", r, err)
	}
}

// TestPairsPrintOnePlan: the scripts of all pairs are those of one plan, and nothing is written but the shards.
func TestPairsPrintOnePlan(t *testing.T) {
	cfg := settings(t, text(t, "de", "en", "fr"))
	var scripts bytes.Buffer
	cfg.Langs, cfg.Engine, cfg.Threads, cfg.DryRun = "de,en,fr", "slurm", 2, &scripts
	if _, err := multiway.Run(t.Context(), cfg, false, options().Log, together(&cfg), mine); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(scripts.String(), "#!/bin/bash"); n != 4 {
		t.Errorf("%d scripts, want those of encode, search, merge and match:\n%s", n, scripts.String())
	}
	if !strings.Contains(scripts.String(), "--array=0-26") {
		t.Errorf("no array has the 27 cells of all pairs:\n%s", scripts.String())
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, multiway.ReportName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dry run wrote a report: %v", err)
	}
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

// TestAdviceOfManyPairs: what is wrong with a language's text is told by the flags of such a run.
func TestAdviceOfManyPairs(t *testing.T) {
	cfg := settings(t, text(t, "de"))
	cfg.Scorer = "none"
	pairs := []multiway.Pair{{Source: "de", Target: "en"}}
	for name, corpora := range map[string]map[string][]string{"no text": nil, "the sample": {"en": {"fixtures:text/en.txt"}}} {
		cfg.Corpora = corpora
		_, err := multiway.Configs(cfg, pairs)
		if !badinput.Is(err) || !strings.Contains(err.Error(), "--text en=FILES") || strings.Contains(err.Error(), "--tgt-text") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	cfg.LanguageText = []string{"de=" + filepath.Dir(cfg.Out)}
	if _, err := multiway.Configs(cfg, pairs); !badinput.Is(err) || !strings.Contains(err.Error(), "read its own files") {
		t.Errorf("text around the output: %v", err)
	}
	cfg.LanguageText = text(t, "de", "en")
	configs, err := multiway.Configs(cfg, pairs)
	if err != nil || configs[0].EncodingFlags() != [2]string{"--encoding", "--encoding"} {
		t.Errorf("flags %v, error %v", configs, err)
	}
}

func TestAPairThatFailsDoesNotHoldUpTheOthers(t *testing.T) {
	cfg := settings(t, text(t, "de", "en", "fr"))
	cfg.LangPairs = "de-en,fr-en"
	mined := 0
	r, err := multiway.Run(t.Context(), cfg, false, options().Log, nil, func(ctx context.Context, one pipeline.Config) (*record.Report, error) {
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

// TestANightWithoutTheTextOfOneLanguage: its pairs fail, and the others are mined, together where an engine does so; by
// day it is refused before the first pair.
func TestANightWithoutTheTextOfOneLanguage(t *testing.T) {
	cfg := settings(t, append(text(t, "de", "en", "fr"), "es="+filepath.Join(t.TempDir(), "not mounted")))
	cfg.LangPairs = "es-en,de-en,fr-en"
	var mined, joined []string
	join := func(_ context.Context, cfgs []pipeline.Config, _ string) (*multiway.Done, error) {
		for _, one := range cfgs {
			joined = append(joined, one.Source)
		}
		return &multiway.Done{Took: make([]bool, len(cfgs)), Free: func() error { return nil }}, nil
	}
	each := func(_ context.Context, one pipeline.Config) (*record.Report, error) {
		if _, _, err := one.Inputs(); err != nil {
			return nil, err
		}
		mined = append(mined, one.Source)
		return &record.Report{}, nil
	}
	if _, err := multiway.Run(t.Context(), cfg, false, options().Log, join, each); !badinput.Is(err) || joined != nil || mined != nil {
		t.Errorf("by day: error %v, joined %q, mined %q", err, joined, mined)
	}
	r, err := multiway.Run(t.Context(), cfg, true, options().Log, join, each)
	if !badinput.Is(err) || !strings.Contains(err.Error(), "1 of 3 pairs failed: es-en: ") || !slices.Equal(mined, []string{"de", "fr"}) || !slices.Equal(joined, mined) {
		t.Errorf("at night: error %v, joined %q, mined %q", err, joined, mined)
	}
	if r == nil || r.Pairs[0].Failed == "" || r.Pairs[1].Failed != "" {
		t.Errorf("the report is %+v", r)
	}
}

// TestTheReportOfTheRunBefore: where no pair is mined it stays, and where some are it counts the table that lies there.
func TestTheReportOfTheRunBefore(t *testing.T) {
	for name, test := range map[string]struct {
		failing []string
		stale   bool
		kept    int
	}{
		"all fail":  {[]string{"de", "fr"}, false, 7},
		"one fails": {[]string{"de"}, true, 0},
	} {
		cfg := settings(t, text(t, "de", "en", "fr"))
		cfg.LangPairs = "de-en,fr-en"
		before := multiway.Report{Pairs: []multiway.PairReport{{Kept: 7}, {Kept: 7}}, Rows: map[int]int{3: 7}, Conflicts: 5}
		if err := errors.Join(os.Mkdir(cfg.Out, 0o755), os.WriteFile(filepath.Join(cfg.Out, multiway.TableName), nil, 0o600),
			atomicfile.WriteJSON(filepath.Join(cfg.Out, multiway.ReportName), before)); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		_, err := multiway.Run(t.Context(), cfg, false, slog.New(slog.NewTextHandler(&log, nil)), nil,
			func(ctx context.Context, one pipeline.Config) (*record.Report, error) {
				if slices.Contains(test.failing, one.Source) {
					return nil, errors.New("other settings")
				}
				return &record.Report{}, nil
			})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		after, err := multiway.ReadReport(cfg.Out)
		if err != nil {
			t.Fatal(err)
		}
		if after.Pairs[1].Kept != test.kept || after.Stale != test.stale || after.Rows[3] != 7 || after.Conflicts != 5 {
			t.Errorf("%s: the report is %+v", name, after)
		}
		if warned := strings.Contains(log.String(), "are those of an earlier run"); warned != test.stale {
			t.Errorf("%s: warned %v", name, warned)
		}
	}
}

// TestTheTableOfFewerLanguages: a table of three languages goes when two are left, without a warning each night.
func TestTheTableOfFewerLanguages(t *testing.T) {
	cfg := settings(t, text(t, "de", "en"))
	cfg.LangPairs = "de-en"
	table := filepath.Join(cfg.Out, multiway.TableName)
	if err := errors.Join(os.Mkdir(cfg.Out, 0o755), os.WriteFile(table, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	r, err := multiway.Run(t.Context(), cfg, false, slog.New(slog.NewTextHandler(&log, nil)), nil,
		func(context.Context, pipeline.Config) (*record.Report, error) { return &record.Report{}, nil })
	if err != nil || r.Stale || strings.Contains(log.String(), "WARN") {
		t.Errorf("report %+v, error %v, log %s", r, err, log.String())
	}
	if _, err := os.Lstat(table); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the table is there: %v", err)
	}
}

// TestMoreLanguagesThanATable: their pairs are mined and reported, without a table, of which the run warns before.
func TestMoreLanguagesThanATable(t *testing.T) {
	codes := []string{"en"}
	for code := range strings.FieldsSeq("af am ar az be bg bn bs ca cs cy da de el eo es et eu fa fi fr ga gl gu ha he hi hr hu hy id ig is it ja jv " +
		"ka kk km kn ko ky lo lt lv mg mi mk ml mn mr ms mt my ne nl no or pa pl ps pt ro ru sk") {
		codes = append(codes, code)
	}
	cfg := settings(t, nil)
	cfg.Langs, cfg.Pivot, cfg.Corpora = strings.Join(codes, ","), "en", map[string][]string{}
	_, file, _ := strings.Cut(text(t, "en")[0], "=")
	for _, code := range codes {
		cfg.Corpora[code] = []string{file}
	}
	var log bytes.Buffer
	mined := 0
	r, err := multiway.Run(t.Context(), cfg, false, slog.New(slog.NewTextHandler(&log, nil)), nil, func(context.Context, pipeline.Config) (*record.Report, error) {
		if mined++; !strings.Contains(log.String(), "a table has 64 languages at most, and this run has 66") {
			t.Errorf("pair %d: the run has not warned: %s", mined, log.String())
		}
		return &record.Report{}, nil
	})
	if err != nil || len(r.Pairs) != 65 || mined != 65 {
		t.Fatalf("%d pairs mined, report %+v, error %v", mined, r, err)
	}
	if written, err := multiway.ReadReport(cfg.Out); err != nil || len(written.Pairs) != 65 || len(written.Rows) != 0 {
		t.Errorf("the report on disk is %+v, %v", written, err)
	}
	if _, err := os.Lstat(filepath.Join(cfg.Out, multiway.TableName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the table: %v", err)
	}
}

// TestPairsThatFailForSeveralReasons: the end is for good, or of a lock, only if no pair wants anything else.
func TestPairsThatFailForSeveralReasons(t *testing.T) {
	cfg := settings(t, text(t, "de", "en", "fr"))
	cfg.LangPairs = "de-en,fr-en"
	locked, bad, passing := error(&lockfile.Locked{Path: "lock"}), badinput.Errorf("no text"), errors.New("no answer")
	for name, c := range map[string]struct {
		failures            [2]error
		isLocked, permanent bool
	}{
		"locked out":           {[2]error{locked, locked}, true, false},
		"for good":             {[2]error{bad, bad}, false, true},
		"one of each":          {[2]error{locked, bad}, false, false},
		"one is worth a retry": {[2]error{bad, passing}, false, false},
	} {
		var mined int
		_, err := multiway.Run(t.Context(), cfg, true, options().Log, nil, func(context.Context, pipeline.Config) (*record.Report, error) {
			mined++
			return nil, c.failures[mined-1]
		})
		if is := errors.As(err, new(*lockfile.Locked)); is != c.isLocked || badinput.Is(err) != c.permanent || !strings.Contains(err.Error(), c.failures[1].Error()) {
			t.Errorf("%s: error %v, locked %v, permanent %v", name, err, is, badinput.Is(err))
		}
	}
}
