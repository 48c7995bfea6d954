package align_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"bitextmine/bitext"
	"bitextmine/bitext/label"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/pipeline"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
)

func options() pipeline.Options {
	return pipeline.Options{
		Progress: progress.Silent, Log: slog.New(slog.DiscardHandler), Version: "test",
		OpenEncoder: func(m *model.Model, _ encode.Options) (stage.Encoder, error) { return bagOfWords{m.Digest, m.Dim}, nil },
	}
}

// bagOfWords encodes a text as the sum of random vectors of its words.
type bagOfWords struct {
	digest string
	dim    int
}

func (b bagOfWords) Close() error { return nil }
func (b bagOfWords) Dim() int     { return b.dim }

func (b bagOfWords) embed(text string, row []float32) {
	clear(row)
	var square float64
	for _, word := range strings.Fields(text) {
		h := fnv.New64a()
		h.Write([]byte(word))
		rng := rand.New(rand.NewPCG(h.Sum64(), 2))
		for i := range row {
			row[i] += rng.Float32() - 0.5
		}
	}
	for _, x := range row {
		square += float64(x) * float64(x)
	}
	for i := range row {
		row[i] /= float32(math.Sqrt(square))
	}
}

func (b bagOfWords) Encode(_ context.Context, _ string, texts []string, dst []float32) error {
	for i, text := range texts {
		b.embed(text, dst[i*b.dim:][:b.dim])
	}
	return nil
}

