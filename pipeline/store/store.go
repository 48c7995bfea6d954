// Package store keeps what tasks made: one directory per task, named by stage and content key, published whole.
//
// A task's directory holds its files and `task.json`, which names each file with its size and SHA-256. It is filled under a
// temporary name and renamed into place, so a directory that is there is complete; the first writer wins and a second
// one's work is dropped, since equal keys mean equal outputs.
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

const recordName = "task.json"

// Store is a directory of task outputs. It may be used concurrently, by several processes too.
type Store struct {
	dir string
	log *slog.Logger
}

// Task names one output.
type Task struct {
	Stage string // a directory name: "shard", "encode"
	Key   string // content key, hex
}

// Output is a published task: its files and what the stage had to say of them.
type Output struct {
	Dir    string          `json:"-"`
	Files  []File          `json:"files"`
	Info   json.RawMessage `json:"info"`
	Cached bool            `json:"-"` // it was there already
}

// File is one file of an output.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Open makes the directory if needed and proves that it can be written.
func Open(dir string, log *slog.Logger) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, badinput.Errorf("work directory %s cannot be made (%w); name another with --work", dir, err)
	}
	probe, err := os.CreateTemp(dir, ".probe.*"+atomicfile.Suffix)
	if err != nil {
		return nil, badinput.Errorf("work directory %s cannot be written (%w); name another with --work", dir, err)
	}
	return &Store{dir: dir, log: log}, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Do returns the task's output, running do to make it unless it is there whole. do writes its files into dir and returns
// what to record beside them. An output whose files are missing or altered is dropped and made again.
func (s *Store) Do(task Task, do func(dir string) (info any, err error)) (*Output, error) {
	final := filepath.Join(s.dir, task.Stage, task.Key)
	if out, err := load(final); err == nil {
		out.Cached = true
		return out, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		s.log.Warn("a stored output is damaged and is made again", "stage", task.Stage, "key", task.Key, "damage", err)
		if err := os.RemoveAll(final); err != nil {
			return nil, fmt.Errorf("remove damaged output %s: %w", final, err)
		}
	}
	if err := s.publish(final, do); err != nil {
		return nil, err
	}
	return load(final)
}

// Path returns the path of the output's file of that name.
func (o *Output) Path(name string) string { return filepath.Join(o.Dir, name) }

func (s *Store) publish(final string, do func(dir string) (any, error)) (err error) {
	stage := filepath.Dir(final)
	if err := os.MkdirAll(stage, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", stage, err)
	}
	dir, err := os.MkdirTemp(stage, "."+filepath.Base(final)+".*"+atomicfile.Suffix)
	if err != nil {
		return fmt.Errorf("make a temporary directory in %s: %w", stage, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := os.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("open %s to readers: %w", dir, err)
	}
	info, err := do(dir)
	if err != nil {
		return err
	}
	if err := record(dir, info); err != nil {
		return err
	}
	if err := os.Rename(dir, final); err != nil {
		if _, there := load(final); there == nil { // another process was first
			return os.RemoveAll(dir)
		}
		return fmt.Errorf("publish %s: %w", final, err)
	}
	return nil
}

// record writes task.json over the files that stand in dir.
func record(dir string, info any) error {
	out := Output{Files: []File{}}
	raw, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("encode what %s has to say: %w", dir, err)
	}
	out.Info = raw
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), atomicfile.Suffix) {
			return fmt.Errorf("stage left the temporary file %s", filepath.Join(dir, entry.Name()))
		}
		size, sum, err := Digest(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		out.Files = append(out.Files, File{Name: entry.Name(), Size: size, SHA256: sum})
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", recordName, err)
	}
	return atomicfile.WriteBytes(filepath.Join(dir, recordName), append(data, '\n'))
}

// load reads a published output and verifies every file's size and digest.
func load(dir string) (*Output, error) {
	data, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil {
		if _, there := os.Stat(dir); there == nil {
			return nil, fmt.Errorf("it has no readable %s", recordName)
		}
		return nil, err
	}
	out := &Output{Dir: dir}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("%s does not parse", recordName)
	}
	for _, file := range out.Files {
		size, sum, err := Digest(filepath.Join(dir, file.Name))
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read", file.Name)
		}
		if size != file.Size || sum != file.SHA256 {
			return nil, fmt.Errorf("%s is not what was published", file.Name)
		}
	}
	return out, nil
}

// Digest returns a file's size and the hex SHA-256 of its bytes.
func Digest(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// Key is the content key of a task: the SHA-256 of the stage's name and version, and of the JSON of spec, a struct that lists
// exactly the parameters and inputs that change the output.
func Key(stage string, version int, spec any) string {
	data, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("spec of stage %s: %v", stage, err)) // specs are our own plain structs
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%d\x00", stage, version)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))[:32]
}
