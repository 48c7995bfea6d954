package faiss

import (
	"context"
	"os"
	"runtime"

	gofaiss "github.com/DataIntelligenceCrew/go-faiss"

	"bitextmine/index"
	"bitextmine/index/approximate"
)

// kind identifies FAISS's own index files.
const kind approximate.Kind = "faiss"

func labelOf(factory string, rows *index.Distinct, opts Options) approximate.Label {
	return approximate.Label{
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
	path := kind.Path(opts.Dir, want)
	return approximate.Open(path,
		func() (native, error) { return load(path, want, opts) },
		func() (native, error) { return build(ctx, on, factory, rows, opts) },
		func(idx native) error {
			err := kind.Save(path, want, func(f *os.File) error { return write(f.Name(), idx.(gofaiss.Index)) })
			if err != nil {
				idx.Delete()
			}
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

// load reads an index file. The error is indexfile.Damage if the file is not what was published under this name.
func load(path string, want approximate.Label, opts Options) (native, error) {
	if _, err := kind.Verify(path, want); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	idx, err := gofaiss.ReadIndex(path, 0)
	if err != nil {
		return nil, approximate.Damaged(path, "cannot be read by FAISS (%s)", reason(err))
	}
	if idx.D() != want.Dim || idx.Ntotal() != int64(want.Rows) {
		idx.Delete()
		return nil, approximate.Damaged(path, "does not hold what its label says")
	}
	if err := set(idx, want.Factory, opts); err != nil {
		idx.Delete()
		return nil, err
	}
	approximate.Used(path)
	return idx, nil
}
