// Package store holds the outputs of tasks by stage and content key. Each output is published atomically.
//
// An output is some files and a record, `task.json`, which lists each file with its size and SHA-256. A Backend decides
// where outputs are stored: in a directory, which machines may share, or in a bucket. In both an output with a record
// is complete. The first writer wins and the work of a second is discarded, because equal keys mean equal outputs.
// Readers verify size and digest, also of the record itself.
//
// The store also holds notes: small objects that may change, such as plans and the ledger. Losing one loses no result.
package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/usage"
)

const recordName = "task.json"

// Store holds task outputs. It may be used concurrently, also by several processes and machines. It has 13 methods
// because outputs and notes, the two kinds of things in a store, are each written, read, listed and removed.
type Store struct {
	back     Backend
	log      *slog.Logger
	verified sync.Map // directory -> the record that its files were compared with
}

// Backend is the place where outputs are stored. Names are slash-separated and relative. Methods may be called
// concurrently and by several machines at once. If something does not exist, the error is fs.ErrNotExist.
type Backend interface {
	// Read returns the whole content of a small object.
	Read(ctx context.Context, name string) ([]byte, error)
	// Write creates or replaces a small object atomically.
	Write(ctx context.Context, name string, data []byte) error
	// Delete removes a small object. It is no error if there is none.
	Delete(ctx context.Context, name string) error

	// Scratch creates a directory for a task's files. Publish or its caller removes it.
	Scratch(name string) (dir string, err error)
	// Publish durably turns the files of dir, and record, into the output of that name. If the output exists already,
	// it stays and the error is fs.ErrExist. After a success dir no longer exists.
	Publish(ctx context.Context, name, dir string, files []File, record []byte) error
	// Fetch returns a local directory with the output's files under their names.
	Fetch(ctx context.Context, name string, files []File) (dir string, err error)
	// Remove deletes an output, its record first.
	Remove(ctx context.Context, name string) error
	// Local is a directory for files that can be made again. If outputs are in a shared directory, it is shared too.
	Local(name string) string
	// List yields the names of objects and outputs (without their files) under a prefix, which must be a whole path
	// element.
	List(ctx context.Context, prefix string) iter.Seq2[Entry, error]
	// Sweep removes what killed writers left behind before the given time. It returns the number of things removed and
	// their size.
	Sweep(ctx context.Context, before time.Time) (swept int, bytes int64, err error)
	Close() error
}

// Entry is an object or output that List found.
type Entry struct {
	Name  string
	Bytes int64 // size of an output's files if it is known without reading records, else 0
	Time  time.Time
}

// Task names one output.
type Task struct {
	Stage string // "shard", "encode"
	Key   string // content key, hex
}

func (t Task) name() string { return t.Stage + "/" + t.Key }

// Output is a published task: its files and the stage's report.
type Output struct {
	Dir    string          `json:"-"`
	Files  []File          `json:"files"`
	Info   json.RawMessage `json:"info"`
	Made   Made            `json:"made"`
	Cached bool            `json:"-"` // it existed already
}

// Made says who made an output and at what cost. It is not part of any key.
type Made struct {
	Host    string    `json:"host"`
	Start   time.Time `json:"start"`
	Seconds float64   `json:"seconds"`
	// PeakMemory is the largest resident size of the process until then, in bytes; 0 in records of before.
	PeakMemory int64 `json:"peak_memory_bytes,omitempty"`
}

// End is when the output was there.
func (m Made) End() time.Time { return m.Start.Add(time.Duration(m.Seconds * float64(time.Second))) }

// File is one file of an output.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// New returns a store on a backend.
func New(back Backend, log *slog.Logger) *Store { return &Store{back: back, log: log} }

// Close closes the backend.
func (s *Store) Close() error { return s.back.Close() }

// Local is the directory of that name for files that are not outputs and can be made again. It is in the store's own
// directory or, for a bucket, in this machine's cache. It need not exist.
func (s *Store) Local(name string) string { return s.back.Local(name) }

