package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"bitextmine/internal/badinput"
)

// WriteDir publishes a directory of files whole or not at all; those of before are replaced together. Where the
// directory has other files, too, they stay, and the new ones replace the old one by one. A symbolic link stays, as in
// Write: the directory that it leads to is written.
func WriteDir(dir string, files map[string][]byte) (err error) {
	dir, _ = follow(filepath.Clean(dir))
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return badinput.Errorf("directory %s cannot be made (%w); name another", filepath.Dir(dir), err)
	}
	scratch, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".*"+Suffix)
	if err != nil {
		return Explain(dir, err)
	}
	lock, err := os.Open(scratch)
	if err != nil {
		return Explain(dir, err)
	}
	_ = unix.Flock(int(lock.Fd()), unix.LOCK_EX) // a file system without locks has no sweep
	defer func() { err = errors.Join(err, os.RemoveAll(scratch), lock.Close()) }()
	sweep(dir, true)
	for name, data := range files {
		if err := WriteBytes(filepath.Join(scratch, name), data); err != nil {
			return err
		}
	}
	if err := os.Chmod(scratch, DirMode); err != nil {
		return Explain(dir, err)
	}
	if err := replace(dir, scratch, files); err != nil {
		return badinput.Errorf("directory %s cannot be written (%w); name another", dir, err)
	}
	return SyncDir(filepath.Dir(dir))
}

// ReplaceDir publishes a directory that is beside its final name, in place of what is there. That is renamed before it
// is removed: a process that is killed leaves no part of it under its name.
func ReplaceDir(dir, by string) error {
	old := dir + ".old" + Suffix
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := ignoreMissing(os.Rename(dir, old)); err != nil {
		return err
	}
	if err := os.Rename(by, dir); err != nil {
		return errors.Join(err, ignoreMissing(os.Rename(old, dir)))
	}
	return errors.Join(os.RemoveAll(old), SyncDir(filepath.Dir(dir)))
}

// WritableDir returns the error with which WriteDir would begin, and leaves nothing.
func WritableDir(dir string) error {
	dir, _ = follow(filepath.Clean(dir))
	return writable(dir, filepath.Dir(dir))
}

// WritableWithin returns the error of a directory that files cannot be written into, which need not exist yet, and
// leaves nothing.
func WritableWithin(dir string) error { return writable(dir, filepath.Clean(dir)) }

// writable is the error of a directory that cannot be made in the one above it, or in the first that there is.
func writable(dir, above string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return badinput.Errorf("%s is a file; name a directory", dir)
	}
	for {
		info, err := os.Stat(above)
		if err == nil && !info.IsDir() {
			return badinput.Errorf("directory %s cannot be made, as %s is a file; name another", dir, above)
		}
		if !errors.Is(err, os.ErrNotExist) || above == filepath.Dir(above) {
			break
		}
		above = filepath.Dir(above)
	}
	scratch, err := os.MkdirTemp(above, "."+filepath.Base(dir)+".*"+Suffix)
	if err != nil {
		return badinput.Errorf("directory %s cannot be made (%w); name another", dir, err)
	}
	return os.Remove(scratch)
}

// replace puts the files of scratch in the place of a directory.
func replace(dir, scratch string, files map[string][]byte) error {
	there, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return os.Rename(scratch, dir)
	}
	if err != nil {
		return err
	}
	own := true
	for _, entry := range there {
		_, ours := files[entry.Name()]
		own = own && ours
	}
	if own && unix.Renameat2(unix.AT_FDCWD, scratch, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE) == nil {
		return nil // what was there before is in scratch
	}
	for name := range files {
		if err := os.Rename(filepath.Join(scratch, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("replace %s: %w", name, err)
		}
	}
	return nil
}