func (b bagOfWords) EncodeFile(
	_ context.Context, path string, dtype embedding.DType, source encode.Source, progress func(int),
) (embedding.Meta, error) {
	return embedding.Write(path, embedding.Meta{Encoder: b.digest, Shard: source.Digest, Dim: b.dim, DType: dtype}, func(w *embedding.Writer) error {
		row := make([]float32, b.dim)
		for text, err := range source.Texts {
			if err != nil {
				return err
			}
			b.embed(text, row)
			if err := w.Append(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// corpus is the text of both sides, in files of sentences with the document of each.
type corpus struct {
	t    testing.TB
	dirs [2]string
}

func newCorpus(t testing.TB) corpus { return corpus{t, [2]string{t.TempDir(), t.TempDir()}} }

func (c corpus) put(side int, name string, documents ...[]string) {
	c.t.Helper()
	var out strings.Builder
	for _, d := range documents {
		for _, text := range d[1:] {
			data, err := json.Marshal(map[string]string{"doc": d[0], "text": text})
			if err != nil {
				c.t.Fatal(err)
			}
			out.Write(append(data, '\n'))
		}
	}
	if err := os.WriteFile(filepath.Join(c.dirs[side], name), []byte(out.String()), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// closing stands in every document.
var closing = [2]string{"gemeinsamer schlusssatz common closing", "common closing schluss sentence here"}

// words are those of a meaning, the same in both languages.
func words(meaning uint64) string {
	rng := rand.New(rand.NewPCG(meaning, 1))
	var all []string
	for range 6 {
		word := make([]byte, 7)
		for i := range word {
			word[i] = byte('a' + rng.IntN(26))
		}
		all = append(all, string(word))
	}
	return strings.Join(all, " ")
}

// translated are documents of ten sentences of which the fourth and the fifth of the source are one in the target.
func translated(side, from, to int) (all [][]string) {
	for d := from; d < to; d++ {
		doc := []string{fmt.Sprintf("%s-%d", [2]string{"de", "en"}[side], d)}
		for i := range 10 {
			doc = append(doc, fmt.Sprintf("meaning %s side%d", words(uint64(100*d+i)), side))
		}
		if side == 1 {
			doc = slices.Concat(doc[:4], []string{doc[4] + " " + doc[5]}, doc[6:])
		}
		all = append(all, append(doc, closing[side]))
	}
	return all
}

func (c corpus) config() pipeline.Config {
	var cfg pipeline.Config
	cfg.Source, cfg.Target = "de", "en"
	cfg.SourceText, cfg.TargetText = c.dirs[:1], c.dirs[1:]
	cfg.Format, cfg.TextColumn, cfg.DocColumn, cfg.OnBadLine, cfg.MaxLineBytes, cfg.ShardSize = "auto", "text", "doc", "skip", 1<<16, 1000
	cfg.Encoder, cfg.DType, cfg.Search = encodetest.Bag(), "float16", "exact"
	cfg.Decision = setting.Decision{K: 4, Margin: "ratio", Retrieval: "max", Threshold: 1.06, KeepForeign: true, KeepCopies: true}
	cfg.Documents, cfg.DocScore, cfg.BeadScore = "on", 0.3, 0.2
	cfg.Keep, cfg.Out = 3, filepath.Join(c.t.TempDir(), "out")
	return cfg
}

func mustRun(t testing.TB, cfg pipeline.Config) *record.Report {
	t.Helper()
	report, err := pipeline.Run(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func rowsOf(t testing.TB, r *record.Report) (rows []bitext.Row) {
	t.Helper()
	file, err := bitext.Open(r.Bitext.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for row, err := range file.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// tasks are the tasks of a stage in a report, and how many of them were done before.
func tasks(r *record.Report, stage string) (all, cached int) {
	for _, s := range r.Stages {
		if s.Name == stage {
			return s.Tasks, s.Cached
		}
	}
	return 0, 0
}

func TestDocumentsAreAlignedBesideMining(t *testing.T) {
	c := newCorpus(t)
	for side := range 2 {
		c.put(side, "a.jsonl", append(translated(side, 0, 8), []string{"short", "a document of one sentence"})...)
		c.put(side, "b.jsonl", append(translated(side, 8, 10), translated(side, 0, 1)...)...) // one stands twice
	}
	cfg := c.config()
	report := mustRun(t, cfg)
	d := report.Counts.Documents
	if d == nil || d.Source != 10 || d.Target != 10 || d.Pairs != 10 || d.Short != 2 || d.Repeated != 2 {
		t.Fatalf("counts %+v", d)
	}
	rows := rowsOf(t, report)
	by, seen, spans := map[string]int{}, map[[2][16]byte]bool{}, 0
	for _, row := range rows {
		a := row.Alignment
		by[a.FoundBy]++
		pair := [2][16]byte{row.Source.Key, row.Target.Key}
		if seen[pair] {
			t.Errorf("%q and %q stand twice", row.Source.Text, row.Target.Text)
		}
		seen[pair] = true
		if (a.Bead == nil) != (a.FoundBy == bitext.Global) || !row.Keep {
			t.Errorf("%+v of %q", a, row.Source.Text)
		}
		if a.Bead == nil {
			continue
		}
		if strings.TrimPrefix(row.Source.Doc, "de") != strings.TrimPrefix(row.Target.Doc, "en") {
			t.Errorf("%q of %s is aligned with %q of %s", row.Source.Text, row.Source.Doc, row.Target.Text, row.Target.Doc)
		}
		if a.Sentences == [2]uint32{2, 1} && strings.Count(row.Source.Text, "meaning") == 2 && strings.Count(row.Target.Text, "meaning") == 2 {
			spans++
			if a.Bead.First != [2]uint32{3, 3} || row.SourceRank != 255 || row.Prob != nil || row.Score != 0 {
				t.Errorf("a span has %+v, %+v", a.Bead, row)
			}
		}
	}
	if want := fmt.Sprintf("%d of them by their place in aligned documents alone", d.Local); d.Local == 0 || !strings.Contains(report.Rule(), want) {
		t.Errorf("the rule says %q, not %q", report.Rule(), want)
	}
	if spans < 9 || by[bitext.Both] < 60 || by[bitext.Both] != d.Both || by[bitext.Local] != d.Local || len(rows) != report.Counts.Kept {
		t.Errorf("%d spans of two sentences, found by %v, counts %+v, kept %d", spans, by, d, report.Counts.Kept)
	}
	again := mustRun(t, cfg)
	if all, cached := tasks(again, "align"); all != 2 || cached != 2 || again.Bitext.SHA256 != report.Bitext.SHA256 {
		t.Errorf("the second run did %d of %d tasks, bitext %s", all-cached, all, again.Bitext.SHA256)
	}
	cfg.ShardSize, cfg.Threads, cfg.Out = 7, 3, filepath.Join(t.TempDir(), "small")
	for i, row := range rowsOf(t, mustRun(t, cfg)) {
		got, want := row, rows[i]
		for _, s := range []*bitext.Sentence{&got.Source, &got.Target, &want.Source, &want.Target} {
			s.Shard, s.Row = "", 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("in shards of 7 rows, row %d is %+v, else %+v", i, got, want)
		}
	}
}

// TestDocumentsInCapitals: a side in capitals has the beads of the same text in lower case, as encoders get both alike.
func TestDocumentsInCapitals(t *testing.T) {
	var counts [2]*record.DocumentCounts
	for turn := range counts {
		c := newCorpus(t)
		for side := range 2 {
			documents := translated(side, 0, 6)
			for _, d := range documents {
				for i := 1; i < len(d) && side == 0 && turn == 1; i++ {
					d[i] = strings.ToUpper(d[i])
				}
			}
			c.put(side, "a.jsonl", documents...)
		}
		counts[turn] = mustRun(t, c.config()).Counts.Documents
	}
	if counts[0].Beads < 40 || !reflect.DeepEqual(counts[1], counts[0]) {
		t.Errorf("in capitals the counts are %+v, else %+v", counts[1], counts[0])
	}
}

// TestTextFilesAreDocuments: a file of plain text that is divided, or of subtitles, is a document, however shards cut
// it.
func TestTextFilesAreDocuments(t *testing.T) {
	c := newCorpus(t)
	for side := range 2 {
		for d, doc := range translated(side, 0, 4) {
			name, text := fmt.Sprintf("%d.txt", d), "\n"+strings.Join(doc[1:], ".\n\n")+".\n"
			if d == 3 {
				name, text = "3.srt", ""
				for i, sentence := range doc[1:] {
					text += fmt.Sprintf("%d\n00:00:%02d,000 --> 00:00:%02d,500\n%s.\n\n", i+1, i, i, sentence)
				}
			}
			if err := os.WriteFile(filepath.Join(c.dirs[side], name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cfg := c.config()
	cfg.DocColumn, cfg.Split = "", "on"
	for _, size := range []int{1000, 4} {
		cfg.ShardSize, cfg.Out = size, filepath.Join(t.TempDir(), "out")
		if d := mustRun(t, cfg).Counts.Documents; d == nil || d.Source != 4 || d.Target != 4 || d.Pairs != 4 {
			t.Errorf("in shards of %d rows: counts %+v", size, d)
		}
	}
	pairs := filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(pairs, fmt.Appendf(nil, "%s:1\t%s:1\n", filepath.Join(c.dirs[0], "0.txt"), filepath.Join(c.dirs[1], "0.txt")), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.DocPairs, cfg.Out = pairs, filepath.Join(t.TempDir(), "out")
	if d := mustRun(t, cfg).Counts.Documents; d.Pairs != 1 || d.Local+d.Both == 0 {
		t.Errorf("of given pairs: counts %+v", d)
	}
}

// TestNightsOfDocuments: what a run takes over from earlier ones, and where it was stopped, show in no byte.
func TestNightsOfDocuments(t *testing.T) {
	c := newCorpus(t)
	for side := range 2 {
		c.put(side, "a.jsonl", translated(side, 0, 6)...)
	}
	cfg := c.config()
	mustRun(t, cfg)
	for side := range 2 {
		c.put(side, "b.jsonl", translated(side, 6, 8)...)
	}
	fresh := cfg
	fresh.Out = filepath.Join(t.TempDir(), "fresh")
	want := mustRun(t, fresh)
	if got := mustRun(t, cfg); got.Bitext.SHA256 != want.Bitext.SHA256 {
		t.Error("the second night has another bitext than one run over both")
	}
	if all := records(t, cfg.Out, "align"); all.Pairs != 14 || all.Aligned != 8 {
		t.Errorf("%d pairs of documents in all outputs, %d aligned: the six of the first night are taken over", all.Pairs, all.Aligned)
	}
	if all := records(t, cfg.Out, "doccompare"); all.Candidates != 6*6+8*8 || all.Compared != 8*8 {
		t.Errorf("%d candidates in all outputs, %d compared: those of the first night are taken over", all.Candidates, all.Compared)
	}
	for stop := 1; ; stop *= 3 {
		one := cfg
		one.Out = filepath.Join(t.TempDir(), "out")
		ctx, cancel := context.WithCancel(t.Context())
		opts := options()
		opts.Progress = newStopper(int64(stop), cancel)
		_, err := pipeline.Run(ctx, one, opts)
		cancel()
		if err == nil {
			break
		}
		if got := mustRun(t, one); got.Bitext.SHA256 != want.Bitext.SHA256 {
			t.Fatalf("stopped at %d and gone on, the bitext is another", stop)
		}
	}
	for _, name := range []string{"align/*/beads.jsonl", "pairdocs/*/pairs.json", "shard/*/*.docs.jsonl", "docmeans/*/documents", "docnearest/*/candidates", "doccompare/*/cosines"} {
		files, err := filepath.Glob(filepath.Join(cfg.Out, "work", name))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s (%v)", name, err)
		}
		for _, file := range files {
			if err := os.Truncate(file, 10); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.put(1, "c.jsonl", []string{"more", "one more sentence", "and another one", "a third"})
	fresh.Out = filepath.Join(t.TempDir(), "fresh")
	if got, want := mustRun(t, cfg), mustRun(t, fresh); got.Bitext.SHA256 != want.Bitext.SHA256 {
		t.Error("after damage the bitext is another")
	}
}

// counted is what the outputs of stages say.
type counted struct{ Pairs, Aligned, Candidates, Compared int }

// records adds up what the outputs of a stage say.
func records(t *testing.T, out, stage string) (sum counted) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "work", stage, "*", "task.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		var r struct{ Info counted }
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		sum.Pairs, sum.Aligned = sum.Pairs+r.Info.Pairs, sum.Aligned+r.Info.Aligned
		sum.Candidates, sum.Compared = sum.Candidates+r.Info.Candidates, sum.Compared+r.Info.Compared
	}
	return sum
}

// stopper cancels the run at its n-th sign of progress. Several tasks may give it at once.
type stopper struct {
	left atomic.Int64
	stop func()
}

func newStopper(n int64, stop func()) *stopper {
	s := &stopper{stop: stop}
	s.left.Store(n)
	return s
}

func (s *stopper) Start(string, int64, string) progress.Meter { s.Add(0); return s }
func (s *stopper) Done()                                      {}
func (s *stopper) Skip(n int64)                               { s.Add(n) }
func (s *stopper) Add(int64) {
	if s.left.Add(-1) == 0 {
		s.stop()
	}
}

func TestKnownPairsOfDocuments(t *testing.T) {
	c := newCorpus(t)
	for side := range 2 {
		c.put(side, "a.jsonl", translated(side, 0, 4)...)
	}
	cfg := c.config()
	cfg.DocPairs = filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(cfg.DocPairs, []byte("de-1\ten-1\nde-2\ten-9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := mustRun(t, cfg)
	if d := report.Counts.Documents; d.Pairs != 1 || d.Unknown != 1 {
		t.Errorf("counts %+v", d)
	}
	for _, row := range rowsOf(t, report) {
		if row.Alignment.Bead != nil && row.Source.Doc != "de-1" {
			t.Errorf("%+v", row)
		}
	}
	key := report.ConfigDigest
	if err := os.WriteFile(cfg.DocPairs, []byte("de-2\ten-2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Overwrite = true
	if again := mustRun(t, cfg); again.ConfigDigest == key || again.Counts.Documents.Unknown != 0 {
		t.Errorf("another list: %+v", again.Counts.Documents)
	}
}

// TestRejectedSpanBringsBackItsPair: pairs of global mining that spans of several sentences replaced are in the bitext
// again when people rejected the spans, and a run does not say that it lacks these.
func TestRejectedSpanBringsBackItsPair(t *testing.T) {
	c := newCorpus(t)
	for side := range 2 {
		c.put(side, "a.jsonl", translated(side, 0, 6)...)
	}
	cfg := c.config()
	first := mustRun(t, cfg)
	if first.Counts.Documents.Replaced == 0 {
		t.Fatalf("no pair was replaced: %+v", first.Counts.Documents)
	}
	var spans []label.Label
	for _, row := range rowsOf(t, first) {
		if row.Alignment.Sentences != [2]uint32{1, 1} {
			spans = append(spans, label.Label{Source: hex.EncodeToString(row.Source.Key[:]), Target: hex.EncodeToString(row.Target.Key[:])})
		}
	}
	if err := label.Append(cfg.Out, spans); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	opts := options()
	opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	again, err := pipeline.Run(t.Context(), cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	d := again.Counts.Documents
	if want := first.Counts.Kept - len(spans) + first.Counts.Documents.Replaced; d.Replaced != 0 || d.Rejected != len(spans) || again.Counts.Kept != want {
		t.Errorf("%d spans rejected: kept %d, want %d; counts %+v", len(spans), again.Counts.Kept, want, d)
	}
	if strings.Contains(log.String(), "does not have") {
		t.Errorf("the run warns: %s", log.String())
	}
}

// TestBeadsBringBackNoUntranslatedText: a bead that is a candidate below the threshold, at which the decision did not
// look, goes by the rules, too.
func TestBeadsBringBackNoUntranslatedText(t *testing.T) {
	c := newCorpus(t)
	copied := "this sentence " + words(7) + " stands on both sides"
	for side := range 2 {
		docs := translated(side, 0, 4)
		docs[2] = append(docs[2], copied)
		c.put(side, "a.jsonl", docs...)
	}
	cfg := c.config()
	cfg.Threshold, cfg.KeepCopies = 100, false
	report := mustRun(t, cfg)
	rows := rowsOf(t, report)
	if d := report.Counts.Documents; d.Local == 0 || d.Rejected == 0 || len(rows) != d.Local || len(rows) != report.Counts.Kept {
		t.Errorf("%d rows, kept %d, counts %+v", len(rows), report.Counts.Kept, d)
	}
	for _, row := range rows {
		if row.Source.Text == row.Target.Text {
			t.Errorf("kept as %s: %q", row.Alignment.FoundBy, row.Source.Text)
		}
	}
}
