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
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	gofaiss "github.com/DataIntelligenceCrew/go-faiss"

	"bitextmine/index"
	"bitextmine/internal/atomicfile"
)

// label ends an index file, behind what FAISS writes and reads: what the index was made of. FAISS reads addresses of
// memory from its part without checking them, so a file without the right label and digest is not used.
type label struct {
	Factory   string `json:"factory"`
	TrainRows int    `json:"train_rows"`
	Vectors   string `json:"vectors"` // index.Distinct's digest
	Rows      int    `json:"rows"`
	Dim       int    `json:"dim"`
	Payload   string `json:"payload_sha256,omitempty"` // of FAISS's part; empty in what is searched for
}

// damage is the error of an index file that is not what was published.
type damage struct{ error }

func damaged(path, format string, args ...any) error {
	return damage{fmt.Errorf("the index file %s %s", path, fmt.Sprintf(format, args...))}
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

// open reads the index from opts.Dir, or builds it and keeps it there, also in place of a damaged one. Indexes on GPUs
// are always built: that is faster than reading.
func open(ctx context.Context, on processor, factory string, rows *index.Distinct, opts Options) (native, error) {
	if _, ok := on.(cpu); !ok || opts.Dir == "" {
		return build(ctx, on, factory, rows, opts)
	}
	want := labelOf(factory, rows, opts)
	path := filepath.Join(opts.Dir, want.fileName())
	idx, err := load(path, want, opts)
	switch {
	case errors.As(err, new(damage)):
		slog.Warn("an index file is damaged and is made again", "file", path, "damage", err)
	case !errors.Is(err, fs.ErrNotExist):
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
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil { // which leaves f at its end
			return err
		}
		l.Payload = hex.EncodeToString(sum.Sum(nil))
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

// load reads an index file. The error is damage if the file is not what was published under this name.
func load(path string, want label, opts Options) (native, error) {
	found, err := verify(path)
	if err != nil {
		return nil, err
	}
	if found.Payload = ""; found != want {
		return nil, damaged(path, "is a %s index of other vectors", found.Factory)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	idx, err := gofaiss.ReadIndex(path, 0)
	if err != nil {
		return nil, damaged(path, "cannot be read by FAISS (%s)", reason(err))
	}
	if idx.D() != want.Dim || idx.Ntotal() != int64(want.Rows) {
		idx.Delete()
		return nil, damaged(path, "does not hold what its label says")
	}
	if err := set(idx, want.Factory, opts); err != nil {
		idx.Delete()
		return nil, err
	}
	// Its time tells when it was last of use. The file may be another user's, and is used all the same.
	_ = os.Chtimes(path, time.Time{}, time.Now())
	return idx, nil
}

// verify reads a file's label and compares FAISS's part with the digest in it.
func verify(path string) (label, error) {
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
	l, at, err := parseLabel(path, tail)
	if err != nil {
		return label{}, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, info.Size()-int64(len(tail)-at))); err != nil {
		return label{}, err
	}
	if hex.EncodeToString(sum.Sum(nil)) != l.Payload {
		return label{}, damaged(path, "differs from its digest")
	}
	return l, nil
}

// parseLabel finds the label in the end of a file. at is where FAISS's part ends.
func parseLabel(path string, tail []byte) (l label, at int, err error) {
	at = bytes.LastIndex(tail, []byte(magic))
	if at < 0 || json.Unmarshal(tail[at+len(magic):], &l) != nil {
		return label{}, 0, damaged(path, "is not whole")
	}
	return l, at, nil
}
