// Package spill keeps what may be too much for memory: the first of it in memory, the rest in a file that has no name
// and is gone when it is closed or the process ends, however it ends.
package spill

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"bitextmine/internal/atomicfile"
)

// Space is where to keep it. The zero value keeps everything in memory.
type Space struct {
	Dir    string // folder of files; empty: there are none
	Memory int    // bytes of each log and each table that stay in memory
}

// InMemory is how many bytes of each log and each table a run keeps in memory.
const InMemory = 8 << 20

// In is the space of a run in a folder.
func In(dir string) Space { return Space{dir, InMemory} }

// Holds says whether so many bytes stay in memory.
func (s Space) Holds(n int) bool { return s.Dir == "" || n <= s.Memory }

// File makes a file without a name.
func (s Space) File() (*os.File, error) {
	f, err := os.CreateTemp(s.Dir, ".spill.*"+atomicfile.Suffix)
	if err != nil {
		return nil, s.written(err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// written explains a failure to write to a temporary file.
func (s Space) written(err error) error {
	if err == nil {
		return nil
	}
	return atomicfile.Explain(s.Dir, err)
}

// Align divides the places of all records.
const Align = 64

// Log is records of any length, one after the other. One goroutine may append; when all are there and Flush was
// called, several may read.
type Log struct {
	space Space
	mem   []byte
	file  *os.File // nil: all are in memory
	out   *bufio.Writer
	end   int64 // place of the next record
}

// NewLog returns an empty log.
func NewLog(space Space) *Log { return &Log{space: space} }

// LogOf returns a log of records that are in memory, as Append left them.
func LogOf(records []byte) *Log { return &Log{mem: records, end: int64(len(records))} }

// Len is the size of all records with what is between them.
func (l *Log) Len() int64 { return l.end }

// Copy writes all records, which Flush has made readable.
func (l *Log) Copy(w io.Writer) error {
	_, err := w.Write(l.mem)
	if err == nil && l.file != nil {
		if _, err = io.Copy(w, io.NewSectionReader(l.file, 0, l.end-int64(len(l.mem)))); err != nil {
			err = fmt.Errorf("copy a temporary file: %w", err)
		}
	}
	return err
}

// Append adds a record and returns its place.
func (l *Log) Append(record []byte) (at int64, err error) {
	var padding [Align]byte
	at, pad := l.end, -len(record)&(Align-1)
	if l.file == nil && l.space.Holds(len(l.mem)+len(record)+pad) {
		l.mem = append(append(l.mem, record...), padding[:pad]...)
	} else {
		if l.file == nil {
			if l.file, err = l.space.File(); err != nil {
				return 0, err
			}
			l.out = bufio.NewWriterSize(l.file, 256<<10)
		}
		_, err = l.out.Write(record)
		if err == nil {
			_, err = l.out.Write(padding[:pad])
		}
	}
	l.end += int64(len(record) + pad)
	return at, l.space.written(err)
}

// Flush makes all records readable.
func (l *Log) Flush() error {
	if l.out == nil {
		return nil
	}
	err := l.out.Flush()
	l.out = nil
	return l.space.written(err)
}

// At returns the bytes from a place on: at least as many as buffer has, or all that there are. They are in buffer or
// the log's own, and must not be changed.
func (l *Log) At(at int64, buffer []byte) ([]byte, error) {
	if at < int64(len(l.mem)) {
		return l.mem[at:], nil
	}
	n, err := l.file.ReadAt(buffer, at-int64(len(l.mem)))
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read a temporary file: %w", err)
	}
	return buffer[:n], nil
}

// Held returns the records that are in memory: those before a place.
func (l *Log) Held() []byte { return l.mem }

// Close frees the log.
func (l *Log) Close() error {
	l.mem = nil
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Table is n rows of the same number of values. Goroutines may read and write different rows at once. T has no
// pointers.
type Table[T any] struct {
	space Space
	n     int
	width int
	mem   []T
	file  *os.File // nil: the table is in memory
	begin int64    // place of the first row in the file
}

// NewTable returns a table of zeros.
func NewTable[T any](space Space, n, width int) (*Table[T], error) {
	t := &Table[T]{space: space, n: n, width: width}
	var one T
	size := n * width * int(unsafe.Sizeof(one))
	if space.Holds(size) {
		t.mem = make([]T, n*width)
		return t, nil
	}
	var err error
	if t.file, err = space.File(); err != nil {
		return nil, err
	}
	if err := t.file.Truncate(int64(size)); err != nil {
		return nil, errors.Join(space.written(err), t.file.Close())
	}
	return t, nil
}

// TableOf returns a table of rows that are in memory.
func TableOf[T any](rows []T, width int) *Table[T] {
	return &Table[T]{n: len(rows) / width, width: width, mem: rows}
}

// TableIn returns a table of the n rows that a file has from begin on. The file is closed with the table.
func TableIn[T any](file *os.File, begin int64, n, width int) *Table[T] {
	return &Table[T]{n: n, width: width, file: file, begin: begin}
}

// Len is the number of rows.
func (t *Table[T]) Len() int { return t.n }

// Bytes is the memory of values.
func Bytes[T any](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// Values are the values that bytes are the memory of: as many as there is room for.
func Values[T any](bytes []byte) []T {
	var one T
	n := len(bytes) / int(unsafe.Sizeof(one))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), n)
}

// offset returns a row's offset in the file.
func (t *Table[T]) offset(row int) int64 {
	var one T
	return t.begin + int64(row)*int64(t.width)*int64(unsafe.Sizeof(one))
}

// Write replaces rows from first on.
func (t *Table[T]) Write(first int, rows []T) error {
	if t.file == nil {
		copy(t.mem[first*t.width:], rows)
		return nil
	}
	_, err := t.file.WriteAt(Bytes(rows), t.offset(first))
	return t.space.written(err)
}

// Read fills rows with those from first on.
func (t *Table[T]) Read(first int, rows []T) error {
	if t.file == nil {
		copy(rows, t.mem[first*t.width:])
		return nil
	}
	if _, err := t.file.ReadAt(Bytes(rows), t.offset(first)); err != nil {
		return fmt.Errorf("read a temporary file: %w", err)
	}
	return nil
}

// Close frees the table.
func (t *Table[T]) Close() error {
	t.mem = nil
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// Arena has lists that are written and read like memory, but whose pages go to files where they are too many. Nil and
// the zero value keep them in memory.
type Arena struct {
	Space
	mu     sync.Mutex
	mapped [][]byte
}

// Make returns a list of n zeros, which must not be used after the arena is closed. T has no pointers.
func Make[T any](a *Arena, n int) ([]T, error) {
	var one T
	size := n * int(unsafe.Sizeof(one))
	if a == nil || a.Holds(size) {
		return make([]T, n), nil
	}
	f, err := a.File()
	if err != nil {
		return nil, err
	}
	// A page that finds no room when it is written would end the process, so the room is taken now.
	if err := a.written(takeRoom(f, int64(size))); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return mapList[T](a, f, n)
}

// mapList maps the n values of a file, and closes the file.
func mapList[T any](a *Arena, f *os.File, n int) ([]T, error) {
	var one T
	data, err := unix.Mmap(int(f.Fd()), 0, n*int(unsafe.Sizeof(one)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		err = fmt.Errorf("map a temporary file: %w", err)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mapped = append(a.mapped, data)
	return Values[T](data), nil
}

// Ints is Make of integers.
func (a *Arena) Ints(n int) ([]int32, error) { return Make[int32](a, n) }

// Floats is Make of numbers.
func (a *Arena) Floats(n int) ([]float32, error) { return Make[float32](a, n) }

// Growing is a list of an arena whose length is not known beforehand. T has no pointers.
type Growing[T any] struct {
	arena *Arena
	mem   []T      // the last values
	file  *os.File // has the values before them; nil: there are none
	n     int      // values in the file
}

// NewGrowing returns an empty list. An arena that is nil keeps it in memory.
func NewGrowing[T any](a *Arena) *Growing[T] { return &Growing[T]{arena: a} }

// Append adds values.
func (g *Growing[T]) Append(values []T) error {
	g.mem = append(g.mem, values...)
	if g.arena == nil || g.arena.Holds(len(Bytes(g.mem))) {
		return nil
	}
	return g.flush()
}

// flush moves the values in memory to the file.
func (g *Growing[T]) flush() (err error) {
	if g.file == nil {
		if g.file, err = g.arena.File(); err != nil {
			return err
		}
	}
	_, err = g.file.Write(Bytes(g.mem))
	g.n, g.mem = g.n+len(g.mem), g.mem[:0]
	return g.arena.written(err)
}

// List returns all values, which must not be used after the arena is closed. Nothing must be appended afterwards.
func (g *Growing[T]) List() ([]T, error) {
	if g.file == nil {
		return g.mem, nil
	}
	if err := g.flush(); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	f := g.file
	g.file, g.mem = nil, nil
	return mapList[T](g.arena, f, g.n)
}

// Close frees a list that List was not asked for.
func (g *Growing[T]) Close() error {
	f := g.file
	if g.file, g.mem = nil, nil; f == nil {
		return nil
	}
	return f.Close()
}

// takeRoom gives a file so many bytes of the disk. Where the file system cannot do it at once, they are written.
func takeRoom(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}

// Close frees all lists.
func (a *Arena) Close() (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, data := range a.mapped {
		err = errors.Join(err, unix.Munmap(data))
	}
	a.mapped = nil
	return err
}
