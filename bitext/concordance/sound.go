package concordance

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"bitextmine/internal/badinput"
)

// checksums are the CRC-32C of every file of an index, by its path in the folder. Bleve maps its files into memory and
// trusts them: a file that is cut or altered would end the process.
func checksums(folder string) (map[string]uint32, error) {
	sums := map[string]uint32{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
		_, err = io.Copy(sum, f)
		sums[name] = sum.Sum32()
		return errors.Join(err, f.Close())
	})
	return sums, err
}

// errUnsound says that an index is not as it was written.
var errUnsound = errors.New("its files are not as they were written")

// check returns errUnsound if the index of a directory is not as it was written.
func (m *meta) check(dir string) error {
	sums, err := checksums(filepath.Join(dir, indexName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !maps.Equal(sums, m.Files) {
		return errUnsound
	}
	return nil
}

// opened are the files of an index as they were when it was opened.
type opened map[string]fs.FileInfo

func stat(folder string, m *meta) (opened, error) {
	files := opened{}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		files[path] = info
	}
	return files, nil
}

// check returns an error if a file was cut since. Files that were replaced or removed stay readable.
func (o opened) check() error {
	for path, then := range o {
		if now, err := os.Stat(path); err == nil && os.SameFile(then, now) && now.Size() != then.Size() {
			return fmt.Errorf("%s was cut", path)
		}
	}
	return nil
}

// guard calls what reads the index. One that is damaged while it is open makes Bleve panic, or fault behind the end of
// its file; both become errors.
func (x *Index) guard(call func() error) (err error) {
	if err := x.files.check(); err != nil {
		return x.damaged(err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = x.damaged(fmt.Errorf("%v", p))
		}
	}()
	return call()
}

func (x *Index) damaged(err error) error {
	return badinput.Errorf("the concordance of %s is damaged (%w): `mine search` makes it again", x.bitext, err)
}
