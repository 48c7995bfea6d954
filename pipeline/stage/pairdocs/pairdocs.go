// Package pairdocs has the stages that find which documents of a pair of languages are translations of each other, by
// their sentences' vectors, or take them from a list. They run where the setting documents asks for them.
//
// Means computes the mean vectors of the documents of each shard, Nearest finds each document's candidates by them, and
// Compare compares a source shard's documents with their candidates, sentence by sentence. Stage then chooses pairs
// among the candidates of all shards. Only Compare and Means read vectors of sentences, from mapped files.
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
	"bitextmine/internal/spill"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.PairDocs, Version: 6, Unit: "sentences", After: []string{view.Encode, view.DocCompare}, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Check, Stage.Run = stage.CheckPair, run
	stage.Register(Stage)
}

// args is a pair of languages.
type args struct {
	Pair int `json:"pair"`
}

// spec lists all that the pairs depend on. What a list of pairs names are documents in the outputs of cutting.
type spec struct {
	Compared  []string       `json:",omitempty"` // keys
	Sides     [2][][2]string // key of the task that cut the shard, its place there; empty without a list
	Paths     string         // digest of the paths of the files, which stand for addresses
	Known     string         // digest of the list of pairs
	URLBonus  float64
	MetaBonus float64 `json:",omitempty"` // 0 unless metadata is named
	MinScore  float64
}

// Want asks for the document pairs of a pair of languages, sets their key and returns it.
func Want(b *stage.Builder, pair int) string {
	of := spec{Known: b.Settings.DocPairs, MinScore: b.Settings.DocScore, Paths: pathsOf(b, pair)}
	o := match.DefaultOptions()
	of.URLBonus = o.URLBonus
	if b.Settings.DocMeta != "" {
		of.MetaBonus = o.MetaBonus
	}
	if of.Known == "" {
		wantCompared(b, pair)
		of.Compared = b.Pairs[pair].Compared
	}
	rows := int64(0)
	for side := range of.Sides {
		language := b.LanguageOf(pair, side)
		for i := range b.Languages[language].Shards {
			encode.Want(b, language, i)
			s := b.Languages[language].Shards[i]
			rows += int64(s.Rows)
			if of.Known != "" {
				of.Sides[side] = append(of.Sides[side], [2]string{s.Task, s.File})
			}
		}
	}
	key := Stage.Key(of)
	b.Add(Stage, key, rows, cost(b, pair, rows), args{pair})
	b.Pairs[pair].DocumentPairs = key
	return key
}

// pathsOf is the digest of the paths of a pair's files.
func pathsOf(b *stage.Builder, pair int) string {
	var paths [2][]string
	for side := range paths {
		for _, in := range b.Side(pair, side).Inputs {
			paths[side] = append(paths[side], in.Path)
		}
	}
	return plan.Digest(paths)
}

// cost is, in memory, what is known of each document, or for a list where each sentence is; sentences that repeat are
// counted half as often again. While the task runs, each sentence's best cosine and each candidate's scores are in
// mapped files.
func cost(b *stage.Builder, pair int, rows int64) stage.Cost {
	if b.Settings.DocPairs != "" {
		return stage.Cost{Fixed: 128 << 20, Memory: rows * 3 / 2 * 100, Disk: rows, Read: rows * 20}
	}
	candidates := candidatesOf(b, pair, int64(b.Side(pair, 0).Rows()))
	return stage.Cost{
		Fixed:  128 << 20,
		Memory: knownOf(b.Settings, rows/meanLength),
		Disk:   rows*rowSize + candidates*28,
		Read:   candidates*(candidateBytes+rowSize) + rows/meanLength*100,
	}
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
	return stage.Shared(e, fmt.Sprint("documents of language ", language), func() (*Collection, func() error, error) {
		c, err := ReadDocuments(context.WithoutCancel(ctx), e.Files, language)
		return c, nil, err
	})
}

func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	var pairs []Pair
	info := &Info{}
	if e.Plan.DocPairs != "" {
		pairs, err = info.list(ctx, e, a.Pair)
	} else {
		pairs, err = info.choose(ctx, e, a.Pair, dir)
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

// list takes pairs from a list.
func (info *Info) list(ctx context.Context, e *stage.Env, pair int) (pairs []Pair, err error) {
	var sides [2]*Collection
	for side := range sides {
		if sides[side], err = Documents(ctx, e, pair, side); err != nil {
			return nil, err
		}
		info.Documents[side], info.Aside[side] = len(sides[side].Documents), sides[side].Aside
		if err := checkSome(e.Plan.Side(pair, side).Code, info.Documents[side], info.Aside[side]); err != nil {
			return nil, err
		}
	}
	pairs, info.Unknown, err = listed(e.Plan, sides)
	return pairs, err
}

// choose takes pairs from the candidates by their cosines.
func (info *Info) choose(ctx context.Context, e *stage.Env, pair int, dir string) (_ []Pair, err error) {
	sides, documents, err := readOutlines(ctx, e.Files, pair)
	if err != nil {
		return nil, err
	}
	for side, of := range sides {
		info.Documents[side], info.Aside[side] = len(of.documents), of.aside
	}
	all, err := openCandidates(ctx, e.Files, pair)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, all.close()) }()
	room := &spill.Arena{Space: spill.In(dir)}
	defer func() { err = errors.Join(err, room.Close()) }()
	o := match.DefaultOptions()
	o.MinScore = e.Plan.Settings.DocScore
	matched, err := match.Choose(ctx, room, documents, all.pairs, func(do func(k int, found match.Bests)) error {
		return eachCosines(ctx, e.Files, pair, all, documents, do)
	}, o)
	if err != nil {
		return nil, err
	}
	pairs := make([]Pair, len(matched))
	for i, m := range matched {
		pairs[i] = Pair{m.Source, m.Target, m.Score}
	}
	for i, counts := range match.CountFields(documents, matched) {
		info.Metadata = append(info.Metadata, record.Field{Name: strings.Split(e.Plan.Settings.DocMeta, ",")[i], FieldCounts: counts})
	}
	return pairs, nil
}

// maxPairLine is the length of a line of a list of pairs, at most.
const maxPairLine = 64 << 10

// listed looks up known pairs.
func listed(p *plan.Plan, sides [2]*Collection) (pairs []Pair, unknown int, err error) {
	in, err := plan.DigestListed(plan.Input{Path: p.DocPairs}.Source())
	if err == nil && in.SHA256 != p.Settings.DocPairs {
		err = plan.Changed(p.DocPairs)
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
