package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"bitextmine/corpus"
	"bitextmine/corpus/shard"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/store"
)

// The stages whose outputs others read, and the names of the files in them.
const (
	Shard  = "shard"  // one input file -> Parquet shards of unique sentences
	Encode = "encode" // one shard -> embedding file
	Search = "search" // one cell -> both sides' neighbours
	Merge  = "merge"  // one shard's base and new cells -> its neighbours over the other language's shards
	Match  = "match"  // every shard's candidates, or neighbours -> bitext

	Describe = "describe" // one shard -> what features need of its sentences
	Features = "features" // one source shard, every shard's neighbours and description -> candidates with features

	Shortlisting = "shortlist" // every shard's neighbours -> rows that two-stage mining encodes again
	Refine       = "refine"    // one shard's such rows -> embedding file of the strong encoder

	Judge = "judge" // every shard's neighbours -> the judge's logits of pairs in doubt

	DocMeans   = "docmeans"   // the documents that begin in a shard -> their mean vectors
	DocNearest = "docnearest" // the mean vectors of both sides' documents -> candidates of pairs
	DocCompare = "doccompare" // the candidates of a source shard's documents -> best cosines of their sentences
	PairDocs   = "pairdocs"   // the candidates with their cosines -> pairs of documents
	Align      = "align"      // the documents of a source shard and their partners -> beads

	EmbeddingFile = "embedding.npy"
	CellFile      = "neighbours.cell"
	ListsFile     = "neighbours.list"
	BitextFile    = "bitext.parquet"
	RowsFile      = "rows"
	JudgedFile    = "judged"

	DescriptionFile = "sentences.desc"
	CandidatesFile  = "candidates"
)

// Files opens what the tasks of a plan left in a store. It may be used concurrently.
type Files struct {
	Store *store.Store
	Plan  *plan.Plan
	Work  string // path of the store, for messages

	mu        sync.Mutex
	sentences map[int]func() (*Numbered, error) // sentences of each language
	laid      map[laidOf][]int32
	room      spill.Arena // holds the numbers of sentences
}

// Spill has the numbers of sentences in files without names, where they are many: beside a task's folder, which is
// moved when the task is done, while the numbers serve later tasks. The first folder decides.
func (f *Files) Spill(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.room.Dir == "" {
		f.room.Space = spill.In(filepath.Dir(dir))
	}
}

// Free frees what Spill put into files. Nothing that was read of sentences may be used any more.
func (f *Files) Free() error { return f.room.Close() }

// laidOf names the rows of one of the plan's shard sets, which is of a language's shards.
type laidOf struct{ language, set int }

// NewFiles returns the files of a plan.
func NewFiles(st *store.Store, p *plan.Plan, work string) *Files {
	return &Files{Store: st, Plan: p, Work: work, sentences: map[int]func() (*Numbered, error){}, laid: map[laidOf][]int32{}}
}

// Output returns the output of an earlier task.
func (f *Files) Output(ctx context.Context, stage, key string) (*store.Output, error) {
	return f.found(ctx, store.Task{Stage: stage, Key: key}, f.Store.Get)
}

// Record returns the record of an earlier task's output, whose files are not read.
func (f *Files) Record(ctx context.Context, stage, key string) (*store.Output, error) {
	return f.found(ctx, store.Task{Stage: stage, Key: key}, f.Store.Stat)
}

// found reads an output of an earlier task, and removes one that is damaged, so that a next attempt makes it again.
func (f *Files) found(ctx context.Context, task store.Task, read func(context.Context, store.Task) (*store.Output, error)) (*store.Output, error) {
	out, err := read(ctx, task)
	if errors.Is(err, fs.ErrNotExist) {
		// Not badinput, though a file is missing: the task that makes it may still be tried again.
		return nil, fmt.Errorf("the output %s/%s of an earlier task is not in %s; run mine run again", task.Stage, task.Key, f.Work)
	}
	return out, store.Discard(ctx, f.Store, task, err)
}

