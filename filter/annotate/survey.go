package annotate

import (
	"cmp"
	"fmt"
	"math/bits"
	"os"
	"slices"
)

// Copy says whether an earlier pair is like a pair.
type Copy uint8

// The kinds.
const (
	Original   Copy = iota
	NearlySame      // an earlier pair has nearly the same letters
	Same            // an earlier pair has the same letters and digits
)

// Known is the survey's result for a pair.
type Known struct {
	Row, First             uint64 // its row and the first row of its group, from 1
	Copy                   Copy
	SourceUses, TargetUses uint32 // rows in which each side stands
	Lengths                *Lengths
}

// The kinds of hashes that are counted.
const (
	kindSource = iota
	kindTarget
	kindPair
	kindNear // and the other bands after it
)

const (
	hashBuckets = 256
	rangeBits   = 16 // 1<<rangeBits rows are read at a time: 60 MB where every row repeats another
	bufferSize  = 64 << 10
	kindShift   = 56 // a kind stands above a row's bits
)

// Survey is first given the keys of all pairs in order, then Finish is called, then Next once for every pair in the
// same order. One goroutine may use it. Close removes its temporary files.
type Survey struct {
	dir      string
	bits     int // rangeBits; fewer in tests
	byHash   *buckets
	byRow    *buckets
	rows     uint64
	lengths  map[[2]string]*Lengths
	next     uint64 // row that Next is asked for
	repeated []repeat
}

// repeat says that a hash of a row stands in other rows too.
type repeat struct {
	row         uint64
	kind        int
	first, uses uint64
}

// NewSurvey makes a survey whose temporary files are in a new directory inside parent, or inside the system's
// directory for such files if parent is empty.
func NewSurvey(parent string) (*Survey, error) {
	dir, err := os.MkdirTemp(parent, "mine-survey-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder for temporary files: %w; name another with --temp-dir", err)
	}
	return newSurvey(dir, rangeBits, bufferSize), nil
}

func newSurvey(dir string, bits, buffer int) *Survey {
	return &Survey{dir: dir, bits: bits, byHash: newBuckets(dir, "hash", 16, buffer), byRow: newBuckets(dir, "row", 24, buffer/4), lengths: map[[2]string]*Lengths{}}
}

// Close removes the temporary files.
func (s *Survey) Close() error { return os.RemoveAll(s.dir) }

// Add adds the next pair.
func (s *Survey) Add(k *Keys, sourceLanguage, targetLanguage string) error {
	s.rows++
	if k.sourceWidth > 0 && k.targetWidth > 0 {
		s.lengthsOf(sourceLanguage, targetLanguage).Add(k.sourceWidth, k.targetWidth)
	}
	add := func(kind int, hash uint64) error {
		return s.byHash.add(int(hash%hashBuckets), hash, uint64(kind)<<kindShift|s.rows)
	}
	if err := add(kindSource, k.source); err != nil {
		return err
	}
	if err := add(kindTarget, k.target); err != nil {
		return err
	}
	if err := add(kindPair, k.pair); err != nil {
		return err
	}
	for b, hash := range k.near {
		if err := add(kindNear+b, hash); err != nil {
			return err
		}
	}
	return nil
}

func (s *Survey) lengthsOf(source, target string) *Lengths {
	key := [2]string{source, target}
	if s.lengths[key] == nil {
		s.lengths[key] = &Lengths{}
	}
	return s.lengths[key]
}

// Finish counts. It must be called after the last Add and before the first Next.
func (s *Survey) Finish() error {
	for _, l := range s.lengths {
		l.Fit()
	}
	for bucket := range hashBuckets {
		records, err := s.byHash.take(bucket)
		if err != nil {
			return err
		}
		if err := s.repeats(records); err != nil {
			return err
		}
	}
	return nil
}

// slot is a hash of one kind in a table with open addressing.
type slot struct{ hash, row, uses uint64 } // the first row, with the kind above it

// repeats finds the hashes that occur more than once in records of a hash and a row with its kind, and passes them on
// by row.
func (s *Survey) repeats(records []uint64) error {
	size := uint64(1) << bits.Len(uint(len(records)))
	table := make([]slot, size)
	find := func(i int) *slot {
		hash, row := records[i], records[i+1]
		for at := hash / hashBuckets; ; at++ {
			entry := &table[at&(size-1)]
			if entry.uses == 0 || entry.hash == hash && entry.row>>kindShift == row>>kindShift {
				return entry
			}
		}
	}
	for i := 0; i < len(records); i += 2 {
		if entry := find(i); entry.uses == 0 {
			*entry = slot{records[i], records[i+1], 1}
		} else {
			entry.uses++
		}
	}
	const rowMask = 1<<kindShift - 1
	for i := 0; i < len(records); i += 2 {
		if entry := find(i); entry.uses > 1 {
			row := records[i+1]
			if err := s.byRow.add(int(row&rowMask>>s.bits), row, entry.row&rowMask, entry.uses); err != nil {
				return err
			}
		}
	}
	return nil
}

// Next says what is known of the next pair.
func (s *Survey) Next(sourceLanguage, targetLanguage string) (Known, error) {
	s.next++
	if s.next == 1 || s.next&(1<<s.bits-1) == 0 {
		if err := s.load(int(s.next >> s.bits)); err != nil {
			return Known{}, err
		}
	}
	if s.next > s.rows {
		return Known{}, fmt.Errorf("row %d of a survey of %d rows", s.next, s.rows)
	}
	known := Known{Row: s.next, First: s.next, SourceUses: 1, TargetUses: 1, Lengths: s.lengths[[2]string{sourceLanguage, targetLanguage}]}
	var near [bands]uint64
	for len(s.repeated) > 0 && s.repeated[0].row == s.next {
		r := s.repeated[0]
		s.repeated = s.repeated[1:]
		switch r.kind {
		case kindSource:
			known.SourceUses = uint32(min(r.uses, 1<<32-1))
		case kindTarget:
			known.TargetUses = uint32(min(r.uses, 1<<32-1))
		case kindPair:
			if r.first < s.next {
				known.First, known.Copy = r.first, Same
			}
		default:
			near[r.kind-kindNear] = r.first
		}
	}
	if known.Copy == Original {
		if first := agreed(near, s.next); first < s.next {
			known.First, known.Copy = first, NearlySame
		}
	}
	return known, nil
}

// agreed is the smallest row that two bands agree on, or row if there is none before it.
func agreed(near [bands]uint64, row uint64) uint64 {
	best := row
	for i, a := range near {
		for _, b := range near[i+1:] {
			if a != 0 && a == b {
				best = min(best, a)
			}
		}
	}
	return best
}

// load reads what is known of a range of rows.
func (s *Survey) load(rows int) error {
	values, err := s.byRow.take(rows)
	if err != nil {
		return err
	}
	s.repeated = make([]repeat, len(values)/3)
	for i := range s.repeated {
		v := values[3*i:]
		s.repeated[i] = repeat{row: v[0] & (1<<kindShift - 1), kind: int(v[0] >> kindShift), first: v[1], uses: v[2]}
	}
	slices.SortFunc(s.repeated, func(a, b repeat) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.kind, b.kind)) })
	return nil
}
