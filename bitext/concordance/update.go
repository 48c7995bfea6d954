package concordance

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	bleveindex "github.com/blevesearch/bleve_index_api"
	berrors "go.etcd.io/bbolt/errors"

	"bitextmine/bitext"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
)

// update makes the index of a bitext, or changes the one that is there: its pairs that the bitext has no more are
// removed, new ones are added. damage is why an index that was there is made anew.
func update(ctx context.Context, dir, path, digest string, progress Progress) (changed int, damage, err error) {
	in, err := bitext.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	m := meta{Format: format, Bitext: digest}
	if m.Languages, err = languages(ctx, in); err != nil {
		return 0, nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, nil, badinput.Errorf("the concordance %s cannot be made: %w; name another directory with --index", dir,
			err)
	}
	release, err := lockfile.Await(ctx, filepath.Join(dir, lockName))
	if badinput.Is(err) {
		err = badinput.Errorf("the concordance %s has to be brought up to date, which this user cannot do; "+
			"name another directory with --index: %w", dir, err)
	}
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	before, err := readMeta(dir) // again: another process may have done it meanwhile
	if err != nil {
		return 0, nil, err
	}
	there := before != nil && before.Format == format
	if there {
		damage = before.check(dir)
	}
	if before.describes(digest) && damage == nil {
		return 0, nil, nil
	}
	err = errAnew
	if there && damage == nil && before.Languages == m.Languages {
		changed, m.Pairs, err = change(ctx, filepath.Join(dir, indexName), before.Pairs, in, progress)
	}
	if errors.Is(err, errAnew) {
		m.Pairs, err = build(ctx, filepath.Join(dir, indexName), in, m.Languages, progress)
		changed = m.Pairs
	}
	if err == nil {
		err = share(filepath.Join(dir, indexName))
	}
	if err == nil {
		m.Files, err = checksums(filepath.Join(dir, indexName))
	}
	if err != nil {
		return 0, damage, explained(dir, err)
	}
	return changed, damage, atomicfile.WriteJSON(filepath.Join(dir, metaName), m)
}

// share gives an index, which Bleve makes for its user alone, the modes of other outputs.
func share(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := atomicfile.Mode
		if entry.IsDir() {
			mode = atomicfile.DirMode
		}
		if info.Mode().Perm() == mode {
			return nil // perhaps another user's
		}
		return os.Chmod(path, mode)
	})
}

// explained gives a full disk its one sentence. Bleve tells of it by text alone.
func explained(path string, err error) error {
	for _, full := range badinput.DiskFull {
		if strings.Contains(err.Error(), full.Error()) {
			return atomicfile.Explain(path, full)
		}
	}
	return err
}

// languages returns the languages of the first pair.
func languages(ctx context.Context, in *bitext.Reader) (of [2]string, err error) {
	for row, err := range in.Rows(ctx) {
		return [2]string{row.Source.Lang, row.Target.Lang}, err
	}
	return of, nil
}

// build makes a new index in the place of what is there.
func build(ctx context.Context, path string, in *bitext.Reader, languages [2]string,
	progress Progress) (n int, err error) {
	m, err := newMapping(languages)
	if err != nil {
		return 0, fmt.Errorf("mapping of the concordance: %w", err)
	}
	fresh, parts := path+atomicfile.Suffix, path+".parts"+atomicfile.Suffix
	for _, old := range []string{fresh, parts, path} {
		if err := os.RemoveAll(old); err != nil {
			return 0, err
		}
	}
	if err := os.Mkdir(parts, 0o777); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(parts)) }()
	b, err := bleve.NewBuilder(fresh, m, map[string]any{"buildPathPrefix": parts})
	if err != nil {
		return 0, fmt.Errorf("make the concordance %s: %w", path, err)
	}
	texts, err := AppendBlocks(filepath.Join(fresh, textsName))
	if err == nil {
		r := recorder{mapping: m}
		n, err = eachKept(ctx, in, progress, func(row *bitext.Row) error {
			at, err := texts.Add(r.record(row))
			if err != nil {
				return err
			}
			return b.Index(name(row)+suffix(at), document(row))
		})
		err = errors.Join(err, texts.Close())
	}
	if err == nil && n == 0 { // the builder cannot be closed without a document
		err = empty(fresh, m)
	} else {
		err = errors.Join(err, b.Close())
	}
	if err != nil {
		return 0, fmt.Errorf("make the concordance %s: %w", path, errors.Join(err, os.RemoveAll(fresh)))
	}
	return n, os.Rename(fresh, path)
}

