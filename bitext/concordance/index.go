// Package concordance is full-text search over the pairs of a bitext: words, phrases and near spellings on either side,
// regular expressions over the raw text, and what words stand beside those that are looked for.
//
// The index is Bleve's. It holds the texts too, so that a search opens nothing else, and it follows a bitext from night
// to night: only pairs that came, went or were scored anew are written.
//
// # Blocks
//
// Records are kept in blocks of two files that only grow: the blocks one after another, and where each
// ends. A record is found by its number. It has a head, which is kept as it is, and a body, which is compressed with
// those of the block: heads are looked through fast. What a killed writer left behind the last block that is listed is
// written over.
package concordance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/blevesearch/bleve/v2"

	"bitextmine/bitext"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// format is raised when an index of before cannot be read, or would find something else.
const format = 9

const (
	metaName  = "concordance.json"
	indexName = "index"
	textsName = "texts" // file name in the index folder
	lockName  = "index.lock"
)

// meta describes an index. It is written last: an index without it, or with another bitext's digest, is brought up to
// date first.
type meta struct {
	Format    int               `json:"format"`
	Bitext    string            `json:"bitext_sha256"`
	Languages [2]string         `json:"languages"`
	Pairs     int               `json:"pairs"`
	Files     map[string]uint32 `json:"crc32c"` // sums of the index's files, by path
}

// Index is the concordance of one bitext, open for reading. It may be used concurrently.
type Index struct {
	Languages [2]string // source, target
	Pairs     int
	Changed   int   // pairs that Open wrote or removed
	Damage    error // why Open made the index anew; nil: it did not
	files     opened
	index     bleve.Index
	texts     *BlockReader
	bitext    string
}

// About is where the sentences of a pair are from, and its scores.
type About struct {
	Score       float32   `json:"score"` // the margin
	Probability *float32  `json:"prob,omitempty"`
	Doc         [2]string `json:"doc"` // source, target
	URL         [2]string `json:"url"`
	File        [2]string `json:"file"`
	Line        [2]uint64 `json:"line"`
}

// aboutOf is what a row says of its pair.
func aboutOf(row *bitext.Row) About {
	a := About{Score: row.Score, Probability: row.Prob}
	for side, s := range []*bitext.Sentence{&row.Source, &row.Target} {
		a.Doc[side], a.URL[side], a.Line[side] = s.Doc, s.URL, s.Line
		a.File[side] = s.Shard[:max(strings.LastIndexByte(s.Shard, '#'), 0)] // what follows is its place in the file
	}
	return a
}

// Progress is told how many pairs of how many are read.
type Progress func(done, all int)

// Open opens the concordance of a bitext file in a directory, which it makes, or brings up to date with the file, where
// that is needed. Only kept pairs are in it. The directory may be removed at any time: it is made again.
func Open(ctx context.Context, dir, path string, progress Progress) (_ *Index, err error) {
	_, now, err := atomicfile.Digest(path)
	if err != nil {
		return nil, badinput.Errorf("bitext file %s cannot be read: %w", path, err)
	}
	before, err := readMeta(dir)
	if err != nil {
		return nil, err
	}
	changed, damage := 0, error(nil)
	if !before.describes(now) || before.check(dir) != nil {
		if changed, damage, err = update(ctx, dir, path, now, progress); err != nil {
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
	x.Changed, x.Damage = changed, damage
	return x, nil
}

// describes reports whether an index was made of the bitext with a digest.
func (m *meta) describes(bitext string) bool {
	return m != nil && m.Format == format && m.Bitext == bitext
}

// OpenExisting opens the concordance of a bitext file as it is and writes nothing. Without one, or with one of another
// bitext, the error is fs.ErrNotExist.
func OpenExisting(dir, path string) (*Index, error) {
	_, now, err := atomicfile.Digest(path)
	if err != nil {
		return nil, badinput.Errorf("bitext file %s cannot be read: %w", path, err)
	}
	there, err := readMeta(dir)
	if err != nil {
		return nil, err
	}
	if !there.describes(now) {
		return nil, fmt.Errorf("a concordance of %s in %s: %w", path, dir, fs.ErrNotExist)
	}
	if err := there.check(dir); err != nil {
		return nil, damaged(dir, err)
	}
	return read(dir, path, there)
}

// Unindexed is the concordance of a bitext file without an index. Regular expressions alone are searched in it.
func Unindexed(ctx context.Context, path string) (_ *Index, err error) {
	in, err := bitext.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	x := &Index{bitext: path}
	x.Languages, err = languages(ctx, in)
	return x, err
}

// read opens the index of a bitext that a directory holds.
func read(dir, path string, m *meta) (*Index, error) {
	index, err := bleve.OpenUsing(filepath.Join(dir, indexName),
		map[string]any{"read_only": true, "bolt_timeout": openTimeout})
	if err != nil {
		return nil, damaged(dir, err)
	}
	texts, err := OpenBlocks(filepath.Join(dir, indexName, textsName))
	if err != nil {
		return nil, errors.Join(damaged(dir, err), index.Close())
	}
	files, err := stat(filepath.Join(dir, indexName), m)
	if err != nil {
		return nil, errors.Join(damaged(dir, err), texts.Close(), index.Close())
	}
	return &Index{Languages: m.Languages, Pairs: m.Pairs, files: files, index: index, texts: texts, bitext: path}, nil
}

func damaged(dir string, err error) error {
	return badinput.Errorf("the concordance %s is damaged (%w): `mine search` makes it again", dir, err)
}

// Directory is where the index of a run's bitext file is: in the output directory that was named, of one run or of
// nightly ones.
func Directory(out, path string) string {
	return filepath.Join(out, "concordance", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// Close closes the index.
func (x *Index) Close() error {
	if x.index == nil {
		return nil
	}
	return errors.Join(x.texts.Close(), x.index.Close())
}

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
				return nil, badinput.Errorf(
					"%s is to hold a concordance but holds %s: name another directory with --index", dir, name)
			}
		}
		return nil, nil
	case err != nil:
		return nil, badinput.Errorf("the concordance %s cannot be read: %w", dir, err)
	}
	m := &meta{}
	if err := json.Unmarshal(data, m); err != nil {
		return &meta{Format: format}, nil // it lists nothing, so the index is made anew
	}
	return m, nil
}
