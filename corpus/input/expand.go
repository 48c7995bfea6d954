package input

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// File is one file of a corpus. If FS is nil, it is a file of the operating system.
type File struct {
	FS   fs.FS
	Path string

	// MaxPage is how many bytes a page of a Parquet file may have after decompression; 0: any number that a column of a
	// file of its size may have.
	MaxPage int64

	Broken error // why a file that Find found cannot be read: a link that leads to none, or a missing permission; else nil
}

func (in File) String() string { return in.Path }

// hostFS is the operating system's file system with its usual absolute or relative names.
type hostFS struct{}

func (hostFS) Open(name string) (fs.File, error)          { return os.Open(name) }
func (hostFS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (hostFS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (hostFS) ReadLink(name string) (string, error)       { return os.Readlink(name) }
func (hostFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func orHost(fsys fs.FS) fs.FS {
	if fsys == nil {
		return hostFS{}
	}
	return fsys
}

// Expand lists the files that the patterns name, sorted by path, each once, also where links lead to it. A pattern is a
// file, a directory or a glob in the syntax of path.Match, in which ** is any number of directories. Directories are
// read recursively; hidden files, temporary files and anything that is not a regular file are ignored. A pattern that
// matches no file is a badinput error, and so is a link that leads to none.
func Expand(fsys fs.FS, patterns []string) ([]File, error) {
	files, err := Find(fsys, patterns)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Broken != nil {
			return nil, f.Broken
		}
	}
	return files, nil
}

// Find is Expand, but links that lead to no file, and files that may not be read, are among the files, with what is
// wrong with them.
func Find(fsys fs.FS, patterns []string) ([]File, error) {
	byIdentity := make(map[string]string)
	for _, pattern := range patterns {
		found, err := expandOne(orHost(fsys), pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			id, err := Identity(File{FS: fsys, Path: name})
			if err != nil {
				return nil, err
			}
			if before, dup := byIdentity[id]; !dup || isLink(before) && !isLink(name) {
				byIdentity[id] = name
			}
		}
	}
	inputs := make([]File, 0, len(byIdentity))
	for _, name := range byIdentity {
		inputs = append(inputs, File{FS: fsys, Path: name, Broken: broken(orHost(fsys), name)})
	}
	slices.SortFunc(inputs, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return inputs, nil
}

// broken says why a file cannot be read; nil if it can, or if it is read that tells.
func broken(fsys fs.FS, name string) error {
	if err := brokenLink(fsys, name); err != nil {
		return err
	}
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		return explainOpen(name, err)
	}
	if err == nil {
		_ = f.Close() // nothing was read
	}
	return nil
}

// brokenLink says what is wrong with a link that leads to no file, or to itself; nil for anything else.
func brokenLink(fsys fs.FS, name string) error {
	_, err := fs.Stat(fsys, name)
	if errors.Is(err, syscall.ELOOP) {
		return badinput.Errorf("%s: a link that leads back to itself; remove it or name the file", name)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, err := fs.Lstat(fsys, name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	return badinput.Errorf("%s: a link to a file that does not exist; remove it or bring the file back", name)
}

// Identity returns a string that is equal for two spellings of one file's name and for links to it. That of a link
// which leads to no file is the link's own.
func Identity(in File) (string, error) {
	if in.FS != nil {
		return "embedded:" + in.Path, nil
	}
	name := in.Path
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		name = resolved
	}
	return filepath.Abs(name)
}

// isLink reports whether a file of the operating system is itself a link.
func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// cleaned is a pattern without what says nothing: a directory is read recursively, with ** behind it or without.
func cleaned(pattern string) string {
	pattern = path.Clean(pattern)
	for path.Base(pattern) == "**" {
		pattern = path.Dir(pattern)
	}
	return pattern
}

func expandOne(fsys fs.FS, pattern string) ([]string, error) {
	if pattern == "" {
		return nil, badinput.Errorf("an input path is empty; name a file, a directory or a glob")
	}
	given := pattern
	pattern = cleaned(pattern)
	info, err := fs.Stat(fsys, pattern)
	switch {
	case err == nil && info.IsDir():
		return walk(fsys, pattern)
	case err == nil && info.Mode().IsRegular():
		return []string{pattern}, nil
	case brokenLink(fsys, pattern) != nil:
		return []string{pattern}, nil
	case err == nil:
		return nil, badinput.Errorf("%s: not a regular file; copy its content to a file and name that", pattern)
	case pattern == "-":
		return nil, badinput.Errorf("%s: standard input is not read; copy its content to a file and name that", pattern)
	case strings.Contains(given, "://"):
		return nil, badinput.Errorf("%s: input is read from files, not from a bucket or the web; fetch it and name the file", given)
	case strings.ContainsAny(pattern, "*?["):
		return glob(fsys, pattern)
	}
	return nil, explainOpen(pattern, err)
}

func glob(fsys fs.FS, pattern string) ([]string, error) {
	matches, err := matching(fsys, pattern)
	if err != nil && !errors.Is(err, path.ErrBadPattern) {
		return nil, err
	}
	if err != nil {
		return nil, badinput.Errorf("%s: the glob is malformed (%v); correct its brackets", pattern, err)
	}
	var found []string
	for _, m := range matches {
		info, err := fs.Stat(fsys, m)
		switch {
		case brokenLink(fsys, m) != nil:
			found = append(found, m)
		case err != nil:
			return nil, explainOpen(m, err)
		case info.IsDir():
			inside, err := filesIn(fsys, m)
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

// visible is fs.Glob without what is ignored, unless it is named or the glob asks for hidden names.
func visible(fsys fs.FS, pattern string) ([]string, error) {
	matches, err := fs.Glob(fsys, pattern)
	parts := strings.Split(pattern, "/")
	return slices.DeleteFunc(matches, func(m string) bool { return !fits(parts, strings.Split(m, "/")) }), err
}

// matching is visible, and knows ** in place of directories: any number of them, also none. Like directories that are
// read recursively it leaves out hidden ones and links to others.
func matching(fsys fs.FS, pattern string) (found []string, err error) {
	before, after, deep := strings.Cut("/"+pattern, "/**/")
	if _, err := path.Match(pattern, ""); err != nil || !deep {
		return visible(fsys, pattern)
	}
	root := "."
	if before != "" {
		root = cmp.Or(before[1:], "/")
	}
	roots, err := visible(fsys, root)
	if err != nil {
		return nil, err
	}
	parts := strings.Split("**/"+after, "/")
	for _, root := range roots {
		err := fs.WalkDir(fsys, root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return explainOpen(name, err)
			case name == root:
				return nil
			case d.IsDir() && isIgnored(d.Name()):
				return fs.SkipDir
			}
			within, err := filepath.Rel(root, name)
			if err != nil || !fits(parts, strings.Split(within, "/")) {
				return nil
			}
			if d.Type()&fs.ModeSymlink != 0 {
				if info, err := fs.Stat(fsys, name); err == nil && info.IsDir() {
					return nil
				}
			}
			found = append(found, name)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// fits reports whether the parts of a path fit those of a pattern that is well formed. A part that is ignored fits its
// own name, and wildcards behind a dot.
func fits(pattern, parts []string) bool {
	if len(pattern) == 0 || len(parts) == 0 {
		return len(pattern) == len(parts)
	}
	if pattern[0] == "**" {
		return fits(pattern[1:], parts) || fits(pattern, parts[1:])
	}
	ok, _ := path.Match(pattern[0], parts[0])
	wild := strings.ContainsAny(pattern[0], "*?[") && !strings.HasPrefix(pattern[0], ".")
	return ok && !(wild && isIgnored(parts[0])) && fits(pattern[1:], parts[1:])
}

// walk lists the files in a directory. A link to a file counts as a file, because data sets are often laid out as
// links. A link to a directory is not followed, which avoids cycles. What describes the files is left out (Companions).
func walk(fsys fs.FS, dir string) ([]string, error) {
	found, err := filesIn(fsys, dir)
	if err == nil && len(found) == 0 {
		return nil, badinput.Errorf(
			"%s: the directory holds no file to read (hidden files are ignored); name one that does", dir)
	}
	return found, err
}

// filesIn is walk for a directory that may be empty.
func filesIn(fsys fs.FS, dir string) ([]string, error) {
	found, err := list(fsys, dir)
	if err != nil {
		return nil, err
	}
	found, _ = withoutCompanions(found)
	return found, savedToDisk(found)
}

// list is filesIn without refusals, and with companions.
func list(fsys fs.FS, dir string) (found []string, err error) {
	err = fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
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
			switch {
			case brokenLink(fsys, name) != nil:
				found = append(found, name)
			case err != nil:
				return explainOpen(name, err)
			case info.Mode().IsRegular():
				found = append(found, name)
			}
		}
		return nil
	})
	return found, err
}

// savedToDisk refuses a data set as Hugging Face's save_to_disk leaves it: files of Arrow beside descriptions, which
// could be read as JSON.
func savedToDisk(files []string) error {
	for _, name := range files {
		dir, base := path.Split(name)
		if path.Ext(base) == ".arrow" && (slices.Contains(files, dir+"dataset_info.json") || slices.Contains(files, dir+"state.json")) {
			return badinput.Errorf("%s is a data set of Hugging Face's save_to_disk, whose .arrow files are not read; %s", path.Clean(dir), streamAdvice)
		}
	}
	return nil
}

// isIgnored is true of hidden files, of half written ones, and of the folder of root alone at the top of a file system.
func isIgnored(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasSuffix(base, atomicfile.Suffix) || base == "lost+found"
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
