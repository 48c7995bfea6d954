package embedding

import (
	"bufio"
	"errors"
	"os"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/spill"
)

// Temporary is rows of float32 in a file without a name, which is gone when it is closed or the process ends. One
// goroutine appends; once File was called, several may read.
type Temporary struct {
	dir  string
	file *os.File
	rows Writer
}

// NewTemporary makes an empty file in a folder.
func NewTemporary(dir string, dim int) (*Temporary, error) {
	f, err := spill.Space{Dir: dir}.File()
	if err != nil {
		return nil, err
	}
	return &Temporary{dir: dir, file: f, rows: Writer{out: bufio.NewWriterSize(f, writeSize), dim: dim, dtype: Float32}}, nil
}

// Append stores rows [m, dim], as Writer.Append does.
func (t *Temporary) Append(rows []float32) error {
	err := t.rows.Append(rows)
	if errors.As(err, new(*os.PathError)) {
		return atomicfile.Explain(t.dir, err)
	}
	return err
}

// File maps the rows that were appended; no more can be. It stays open after Close.
func (t *Temporary) File() (*File, error) {
	if err := t.rows.out.Flush(); err != nil {
		return nil, atomicfile.Explain(t.dir, err)
	}
	data, err := mapped(t.file)
	if err != nil {
		return nil, err
	}
	f := &File{mapped: data}
	if err := f.view(data, Float32, t.rows.rows, t.rows.dim); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close closes the file.
func (t *Temporary) Close() error { return t.file.Close() }
