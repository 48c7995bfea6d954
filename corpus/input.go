package corpus

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Input is one file of a corpus. If FS is nil, it is a file of the operating system.
type Input struct {
	FS   fs.FS
	Path string
}

func (in Input) String() string { return in.Path }

// hostFS is the operating system's file system with its usual absolute or relative names.
type hostFS struct{}

func (hostFS) Open(name string) (fs.File, error)          { return os.Open(name) }
func (hostFS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (hostFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func orHost(fsys fs.FS) fs.FS {
	if fsys == nil {
		return hostFS{}
	}
	return fsys
}

// Expand lists the files that the patterns name, sorted by path, each once. A pattern is a file, a directory or a glob
// in the syntax of path.Match. Directories are read recursively; hidden files, temporary files and anything that is not
// a regular file are ignored. A pattern that matches no file is a badinput error.
func Expand(fsys fs.FS, patterns []string) ([]Input, error) {
	byIdentity := make(map[string]string)
	for _, pattern := range patterns {
		found, err := expandOne(orHost(fsys), pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			id, err := identity(fsys, name)
			if err != nil {
				return nil, err
			}
			if _, dup := byIdentity[id]; !dup {
				byIdentity[id] = name
			}
		}
	}
	inputs := make([]Input, 0, len(byIdentity))
	for _, name := range byIdentity {
		inputs = append(inputs, Input{FS: fsys, Path: name})
	}
	slices.SortFunc(inputs, func(a, b Input) int { return strings.Compare(a.Path, b.Path) })
	return inputs, nil
}

// identity returns a string that is equal for two spellings of one file's name.
func identity(fsys fs.FS, name string) (string, error) {
	if fsys != nil {
		return name, nil
	}
	return filepath.Abs(name)
}

func expandOne(fsys fs.FS, pattern string) ([]string, error) {
	if pattern == "" {
		return nil, badinput.Errorf("an input path is empty; name a file, a directory or a glob")
	}
	pattern = path.Clean(pattern)
	info, err := fs.Stat(fsys, pattern)
	switch {
	case err == nil && info.IsDir():
		return walk(fsys, pattern)
	case err == nil && info.Mode().IsRegular():
		return []string{pattern}, nil
	case err == nil:
		return nil, badinput.Errorf("%s: not a regular file; copy its content to a file and name that", pattern)
	case strings.ContainsAny(pattern, "*?["):
		return glob(fsys, pattern)
	}
	return nil, explainOpen(pattern, err)
}

func glob(fsys fs.FS, pattern string) ([]string, error) {
	matches, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, badinput.Errorf("%s: the glob is malformed (%v); correct its brackets", pattern, err)
	}
	var found []string
	for _, m := range matches {
		if isIgnored(path.Base(m)) && !strings.HasPrefix(path.Base(pattern), ".") {
			continue
		}
		info, err := fs.Stat(fsys, m)
		if err != nil {
			return nil, explainOpen(m, err)
		}
		switch {
		case info.IsDir():
			inside, err := walk(fsys, m)
			if err != nil {
				return nil, err
			}
			found = append(found, inside...)
		case info.Mode().IsRegular():
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return nil, badinput.Errorf("%s: the glob matches no file; check it against the directory's content", pattern)
	}
	return found, nil
}

// walk lists the files in a directory. A link to a file counts as a file, because data sets are often laid out as
// links. A link to a directory is not followed, which avoids cycles.
func walk(fsys fs.FS, dir string) ([]string, error) {
	var found []string
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return explainOpen(name, err)
		case name != dir && isIgnored(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Type().IsRegular():
			found = append(found, name)
		case d.Type()&fs.ModeSymlink != 0:
			info, err := fs.Stat(fsys, name)
			if err != nil {
				return explainOpen(name, err)
			}
			if info.Mode().IsRegular() {
				found = append(found, name)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, badinput.Errorf("%s: the directory holds no file to read (hidden files are ignored); name one that does", dir)
	}
	return found, nil
}

func isIgnored(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasSuffix(base, atomicfile.Suffix)
}

func explainOpen(name string, err error) error {
	switch {
	case badinput.Is(err) && errors.Is(err, fs.ErrNotExist):
		return badinput.Errorf("%s: no such file or directory; check the path", name)
	case errors.Is(err, fs.ErrPermission):
		return badinput.Errorf("%s: permission denied; make it readable for this user", name)
	case errors.Is(err, fs.ErrInvalid):
		return badinput.Errorf("%s: not a valid path here; embedded files have relative paths without \"..\"", name)
	}
	return fmt.Errorf("open %s: %w", name, err)
}

// source is an open input. It counts the bytes read and records the first read error, so that a read error is not
// mistaken for a damaged file.
type source struct {
	file fs.File
	name string
	size int64
	read int64
	err  error
}

func openSource(in Input) (*source, error) {
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
	return &source{file: f, name: in.Path, size: info.Size()}, nil
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	return n, s.note(n, err)
}

// ReadAt is used for Parquet, whose footer is at the end.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.file.(io.ReaderAt).ReadAt(p, off)
	return n, s.note(n, err)
}

func (s *source) Seek(offset int64, whence int) (int64, error) {
	return s.file.(io.Seeker).Seek(offset, whence)
}

func (s *source) note(n int, err error) error {
	s.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) && s.err == nil {
		s.err = err
	}
	return err
}

// explain returns the error to report for err, which occurred while decoding. A read error stays retryable; anything
// else is a badinput error.
func (s *source) explain(err error, what string) error {
	if s.err != nil {
		return fmt.Errorf("read %s: %w", s.name, s.err)
	}
	return badinput.Errorf("%s: %s is truncated or corrupt (%v); fetch or make the file again", s.name, what, err)
}