// Do returns the task's output. If it does not exist or is damaged, Do runs do to make it. do writes its files into dir
// and returns the information to record with them.
func (s *Store) Do(ctx context.Context, task Task, do func(dir string) (info any, err error)) (*Output, error) {
	out, err := s.Get(ctx, task)
	switch {
	case err == nil:
		out.Cached = true
		return out, nil
	case errors.Is(err, fs.ErrNotExist):
	case isDamage(err):
		s.log.Warn("a stored output is damaged and is made again", "stage", task.Stage, "key", task.Key, "damage", err)
		if err := s.Remove(ctx, task); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	return s.make(ctx, task, do)
}

// Get returns a task's output. Its files are compared with the record once in the life of this Store.
func (s *Store) Get(ctx context.Context, task Task) (*Output, error) {
	data, out, err := s.record(ctx, task)
	if err != nil {
		return nil, err
	}
	if dir := s.back.Local(task.name()); s.compared(dir, data, out.Files) {
		out.Dir = dir
		return out, nil
	}
	if out.Dir, err = s.back.Fetch(ctx, task.name(), out.Files); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, damaged(task, "a file of it is missing")
		}
		return nil, fmt.Errorf("fetch %s: %w", task.name(), crowded(s.back, err))
	}
	for _, file := range out.Files {
		size, sum, err := atomicfile.Digest(out.Path(file.Name))
		if err != nil {
			return nil, damaged(task, file.Name+" cannot be read")
		}
		if size != file.Size || sum != file.SHA256 {
			return nil, damaged(task, file.Name+" is not what was published")
		}
	}
	s.verified.Store(out.Dir, string(data))
	return out, nil
}

// compared says whether files in a folder were compared with this record, and are still there.
func (s *Store) compared(dir string, record []byte, files []File) bool {
	if known, ok := s.verified.Load(dir); !ok || known != string(record) {
		return false
	}
	return !slices.ContainsFunc(files, func(f File) bool {
		info, err := os.Stat(filepath.Join(dir, f.Name))
		return err != nil || info.Size() != f.Size
	})
}

// Stat reads a task's record but not its files.
func (s *Store) Stat(ctx context.Context, task Task) (*Output, error) {
	_, out, err := s.record(ctx, task)
	return out, err
}

// Remove deletes an output.
func (s *Store) Remove(ctx context.Context, task Task) error {
	if err := s.back.Remove(ctx, task.name()); err != nil {
		return fmt.Errorf("remove %s: %w", task.name(), err)
	}
	return nil
}

// List yields the keys of a stage's outputs.
func (s *Store) List(ctx context.Context, stage string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for entry, err := range s.back.List(ctx, stage) {
			entry.Name = strings.TrimPrefix(entry.Name, stage+"/")
			if !yield(entry, err) {
				return
			}
		}
	}
}

// Sweep removes what killed writers left behind before the given time.
func (s *Store) Sweep(ctx context.Context, before time.Time) (swept int, bytes int64, err error) {
	return s.back.Sweep(ctx, before)
}

// ReadNote returns a note. The error is fs.ErrNotExist if there is none.
func (s *Store) ReadNote(ctx context.Context, kind, name string) ([]byte, error) {
	return s.back.Read(ctx, kind+"/"+name)
}

// WriteNote creates or replaces a note.
func (s *Store) WriteNote(ctx context.Context, kind, name string, data []byte) error {
	if err := s.back.Write(ctx, kind+"/"+name, data); err != nil {
		return fmt.Errorf("write %s/%s: %w", kind, name, err)
	}
	return nil
}

// DeleteNote removes a note.
func (s *Store) DeleteNote(ctx context.Context, kind, name string) error {
	return s.back.Delete(ctx, kind+"/"+name)
}

// Path returns the path of the output's file of that name.
func (o *Output) Path(name string) string { return filepath.Join(o.Dir, name) }

// SHA256 is the digest of a file of the output; empty: it has none of that name.
func (o *Output) SHA256(name string) string {
	for _, file := range o.Files {
		if file.Name == name {
			return file.SHA256
		}
	}
	return ""
}

// damage is the error of an output that differs from what was published.
type damage struct{ text string }

func (d damage) Error() string { return d.text }

func damaged(task Task, what string) error { return damage{fmt.Sprintf("%s: %s", task.name(), what)} }

func isDamage(err error) bool {
	var d damage
	return errors.As(err, &d)
}

