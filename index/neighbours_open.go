package index

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// OpenCell reads the cell file of a cell with n source rows, m target rows and k neighbours. A file that belongs to
// another cell, is truncated, or names rows that do not exist is a badinput error.
func OpenCell(path string, n, m, k int) (source, target mine.Neighbours, err error) {
	return open(path, cellMagic, n, m, k)
}

// OpenList reads the list file of a shard of n rows over m rows of the other side, with k neighbours. Errors are
// OpenCell's.
func OpenList(path string, n, m, k int) (mine.Neighbours, error) {
	lists, _, err := open(path, listMagic, n, m, k)
	return lists, err
}

func open(path, magic string, n, m, k int) (source, target mine.Neighbours, err error) {
	f, err := os.Open(path)
	if err != nil {
		return source, target, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return source, target, err
	}
	h, source, target, err := read(bufio.NewReaderSize(f, 1<<20), info.Size(), magic)
	if err == nil && (int(h.N) != n || int(h.M) != m || int(h.K) != k) {
		err = fmt.Errorf("it has lists of %d rows over %d with k = %d instead of %d over %d with k = %d", h.N, h.M, h.K,
			n, m, k)
	}
	if err != nil {
		kind := map[string]string{cellMagic: "cell", listMagic: "list"}[magic]
		return mine.Neighbours{}, mine.Neighbours{},
			badinput.Errorf("%s file %s: %w; remove it and run again", kind, path, err)
	}
	return source, target, nil
}
