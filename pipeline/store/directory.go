package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// directory is a Backend on a file system, which several machines may share. It has one directory per output, which is
// filled under a temporary name beside its final one and renamed. rename(2) of a directory fails if the target exists
// and is not empty, on every machine that shares the file system, so exactly one writer publishes. It has 13 methods
// because it is the whole of a Backend.
type directory struct{ root string }

// OpenDirectory creates the directory if needed and checks that it can be written.
func OpenDirectory(root string) (Backend, error) {
	if err := os.MkdirAll(root, 0o777); err != nil {
		return nil, badinput.Errorf("work directory %s cannot be made (%w); name another with --work", root, err)
	}
	probe, err := os.CreateTemp(root, probePrefix+"*"+atomicfile.Suffix)
	if err != nil {
		return nil, badinput.Errorf("work directory %s cannot be written (%w); name another with --work", root, err)
	}
	_, err = probe.WriteString("mine")
	if err = errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, badinput.Errorf("work directory %s cannot be written (%w); name another with --work", root, err)
	}
	return directory{root}, nil
}

func (d directory) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

func (d directory) Local(name string) string { return d.path(name) }

func (d directory) Read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(d.path(name))
}

func (d directory) Write(_ context.Context, name string, data []byte) error {
	path := d.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return unwritable(filepath.Dir(path), err)
	}
	// Not synced: if a power failure empties a note, its reader detects it, and notes are written for every task.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*"+atomicfile.Suffix)
	if err != nil {
		return unwritable(path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(atomicfile.Mode), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(atomicfile.Explain(path, err), os.Remove(f.Name()))
	}
	return nil
}

// unwritable is the error of a place in which nothing can be made.
func unwritable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return badinput.Errorf("write %s: %w; let this user write the whole work directory: users who share one need a group "+
			"that owns it, its setgid bit and umask 002", path, err)
	}
	return atomicfile.Explain(path, err)
}

func (d directory) Delete(_ context.Context, name string) error {
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d directory) Scratch(name string) (string, error) {
	stage := filepath.Dir(d.path(name))
	if err := os.MkdirAll(stage, 0o777); err != nil {
		return "", unwritable(stage, err)
	}
	dir, err := os.MkdirTemp(stage, "."+filepath.Base(name)+".*"+atomicfile.Suffix)
	if err != nil {
		return "", unwritable(stage, err)
	}
	if err := os.Chmod(dir, atomicfile.DirMode); err != nil {
		return "", errors.Join(fmt.Errorf("open %s to readers: %w", dir, err), os.RemoveAll(dir))
	}
	return dir, nil
}

func (d directory) Publish(_ context.Context, name, dir string, _ []File, record []byte) error {
	// this also syncs the directory
	if err := atomicfile.WriteBytes(filepath.Join(dir, recordName), record); err != nil {
		return err
	}
	final := d.path(name)
	err := os.Rename(dir, final)
	if err != nil {
		if _, there := os.Stat(filepath.Join(final, recordName)); there == nil {
			return errors.Join(fs.ErrExist, os.RemoveAll(dir))
		}
		// A directory without a record is not an output; it can only be left over from a removal.
		if d.discard(final) != nil || os.Rename(dir, final) != nil {
			return err
		}
	}
	return atomicfile.SyncDir(filepath.Dir(final))
}

func (d directory) Fetch(_ context.Context, name string, _ []File) (string, error) {
	return d.path(name), nil
}

func (d directory) Remove(_ context.Context, name string) error { return d.discard(d.path(name)) }

// discard renames a directory before it deletes it, so that nobody sees it half deleted.
func (d directory) discard(path string) error {
	aside, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".*"+atomicfile.Suffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the cache of a machine that never had an output of that stage
	}
	if err != nil {
		return err
	}
	if err := os.Rename(path, filepath.Join(aside, "removed")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.RemoveAll(aside))
	}
	return os.RemoveAll(aside)
}

func (d directory) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		entries, err := os.ReadDir(d.path(prefix))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Entry{}, err)
			return
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				yield(Entry{}, ctx.Err())
				return
			}
			if strings.HasPrefix(e.Name(), ".") {
				continue
			}
			path := filepath.Join(d.path(prefix), e.Name())
			info, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted in the meantime
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			entry := Entry{Name: prefix + "/" + e.Name(), Time: info.ModTime(), Bytes: info.Size()}
			if e.IsDir() {
				entry.Bytes = sizeOf(path)
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// Sweep removes hidden temporary files and directories that last changed before the given time, in the root and in each
// of its directories.
func (d directory) Sweep(_ context.Context, before time.Time) (swept int, bytes int64, err error) {
	var found []string
	for _, pattern := range []string{".*" + atomicfile.Suffix, "*/.*" + atomicfile.Suffix} {
		match, err := fs.Glob(os.DirFS(d.root), pattern)
		if err != nil {
			return 0, 0, err
		}
		found = append(found, match...)
	}
	for _, name := range found {
		path := d.path(name)
		if lastChange(path).After(before) {
			continue
		}
		n := sizeOf(path)
		if err := os.RemoveAll(path); err != nil {
			return swept, bytes, fmt.Errorf("sweep %s: %w", path, err)
		}
		swept++
		bytes += n
	}
	return swept, bytes, nil
}

func (d directory) Close() error { return nil }

// sizeOf sums the sizes of the files below path. A file that disappears meanwhile counts as zero.
func sizeOf(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

// lastChange is the time of the latest change below path.
func lastChange(path string) (last time.Time) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err == nil {
			if info, err := e.Info(); err == nil && info.ModTime().After(last) {
				last = info.ModTime()
			}
		}
		return nil
	})
	return last
}

// sealField begins the last field of a record: the SHA-256 of what is before it.
const sealField = ",\n  \"record_sha256\": "

func seal(content []byte) string {
	return fmt.Sprintf("%s%q\n}\n", sealField, atomicfile.DigestOf(content))
}

// sealed appends the seal to a record, which is an indented JSON object.
func sealed(record []byte) []byte {
	content := bytes.TrimSuffix(record, []byte("\n}"))
	return append(content, seal(content)...)
}

// unsealed returns a record without its seal, or an error if they do not agree. Records of versions before the seal
// have none.
func unsealed(data []byte) ([]byte, error) {
	at := bytes.LastIndex(data, []byte(sealField))
	if at < 0 {
		return data, nil
	}
	if content := data[:at]; string(data[at:]) != seal(content) {
		return nil, errors.New("is not what was published")
	}
	return append(data[:at:at], "\n}\n"...), nil
}
