package concordance

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/blevesearch/bleve/v2"
	bleveindex "github.com/blevesearch/bleve_index_api"
	berrors "go.etcd.io/bbolt/errors"

	"bitextmine/bitext"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/filedigest"
	"bitextmine/internal/lockfile"
)

// format is raised when an index of before cannot be read, or would find something else.
const format = 1

const (
	metaName  = "concordance.json"
	indexName = "index"
	lockName  = "index.lock"
)

// meta describes an index. It is written last: an index without it, or with another bitext's digest, is brought up to
// date first.
type meta struct {
	Format    int       `json:"format"`
	Bitext    string    `json:"bitext_sha256"`
	Languages [2]string `json:"languages"`
	Pairs     int       `json:"pairs"`
}

// Index is the concordance of one bitext, open for reading. It may be used concurrently.
type Index struct {
	Languages [2]string // source, target
	Pairs     int
	Changed   int // pairs that Open wrote or removed
	index     bleve.Index
	bitext    string
}

// About is where the sentences of a pair are from, and its scores.
type About struct {
	Score       float32   `json:"score"` // the margin
	Probability *float32  `json:"prob,omitempty"`
	Doc         [2]string `json:"doc"` // source, target
	URL         [2]string `json:"url"`
	Line        [2]uint64 `json:"line"`
}

// Progress is told how many pairs of how many are read.
type Progress func(done, all int)

// Open opens the concordance of a bitext file in a directory, which it makes, or brings up to date with the file, where
// that is needed. Only kept pairs are in it. The directory may be removed at any time: it is made again.
func Open(ctx context.Context, dir, path string, progress Progress) (_ *Index, err error) {
	_, now, err := filedigest.Of(path)
	if err != nil {
		return nil, badinput.Errorf("bitext file %s cannot be read: %w", path, err)
	}
	before, err := readMeta(dir)
	if err != nil {
		return nil, err
	}
	changed := 0
	if before == nil || before.Format != format || before.Bitext != now {
		if changed, err = update(ctx, dir, path, now, progress); err != nil {
			return nil, err
		}
		if before, err = readMeta(dir); err != nil {
			return nil, err
		}
	}
	x, err := read(dir, path, before)
	if err != nil {
		return nil, err
	}
	x.Changed = changed
	return x, nil
}

// OpenExisting opens the concordance of a bitext file as it is and writes nothing. Without one, or with one of another
// bitext, the error is fs.ErrNotExist.
func OpenExisting(dir, path string) (*Index, error) {
	_, now, err := filedigest.Of(path)
	if err != nil {
		return nil, badinput.Errorf("bitext file %s cannot be read: %w", path, err)
	}
	there, err := readMeta(dir)
	if err != nil {
		return nil, err
	}
	if there == nil || there.Format != format || there.Bitext != now {
		return nil, fmt.Errorf("a concordance of %s in %s: %w", path, dir, fs.ErrNotExist)
	}
	return read(dir, path, there)
}

// read opens the index of a bitext that a directory holds.
func read(dir, path string, m *meta) (*Index, error) {
	index, err := bleve.OpenUsing(filepath.Join(dir, indexName), map[string]any{"read_only": true, "bolt_timeout": openTimeout})
	if err != nil {
		return nil, badinput.Errorf("the concordance %s is damaged (%w): remove it, and it is made again", dir, err)
	}
	return &Index{Languages: m.Languages, Pairs: m.Pairs, index: index, bitext: path}, nil
}

// Directory is where the index of a run's bitext file is: in the output directory that was named, of one run or of
// nightly ones.
func Directory(out, path string) string {
	return filepath.Join(out, "concordance", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// Close closes the index.
func (x *Index) Close() error { return x.index.Close() }

// readMeta reads what an index says of itself; nil if there is none. A directory that holds something else is refused.
func readMeta(dir string) (*meta, error) {
	data, err := os.ReadFile(filepath.Join(dir, metaName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, badinput.Errorf("the concordance %s cannot be read: %w", dir, err)
		}
		for _, entry := range entries {
			if name := entry.Name(); name != lockName && name != indexName && filepath.Ext(name) != atomicfile.Suffix {
				return nil, badinput.Errorf("%s is to hold a concordance but holds %s: name another directory with --index", dir, name)
			}
		}
		return nil, nil
	case err != nil:
		return nil, badinput.Errorf("the concordance %s cannot be read: %w", dir, err)
	}
	m := &meta{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, badinput.Errorf("the concordance %s is damaged (%w): remove it, and it is made again", dir, err)
	}
	return m, nil
}

// update makes the index of a bitext, or changes the one that is there: its pairs that the bitext has no more are
// removed, new ones are added.
func update(ctx context.Context, dir, path, digest string, progress Progress) (changed int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, badinput.Errorf("the concordance %s cannot be made: %w; name another directory with --index", dir, err)
	}
	release, err := lockfile.Await(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, release()) }()
	before, err := readMeta(dir) // again: another process may have done it meanwhile
	if err != nil || before != nil && before.Format == format && before.Bitext == digest {
		return 0, err
	}
	in, err := bitext.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	m := meta{Format: format, Bitext: digest}
	if m.Languages, err = languages(ctx, in); err != nil {
		return 0, err
	}
	if before != nil && before.Format == format && before.Languages == m.Languages {
		changed, m.Pairs, err = change(ctx, filepath.Join(dir, indexName), in, progress)
	} else {
		m.Pairs, err = build(ctx, filepath.Join(dir, indexName), in, m.Languages, progress)
		changed = m.Pairs
	}
	if err != nil {
		return 0, err
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return 0, err
	}
	return changed, atomicfile.WriteBytes(filepath.Join(dir, metaName), append(data, '\n'))
}

