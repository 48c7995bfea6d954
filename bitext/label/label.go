// Package label stores what people decided on pairs: a pair is rejected or accepted. Every later run obeys: a rejected
// pair is left out before sentences are matched, so that the next best pair of either sentence may take its place, and
// an accepted one is not rejected by rules.
//
// Labels are lines of JSON in one file of the output directory, in the order in which they were given; the last one on
// a pair counts, and a withdrawn label leaves the pair without a label. Each line is written and synced at once, so a
// killed process loses no label that it reported. An incomplete last line comes from a process killed while writing; it
// is ignored, and the next label ends it.
package label

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Name is the file's name in the output directory.
const Name = "labels.jsonl"

// maxLine is the maximum length of a line.
const maxLine = 4 << 10

// Label is a person's decision on a pair of sentences, named by their keys in hexadecimal digits.
type Label struct {
	Source   string `json:"src_key"`
	Target   string `json:"tgt_key"`
	Accepted bool   `json:"accepted"` // false: rejected
}

// line is a label as it is stored.
type line struct {
	Label
	Withdrawn bool `json:"withdrawn,omitempty"` // the pair has no label any more
}

// Append adds labels to the file of an output directory and syncs it.
func Append(dir string, labels []Label) error { return write(dir, labels, false) }

// Withdraw takes back the labels of pairs. It adds lines that say so; nothing is removed.
func Withdraw(dir string, labels []Label) error { return write(dir, labels, true) }

func write(dir string, labels []Label, withdrawn bool) (err error) {
	path := filepath.Join(dir, Name)
	f, err := atomicfile.OpenRegular(path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return badinput.Errorf("labels %s cannot be written: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Several processes may label at once: what one is writing must not look like the torn line of one that was killed.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return badinput.Errorf("labels %s cannot be locked (%w); the file system must know flock", path, err)
	}
	var lines bytes.Buffer
	if torn, err := isTorn(f); err != nil {
		return fmt.Errorf("read labels %s: %w", path, err)
	} else if torn {
		lines.WriteByte('\n')
	}
	for _, l := range labels {
		data, err := json.Marshal(line{l, withdrawn})
		if err != nil {
			return err
		}
		lines.Write(append(data, '\n'))
	}
	if _, err := f.Write(lines.Bytes()); err != nil {
		return fmt.Errorf("write labels %s: %w", path, err)
	}
	return f.Sync()
}

// isTorn reports whether the file's last line has no end.
func isTorn(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return last[0] != '\n', err
}

// Latest reads the labels of an output directory: the last one of each pair, in the order of the keys.
func Latest(dir string) (labels []Label, err error) {
	path := filepath.Join(dir, Name)
	f, err := atomicfile.OpenRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, badinput.Errorf("labels %s cannot be read: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	last := map[[2]string]Label{}
	r := bufio.NewReaderSize(f, maxLine)
	for number := 1; ; number++ {
		text, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break // a line without an end is not complete
		}
		if err != nil {
			return nil, badinput.Errorf("labels %s:%d: %w; correct the line", path, number, err)
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil || !isKey(l.Source) || !isKey(l.Target) {
			if isFragment(text) {
				continue // a killed process left it, and the next label ended it
			}
			return nil, badinput.Errorf("labels %s:%d: not a label; correct the line or remove it", path, number)
		}
		if pair := [2]string{l.Source, l.Target}; l.Withdrawn {
			delete(last, pair)
		} else {
			last[pair] = l.Label
		}
	}
	for _, l := range last {
		labels = append(labels, l)
	}
	slices.SortFunc(labels, func(a, b Label) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
	})
	return labels, nil
}

// isFragment reports whether a line is the beginning of a label.
func isFragment(line []byte) bool {
	const start = `{"src_key":"`
	line = bytes.TrimSuffix(line, []byte("\n"))
	n := min(len(line), len(start))
	return n > 0 && string(line[:n]) == start[:n] && !bytes.HasSuffix(line, []byte("}"))
}

func isKey(digits string) bool {
	key, err := hex.DecodeString(digits)
	return err == nil && len(key) == 16
}
