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
}

// Result is the result of cutting one input file into shards.
type Result struct {
	Format corpus.Format `json:"format"` // the format that was read, never "auto"
	Shards []Info        `json:"shards"`
	Counts corpus.Counts `json:"counts"`
}

// Progress is how much of a file was read.
type Progress struct {
	Lines      uint64
	Bytes      int64 // read from the file, before decompression
	TotalBytes int64
}

// Options are the settings of Cut that do not change its output. The zero value is usable.
type Options struct {
	// Name returns the file name of the n-th shard, from 0. The default is shard-00000.parquet and so on.
	Name func(n int) string
	// Report, if set, is called every few thousand lines and at the end, on the calling goroutine.
	Report func(Progress)
	// Learned divides records that are divided; nil: the rules of the program do. corpus.Options.Split has its digest.
	Learned Learned
}

// Learned is a learned splitter. Digest stands for all that changes what it finds.
type Learned interface {
	split.Divider
	Digest() string
}

// progressEvery is the number of lines between two reports: some milliseconds.
const progressEvery = 8192

// Cut cuts one input into shards of at most opts.ShardSize rows in directory dir, which must exist. A shard
// holds each sentence key once, with its first occurrence. Duplicates across shards are removed later, when neighbours
// are merged. The bytes of the files depend only on the input's bytes, its format and opts. Memory holds one shard's
// keys and one row group.
//
// Every shard is published complete. If the file turns out to be damaged or unusable, the shards that this call has
// published are removed, so that part of an input is never mistaken for all of it.
func Cut(ctx context.Context, in input.File, opts corpus.Options, dir string, how Options) (_ *Result, err error) {
	r, err := openSentences(in, opts, how.Learned)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.in.Close()) }()
	c := &cutter{in: r, report: how.Report, seen: make(map[corpus.Key]uint32)}
	if opts.Documents {
		c.documents = &documents{}
	}
	name := how.Name
	if name == nil {
		name = func(n int) string { return fmt.Sprintf("shard-%05d.parquet", n) }
	}
	result := &Result{Format: r.in.Format()}
	defer func() {
		if err != nil {
			err = errors.Join(err, remove(dir, result.Shards))
		}
	}()
	for err = c.advance(ctx); err == nil; {
		var s Info
		s, err = c.writeShard(ctx, filepath.Join(dir, name(len(result.Shards))), opts.ShardSize)
		if s.Rows > 0 {
			result.Shards = append(result.Shards, s)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	c.reportProgress()
	result.Counts, err = c.checkCounts(result.Shards)
	if err != nil {
		return nil, fmt.Errorf("shard %s: %w", in, err)
	}
	return result, nil
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

// cutter copies sentences from a reader into shards.
type cutter struct {
	in         *sentences
	report     func(Progress)
	seen       map[corpus.Key]uint32 // rows of the current shard
	documents  *documents            // documents of the current shard; nil: nobody asks for them
	row        Row                   // the sentence to write next
	meta       []string              // its document's metadata
	read       uint64                // sentences read from in
	duplicates uint64
}

// advance reads the next sentence that is not yet in the current shard into c.row.
func (c *cutter) advance(ctx context.Context) error {
	for {
		s, err := c.in.next(ctx)
		if err != nil {
			return err
		}
		if c.read++; c.read%progressEvery == 0 {
			c.reportProgress()
		}
		key := corpus.KeyOf(s.Normal)
		row := Row{Key: key, Text: s.Text, Doc: s.Doc, URL: s.URL, Line: s.Line, Place: s.Place}
		if at, dup := c.seen[key]; dup {
			c.duplicates++
			if c.documents != nil {
				c.documents.add(&row, s.Meta, at)
			}
			continue
		}
		c.row, c.meta = row, s.Meta
		return nil
	}
}

func (c *cutter) reportProgress() {
	if c.report != nil {
		read, size := c.in.in.Read()
		c.report(Progress{Lines: c.in.in.Counts().Lines, Bytes: read, TotalBytes: size})
	}
}

// writeShard publishes c.row and the rows that follow as one shard. If the input ends with this shard, the error is
// io.EOF; otherwise c.row is the first sentence of the next shard.
func (c *cutter) writeShard(ctx context.Context, path string, size int) (Info, error) {
	var end error
	info := Info{File: filepath.Base(path)}
	err := atomicfile.Write(path, func(f *os.File) error {
		w := newWriter(f, c.in.splitter != nil)
		rows := 0
		for rows < size && end == nil {
			c.seen[c.row.Key] = uint32(rows)
			if c.documents != nil {
				c.documents.add(&c.row, c.meta, uint32(rows))
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

// checkCounts combines the counts of the reader, the cutter and the files. They must agree.
func (c *cutter) checkCounts(shards []Info) (corpus.Counts, error) {
	counts := c.in.total()
	counts.Kept, counts.Duplicates = 0, c.duplicates
	for _, s := range shards {
		counts.Kept += uint64(s.Rows)
	}
	return counts, counts.Check()
}
