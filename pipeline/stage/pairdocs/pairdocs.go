// Package pairdocs is the stage that finds which documents of a pair of languages are translations of each other, by
// their sentences' vectors, or takes them from a list. It runs where the setting documents asks for it.
package pairdocs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bitextmine/align/document"
	"bitextmine/align/match"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.PairDocs, Version: 4, Unit: "sentences", After: []string{view.Encode}, Wide: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Check, Stage.Run = stage.CheckPair, run
	stage.Register(Stage)
}

// args is a pair of languages.
type args struct {
	Pair int `json:"pair"`
}

// spec lists all that the pairs depend on. Documents are in the outputs of cutting, vectors in those of encoding.
type spec struct {
	Sides      [2][][3]string // key of the task that cut the shard, its place there, and its vectors
	Paths      string         // digest of the paths of the files, which stand for addresses
	Known      string         // digest of the list of pairs
	Candidates int
	URLBonus   float64
	MetaBonus  float64 `json:",omitempty"` // 0 unless metadata is named; its columns are in the keys of cutting
	MinScore   float64
}

// Want asks for the document pairs of a pair of languages, sets their key and returns it.
func Want(b *stage.Builder, pair int) string {
	of := spec{Known: b.Settings.DocPairs, MinScore: b.Settings.DocScore}
	o := match.DefaultOptions()
	of.Candidates, of.URLBonus = o.Candidates, o.URLBonus
	if b.Settings.DocMeta != "" {
		of.MetaBonus = o.MetaBonus
	}
	rows := int64(0)
	var paths [2][]string
	for side := range of.Sides {
		language := b.LanguageOf(pair, side)
		for _, in := range b.Languages[language].Inputs {
			paths[side] = append(paths[side], in.Path)
		}
		for i := range b.Languages[language].Shards {
			vector := encode.Want(b, language, i)
			s := b.Languages[language].Shards[i]
			of.Sides[side] = append(of.Sides[side], [3]string{s.Task, s.File, vector})
			rows += int64(s.Rows)
		}
	}
	of.Paths = plan.Digest(paths)
	key := Stage.Key(of)
	b.Add(Stage, key, rows, cost(b.Settings, rows), args{pair})
	b.Pairs[pair].DocumentPairs = key
	return key
}

// cost is, in memory, every sentence's vector in float32, where it stands, and its best cosines in the candidates;
// sentences that repeat are counted half as often again.
func cost(s plan.Settings, rows int64) stage.Cost {
	return stage.Cost{Memory: 128<<20 + rows*3/2*(4*int64(s.Dim)+300), Disk: rows, Read: rows * int64(2*s.Dim)}
}

// Pair is two documents, by their places in the collections of their languages.
type Pair struct {
	Source int     `json:"src"`
	Target int     `json:"tgt"`
	Score  float64 `json:"score"` // 0 for one of the list
}

// Info is a task's record of its pairs.
type Info struct {
	Documents [2]int         `json:"documents"`
	Aside     [2]Aside       `json:"aside"`
	Pairs     int            `json:"pairs"`
	Unknown   int            `json:"unknown,omitempty"` // pairs on the list whose documents are not in the text
	Metadata  []record.Field `json:"metadata,omitempty"`
}

const fileName = "pairs.json"

// Read reads the pairs of a pair of languages, the best first or as they are listed, and what is recorded of them.
func Read(ctx context.Context, f *view.Files, pair int) (pairs []Pair, info *Info, err error) {
	out, err := f.Output(ctx, Stage.Name, f.Plan.Pairs[pair].DocumentPairs)
	if err != nil {
		return nil, nil, err
	}
	info = &Info{}
	if err := json.Unmarshal(out.Info, info); err != nil {
		return nil, nil, fmt.Errorf("read the record of %s: %w", out.Dir, err)
	}
	data, err := os.ReadFile(out.Path(fileName))
	if err != nil {
		return nil, nil, fmt.Errorf("read the pairs of documents: %w", err)
	}
	if err := json.Unmarshal(data, &pairs); err != nil {
		return nil, nil, fmt.Errorf("read the pairs of documents: %w", err)
	}
	return pairs, info, nil
}

// Documents returns the documents of a side of a pair, which all tasks share.
func Documents(ctx context.Context, e *stage.Env, pair, side int) (*Collection, error) {
	language := e.Plan.LanguageOf(pair, side)
	return stage.Shared(e, "documents of "+e.Plan.Languages[language].Code, func() (*Collection, func() error, error) {
		c, err := ReadDocuments(context.WithoutCancel(ctx), e.Files, language)
		return c, nil, err
	})
}

