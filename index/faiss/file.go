package faiss

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	gofaiss "github.com/DataIntelligenceCrew/go-faiss"

	"bitextmine/index"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// label ends an index file, behind what FAISS writes and reads: what the index was made of. A file without the right
// label is not used.
type label struct {
	Factory   string `json:"factory"`
	TrainRows int    `json:"train_rows"`
	Vectors   string `json:"vectors"` // index.Distinct's digest
	Rows      int    `json:"rows"`
	Dim       int    `json:"dim"`
}

// magic separates FAISS's part of a file from the label: a line of its own, then the label as one line of JSON.
const magic = "\nbitextmine faiss index 1\n"

const maxLabel = 4096

func labelOf(factory string, rows *index.Distinct, opts Options) label {
	return label{
		Factory: factory, TrainRows: trainRows(factory, opts),
		Vectors: rows.Digest(), Rows: rows.Len(), Dim: rows.Dim(),
	}
}

// open reads the index from opts.Dir, or builds it and keeps it there. Indexes on GPUs are always built: that is faster
// than reading.
func open(ctx context.Context, on processor, factory string, rows *index.Distinct, opts Options) (native, error) {
	if _, ok := on.(cpu); !ok || opts.Dir == "" {
		return build(ctx, on, factory, rows, opts)
	}
	want := labelOf(factory, rows, opts)
	path := filepath.Join(opts.Dir, want.fileName())
	idx, err := load(path, want, opts)
	if !errors.Is(err, fs.ErrNotExist) {
		return idx, err
	}
	if idx, err = build(ctx, on, factory, rows, opts); err != nil {
		return nil, err
	}
	if err := save(path, idx.(gofaiss.Index), want); err != nil {
		idx.Delete()
		return nil, err
	}
	return idx, nil
}

// fileName names an index file by what it is made of.
func (l label) fileName() string {
	sum := sha256.Sum256(l.encode())
	return hex.EncodeToString(sum[:16]) + ".faiss"
}

func (l label) encode() []byte {
	data, err := json.Marshal(l)
	if err != nil {
		panic(err) // strings and numbers
	}
	return data
}

// save publishes the index as path.
func save(path string, idx gofaiss.Index, l label) error {
	return atomicfile.Write(path, func(f *os.File) error {
		if err := write(f.Name(), idx); err != nil {
			return err
		}
		if _, err := f.Seek(0, io.SeekEnd); err != nil {
			return err
		}
		_, err := fmt.Fprintf(f, "%s%s\n", magic, l.encode())
		return err
	})
}

func write(path string, idx gofaiss.Index) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := gofaiss.WriteIndex(idx, path); err != nil {
		return failed("write index", err)
	}
	return nil
}

// load reads an index file. Errors are badinput: a file that is damaged, or an index of other vectors or of another
// factory string.
func load(path string, want label, opts Options) (native, error) {
	found, err := readLabel(path)
	if err != nil {
		return nil, err
	}
	if found != want {
		return nil, badinput.Errorf("%s is a %s index of other vectors (%d rows of %d values) than the %d rows of %d values to be searched by %s; remove it and it will be made again",
			path, found.Factory, found.Rows, found.Dim, want.Rows, want.Dim, want.Factory)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	idx, err := gofaiss.ReadIndex(path, 0)
	if err != nil {
		return nil, badinput.Errorf("FAISS cannot read the index file %s (%s); remove it and it will be made again", path, reason(err))
	}
	if idx.D() != want.Dim || idx.Ntotal() != int64(want.Rows) {
		idx.Delete()
		return nil, badinput.Errorf("the index file %s does not hold what its label says; remove it and it will be made again", path)
	}
	if err := set(idx, want.Factory, opts); err != nil {
		idx.Delete()
		return nil, err
	}
	// Its time tells when it was last of use. The file may be another user's, and is used all the same.
	_ = os.Chtimes(path, time.Time{}, time.Now())
	return idx, nil
}

func readLabel(path string) (label, error) {
	f, err := os.Open(path)
	if err != nil {
		return label{}, err
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	if err != nil {
		return label{}, err
	}
	tail := make([]byte, min(info.Size(), maxLabel))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return label{}, err
	}
	return parseLabel(path, tail)
}

func parseLabel(path string, tail []byte) (label, error) {
	var l label
	at := bytes.LastIndex(tail, []byte(magic))
	if at < 0 || json.Unmarshal(tail[at+len(magic):], &l) != nil {
		return label{}, badinput.Errorf("%s is not a whole index file; remove it and it will be made again", path)
	}
	return l, nil
}
