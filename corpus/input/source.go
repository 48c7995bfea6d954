// Package input has the files of a corpus: it finds them by path and pattern, opens and decompresses them, and cuts
// them into lines. What a line or a row says is the matter of package corpus.
package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"

	"bitextmine/internal/badinput"
)

// ErrMemory is in the error for a file that cannot be read with the memory that is allowed for it.
var ErrMemory = errors.New("its share of max_memory")

// Source is an open file. It counts the bytes read and records the first read error, so that a read error is not
// mistaken for a damaged file. It may be used by one goroutine. Close must be called last.
type Source struct {
	Name string // its path
	Size int64
	Seen int64 // bytes read so far
	// Salvage has Decompress go on behind what is damaged, with a Damage error for it.
	Salvage bool

	file fs.File
	err  error

	maxPage int64 // File's maximum page size
}

// Open opens a file as it is: still compressed, if it is.
func Open(in File) (*Source, error) {
	f, err := orHost(in.FS).Open(in.Path)
	if err != nil {
		return nil, explainOpen(in.Path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(explainOpen(in.Path, err), f.Close())
	}
	if !info.Mode().IsRegular() {
		return nil, errors.Join(badinput.Errorf("%s: not a regular file; name a file", in.Path), f.Close())
	}
	return &Source{Name: in.Path, Size: info.Size(), file: f, maxPage: in.MaxPage}, nil
}

// Close closes the file.
func (s *Source) Close() error { return s.file.Close() }

func (s *Source) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	return n, s.note(n, err)
}

// ReadAt is used for Parquet, whose footer is at the end.
func (s *Source) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.file.(io.ReaderAt).ReadAt(p, off)
	return n, s.note(n, err)
}

// Seek is for the same reader of Parquet as ReadAt.
func (s *Source) Seek(offset int64, whence int) (int64, error) {
	return s.file.(io.Seeker).Seek(offset, whence)
}

func (s *Source) note(n int, err error) error {
	s.Seen += int64(n)
	if err != nil && !errors.Is(err, io.EOF) && s.err == nil {
		s.err = err
	}
	return err
}

// Explain returns the error to report for err, which occurred while decoding. A read error stays retryable, a badinput
// error is returned unchanged, and anything else becomes one.
func (s *Source) Explain(err error, what string) error {
	if s.err != nil {
		return fmt.Errorf("read %s: %w", s.Name, s.err)
	}
	if badinput.Is(err) {
		return err
	}
	return badinput.Errorf("%s: %s is truncated or corrupt (%v); fetch or make the file again", s.Name, what, err)
}

// Parquet reads the footer of a Parquet file. Column chunks are streamed through a buffer and never held whole, because
// other programs write row groups of gigabytes. It must be called under Guard.
func (s *Source) Parquet() (*file.Reader, error) {
	if _, ok := s.file.(io.ReaderAt); !ok {
		return nil, badinput.Errorf("%s: Parquet needs a file that can be read at any place; copy it to a local file",
			s.Name)
	}
	props := parquet.NewReaderProperties(memory.DefaultAllocator)
	props.BufferedStreamEnabled = true
	props.BufferSize = 256 << 10
	props.MaxPageSize = s.maxPage
	return file.NewParquetReader(s, file.WithReadProps(props))
}

// Guard calls the Parquet library, which panics on some damaged files and returns errors for others. It explains both,
// except badinput errors, which it returns unchanged. what names the file's content in messages.
func (s *Source) Guard(what string, call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.Explain(fmt.Errorf("%v", p), what)
		}
	}()
	err = call()
	var page *parquet.PageSizeError
	if errors.As(err, &page) {
		return badinput.Errorf("%s: %v, %w; raise --max-memory, or write the file with smaller pages", s.Name, page,
			ErrMemory)
	}
	if err != nil && !badinput.Is(err) {
		return s.Explain(err, what)
	}
	return err
}
