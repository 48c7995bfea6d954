// Package atomicfile publishes a file whole or not at all.
package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bitextmine/internal/badinput"
)

// Suffix ends the name of every temporary file, so that what a killed process left can be told and swept.
const Suffix = ".tmp"

// Mode is the mode of published files: 0666 without the umask's bits. Only their user can read temporary files.
var Mode = func() os.FileMode {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return 0o666 &^ os.FileMode(mask)
}()

// DirMode is the mode of published directories.
var DirMode = Mode | Mode>>2&0o111

// sweepAfter is the age from which on what a killed process left is removed.
const sweepAfter = time.Minute

// sweep removes the files, or the directories, that killed processes left of a path. A process holds a lock on the file
// or directory that it writes.
func sweep(path string, dirs bool) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, "."+filepath.Base(path)+".") || !strings.HasSuffix(name, Suffix) {
			continue
		}
		info, err := entry.Info()
		if err != nil || info.IsDir() != dirs || !dirs && !info.Mode().IsRegular() || time.Since(info.ModTime()) < sweepAfter {
			continue
		}
		name = filepath.Join(filepath.Dir(path), name)
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(name) // the next Write tries again
		}
		_ = f.Close() // it was only read
	}
}

// place is where a file is written.
type place struct {
	path   string // a link's end, where there may be nothing yet
	mode   os.FileMode
	stream func() (*os.File, error) // opens a pipe, a device or a file that is open already; nil: it is none
}

func find(path string) (at place, err error) {
	if path == "-" { // no output is named so, but other programs mean standard output
		return at, badinput.Errorf("- is no file: name /dev/stdout for standard output, or ./- for a file of that name")
	}
	path, open := follow(path)
	at = place{path: path, mode: Mode}
	switch there, err := os.Stat(path); {
	case open >= 0:
		at.stream = func() (*os.File, error) {
			fd, err := unix.FcntlInt(uintptr(open), unix.F_DUPFD_CLOEXEC, 0)
			return os.NewFile(uintptr(fd), path), err
		}
	case err != nil: // it is not there, or what follows says why it cannot be written
	case there.IsDir():
		return at, badinput.Errorf("%s is a directory; name a file", path)
	case !there.Mode().IsRegular():
		at.stream = func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
	default:
		at.mode = there.Mode().Perm()
	}
	return at, nil
}

// IsStream reports whether a path is a pipe, a device, or a file that is open already, such as /dev/stdout: others may
// write there, too.
func IsStream(path string) bool {
	at, err := find(path)
	return err == nil && at.stream != nil
}

// follow follows the links at the end of a path. open is the number of the open file that the path is; -1: it is none.
func follow(path string) (to string, open int) {
	const most = 40 // Linux's
	for range most {
		dir, name := filepath.Split(filepath.Clean(path))
		if number, err := strconv.Atoi(name); err == nil && (dir == "/proc/self/fd/" || dir == "/dev/fd/") {
			return path, number
		}
		next, err := os.Readlink(path)
		if err != nil {
			break
		}
		if path = next; !filepath.IsAbs(next) {
			path = filepath.Join(dir, next)
		}
	}
	return path, -1
}

// create makes the temporary file.
func (at place) create() (*os.File, error) {
	dir := filepath.Dir(at.path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(at.path)+".*"+Suffix)
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		err = badinput.Errorf("%s cannot be written, as this user may make no file in %s; name another place", at.path, dir)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		err = badinput.Errorf("%s cannot be written, as there is no folder %s; make it, or name another place", at.path, dir)
	case err != nil:
		err = Explain(at.path, err)
	}
	return f, err
}

// Writable returns the error with which Write would begin, and leaves nothing.
func Writable(path string) error {
	at, err := find(path)
	if err != nil || at.stream != nil {
		return err
	}
	f, err := at.create()
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Write calls fill with a temporary file beside path, syncs it and renames it to path, replacing what was there, whose
// mode it keeps; a link stays, and what it leads to is replaced. On any error the temporary file is removed and path is
// untouched. The directory must exist. A stream is written to as it is.
func Write(path string, fill func(f *os.File) error) (err error) {
	at, err := find(path)
	if err != nil {
		return err
	}
	path = at.path
	if at.stream != nil {
		return at.write(fill)
	}
	f, err := at.create()
	if err != nil {
		return err
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX) // a file system without locks has no sweep
	sweep(path, false)
	explain := Explain
	defer func() {
		if err != nil {
			err = explain(path, errors.Join(err, ignoreClosed(f.Close()), ignoreMissing(os.Remove(f.Name()))))
		}
	}()
	if err := fill(f); err != nil {
		explain = explainFilling
		return err
	}
	if err := f.Chmod(at.mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// write calls fill with a stream, which can hold nothing back.
func (at place) write(fill func(f *os.File) error) error {
	f, err := at.stream()
	if err != nil {
		return Explain(at.path, err)
	}
	if err := errors.Join(fill(f), f.Close()); err != nil {
		return explainFilling(at.path, err)
	}
	return nil
}

// RefuseInput refuses an output that is one of the files that are read for it.
func RefuseInput(out string, inputs ...string) error {
	there, err := os.Stat(out)
	if err != nil {
		return nil // Write says what is wrong with it
	}
	for _, in := range inputs {
		if of, err := os.Stat(in); err == nil && there.Mode().IsRegular() && os.SameFile(there, of) {
			return badinput.Errorf("%s is the file that is read; name another output", out)
		}
	}
	return nil
}

// WriteBytes publishes data as path.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// WriteJSON writes a value as indented JSON.
func WriteJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return WriteBytes(path, append(data, '\n'))
}

// Copy publishes a copy of the file at from as path.
func Copy(path, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy to %s: %w", path, err)
	}
	err = Write(path, func(f *os.File) error {
		_, err := io.Copy(f, in)
		return err
	})
	return errors.Join(err, in.Close())
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Explain gives a full disk its one sentence, whichever layer met it.
func Explain(path string, err error) error {
	if badinput.IsDiskFull(err) {
		return badinput.Mark(fullDisk{path, err})
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// explainFilling is Explain for what fills a file: bad input is of another file than the one at path.
func explainFilling(path string, err error) error {
	if badinput.Is(err) && !badinput.IsDiskFull(err) {
		return err
	}
	return Explain(path, err)
}

// fullDisk keeps its cause for those who ask for it, and out of its sentence.
type fullDisk struct {
	path  string
	cause error
}

func (f fullDisk) Error() string {
	if errors.Is(f.cause, syscall.EFBIG) {
		return fmt.Sprintf("write %s: the file may not be larger; raise the limit (ulimit -f), then run the same command again",
			f.path)
	}
	return fmt.Sprintf(
		"write %s: the disk is full; free some space or name another directory, then run the same command again",
		f.path)
}

func (f fullDisk) Unwrap() error { return f.cause }

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
