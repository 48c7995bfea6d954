// If the encoder's token vectors are static, a file of token ids accompanies the embedding file, so that its sentences
// need not be tokenised again. Its content, little-endian: the magic, the number of sentences and of ids (uint32), the
// end of each sentence's ids (uint32), and the ids (int32). A sentence's ids are distinct and in ascending order.

package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"bitextmine/encode/embedding"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
)

const magic = "MINETOKS"

func pathOf(embedding string) string { return strings.TrimSuffix(embedding, ".npy") + ".tokens" }

// TokenLog collects the ids of sentences while they are encoded. Beyond mostHeld they are in a temporary file.
type TokenLog struct {
	file  *spill.Log // log of ids in parts
	parts []part
	held  []int32 // ids that are not in the file yet
	ids   int     // total id count
	ends  []uint32
}

// part is some of a log's ids.
type part struct {
	at    int64
	bytes int
}

// mostHeld is how many ids are in memory before they go to the file.
const mostHeld = 1 << 20

// NewTokenLog returns an empty log whose temporary file is in dir.
func NewTokenLog(dir string) *TokenLog { return &TokenLog{file: spill.NewLog(spill.Space{Dir: dir})} }

// Close removes the temporary file.
func (l *TokenLog) Close() error { return l.file.Close() }

// Add adds a sentence.
func (l *TokenLog) Add(ids []int32) error {
	begin := len(l.held)
	l.held = append(l.held, ids...)
	slices.Sort(l.held[begin:])
	l.held = l.held[:begin+len(slices.Compact(l.held[begin:]))]
	l.ids += len(l.held) - begin
	l.ends = append(l.ends, uint32(l.ids))
	if len(l.held) < mostHeld {
		return nil
	}
	packed := appendAll(make([]byte, 0, 4*len(l.held)), l.held)
	at, err := l.file.Append(packed)
	l.parts, l.held = append(l.parts, part{at, len(packed)}), l.held[:0]
	return err
}

// appendAll appends numbers as they stand in a token file.
func appendAll[T int32 | uint32](to []byte, numbers []T) []byte {
	for _, n := range numbers {
		to = binary.LittleEndian.AppendUint32(to, uint32(n))
	}
	return to
}

// Write writes the token file of an embedding file.
func (l *TokenLog) Write(embedding string) error {
	if err := l.file.Flush(); err != nil {
		return err
	}
	return atomicfile.Write(pathOf(embedding), func(f *os.File) error {
		header := make([]byte, 0, len(magic)+8+4*len(l.ends))
		header = append(header, magic...)
		header = appendAll(header, []uint32{uint32(len(l.ends)), uint32(l.ids)})
		header = appendAll(header, l.ends)
		if _, err := f.Write(header); err != nil {
			return err
		}
		for _, p := range l.parts {
			ids, err := l.file.At(p.at, make([]byte, p.bytes))
			if err == nil {
				_, err = f.Write(ids[:p.bytes])
			}
			if err != nil {
				return err
			}
		}
		_, err := f.Write(appendAll(nil, l.held))
		return err
	})
}

// TokenFile has the distinct token ids of an embedding file's sentences, which stay in the file.
type TokenFile struct {
	mapped []byte
	ends   []uint32
	ids    []int32
}

// OpenTokenFile opens the token file of an embedding file of n sentences; nil: there is none.
func OpenTokenFile(embeddings string, n int) (*TokenFile, error) {
	path := pathOf(embeddings)
	data, err := embedding.Map(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := decode(data)
	if err == nil && len(t.ends) != n {
		err = fmt.Errorf("it has %d sentences instead of %d", len(t.ends), n)
	}
	if t.mapped = data; err != nil {
		return nil, errors.Join(badinput.Errorf("token file %s: %w; remove it and its embedding file and run again", path, err), t.Close())
	}
	return &t, nil
}

// Of returns the ids of a row, which must not be changed, nor used after the file is closed.
func (t *TokenFile) Of(row uint32) []int32 {
	begin := uint32(0)
	if row > 0 {
		begin = t.ends[row-1]
	}
	return t.ids[begin:t.ends[row]]
}

// Close closes the file; nil is closed.
func (t *TokenFile) Close() error {
	if t == nil || t.mapped == nil {
		return nil
	}
	data := t.mapped
	*t = TokenFile{}
	return unix.Munmap(data)
}

// decode checks a file's content, which is little-endian as numbers in memory are. What it returns shares its memory.
func decode(data []byte) (t TokenFile, err error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(rest) < 8 {
		return t, fmt.Errorf("it does not begin with %s and two numbers", magic)
	}
	n, m := int(binary.LittleEndian.Uint32(rest)), int(binary.LittleEndian.Uint32(rest[4:]))
	rest = rest[8:]
	if len(rest) != 4*(n+m) {
		return t, fmt.Errorf("it has %d bytes after its header instead of %d", len(rest), 4*(n+m))
	}
	t.ends, t.ids = spill.Values[uint32](rest[:4*n]), spill.Values[int32](rest[4*n:])
	last := uint32(0)
	for i, end := range t.ends {
		if end < last || int(end) > m {
			return t, fmt.Errorf("sentence %d ends at token %d of %d", i, end, m)
		}
		last = end
	}
	for i, id := range t.ids {
		if id < 0 {
			return t, fmt.Errorf("token %d has the id %d", i, id)
		}
	}
	return t, nil
}
