package pairdocs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"bitextmine/encode/embedding"
	"bitextmine/index/kernel"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/view"
)

// vectors reads the vectors of a language's sentences from the mapped files of its shards, which it opens as they are
// needed. It may be used concurrently.
type vectors struct {
	files    *view.Files
	language *plan.Language
	dim      int
	mu       sync.Mutex
	open     map[int]*embedding.File
}

func newVectors(f *view.Files, language *plan.Language) *vectors {
	return &vectors{files: f, language: language, dim: f.Plan.Settings.Dim, open: map[int]*embedding.File{}}
}

// of returns the vectors of a shard.
func (v *vectors) of(ctx context.Context, shard int) (*embedding.File, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f := v.open[shard]; f != nil {
		return f, nil
	}
	f, err := v.files.Vectors(ctx, &v.language.Shards[shard])
	if err == nil {
		v.open[shard] = f
	}
	return f, err
}

// read fills into [rows, dim] with the vectors of rows of a document that begins in a shard.
func (v *vectors) read(ctx context.Context, shard int, rows []row, into []float32) error {
	for len(rows) > 0 {
		first, n := rows[0], 1
		for n < len(rows) && rows[n] == (row{first.Shard, first.Row + uint32(n)}) {
			n++
		}
		f, err := v.of(ctx, shard+int(first.Shard))
		if err != nil {
			return err
		}
		lo := int(first.Row) * v.dim
		if f.F16 != nil {
			kernel.Best.Widen(into, f.F16[lo:lo+n*v.dim])
		} else {
			copy(into, f.F32[lo:lo+n*v.dim])
		}
		into, rows = into[n*v.dim:], rows[n:]
	}
	return nil
}

// digest stands for the vectors of a document that begins in a shard.
func (v *vectors) digest(shard int, rows []row) (digest [digestSize]byte) {
	h := sha256.New()
	var at [4]byte
	for k, r := range rows {
		if k == 0 || r.Shard != rows[k-1].Shard {
			_, _ = io.WriteString(h, "\n"+v.language.Shards[shard+int(r.Shard)].Vector+"\n") // a hash takes everything
		}
		binary.LittleEndian.PutUint32(at[:], r.Row)
		_, _ = h.Write(at[:])
	}
	copy(digest[:], h.Sum(nil))
	return digest
}

// release drops what was read from the process's memory; the system keeps it in its cache. Nothing may be read
// meanwhile.
func (v *vectors) release() (err error) {
	for _, f := range v.open {
		err = errors.Join(err, f.Release())
	}
	return err
}

func (v *vectors) close() (err error) {
	for _, f := range v.open {
		err = errors.Join(err, f.Close())
	}
	v.open = nil
	return err
}
