// Package approximate keeps what an approximate search made of a side's vectors, so that a later search need not make
// it again. A file has a payload in the search's own format and ends with a label, which has the digest of the payload
// and what it was made from. A file without the right label and digest is damaged and is made again: FAISS, for one,
// reads addresses of memory from its payload without checking them.
//
// # Recall
//
// The package also measures what an approximate search found, against an exact search of a sample.
package approximate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"bitextmine/internal/atomicfile"
)

// Settings are the settings of approximate searches. An exact search has no use for them.
type Settings struct {
	NProbe   int    // inverted lists that a row visits; 0: the search's own default
	EfSearch int    // breadth of a graph search; 0: FAISS's own default, 16
	Dir      string // folder of stored indexes; empty, or on GPUs: none are stored
}

// Label says what a file was made of. All of it is in the file's name.
type Label struct {
	Factory   string `json:"factory"` // the search's name for the index
	TrainRows int    `json:"train_rows"`
	Vectors   string `json:"vectors"` // index.Distinct's digest
	Rows      int    `json:"rows"`
	Dim       int    `json:"dim"`
	Payload   string `json:"payload_sha256,omitempty"` // empty in what is searched for
}

// Kind is a format of payloads: it is the extension of its files.
type Kind string

// Magic separates the payload from the label: a line of its own, then the label as one line of JSON.
func (k Kind) Magic() string { return "\nbitextmine " + string(k) + " index 1\n" }

const maxLabel = 4096

// Damage is the error of a file that is not what was published.
type Damage struct{ error }

// Damaged makes a Damage.
func Damaged(path, format string, args ...any) error {
	return Damage{fmt.Errorf("the index file %s %s", path, fmt.Sprintf(format, args...))}
}

// Path names an index file by what it is made of.
func (k Kind) Path(dir string, l Label) string {
	return filepath.Join(dir, atomicfile.DigestOf(l.encode())[:32]+"."+string(k))
}

func (l Label) encode() []byte {
	data, err := json.Marshal(l)
	if err != nil {
		panic(err) // strings and numbers
	}
	return data
}

// Open loads the file, or makes what it should have and saves it, also in place of a damaged one.
func Open[T any](path string, load, build func() (T, error), save func(T) error) (T, error) {
	kept, err := load()
	switch {
	case errors.As(err, new(Damage)):
		slog.Warn("an index file is damaged and is made again", "file", path, "damage", err)
	case !errors.Is(err, fs.ErrNotExist):
		return kept, err
	}
	made, err := build()
	if err != nil {
		return made, err
	}
	return made, save(made)
}

// Save publishes what write writes to f, with the label.
func (k Kind) Save(path string, l Label, write func(f *os.File) error) error {
	return atomicfile.Write(path, func(f *os.File) error {
		if err := write(f); err != nil {
			return err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil { // moves f to its end
			return err
		}
		l.Payload = hex.EncodeToString(sum.Sum(nil))
		_, err := fmt.Fprintf(f, "%s%s\n", k.Magic(), l.encode())
		return err
	})
}

// Verify compares a file's label with the one that is wanted and its payload with the digest, and returns the payload's
// length. The error is Damage if the file is not what was published under this name.
func (k Kind) Verify(path string, want Label) (payload int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	tail := make([]byte, min(info.Size(), maxLabel))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return 0, err
	}
	l, at, err := k.parse(path, tail)
	if err != nil {
		return 0, err
	}
	payload = info.Size() - int64(len(tail)-at)
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, payload)); err != nil {
		return 0, err
	}
	if hex.EncodeToString(sum.Sum(nil)) != l.Payload {
		return 0, Damaged(path, "differs from its digest")
	}
	if l.Payload = ""; l != want {
		return 0, Damaged(path, "is a %s index of other vectors", l.Factory)
	}
	return payload, nil
}

// Used marks a file as recently used: admin sweeps by this time. The file may belong to another user; an error does not
// matter.
func Used(path string) { _ = os.Chtimes(path, time.Time{}, time.Now()) }

// parse finds the label in the end of a file. at is where the payload ends.
func (k Kind) parse(path string, tail []byte) (l Label, at int, err error) {
	at = bytes.LastIndex(tail, []byte(k.Magic()))
	if at < 0 || json.Unmarshal(tail[at+len(k.Magic()):], &l) != nil {
		return Label{}, 0, Damaged(path, "is not whole")
	}
	return l, at, nil
}