func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	info := &Info{}
	var sides [2]*Collection
	for side := range sides {
		if sides[side], err = Documents(ctx, e, a.Pair, side); err != nil {
			return nil, err
		}
		info.Documents[side], info.Aside[side] = len(sides[side].Documents), sides[side].Aside
		if len(sides[side].Documents) == 0 {
			return nil, badinput.Errorf("documents = on, but the %s text has no document of two sentences (%d of one): name their column with --doc-column, divide records with --split on, or leave out --documents",
				e.Plan.Side(a.Pair, side).Code, sides[side].Aside.Short)
		}
	}
	var pairs []Pair
	if e.Plan.DocPairs != "" {
		pairs, info.Unknown, err = listed(e.Plan, sides)
	} else {
		pairs, info.Metadata, err = found(ctx, e, a.Pair, sides)
	}
	if err != nil {
		return nil, err
	}
	info.Pairs = len(pairs)
	meter.Add(t.Items)
	data, err := json.Marshal(pairs)
	if err != nil {
		return nil, err
	}
	return info, atomicfile.WriteBytes(filepath.Join(dir, fileName), append(data, '\n'))
}

// maxPairLine is the length of a line of a list of pairs, at most.
const maxPairLine = 64 << 10

// listed looks up known pairs.
func listed(p *plan.Plan, sides [2]*Collection) (pairs []Pair, unknown int, err error) {
	in, err := plan.DigestInput(plan.Input{Path: p.DocPairs}.Source())
	if err == nil && in.SHA256 != p.Settings.DocPairs {
		err = badinput.Errorf("%s was changed while the run was under way; run again once nothing writes to it", p.DocPairs)
	}
	if err != nil {
		return nil, 0, err
	}
	names, _, err := document.ReadPairs(p.DocPairs, maxPairLine)
	if err != nil {
		return nil, 0, err
	}
	pairs = []Pair{}
	for _, name := range names {
		source, inSource := sides[0].ByName[name.Source]
		target, inTarget := sides[1].ByName[name.Target]
		if !inSource || !inTarget || source < 0 || target < 0 {
			unknown++
			continue
		}
		pairs = append(pairs, Pair{Source: source, Target: target})
	}
	return pairs, unknown, nil
}

// found pairs documents by their vectors.
func found(ctx context.Context, e *stage.Env, index int, sides [2]*Collection) ([]Pair, []record.Field, error) {
	var of [2]*match.Side
	for side := range of {
		var err error
		if of[side], err = vectors(ctx, e.Files, e.Plan.Side(index, side), sides[side]); err != nil {
			return nil, nil, err
		}
	}
	o := match.DefaultOptions()
	o.MinScore = e.Plan.Settings.DocScore
	matched, err := match.Match(ctx, of[0], of[1], o)
	pairs := make([]Pair, len(matched))
	for i, m := range matched {
		pairs[i] = Pair{m.Source, m.Target, m.Score}
	}
	var fields []record.Field
	for i, counts := range match.CountFields([2][]match.Document{of[0].Documents, of[1].Documents}, matched) {
		fields = append(fields, record.Field{Name: strings.Split(e.Plan.Settings.DocMeta, ",")[i], FieldCounts: counts})
	}
	return pairs, fields, err
}

// vectors reads the vectors of documents' sentences.
func vectors(ctx context.Context, f *view.Files, language *plan.Language, c *Collection) (_ *match.Side, err error) {
	dim := f.Plan.Settings.Dim
	s := &match.Side{Dim: dim, Vectors: make([]float32, c.Sentences()*dim)}
	at := make([][][2]int, len(language.Shards)) // each shard's rows, and where their vectors belong
	n := 0
	for _, d := range c.Documents {
		s.Documents = append(s.Documents, match.Document{Name: d.Name, URL: d.URL, Metadata: d.Meta, First: n, Count: len(d.Sentences)})
		for _, one := range d.Sentences {
			at[one.Shard] = append(at[one.Shard], [2]int{int(one.Row), n})
			n++
		}
	}
	for i := range language.Shards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		file, err := f.Vectors(ctx, &language.Shards[i])
		if err != nil {
			return nil, err
		}
		for _, one := range at[i] {
			file.Float32(s.Vectors[one[1]*dim:][:dim], one[0], one[0]+1)
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
	return s, nil
}