// languages are those of the first pair.
func languages(ctx context.Context, in *bitext.Reader) (of [2]string, err error) {
	for row, err := range in.Rows(ctx) {
		return [2]string{row.Source.Lang, row.Target.Lang}, err
	}
	return of, nil
}

// build makes a new index in the place of what is there.
func build(ctx context.Context, path string, in *bitext.Reader, languages [2]string, progress Progress) (n int, err error) {
	m, err := newMapping(languages)
	if err != nil {
		return 0, fmt.Errorf("mapping of the concordance: %w", err)
	}
	fresh := path + atomicfile.Suffix
	for _, old := range []string{fresh, path} {
		if err := os.RemoveAll(old); err != nil {
			return 0, err
		}
	}
	b, err := bleve.NewBuilder(fresh, m, map[string]any{"buildPathPrefix": filepath.Dir(path)})
	if err != nil {
		return 0, fmt.Errorf("make the concordance %s: %w", path, err)
	}
	n, err = eachKept(ctx, in, progress, func(row *bitext.Row) error { return b.Index(id(row), document(row)) })
	if err := errors.Join(err, b.Close()); err != nil {
		return 0, fmt.Errorf("make the concordance %s: %w", path, errors.Join(err, os.RemoveAll(fresh)))
	}
	return n, os.Rename(fresh, path)
}

// openTimeout is how long a change waits for readers in other processes to end.
const openTimeout = "5s"

// batchSize is how many pairs are written at once.
const batchSize = 2000

// change brings an index up to date.
func change(ctx context.Context, path string, in *bitext.Reader, progress Progress) (changed, n int, err error) {
	index, err := bleve.OpenUsing(path, map[string]any{"bolt_timeout": openTimeout})
	if errors.Is(err, berrors.ErrTimeout) {
		return 0, 0, fmt.Errorf("the concordance %s is read by another process, so it cannot be brought up to date: end that, or search again later", path)
	}
	if err != nil {
		return 0, 0, badinput.Errorf("the concordance %s is damaged (%w): remove its directory, and it is made again", path, err)
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	gone, err := allIDs(index)
	if err != nil {
		return 0, 0, err
	}
	batch := index.NewBatch()
	flush := func(least int) error {
		if batch.Size() < least {
			return nil
		}
		changed += batch.Size()
		err := index.Batch(batch)
		batch.Reset()
		return err
	}
	n, err = eachKept(ctx, in, progress, func(row *bitext.Row) error {
		name := id(row)
		if gone[name] {
			delete(gone, name)
			return nil
		}
		if err := batch.Index(name, document(row)); err != nil {
			return err
		}
		return flush(batchSize)
	})
	for name := range gone {
		if err == nil {
			batch.Delete(name)
			err = flush(batchSize)
		}
	}
	if err == nil {
		err = flush(1)
	}
	return changed, n, err
}

// allIDs are the names of all pairs in an index.
func allIDs(index bleve.Index) (ids map[string]bool, err error) {
	inner, err := index.Advanced()
	if err != nil {
		return nil, err
	}
	reader, err := inner.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	all, err := reader.DocIDReaderAll()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	ids = map[string]bool{}
	for {
		var next bleveindex.IndexInternalID
		if next, err = all.Next(); err != nil || next == nil {
			return ids, err
		}
		name, err := reader.ExternalID(next)
		if err != nil {
			return nil, err
		}
		ids[name] = true
	}
}

// eachKept calls do for every kept pair and returns their number.
func eachKept(ctx context.Context, in *bitext.Reader, progress Progress, do func(*bitext.Row) error) (n int, err error) {
	const step = 1000
	read := 0
	for row, err := range in.Rows(ctx) {
		if err != nil {
			return n, err
		}
		if read++; read%step == 0 && progress != nil {
			progress(read, in.Len())
		}
		if !row.Keep {
			continue
		}
		if err := do(&row); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// id names a pair and all that the index holds of it: a pair that was scored anew is another.
func id(row *bitext.Row) string {
	h := sha256.New()
	h.Write(row.Source.Key[:])
	h.Write(row.Target.Key[:])
	probability := float32(-1)
	if row.Prob != nil {
		probability = *row.Prob
	}
	numbers := binary.LittleEndian.AppendUint32(nil, math.Float32bits(row.Score))
	numbers = binary.LittleEndian.AppendUint32(numbers, math.Float32bits(probability))
	for _, s := range []*bitext.Sentence{&row.Source, &row.Target} {
		numbers = binary.LittleEndian.AppendUint64(numbers, s.Line)
		numbers = append(append(append(append(numbers, s.Doc...), 0), s.URL...), 0)
	}
	h.Write(numbers)
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// document is a pair as the index takes it.
func document(row *bitext.Row) map[string]any {
	about, err := json.Marshal(About{
		Score: row.Score, Probability: row.Prob, Doc: [2]string{row.Source.Doc, row.Target.Doc},
		URL: [2]string{row.Source.URL, row.Target.URL}, Line: [2]uint64{row.Source.Line, row.Target.Line},
	})
	if err != nil {
		panic(fmt.Sprintf("a pair's scores: %v", err)) // no NaN gets into a bitext
	}
	return map[string]any{fields[0]: row.Source.Text, fields[1]: row.Target.Text, aboutField: string(about)}
}
