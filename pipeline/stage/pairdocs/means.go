package pairdocs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/align/match"
	"bitextmine/corpus/shard"
	"bitextmine/internal/atomicfile"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/view"
)

// Means is the descriptor of the stage that computes the mean vectors of the documents that begin in a shard. It knows
// one language, so its output serves all pairs of the language, and every night until the file changes.
var Means = &stage.Descriptor{
	Name: view.DocMeans, Version: 1, Unit: "sentences", After: []string{view.Encode}, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Means.Check, Means.Run = stage.CheckShard, means
	stage.Register(Means)
}

// meansArgs is a shard of a language.
type meansArgs struct {
	Language int `json:"language"`
	Shard    int `json:"shard"`
}

// meansSpec lists all that the documents of a shard depend on: where it was cut, how many shards before it may have the
// beginning of its first document, and the vectors of its sentences and of those of the shards that its last document
// may go on in.
type meansSpec struct {
	Task, File string
	Before     int
	Vectors    []string
}

// wantMeans asks for the mean vectors of a language's documents and sets their keys.
func wantMeans(b *stage.Builder, language int) {
	shards := b.Languages[language].Shards
	for i := range shards {
		encode.Want(b, language, i)
	}
	for i := range shards {
		s := &shards[i]
		before, after := joined(shards, i)
		of := meansSpec{Task: s.Task, File: s.File, Before: before}
		for _, next := range shards[i : i+after+1] {
			of.Vectors = append(of.Vectors, next.Vector)
		}
		s.Documents = Means.Key(of)
		b.Add(Means, s.Documents, int64(s.Rows), meansCost(b.Settings, s.Rows), meansArgs{language, i})
	}
}

// joined is how many shards before and after a shard have rows of the same file as its first and its last row.
func joined(shards []plan.Shard, i int) (before, after int) {
	for j := i; j > 0 && goesOn(&shards[j-1], &shards[j]); j-- {
		before++
	}
	for j := i; j+1 < len(shards) && goesOn(&shards[j], &shards[j+1]); j++ {
		after++
	}
	return before, after
}

// goesOn says whether the file at the end of a shard goes on in the next.
func goesOn(s, next *plan.Shard) bool {
	return s.FilePath(len(s.Files)-1) == next.FilePath(0)
}

// meanLength is the sentences of a document that costs assume.
const meanLength = 10

// meansCost is, in memory, the documents of the shard as they are read, and of those that share its file's ends.
func meansCost(s plan.Settings, rows int) stage.Cost {
	n := int64(rows)
	return stage.Cost{
		Fixed:  128 << 20,
		Memory: n * 200,
		Disk:   n*rowSize + n/meanLength*(4*int64(s.Dim)+digestSize+60),
		Read:   n * (2*int64(s.Dim) + 20),
	}
}

// means writes the documents that begin in a shard.
func means(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[meansArgs](t)
	if err != nil {
		return nil, err
	}
	language := &e.Plan.Languages[a.Language]
	w := &meansWriter{dim: e.Plan.Settings.Dim, vectors: newVectors(e.Files, language)}
	defer func() { err = errors.Join(err, w.vectors.close()) }()
	err = atomicfile.Write(filepath.Join(dir, headsFile), func(f *os.File) error {
		out := bufio.NewWriter(f)
		lines := json.NewEncoder(out)
		err := eachBeginning(ctx, e.Files, language, a.Shard, func(d *started) error {
			return errors.Join(ctx.Err(), lines.Encode(d.head), w.add(ctx, a.Shard, d))
		})
		return errors.Join(err, out.Flush())
	})
	if err != nil {
		return nil, err
	}
	meter.Add(t.Items)
	return nil, w.write(filepath.Join(dir, meansFile))
}

// started is a document that begins in a shard.
type started struct {
	head
	rows []row
}

// eachBeginning calls do with the documents that begin in a shard. The last has what the following shards have of it.
func eachBeginning(ctx context.Context, f *view.Files, language *plan.Language, at int, do func(*started) error) error {
	s := &language.Shards[at]
	path, err := documentsPath(ctx, f, s)
	if err != nil {
		return err
	}
	before, after := joined(language.Shards, at)
	var open *started        // the document that was read last
	var last *shard.Document // its last part
	for d, err := range shard.Documents(path, s.Rows) {
		if err != nil {
			return err
		}
		if last == nil {
			if began, err := beganBefore(ctx, f, language, at, before, d); err != nil {
				return err
			} else if began {
				last = d
				continue
			}
		}
		if open != nil {
			if err := do(open); err != nil {
				return err
			}
		}
		last, open = d, &started{head: head{d.Name, d.URL, d.Meta, d.File, d.Begins(), 0}}
		open.add(0, d.Rows)
	}
	if open == nil {
		return nil
	}
	if err := open.goOn(ctx, f, language, at, after, last); err != nil {
		return err
	}
	return do(open)
}

// goOn adds what the shards after the one that a document begins in have of it.
func (d *started) goOn(ctx context.Context, f *view.Files, language *plan.Language, at, after int, last *shard.Document) error {
	from := language.Shards[at].FilePath(last.File)
	for j := 1; j <= after; j++ {
		next := &language.Shards[at+j]
		path, err := documentsPath(ctx, f, next)
		if err != nil {
			return err
		}
		n := 0
		for more, err := range shard.Documents(path, next.Rows) {
			if err != nil {
				return err
			}
			if n++; n > 1 || next.FilePath(more.File) != from || !last.Goes(more) {
				return nil
			}
			d.add(j, more.Rows)
			last = more
		}
	}
	return nil
}

// beganBefore says whether the first document of a shard began in one of so many before it.
func beganBefore(ctx context.Context, f *view.Files, language *plan.Language, at, before int, first *shard.Document) (bool, error) {
	for j := at - 1; j >= at-before; j-- {
		s := &language.Shards[j]
		path, err := documentsPath(ctx, f, s)
		if err != nil {
			return false, err
		}
		last, err := shard.LastDocument(path, s.Rows)
		if err != nil {
			return false, err
		}
		if last != nil {
			return s.FilePath(last.File) == language.Shards[at].FilePath(first.File) && last.Goes(first), nil
		}
	}
	return false, nil
}

// add adds rows of a shard, which is so many after the document's first.
func (d *started) add(shard int, rows []uint32) {
	for _, at := range rows {
		d.rows = append(d.rows, row{uint32(shard), at})
	}
	d.Count += len(rows)
}

// meansWriter collects the documents of several sentences.
type meansWriter struct {
	dim     int
	vectors *vectors
	ends    []uint64
	digests [][digestSize]byte
	means   []float32
	rows    []row
	buffer  []float32
}

// add adds a document that begins in a shard. Those of one sentence are in no pair.
func (w *meansWriter) add(ctx context.Context, shard int, d *started) error {
	if d.Count < minSentences {
		return nil
	}
	w.rows = append(w.rows, d.rows...)
	w.ends = append(w.ends, uint64(len(w.rows)))
	w.digests = append(w.digests, w.vectors.digest(shard, d.rows))
	n := len(w.means)
	w.means = append(w.means, make([]float32, w.dim)...)
	if w.buffer == nil {
		w.buffer = make([]float32, chunk*w.dim)
	}
	for rows := range slices.Chunk(d.rows, chunk) {
		if err := w.vectors.read(ctx, shard, rows, w.buffer); err != nil {
			return err
		}
		for k := range rows {
			match.AddToMean(w.means[n:], w.buffer[k*w.dim:][:w.dim], d.Count)
		}
	}
	return nil
}

// chunk is how many vectors of a document are in memory at once.
const chunk = 256