// Done lists the store's outputs of the plan's stages, and returns whether an output is among them.
func (f *Files) Done(ctx context.Context) (func(stage, key string) bool, error) {
	found := map[string]bool{}
	for _, wave := range f.Plan.Waves {
		for entry, err := range f.Store.List(ctx, wave.Stage) {
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", f.Work, err)
			}
			found[wave.Stage+"/"+entry.Name] = true
		}
	}
	return func(stage, key string) bool { return found[stage+"/"+key] }, nil
}

// OpenShard opens a shard.
func (f *Files) OpenShard(ctx context.Context, s *plan.Shard) (*shard.Reader, error) {
	out, err := f.Output(ctx, Shard, s.Task)
	if err != nil {
		return nil, err
	}
	return shard.Open(out.Path(s.File))
}

// Keys reads the sentence keys of a shard.
func (f *Files) Keys(ctx context.Context, s *plan.Shard) ([]corpus.Key, error) {
	reader, err := f.OpenShard(ctx, s)
	if err != nil {
		return nil, err
	}
	keys, err := reader.Keys()
	if err == nil && len(keys) != s.Rows {
		err = fmt.Errorf("shard %s has %d keys for %d rows", s.Name, len(keys), s.Rows)
	}
	return keys, errors.Join(err, reader.Close())
}

// Vectors opens a shard's embedding file, [rows, dim].
func (f *Files) Vectors(ctx context.Context, s *plan.Shard) (*embedding.File, error) {
	out, err := f.Output(ctx, Encode, s.Vector)
	if err != nil {
		return nil, err
	}
	file, err := embedding.Open(out.Path(EmbeddingFile), embedding.Want{Encoder: f.Plan.Settings.Encoder, Shard: s.SHA256})
	if err != nil {
		return nil, err
	}
	file.SHA256 = out.SHA256(EmbeddingFile)
	if file.N != s.Rows {
		return nil, errors.Join(fmt.Errorf("embedding file of %s has %d rows, its shard %d", s.Name, file.N, s.Rows), file.Close())
	}
	return file, nil
}

// Sentences numbers the distinct sentences of a language of the plan. It reads their keys once.
func (f *Files) Sentences(language int) (*Numbered, error) {
	f.mu.Lock()
	number, ok := f.sentences[language]
	if !ok {
		number = sync.OnceValues(func() (*Numbered, error) {
			ctx := context.Background() // the result outlives the task that asked first; reading keys is short
			return newNumbered(&f.room, f.Plan.Languages[language].Shards, func(s *plan.Shard) ([]corpus.Key, error) { return f.Keys(ctx, s) })
		})
		f.sentences[language] = number
	}
	f.mu.Unlock()
	return number()
}

// EndToEnd returns the sentence numbers of the rows of one of the plan's shard sets, which is of a language's shards.
func (f *Files) EndToEnd(language, set int) ([]int32, error) {
	numbered, err := f.Sentences(language)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := laidOf{language, set}
	if f.laid[key] == nil {
		if f.laid[key], err = numbered.EndToEnd(&f.room, f.Plan.Languages[language].Shards, f.Plan.ShardSets[set]); err != nil {
			return nil, err
		}
	}
	return f.laid[key], nil
}

// Cell reads the lists that a cell has for one of its sides, which has n rows; the other has m. It returns the cell's
// output, too.
func (f *Files) Cell(ctx context.Context, key string, side, n, m int) (lists mine.Neighbours, out *store.Output, err error) {
	if out, err = f.Output(ctx, Search, key); err != nil {
		return lists, nil, err
	}
	if side == 1 {
		n, m = m, n
	}
	lists, err = index.OpenCell(out.Path(CellFile), side, n, m, f.Plan.Settings.K)
	return lists, out, err
}

// Lists reads the merged neighbours of a shard of n rows over a shard set of m, and returns their output, too.
func (f *Files) Lists(ctx context.Context, key string, n, m int) (lists mine.Neighbours, out *store.Output, err error) {
	if out, err = f.Output(ctx, Merge, key); err != nil {
		return lists, nil, err
	}
	lists, err = index.OpenList(out.Path(ListsFile), n, m, f.Plan.Settings.K)
	return lists, out, err
}