// Discard removes an output that an error of Get or Stat says is damaged: it is listed as made, so nobody else would
// make it again. It returns the error, which then says so; other errors it returns as they are.
func Discard(ctx context.Context, s *Store, task Task, err error) error {
	if !isDamage(err) {
		return err
	}
	if removing := s.Remove(ctx, task); removing != nil {
		return fmt.Errorf("%w, and cannot be removed (%w)", err, removing)
	}
	return fmt.Errorf("%w; it was removed, and mine run makes it again", err)
}

func (s *Store) record(ctx context.Context, task Task) ([]byte, *Output, error) {
	data, err := s.back.Read(ctx, task.name()+"/"+recordName)
	if err != nil {
		return nil, nil, err
	}
	content, err := unsealed(data)
	if err != nil {
		return nil, nil, damaged(task, recordName+" "+err.Error())
	}
	out := &Output{}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields() // a damaged seal is no seal, and neither is a record under a damaged name
	if err := decoder.Decode(out); err != nil {
		return nil, nil, damaged(task, recordName+" is not valid JSON")
	}
	for _, file := range out.Files {
		if !filepath.IsLocal(file.Name) || strings.ContainsAny(file.Name, `/\`) {
			return nil, nil, damaged(task, fmt.Sprintf("%s names the file %q", recordName, file.Name))
		}
	}
	return data, out, nil
}

// make runs do and publishes what it wrote.
func (s *Store) make(ctx context.Context, task Task, do func(dir string) (any, error)) (out *Output, err error) {
	dir, err := s.back.Scratch(task.name())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	begin := time.Now()
	info, err := do(dir)
	if err != nil {
		return nil, crowded(s.back, err)
	}
	out, data, err := record(dir, info, begin)
	if err != nil {
		return nil, err
	}
	err = s.back.Publish(ctx, task.name(), dir, out.Files, data)
	if errors.Is(err, fs.ErrExist) { // another process published first
		return published(ctx, s, task)
	}
	if err != nil {
		return nil, fmt.Errorf("publish %s: %w", task.name(), err)
	}
	// Its digests were computed from these files a moment ago.
	if out.Dir, err = s.back.Fetch(ctx, task.name(), out.Files); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", task.name(), err)
	}
	s.verified.Store(out.Dir, string(data))
	return out, nil
}

// crowded adds to the error of a full disk that it is that of a bucket's cache.
func crowded(back Backend, err error) error {
	if _, ok := back.(bucket); ok && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)) {
		return fmt.Errorf("%w; the directory is this machine's cache of the bucket, and MINE_CACHE names another", err)
	}
	return err
}

// published returns an output that another process has just published. Servers of S3 may refuse a second writer a
// moment before readers find what the first one wrote.
func published(ctx context.Context, s *Store, task Task) (out *Output, err error) {
	waited := await(ctx, func() bool {
		out, err = s.Get(ctx, task)
		return !errors.Is(err, fs.ErrNotExist)
	})
	return out, errors.Join(err, waited)
}

// await calls done until it is true, for about ten seconds at most, with longer and longer pauses.
func await(ctx context.Context, done func() bool) error {
	for pause := 10 * time.Millisecond; !done() && pause < 10*time.Second; pause *= 2 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}

// record describes the files in dir.
func record(dir string, info any, begin time.Time) (*Output, []byte, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	out := &Output{Files: []File{}, Made: Made{host, begin.UTC(), time.Since(begin).Seconds(), usage.PeakMemory()}}
	if out.Info, err = json.Marshal(info); err != nil {
		return nil, nil, fmt.Errorf("encode the record of %s: %w", dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", dir, err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".nfs") { // what a file without a name, which is still open, is on NFS
			continue
		}
		if strings.HasSuffix(entry.Name(), atomicfile.Suffix) {
			return nil, nil, fmt.Errorf("stage left the temporary file %s", filepath.Join(dir, entry.Name()))
		}
		size, sum, err := atomicfile.Digest(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, nil, err
		}
		out.Files = append(out.Files, File{Name: entry.Name(), Size: size, SHA256: sum})
	}
	data, err := json.MarshalIndent(out, "", "  ")
	return out, sealed(data), err
}
