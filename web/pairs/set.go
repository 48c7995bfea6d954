package pairs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"bitextmine/bitext"
	"bitextmine/corpus"
)

// Set is the pairs of a bitext file. It may be used concurrently; once it is loaded it does not change.
type Set struct {
	Path     string
	Features []string // names of the values in bitext.Row.Features

	texts   *os.File
	entries []entry
	keys    [][2][16]byte
	byKey   []int32    // rows in the order of keys
	reasons [][]string // the different lists of reasons, without nil
	kept    int
	scored  bool // values are probabilities

	lists lists
}

// entry is the part of a pair in memory, besides its keys.
type entry struct {
	end int64 // end of its record in the file of texts
	// Value compared with the threshold: probability, product or margin; NaN: the strong encoder did not see the pair,
	// or its place in documents decided.
	value float32
	why   uint16 // index into reasons, from 1; 0: none
	kept  bool
	found byte // number of found_by, from 1; 0: there is none
}

// Progress is told how many pairs of how many are read.
type Progress func(done, all int)

// Load reads a bitext file. With product, a pair without a probability is decided on by the product of its margin and
// the cosine of the strong encoder. Close frees the temporary file.
func Load(ctx context.Context, path string, product bool, progress Progress) (_ *Set, err error) {
	in, err := bitext.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	s := &Set{Path: path, Features: in.Features(), scored: in.Metadata()["scorer"] != ""}
	s.entries, s.keys = make([]entry, 0, in.Len()), make([][2][16]byte, 0, in.Len())
	if s.texts, err = unnamed(); err != nil {
		return nil, err
	}
	if err := s.fill(ctx, in, product, progress); err != nil {
		return nil, errors.Join(err, s.texts.Close())
	}
	s.byKey = make([]int32, len(s.keys))
	for i := range s.byKey {
		s.byKey[i] = int32(i)
	}
	slices.SortFunc(s.byKey, func(a, b int32) int { return compareKeys(s.keys[a], s.keys[b]) })
	return s, nil
}

// unnamed makes a temporary file that goes with the process, however that ends.
func unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "mine-pairs-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file for texts: %w; TMPDIR names another directory", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// step is after how many pairs progress is told and texts are written.
const step = 4096

func (s *Set) fill(ctx context.Context, in *bitext.Reader, product bool, progress Progress) error {
	known := map[string]uint16{}
	var records []byte
	end := int64(0)
	flush := func() error {
		if _, err := s.texts.Write(records); err != nil {
			return fmt.Errorf("write the texts of %s to a temporary file: %w; TMPDIR names another directory", s.Path,
				err)
		}
		records = records[:0]
		if progress != nil {
			progress(len(s.entries), in.Len())
		}
		return nil
	}
	for row, err := range in.Rows(ctx) {
		if err != nil {
			return err
		}
		begin := len(records)
		records = appendRow(records, &row)
		end += int64(len(records) - begin)
		one := entry{end: end, value: s.decided(&row, product), why: s.intern(known, row.Reasons), kept: row.Keep}
		if row.Alignment != nil {
			one.found = foundBy(row.Alignment.FoundBy)
		}
		s.entries = append(s.entries, one)
		s.keys = append(s.keys, [2][16]byte{row.Source.Key, row.Target.Key})
		if row.Keep {
			s.kept++
		}
		if len(s.entries)%step == 0 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// decided is the value that was set against the threshold; NaN of a pair that has none.
func (s *Set) decided(row *bitext.Row, product bool) float32 {
	switch {
	case row.Prob != nil:
		return *row.Prob
	case s.scored:
		return float32(math.NaN()) // its place in aligned documents decided
	case !product || row.RefineCosine != nil:
		return row.Score // the margin, or the product
	}
	return float32(math.NaN())
}

// maxReasons is how many different lists of reasons are told apart; what comes after them has no reasons.
const maxReasons = math.MaxUint16

func (s *Set) intern(known map[string]uint16, reasons []string) uint16 {
	if len(reasons) == 0 || len(s.reasons) == maxReasons {
		return 0
	}
	name := strings.Join(reasons, "\x00")
	at, ok := known[name]
	if !ok {
		s.reasons = append(s.reasons, slices.Clone(reasons))
		at = uint16(len(s.reasons))
		known[strings.Clone(name)] = at
	}
	return at
}

func compareKeys(a, b [2][16]byte) int {
	if order := bytes.Compare(a[0][:], b[0][:]); order != 0 {
		return order
	}
	return bytes.Compare(a[1][:], b[1][:])
}

// Close frees the temporary file.
func (s *Set) Close() error { return s.texts.Close() }

// Len is the number of pairs, kept or not.
func (s *Set) Len() int { return len(s.entries) }

// Kept is the number of kept pairs.
func (s *Set) Kept() int { return s.kept }

// Numbers is the part of a pair in memory.
type Numbers struct {
	Value   float32 // value compared with the threshold; NaN: there is none
	Kept    bool
	Reasons []string
	Keys    [2][16]byte // keys of the sentences
}

// Numbers of a row.
func (s *Set) Numbers(row int) Numbers {
	e := &s.entries[row]
	n := Numbers{Value: e.value, Kept: e.kept, Keys: s.keys[row]}
	if e.why > 0 {
		n.Reasons = s.reasons[e.why-1]
	}
	return n
}

// Scored says whether the values are probabilities.
func (s *Set) Scored() bool { return s.scored }

// Find is the row of a pair, which goes by the keys of its sentences.
func (s *Set) Find(keys [2][16]byte) (row int, ok bool) {
	at, ok := slices.BinarySearchFunc(s.byKey, keys,
		func(row int32, keys [2][16]byte) int { return compareKeys(s.keys[row], keys) })
	if !ok {
		return 0, false
	}
	return int(s.byKey[at]), true
}

// Row reads a pair.
func (s *Set) Row(row int) (*bitext.Row, error) {
	begin := int64(0)
	if row > 0 {
		begin = s.entries[row-1].end
	}
	data := make([]byte, s.entries[row].end-begin)
	if _, err := s.texts.ReadAt(data, begin); err != nil {
		return nil, fmt.Errorf("read pair %d of %s from a temporary file: %w", row, s.Path, err)
	}
	r := &record{data: data}
	out := r.row()
	n := s.Numbers(row)
	out.Keep, out.Reasons, out.Source.Key, out.Target.Key = n.Kept, n.Reasons, n.Keys[0], n.Keys[1]
	return out, nil
}

// Keys reads the keys of a pair's sentences, 32 hexadecimal digits each.
func Keys(source, target string) (keys [2][16]byte, err error) {
	for side, digits := range [2]string{source, target} {
		key, err := corpus.ParseKey(digits)
		if err != nil {
			return keys, err
		}
		keys[side] = key
	}
	return keys, nil
}
