package align_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage/align"
	"bitextmine/pipeline/view"
)

// blocksOf makes blocks of a run and returns some of their columns.
func blocksOf(t *testing.T, p *view.Pair, kept *align.Kept, o align.BlockOptions) (parts [2][][]string, numbers map[string][]float64, c align.BlockCounts) {
	t.Helper()
	numbers = map[string][]float64{}
	c, err := align.Blocks(t.Context(), p, kept, o, func(b *table.Batch) error {
		for side, name := range []string{"src_parts", "tgt_parts"} {
			lists, err := b.Lists(name)
			if err != nil {
				return err
			}
			for i := range b.Len() {
				parts[side] = append(parts[side], lists(i))
			}
		}
		for _, name := range []string{"beads", "n_src", "n_tgt", "src_missing", "tgt_missing", "src_before", "src_words", "score"} {
			values, err := b.Numbers(name)
			if err != nil {
				return err
			}
			for i := range b.Len() {
				numbers[name] = append(numbers[name], values(i))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return parts, numbers, c
}

// aligned is a run over ten documents whose seventh sentence has no translation, and its kept pairs.
func aligned(t *testing.T) (*view.Pair, *align.Kept, string) {
	t.Helper()
	c := newCorpus(t)
	for side := range 2 {
		all := translated(side, 0, 10)
		for i := range all {
			all[i] = slices.DeleteFunc(all[i], func(text string) bool { return strings.HasPrefix(text, closing[side]) })
			if side == 0 {
				all[i] = slices.Insert(all[i], 7, "nothing of "+words(uint64(5000+i)))
			}
		}
		c.put(side, "a.jsonl", all...)
	}
	report := mustRun(t, c.config())
	run, err := view.Open(t.Context(), filepath.Dir(report.Bitext.Path), "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	kept, err := align.ReadKept(t.Context(), run.Bitext, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Pair(0)
	if err != nil {
		t.Fatal(err)
	}
	return p, kept, run.Bitext
}

// TestBlocksOfDocuments: a block has the beads of its documents in order, and what is missing between stands where it
// is missing.
func TestBlocksOfDocuments(t *testing.T) {
	p, kept, file := aligned(t)
	parts, numbers, c := blocksOf(t, p, kept, align.BlockOptions{Missing: -1})
	if c.Documents != 10 || c.Blocks != 10 || c.Beads < 85 || c.Long != 0 {
		t.Fatalf("%+v", c)
	}
	for i := range parts[0] {
		if len(parts[0][i]) != len(parts[1][i]) || numbers["src_missing"][i] == 0 {
			t.Fatalf("block %d has %d and %d parts, %v missing", i, len(parts[0][i]), len(parts[1][i]), numbers["src_missing"][i])
		}
		lacking := slices.IndexFunc(parts[0][i], func(text string) bool { return strings.HasPrefix(text, "nothing of ") })
		if lacking < 1 || parts[1][i][lacking] != "" || parts[1][i][lacking-1] == "" {
			t.Errorf("block %d: %q is said to be translated by %q", i, parts[0][i][lacking], parts[1][i][lacking])
		}
		for k, text := range parts[0][i] {
			other := parts[1][i][k]
			if other == "" || text == "" {
				continue
			}
			for _, word := range strings.Fields(text)[1:7] {
				if !strings.Contains(other, word) {
					t.Errorf("block %d: %q is said to be translated by %q", i, text, other)
				}
			}
		}
	}
	_, short, c := blocksOf(t, p, kept, align.BlockOptions{Missing: 0, Words: 20})
	if c.Blocks < 40 || c.Beads+c.Long < 85 || slices.Max(short["src_words"]) > 20 || slices.Max(short["src_missing"]) > 0 || slices.Max(short["src_before"]) < 1 {
		t.Errorf("%+v, at most %v words, %v missing", c, slices.Max(short["src_words"]), slices.Max(short["src_missing"]))
	}
	if _, _, c = blocksOf(t, p, kept, align.BlockOptions{Missing: -1, Words: 4}); c.Blocks != 0 || c.Long < 85 {
		t.Errorf("of 4 words: %+v", c)
	}
	if _, err := align.Blocks(t.Context(), p, kept, align.BlockOptions{Paragraphs: true}, func(*table.Batch) error { return nil }); !badinput.Is(err) {
		t.Errorf("paragraphs of sentences: %v", err)
	}
	rejected, err := label.Rows(t.Context(), file, []uint64{0}, [2]string{})
	if err != nil {
		t.Fatal(err)
	}
	fewer, err := align.ReadKept(t.Context(), file, rejected)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, without := blocksOf(t, p, fewer, align.BlockOptions{Missing: -1}); without.Beads >= numbersOf(numbers["beads"]) {
		t.Errorf("a rejected pair is in a block: %+v", without)
	}
	edited := label.Label{Source: rejected[0].Source, Target: rejected[0].Target, Accepted: true, SourceText: "as corrected", TargetText: "so corrected"}
	kept, err = align.ReadKept(t.Context(), file, []label.Label{edited})
	if err != nil {
		t.Fatal(err)
	}
	parts, _, _ = blocksOf(t, p, kept, align.BlockOptions{Missing: -1})
	if !slices.ContainsFunc(parts[0], func(of []string) bool { return slices.Contains(of, edited.SourceText) }) ||
		!slices.ContainsFunc(parts[1], func(of []string) bool { return slices.Contains(of, edited.TargetText) }) {
		t.Error("a corrected pair is in its block as it was mined")
	}
}

func numbersOf(all []float64) (sum int) {
	for _, n := range all {
		sum += int(n)
	}
	return sum
}

// TestRestIsWhatNoPairHas: kept pairs, spans among them, and the rest are together all sentences, each once.
func TestRestIsWhatNoPairHas(t *testing.T) {
	p, kept, _ := aligned(t)
	var rest []string
	err := align.Rest(t.Context(), p, kept, 0, func(of *plan.Shard, at uint32, row shard.Row) error {
		if !strings.Contains(of.Origin(at), "a.jsonl") {
			t.Errorf("a sentence of %s", of.Origin(at))
		}
		rest = append(rest, row.Text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	err = align.EachDocuments(t.Context(), p, kept, func(d *align.Documents) error {
		for _, b := range d.Beads {
			for _, text := range d.Texts[0][b.Source.First:b.Source.End()] {
				used[text] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lacking := 0
	for _, text := range rest {
		if used[text] {
			t.Errorf("%q is in a kept pair", text)
		}
		if strings.HasPrefix(text, "nothing of ") {
			lacking++
		}
	}
	if lacking != 10 || len(rest)+len(used) != p.Sentences[0].Len() {
		t.Errorf("%d of 10 without a translation; %d left and %d used of %d", lacking, len(rest), len(used), p.Sentences[0].Len())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := align.Rest(ctx, p, kept, 0, func(*plan.Shard, uint32, shard.Row) error { return nil }); err == nil {
		t.Error("a cancelled call does not end")
	}
}

// TestParagraphsOfDividedRecords: a block ends where both sides' paragraphs end.
func TestParagraphsOfDividedRecords(t *testing.T) {
	c := newCorpus(t)
	for side := range 2 {
		var out strings.Builder
		for d := range 6 {
			var paragraphs []string
			for n := range 3 {
				var text strings.Builder
				for i := range 3 {
					text.WriteString("Meaning " + words(uint64(100*d+10*n+i)) + ". ")
				}
				paragraphs = append(paragraphs, text.String())
			}
			data, err := json.Marshal(map[string]string{"doc": [2]string{"de", "en"}[side] + string(rune('a'+d)), "text": strings.Join(paragraphs, "\n\n")})
			if err != nil {
				t.Fatal(err)
			}
			out.Write(append(data, '\n'))
		}
		if err := os.WriteFile(filepath.Join(c.dirs[side], "a.jsonl"), []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := c.config()
	cfg.Split = "on"
	report := mustRun(t, cfg)
	run, err := view.Open(t.Context(), filepath.Dir(report.Bitext.Path), "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	kept, err := align.ReadKept(t.Context(), run.Bitext, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Pair(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, numbers, c := blocksOf(t, p, kept, align.BlockOptions{Paragraphs: true, Missing: 3}); c.Documents != 6 || c.Blocks != 18 || slices.Max(numbers["n_src"]) != 3 {
		t.Errorf("%+v, sentences %v", c, numbers["n_src"])
	}
}
