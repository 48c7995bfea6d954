package shard

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/split"
	"bitextmine/internal/atomicfile"
)

// Info describes one shard file.
type Info struct {
	File   string `json:"file"` // file name without the directory
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`  // file size
	SHA256 string `json:"sha256"` // digest of the whole file, in hex
	// Files lists the files of its rows and repetitions, in their order, where several are cut together.
	Files []FileRows `json:"files,omitempty"`
}

// FileRows says where the rows of a file begin in a shard.
type FileRows struct {
	File  int    `json:"file"` // place among the files that are cut together
	First uint32 `json:"first"`
}

// Result is the result of cutting one input file into shards.
type Result struct {
	Format corpus.Format `json:"format"` // the format that was read, never "auto"
	Shards []Info        `json:"shards"`
	Counts corpus.Counts `json:"counts"`
	Sample []string      `json:"-"` // some sentences of all of the file, the same for any shards
}

// Progress is how much of a file was read.
type Progress struct {
	Lines uint64
	Bytes int64 // read from the file, before decompression
}

// Options are the settings of CutTogether that do not change its output. The zero value is usable.
type Options struct {
	// Name returns the file name of the n-th shard, from 0. The default is shard-00000.parquet and so on.
	Name func(n int) string
	// Report, if set, is called every few thousand lines and at the end, on the calling goroutine.
	Report func(Progress)
}

// Learned is a learned splitter. Digest stands for all that changes what it finds.
type Learned interface {
	split.Divider
	Digest() string
}

// progressEvery is the number of lines between two reports: some milliseconds.
const progressEvery = 8192

// Text is an input file and how it is read and cut.
type Text struct {
	File    input.File
	Options corpus.Options
	// Learned divides records that are divided; nil: the rules of the program do. corpus.Options.Split has its digest.
	Learned Learned
	// Exclude are sentences to leave out; nil: none. corpus.Options.Exclude identifies them.
	Exclude map[corpus.Key]bool
}

// Together is the result of cutting several files into common shards.
type Together struct {
	Shards []Info
	Files  []Result // their Shards are empty
}

// CutTogether cuts files into shards of at most the first file's ShardSize rows in directory dir, which must exist; the
// rows of small files follow each other in one. A shard holds each sentence key once, with its first occurrence.
// Duplicates across shards are removed later, when neighbours are merged. The bytes of the files depend only on the
// inputs' bytes, their formats and options. Memory holds one shard's keys and one row group.
//
// A file without text has no shard. Every shard is published complete. If a file turns out to be damaged or unusable,
// the shards that this call has published are removed, so that part of an input is never mistaken for all of it.
func CutTogether(ctx context.Context, texts []Text, dir string, how Options) (_ *Together, err error) {
	c := &cutter{texts: texts, at: -1, report: how.Report, seen: make(map[corpus.Key]uint32)}
	defer func() { err = errors.Join(err, c.close()) }()
	for _, t := range texts {
		c.divided = c.divided || t.Options.Split != ""
		if t.Options.Documents {
			c.documents = &documents{}
		}
	}
	name := how.Name
	if name == nil {
		name = func(n int) string { return fmt.Sprintf("shard-%05d.parquet", n) }
	}
	result := &Together{}
	defer func() {
		if err != nil {
			err = errors.Join(err, remove(dir, result.Shards))
		}
	}()
	for err = c.advance(ctx); err == nil; {
		var s Info
		s, err = c.writeShard(ctx, filepath.Join(dir, name(len(result.Shards))), texts[0].Options.ShardSize)
		if s.Rows > 0 {
			result.Shards = append(result.Shards, s)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	result.Files = c.files
	return result, c.checkRows(result.Shards)
}

// Check reads a file as CutTogether would, for its error.
func Check(ctx context.Context, t Text) (err error) {
	in, err := openSentences(t.File, t.Options, t.Learned)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.in.Close()) }()
	for err == nil {
		_, err = in.next(ctx)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, corpus.ErrEmpty) {
		return nil
	}
	return err
}

func remove(dir string, shards []Info) error {
	var errs []error
	for _, s := range shards {
		errs = append(errs, os.Remove(filepath.Join(dir, s.File)))
		if err := os.Remove(filepath.Join(dir, DocumentsName(s.File))); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// cutter copies sentences from files into shards.
type cutter struct {
	texts      []Text
	at         int        // the file that is read
	in         *sentences // nil: none is open
	files      []Result   // results of the files that were read to their end
	report     func(Progress)
	read       Progress              // sum over those files
	divided    bool                  // records of a file are divided
	seen       map[corpus.Key]uint32 // rows of the current shard
	from       []FileRows            // files of the current shard
	documents  *documents            // documents of the current shard; nil: nobody asks for them
	row        Row                   // the sentence to write next
	meta       []string              // its document's metadata
	sentences  uint64                // read from the file
	kept       uint64                // sentences kept among them
	duplicates uint64
	excluded   corpus.Counts // only Skipped and Examples
	sample     sample
	site       Site // sum over all files
}

// advance reads the next sentence that is not yet in the current shard into c.row.
func (c *cutter) advance(ctx context.Context) error {
	for {
		if c.in == nil {
			if err := c.open(); err != nil {
				return err
			}
		}
		s, err := c.in.next(ctx)
		if errors.Is(err, io.EOF) || errors.Is(err, corpus.ErrEmpty) {
			if err = c.endFile(); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		if c.sentences++; c.sentences%progressEvery == 0 {
			c.reportProgress()
		}
		key := corpus.KeyOf(s.Normal)
		if c.texts[c.at].Exclude[key] {
			c.excluded.Skip(s.Line, corpus.ReasonExcluded, "")
			continue
		}
		if c.texts[c.at].Options.Whole {
			s.Doc = "" // an id is of a part of the document
		}
		c.sample.add(key, s.Text)
		row := Row{Key: key, Text: s.Text, Doc: s.Doc, URL: s.URL, Line: s.Line, Place: s.Place}
		if at, dup := c.seen[key]; dup {
			c.duplicates++
			if c.documents != nil {
				c.documents.add(&row, s.Meta, at, c.file(), c.texts[c.at].Options.Whole)
			}
			continue
		}
		c.row, c.meta = row, s.Meta
		c.kept++
		return nil
	}
}

// open opens the next file. After the last, the error is io.EOF.
func (c *cutter) open() error {
	if c.at++; c.at == len(c.texts) {
		return io.EOF
	}
	t := c.texts[c.at]
	in, err := openSentences(t.File, t.Options, t.Learned)
	if err == nil {
		c.in, in.site = in, &c.site
	}
	return err
}

// endFile counts what the file that was read to its end gave.
func (c *cutter) endFile() error {
	c.reportProgress()
	counts := c.in.total()
	counts.Kept, counts.Duplicates = c.kept, c.duplicates
	counts.Add(corpus.Counts{Skipped: c.excluded.Skipped})
	counts.Examples, c.excluded = append(counts.Examples, c.excluded.Examples...), corpus.Counts{}
	read := c.in.in.Read()
	c.read.Bytes, c.read.Lines = c.read.Bytes+read, c.read.Lines+c.in.in.Counts().Lines
	c.files = append(c.files, Result{Format: c.in.in.Format(), Counts: counts, Sample: c.sample.texts(c.sentences)})
	c.sentences, c.kept, c.duplicates, c.sample = 0, 0, 0, sample{}
	if err := counts.Check(); err != nil {
		return fmt.Errorf("shard %s: %w", c.texts[c.at].File, err)
	}
	return c.close()
}

// close closes the file that is open.
func (c *cutter) close() error {
	if c.in == nil {
		return nil
	}
	defer func() { c.in = nil }()
	return c.in.in.Close()
}

// file is the place of the open file among those of the current shard.
func (c *cutter) file() int {
	if n := len(c.from); n == 0 || c.from[n-1].File != c.at {
		c.from = append(c.from, FileRows{File: c.at, First: uint32(len(c.seen))})
	}
	return len(c.from) - 1
}

func (c *cutter) reportProgress() {
	if c.report != nil {
		read := c.in.in.Read()
		c.report(Progress{Lines: c.read.Lines + c.in.in.Counts().Lines, Bytes: c.read.Bytes + read})
	}
}

// writeShard publishes c.row and the rows that follow as one shard. If the input ends with this shard, the error is
// io.EOF; otherwise c.row is the first sentence of the next shard.
func (c *cutter) writeShard(ctx context.Context, path string, size int) (Info, error) {
	var end error
	info := Info{File: filepath.Base(path)}
	err := atomicfile.Write(path, func(f *os.File) error {
		w := newWriter(f, c.divided)
		rows := 0
		for rows < size && end == nil {
			file := c.file()
			c.seen[c.row.Key] = uint32(rows)
			if c.documents != nil {
				c.documents.add(&c.row, c.meta, uint32(rows), file, c.texts[c.at].Options.Whole)
			}
			if err := w.add(&c.row); err != nil {
				return err
			}
			if rows++; rows == size {
				clear(c.seen)
			}
			end = c.advance(ctx)
		}
		if end != nil && !errors.Is(end, io.EOF) {
			return end
		}
		if len(c.texts) > 1 {
			info.Files = c.from
		}
		c.from = nil
		digest, bytes, err := w.close()
		info.Rows, info.Bytes, info.SHA256 = rows, bytes, hex.EncodeToString(digest)
		return err
	})
	switch {
	case end != nil && !errors.Is(end, io.EOF):
		return Info{}, end // the input's own error, without the prefix "write ..."
	case err != nil:
		return Info{}, err
	}
	if c.documents != nil {
		err = c.documents.write(filepath.Join(filepath.Dir(path), DocumentsName(info.File)))
		*c.documents = (*c.documents)[:0:0]
	}
	if err != nil {
		return info, err
	}
	return info, end
}

// checkRows compares the rows of the shards with what the files gave.
func (c *cutter) checkRows(shards []Info) error {
	kept, rows := uint64(0), uint64(0)
	for i := range c.files {
		kept += c.files[i].Counts.Kept
	}
	for _, s := range shards {
		rows += uint64(s.Rows)
	}
	if kept != rows {
		return fmt.Errorf("shard %s: lines were lost: %d are kept, and the shards have %d rows", c.texts[0].File, kept, rows)
	}
	return nil
}

// Occurrence is a place where a text has a sentence.
type Occurrence struct {
	Key corpus.Key
	URL string // may be empty
}

// EachOccurrence reads texts as CutTogether does and calls do with every sentence, repetitions too, in the order of the
// text. Nothing is kept in memory.
func EachOccurrence(ctx context.Context, texts []Text, do func(Occurrence)) (err error) {
	c := &cutter{texts: texts, at: -1, seen: map[corpus.Key]uint32{}} // seen stays empty, so that nothing is a repetition
	defer func() { err = errors.Join(err, c.close()) }()
	for err = c.advance(ctx); err == nil; err = c.advance(ctx) {
		do(Occurrence{c.row.Key, c.row.URL})
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
