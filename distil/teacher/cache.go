package teacher

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"bitextmine/corpus"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
)

// A cache is a directory of two files that only grow. Numbers are little-endian.
//
//	vectors   row i is vector i, dim x float32
//	index     magic, 8 bytes; dim, uint32; then for each row: the key, 16 bytes; CRC-32C of key and vector, uint32
//
// A vector is written before its entry. If a run is interrupted, an incomplete vector or entry, or one without the
// other, is removed at the next start. A vector that does not match its entry is bad input.
type cache struct {
	dir            string
	dim            int
	index, vectors *os.File
	rows           map[corpus.Key]int
	checks         []uint32 // indexed by row
	row            []byte   // buffer for one vector
}

const (
	magic     = "mineTCH1"
	header    = len(magic) + 4
	entrySize = len(corpus.Key{}) + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openCache opens or creates the cache in dir and locks it against other processes.
func openCache(dir string, dim int) (_ *cache, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("make the teacher's cache: %w", err)
	}
	c := &cache{dir: dir, dim: dim, rows: map[corpus.Key]int{}, row: make([]byte, 4*dim)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.closeFiles())
		}
	}()
	for name, file := range map[string]**os.File{"index": &c.index, "vectors": &c.vectors} {
		if *file, err = os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o666); err != nil {
			return nil, fmt.Errorf("open the teacher's cache: %w", err)
		}
	}
	switch err := unix.Flock(int(c.index.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, fmt.Errorf("the teacher's cache serves one training at a time: %w, or name another directory", &lockfile.Locked{Path: c.index.Name()})
	case err != nil:
		return nil, badinput.Errorf("%s cannot be locked (%w): its file system must know flock", c.index.Name(), err)
	}
	return c, c.load()
}

// load reads the index and truncates both files to complete rows.
func (c *cache) load() error {
	raw, err := io.ReadAll(c.index)
	if err != nil {
		return fmt.Errorf("read the teacher's cache: %w", err)
	}
	head := binary.LittleEndian.AppendUint32([]byte(magic), uint32(c.dim))
	if len(raw) < header && bytes.HasPrefix(head, raw) { // new, or interrupted while it was created
		if _, err := c.index.WriteAt(head, 0); err != nil {
			return fmt.Errorf("make the teacher's cache: %w", err)
		}
		if err := c.cut(0); err != nil {
			return err
		}
		return atomicfile.SyncDir(c.dir)
	}
	if !bytes.HasPrefix(raw, head) {
		return badinput.Errorf("%s is not the index of vectors of %d numbers: remove the directory, and the teacher fills it again", c.index.Name(), c.dim)
	}
	size, err := c.vectors.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read the teacher's cache: %w", err)
	}
	whole := min((len(raw)-header)/entrySize, int(size/int64(len(c.row))))
	for row := range whole {
		entry := raw[header+row*entrySize:][:entrySize]
		key := corpus.Key(entry[:len(corpus.Key{})])
		if _, twice := c.rows[key]; twice {
			return badinput.Errorf("%s is damaged, entry %d is there twice: remove the directory, and the teacher fills it again", c.index.Name(), row)
		}
		c.rows[key] = row
		c.checks = append(c.checks, binary.LittleEndian.Uint32(entry[len(corpus.Key{}):]))
	}
	return c.cut(whole)
}

// cut truncates both files to the first rows.
func (c *cache) cut(rows int) error {
	err := errors.Join(c.index.Truncate(int64(header+rows*entrySize)),
		c.vectors.Truncate(int64(rows)*int64(len(c.row))))
	if err != nil {
		return fmt.Errorf("truncate the teacher's cache: %w", err)
	}
	return nil
}

func (c *cache) has(key corpus.Key) bool {
	_, ok := c.rows[key]
	return ok
}

// append adds the vectors [len(keys), dim] of keys that are not in the cache.
func (c *cache) append(keys []corpus.Key, vectors []float32) error {
	data := make([]byte, 0, 4*len(vectors))
	for _, x := range vectors {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	var entries []byte
	checks := make([]uint32, len(keys))
	for i, key := range keys {
		checks[i] = check(key, data[i*len(c.row):(i+1)*len(c.row)])
		entries = binary.LittleEndian.AppendUint32(append(entries, key[:]...), checks[i])
	}
	rows := len(c.checks)
	_, err := c.vectors.WriteAt(data, int64(rows)*int64(len(c.row)))
	if err == nil {
		_, err = c.index.WriteAt(entries, int64(header+rows*entrySize))
	}
	if err != nil {
		return errors.Join(atomicfile.Explain(c.vectors.Name(), err), c.cut(rows))
	}
	for i, key := range keys {
		c.rows[key] = rows + i
	}
	c.checks = append(c.checks, checks...)
	return nil
}

// read reads the vector of a key that is in the cache.
func (c *cache) read(key corpus.Key, dst []float32) error {
	row := c.rows[key]
	if _, err := c.vectors.ReadAt(c.row, int64(row)*int64(len(c.row))); err != nil {
		return fmt.Errorf("read the teacher's cache: %w", err)
	}
	if check(key, c.row) != c.checks[row] {
		return badinput.Errorf("%s is damaged at row %d: remove the directory, and the teacher fills it again",
			c.vectors.Name(), row)
	}
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(c.row[4*i:]))
	}
	return nil
}

func check(key corpus.Key, vector []byte) uint32 {
	return crc32.Update(crc32.Checksum(key[:], castagnoli), castagnoli, vector)
}

// close syncs the files and closes them.
func (c *cache) close() error {
	return errors.Join(c.vectors.Sync(), c.index.Sync(), c.closeFiles())
}

func (c *cache) closeFiles() error {
	var err error
	for _, f := range []*os.File{c.vectors, c.index} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