// empty makes an index without documents in the place of what is there.
func empty(path string, m mapping.IndexMapping) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	index, err := bleve.New(path, m)
	if err != nil {
		return err
	}
	texts, err := AppendBlocks(filepath.Join(path, textsName))
	if err == nil {
		err = texts.Close()
	}
	return errors.Join(err, index.Close())
}

// openTimeout is how long an update waits for readers in other processes before it makes an index anew beside theirs.
const openTimeout = "1s"

// batchSize is how many pairs are written at once.
const batchSize = 2000

// errAnew says that an index is to be made anew.
var errAnew = errors.New("the index is to be made anew")

// change brings an index of so many pairs up to date. It returns errAnew if another process reads the index, or if more
// than half of the indexed texts belong to removed pairs.
func change(ctx context.Context, path string, pairs int, in *bitext.Reader,
	progress Progress) (changed, n int, err error) {
	index, err := bleve.OpenUsing(path, map[string]any{"bolt_timeout": openTimeout})
	if errors.Is(err, berrors.ErrTimeout) {
		return 0, 0, errAnew
	}
	if err != nil {
		return 0, 0, damaged(filepath.Dir(path), err)
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	c := changer{recorder: recorder{mapping: index.Mapping()}, index: index, batch: index.NewBatch()}
	if c.texts, err = AppendBlocks(filepath.Join(path, textsName)); err != nil {
		return 0, 0, damaged(filepath.Dir(path), err)
	}
	defer func() { err = errors.Join(err, c.texts.Close()) }()
	if c.texts.Len() > 2*uint64(pairs)+perhaps {
		return 0, 0, errAnew
	}
	if c.gone, err = allIDs(index); err != nil {
		return 0, 0, err
	}
	if n, err = eachKept(ctx, in, progress, c.add); err != nil {
		return c.changed, n, err
	}
	for _, id := range c.gone {
		c.batch.Delete(id)
		if err := c.flush(batchSize); err != nil {
			return c.changed, n, err
		}
	}
	return c.changed, n, c.flush(1)
}

// perhaps is how many texts of pairs that went are not worth an index anew.
const perhaps = 10_000

// changer is an index while it is brought up to date.
type changer struct {
	recorder
	index   bleve.Index
	texts   *BlockWriter
	batch   *bleve.Batch
	gone    map[string]string // ids of the pairs that were not seen yet, by name
	changed int
}

func (c *changer) add(row *bitext.Row) error {
	of := name(row)
	if _, there := c.gone[of]; there {
		delete(c.gone, of)
		return nil
	}
	at, err := c.texts.Add(c.record(row))
	if err == nil {
		err = c.batch.Index(of+suffix(at), document(row))
	}
	if err != nil {
		return err
	}
	return c.flush(batchSize)
}

// flush writes a batch of at least so many pairs, after their texts.
func (c *changer) flush(least int) error {
	if c.batch.Size() < least {
		return nil
	}
	c.changed += c.batch.Size()
	err := c.texts.Flush()
	if err == nil {
		err = c.index.Batch(c.batch)
	}
	c.batch.Reset()
	return err
}

// allIDs are the ids of all pairs in an index, by name.
func allIDs(index bleve.Index) (ids map[string]string, err error) {
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
	ids = map[string]string{}
	for {
		var next bleveindex.IndexInternalID
		if next, err = all.Next(); err != nil || next == nil {
			return ids, err
		}
		id, err := reader.ExternalID(next)
		if err != nil {
			return nil, err
		}
		if len(id) < nameLength {
			return nil, fmt.Errorf("a pair is called %q", id)
		}
		ids[id[:nameLength]] = id
	}
}

// eachKept calls do for every kept pair and returns their number.
func eachKept(ctx context.Context, in *bitext.Reader, progress Progress,
	do func(*bitext.Row) error) (n int, err error) {
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

// nameLength is the length of a pair's name.
const nameLength = 24

// name names a pair and all that the index holds of it: a pair that was scored anew is another. A pair's id in the
// index is its name and its place.
func name(row *bitext.Row) string {
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
		for _, from := range []string{s.Doc, s.URL, s.Shard} {
			numbers = append(append(numbers, from...), 0)
		}
	}
	h.Write(numbers)
	return hex.EncodeToString(h.Sum(nil)[:nameLength/2])
}

// suffix is where a pair's texts are, as its id ends.
func suffix(at uint64) string { return strconv.FormatUint(at, 36) }

// place is where the texts of the pair with an id are.
func place(id string) (uint64, error) {
	return strconv.ParseUint(id[min(len(id), nameLength):], 36, 64)
}

// document is a pair as the index takes it.
func document(row *bitext.Row) map[string]any {
	return map[string]any{fields[0]: PlainOf(row.Source.Text).Text, fields[1]: PlainOf(row.Target.Text).Text}
}
