package align_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bitextmine/align/match"
	"bitextmine/encode/embedding"
	"bitextmine/pipeline"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/pairdocs"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// varied is a corpus of documents of all kinds: translations of which sentences are missing, several with the same
// sentences, so that scores are equal, one that is long, which is read by parts, short and repeated ones, and some with
// the address or the date of another.
func varied(t *testing.T) corpus {
	c := newCorpus(t)
	rng := rand.New(rand.NewPCG(3, 1))
	for side := range 2 {
		var files [3]strings.Builder
		for i, d := range rng.Perm(90) {
			n := 2 + d%9
			switch {
			case d == 7:
				n = 5200
			case d%15 == 4:
				n = 1
			}
			text := d
			if d%6 == 1 {
				text = 1 // the same sentences as others
			}
			row := map[string]string{"doc": fmt.Sprint("document ", d), "date": fmt.Sprintf("2024-03-%02d", 1+d%28), "url": ""}
			if d%5 == 0 {
				row["url"] = fmt.Sprintf("https://a.org/%s/page%d/%d", [2]string{"de", "en"}[side], d%2, d/10)
			}
			for k := range n {
				if row["text"] = fmt.Sprintf("meaning %s side%d", words(uint64(6000*text+k)), side); k > 1 && rng.IntN(6) == 0 {
					continue
				}
				data, err := json.Marshal(row)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&files[i*3/90], "%s\n", data)
			}
			if d%20 == 3 { // its name comes again
				fmt.Fprintf(&files[2], `{"doc":"document %d","text":"once","date":"","url":""}`+"\n", d)
			}
		}
		for i := range files {
			if err := os.WriteFile(filepath.Join(c.dirs[side], fmt.Sprintf("%d.jsonl", i)), []byte(files[i].String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// TestPairingTasks: for any number of shards, the tasks that pair documents find what one that has all vectors in
// memory would find, each with files that it opens itself, and in whatever order.
func TestPairingTasks(t *testing.T) {
	c := varied(t)
	var want []match.Pair
	for _, size := range []int{9000, 220} {
		cfg := c.config()
		cfg.ShardSize, cfg.URLColumn, cfg.DocMeta, cfg.DocScore = size, "url", "date", 0.1
		estimate, err := pipeline.Plan(t.Context(), cfg, options())
		if err != nil {
			t.Fatal(err)
		}
		begin := 0
		for _, of := range estimate.Stages {
			step, path := of.Tasks, record.PlanPath(estimate.Work, estimate.PlanID)
			if of.Name == view.Encode {
				step = 1
			}
			for i := begin + step - 1; i >= begin; i-- {
				task := pipeline.TaskConfig{Plan: path, Index: i, Step: step, End: begin + of.Tasks}
				if err := pipeline.RunTasks(t.Context(), task, options()); err != nil {
					t.Fatal(err)
				}
			}
			if begin += of.Tasks; of.Name == view.PairDocs {
				break
			}
			if of.Name == view.DocCompare && size == 220 && of.Tasks < 20 {
				t.Errorf("%d tasks compare documents", of.Tasks)
			}
		}
		got, reference := paired(t, estimate)
		if len(got) < 60 || !reflect.DeepEqual(got, reference) {
			t.Fatalf("shards of %d rows: %d pairs, want %d\n%v\n%v", size, len(got), len(reference), got, reference)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("shards of %d rows show in the pairs", size)
		}
	}
}

// paired are the pairs of the tasks of a plan, and those of all vectors in memory.
func paired(t *testing.T, estimate *pipeline.Estimate) (got, reference []match.Pair) {
	t.Helper()
	st, err := store.Open(t.Context(), estimate.Work, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	p, err := stage.ReadPlan(t.Context(), st, estimate.PlanID, "test")
	if err != nil {
		t.Fatal(err)
	}
	f := view.NewFiles(st, p, estimate.Work)
	found, info, err := pairdocs.Read(t.Context(), f, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		got = append(got, match.Pair{Source: p.Source, Target: p.Target, Score: p.Score})
	}
	var sides [2]*match.Side
	for side := range sides {
		c, err := pairdocs.ReadDocuments(t.Context(), f, side)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Documents) != info.Documents[side] || c.Aside != info.Aside[side] || c.Aside.Short == 0 || c.Aside.Repeated == 0 {
			t.Errorf("%d documents and %+v, want %+v", len(c.Documents), c.Aside, info)
		}
		sides[side] = inMemory(t.Context(), t, f, side, c)
	}
	o := match.DefaultOptions()
	o.MinScore = p.Settings.DocScore
	all, err := match.Match(t.Context(), sides[0], sides[1], o)
	if err != nil {
		t.Fatal(err)
	}
	urls, dates := 0, 0
	for _, p := range all {
		if p.SameURL {
			urls++
		}
		if p.Metadata > 0 {
			dates++
		}
		reference = append(reference, match.Pair{Source: p.Source, Target: p.Target, Score: p.Score})
	}
	if fields := match.CountFields([2][]match.Document{sides[0].Documents, sides[1].Documents}, all); urls == 0 || dates == 0 ||
		len(info.Metadata) != 1 || info.Metadata[0].FieldCounts != fields[0] {
		t.Errorf("%d pairs have the same address, %d the same date; %+v, want %+v", urls, dates, info.Metadata, fields)
	}
	return got, reference
}

// inMemory are a side's documents with the vectors of all their sentences.
func inMemory(ctx context.Context, t *testing.T, f *view.Files, language int, c *pairdocs.Collection) *match.Side {
	t.Helper()
	files := make([]*embedding.File, len(f.Plan.Languages[language].Shards))
	for i := range files {
		var err error
		if files[i], err = f.Vectors(ctx, &f.Plan.Languages[language].Shards[i]); err != nil {
			t.Fatal(err)
		}
		defer files[i].Close()
	}
	dim := f.Plan.Settings.Dim
	s := &match.Side{Dim: dim}
	for _, d := range c.Documents {
		s.Documents = append(s.Documents, match.Document{URL: d.URL, Metadata: d.Meta, First: len(s.Vectors) / dim, Count: len(d.Sentences)})
		for _, one := range d.Sentences {
			row := make([]float32, dim)
			files[one.Shard].Float32(row, int(one.Row), int(one.Row)+1)
			s.Vectors = append(s.Vectors, row...)
		}
	}
	return s
}
