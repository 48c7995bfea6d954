package pairdocs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"bitextmine/align/match"
	"bitextmine/corpus/shard"
	"bitextmine/encode/embedding"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/spill"
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
	Means.Check, Means.Run = checkMeans, means
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
		Memory: 128<<20 + n*200,
		Disk:   n*rowSize + n/meanLength*(4*int64(s.Dim)+digestSize+60),
		Read:   n * (2*int64(s.Dim) + 20),
	}
}

func checkMeans(p *plan.Plan, t *plan.Task) error {
	a, err := stage.Args[meansArgs](t)
	if err == nil {
		err = stage.Within("language", a.Language, len(p.Languages))
	}
	if err == nil {
		err = stage.Within("shard", a.Shard, len(p.Languages[a.Language].Shards))
	}
	return err
}

// head is a document without its sentences.
type head struct {
	Name  string   `json:"doc,omitempty"` // empty: it is the record on Line
	URL   string   `json:"url,omitempty"`
	Meta  []string `json:"meta,omitempty"`
	File  int      `json:"file,omitempty"` // place among those that share the shard
	Line  uint64   `json:"line"`           // line of its first sentence
	Count int      `json:"n"`
}

// row is where a sentence's vector is: in which shard from the document's first on, and in which row.
type row struct{ Shard, Row uint32 }

const (
	rowSize    = 8
	digestSize = 16
	headsFile  = "documents.jsonl"
	meansFile  = "documents"
	meansMagic = 0x534e41454d434f44 // "DOCMEANS"
)

// meansHeader is the beginning of the file of a shard's documents of several sentences. Its sections are the place of
// each one's last row [documents], digests [documents], mean vectors [documents, dim], and the rows of all.
type meansHeader struct{ magic, documents, dim, rows uint64 }

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
		last, open = d, &started{head: head{d.Name, d.URL, d.Meta, d.File, d.Lines[0], 0}}
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

func (w *meansWriter) write(path string) error {
	header := []meansHeader{{meansMagic, uint64(len(w.ends)), uint64(w.dim), uint64(len(w.rows))}}
	return writeSections(path, spill.Bytes(header), spill.Bytes(w.ends), spill.Bytes(w.digests), spill.Bytes(w.means), spill.Bytes(w.rows))
}

// writeSections writes a file of sections.
func writeSections(path string, sections ...[]byte) error {
	return atomicfile.Write(path, func(f *os.File) error {
		out := bufio.NewWriterSize(f, 1<<20)
		for _, section := range sections {
			if err := spill.WriteSection(out, section); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// documents are the documents of several sentences that begin in a shard, in a mapped file.
type documents struct {
	ends    []uint64
	digests [][digestSize]byte
	means   []float32
	rows    []row
	mapping
}

// openDocuments maps the documents of a shard.
func openDocuments(ctx context.Context, f *view.Files, s *plan.Shard) (*documents, error) {
	out, err := f.Output(ctx, Means.Name, s.Documents)
	if err != nil {
		return nil, err
	}
	return opened(out.Path(meansFile), func(data []byte) (*documents, bool) {
		return decodeDocuments(data, uint64(f.Plan.Settings.Dim))
	})
}

// decodeDocuments reads a file of documents with means of dim values, whose memory they share, and says whether it is
// one.
func decodeDocuments(data []byte, dim uint64) (*documents, bool) {
	d, in := &documents{mapping: mapping{data}}, spill.Sections{Rest: data}
	h := spill.TakeOne[meansHeader](&in)
	if h.magic != meansMagic || h.dim != dim {
		return d, false
	}
	d.ends, d.digests = spill.Take[uint64](&in, h.documents), spill.Take[[digestSize]byte](&in, h.documents)
	if in.Short { // the product below may be too large
		return d, false
	}
	d.means, d.rows = spill.Take[float32](&in, h.documents*dim), spill.Take[row](&in, h.rows)
	return d, !in.Short && ascendTo(d.ends, h.rows)
}

// ascendTo says whether no number is below one before it or above the last possible one.
func ascendTo(numbers []uint64, last uint64) bool {
	return slices.IsSorted(numbers) && (len(numbers) == 0 || numbers[len(numbers)-1] <= last)
}

// damaged is the error of a file that is not as it was written.
func damaged(path string) error {
	return fmt.Errorf("%s is damaged: remove its directory, and it is made again", path)
}

// rowsOf are the rows of a document.
func (d *documents) rowsOf(at int) []row { return d.rows[beginOf(d.ends, at):d.ends[at]] }

// beginOf is where number k of what has these ends begins.
func beginOf(ends []uint64, k int) uint64 {
	if k == 0 {
		return 0
	}
	return ends[k-1]
}

// mapping is a mapped file.
type mapping struct{ data []byte }

func (m *mapping) close() error {
	if m.data == nil {
		return nil
	}
	err := unix.Munmap(m.data)
	m.data = nil
	return err
}

// opened maps a file that decode reads, and says whether it is one of its kind.
func opened[T interface{ close() error }](path string, decode func(data []byte) (T, bool)) (none T, err error) {
	data, err := embedding.Map(path)
	if err != nil {
		return none, err
	}
	found, ok := decode(data)
	if !ok {
		return none, errors.Join(damaged(path), found.close())
	}
	return found, nil
}

// eachHead reads the documents that begin in a shard.
func eachHead(ctx context.Context, f *view.Files, s *plan.Shard, do func(*head)) (err error) {
	out, err := f.Output(ctx, Means.Name, s.Documents)
	if err != nil {
		return err
	}
	file, err := os.Open(out.Path(headsFile))
	if err != nil {
		return fmt.Errorf("open the documents of a shard: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := json.NewDecoder(bufio.NewReader(file))
	for {
		h := &head{}
		if err := lines.Decode(h); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read %s: %w", file.Name(), err)
		}
		do(h)
	}
}
