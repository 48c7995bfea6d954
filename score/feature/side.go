package feature

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"

	"bitextmine/corpus/surface"
	"bitextmine/internal/spill"
)

// NameList has the distinct names of a side's sentences.
type NameList struct {
	entries []nameEntry
	sounds  []surface.Sound // those of all names, one after the other
	ids     []int32         // token ids of all names
	words   []bool          // [len(entries)] it is also a word without a capital, and so no name; nil: none is
}

// nameEntry is a name in a list, with the ends of its sounds and of its token ids.
type nameEntry struct{ hash, stem, acronym, sounds, ids uint32 }

// Add adds a name with its token ids; without any, the vectors of tokens depend on the sentence.
func (l *NameList) Add(name Name, ids []int32) {
	l.sounds, l.ids = append(l.sounds, name.Sounds...), append(l.ids, ids...)
	l.entries = append(l.entries, nameEntry{name.Hash, name.Stem, name.Acronym, uint32(len(l.sounds)), uint32(len(l.ids))})
}

// Of returns a name by its place, and its token ids.
func (l *NameList) Of(place int32) (Name, []int32) {
	var before nameEntry
	if place > 0 {
		before = l.entries[place-1]
	}
	e := &l.entries[place]
	return Name{e.hash, e.stem, e.acronym, l.sounds[before.sounds:e.sounds]}, l.ids[before.ids:e.ids]
}

// Sentence is the input of the features for one sentence.
type Sentence struct {
	Surface surface.Features // Names and Lower are left out
	Names   []int32          // places in the side's list
	Sounds  []surface.Sound
	Tokens  []int32      // ids
	Vectors TokenVectors // [len(Tokens)], if they depend on the sentence
}

// Side is the input of the features for one side of a mining problem, by sentence number. Sentences that are in no
// candidate may be left out. Beside the sentences, which go to a log, it has four bytes of each in memory. A side can
// be made of several others, each of which describes some of its sentences (Join).
type Side struct {
	Names *NameList // nil: the features of names are 0
	Lower []uint32  // hashes of the words that occur without a capital, ascending; see FindWords

	parts  []*Side                       // sides that have the sentences; nil: it has them itself
	at     func(i int32) (part, row int) // where sentence i is among them
	n      int                           // sentences of a side of several
	mapped []byte                        // file that the sentences are in; nil: they are not in one

	dim    int           // size of token vectors; 0: there are none, and the token features are 0
	table  *TokenVectors // vectors of all ids; nil: the sentences have their own
	rows   []int32       // row of the table, by token id
	log    *spill.Log
	places []uint32 // each sentence's place in the log, in units of spill.Align, counted from 1; 0: it was left out
	record []byte

	lengths   int64 // sum, in characters
	described int64 // sentences with characters

	frequencies []int32   // sentences with a token id; it may end before ids that do not occur
	last        []int32   // the last sentence with a token id, from 1
	tokenised   int       // sentences with tokens
	weights     []float32 // a weight for each token id; see weigh
}

// NewSide returns an empty side of n sentences with token vectors of dim values, 0: without.
func NewSide(space spill.Space, n, dim int) *Side {
	return &Side{dim: dim, log: spill.NewLog(space), places: make([]uint32, n)}
}

// Len is the number of sentences.
func (s *Side) Len() int {
	if s.parts != nil {
		return s.n
	}
	return len(s.places)
}

// SetTable gives all sentences one table of token vectors, with the row of each token id; -1 for an id that
// does not occur.
func (s *Side) SetTable(table *TokenVectors, rows []int32) { s.table, s.rows = table, rows }

// place returns the side that has sentence i itself, and its row there.
func (s *Side) place(i int32) (part *Side, row int) {
	if s.parts == nil {
		return s, int(i)
	}
	at, row := s.at(i)
	return s.parts[at], row
}

// Close frees the sentences, those of parts too.
func (s *Side) Close() (err error) {
	for _, part := range s.parts {
		err = errors.Join(err, part.Close())
	}
	if s.log != nil {
		err = errors.Join(err, s.log.Close())
	}
	if s.mapped != nil {
		err = errors.Join(err, unix.Munmap(s.mapped))
		s.mapped = nil
	}
	return err
}

// head is the beginning of a sentence's record in the log. After it stand its capitals, stems, numbers, names, tokens,
// vectors and sounds.
type head struct {
	bytes                                   uint32 // size of the record
	length, numerals                        int32
	capitals, stems, numbers, names, tokens uint32
	vectors, sounds                         uint32 // values
	marks                                   [8]uint8
	negation                                surface.Negation
	zero                                    [3]uint8 // so that a record has no bytes that nobody sets
}

const headBytes = int(unsafe.Sizeof(head{}))

// size is the size of the record that the numbers of values make.
func (h *head) size() uint64 {
	words := uint64(h.capitals) + uint64(h.stems) + uint64(h.names) + uint64(h.tokens)
	return uint64(headBytes) + 4*words + 2*uint64(h.vectors) + uint64(h.sounds) + uint64(h.numbers)*uint64(unsafe.Sizeof(surface.Number{}))
}

// errCut is the error of a record that is not as it was written.
var errCut = errors.New("a temporary file is cut short")

// appendValues appends the memory of values.
func appendValues[T any](to []byte, values []T) []byte { return append(to, spill.Bytes(values)...) }

// takeValues takes n values from the beginning of a record, whose memory they share.
func takeValues[T any](from *[]byte, n uint32) []T {
	if n == 0 {
		return nil
	}
	values := unsafe.Slice((*T)(unsafe.Pointer(&(*from)[0])), n)
	*from = (*from)[int(n)*int(unsafe.Sizeof(values[0])):]
	return values
}

// Add adds sentence i, which must be added once at most.
func (s *Side) Add(i int32, one *Sentence) error {
	f := &one.Surface
	h := head{
		length: f.Length, numerals: f.Numerals, marks: f.Marks, negation: f.Negation,
		capitals: uint32(len(f.Capitals)), stems: uint32(len(f.Stems)), numbers: uint32(len(f.Numbers)),
		names: uint32(len(one.Names)), tokens: uint32(len(one.Tokens)), vectors: uint32(len(one.Vectors.values)), sounds: uint32(len(one.Sounds)),
	}
	h.bytes = uint32(h.size())
	s.record = appendValues(s.record[:0], []head{h})
	s.record = appendValues(appendValues(appendValues(s.record, f.Capitals), f.Stems), f.Numbers)
	s.record = appendValues(appendValues(appendValues(s.record, one.Names), one.Tokens), one.Vectors.values)
	s.record = appendValues(s.record, one.Sounds)
	at, err := s.log.Append(s.record)
	if err != nil {
		return err
	}
	if at/spill.Align >= math.MaxUint32 {
		return fmt.Errorf("describe sentences: those of one side take more than %d GiB", (spill.Align<<32)>>30)
	}
	s.places[i] = uint32(at/spill.Align) + 1
	if f.Length > 0 {
		s.lengths += int64(f.Length)
		s.described++
	}
	return s.count(i, one.Tokens)
}

// count counts a sentence's tokens.
func (s *Side) count(i int32, tokens []int32) error {
	if len(tokens) > 0 {
		s.tokenised++
	}
	for _, id := range tokens {
		if id < 0 {
			return fmt.Errorf("describe sentences: a token has the id %d", id)
		}
		if more := int(id) + 1 - len(s.frequencies); more > 0 {
			s.frequencies, s.last = append(s.frequencies, make([]int32, more)...), append(s.last, make([]int32, more)...)
		}
		if s.last[id] != i+1 {
			s.last[id] = i + 1
			s.frequencies[id]++
		}
	}
	return nil
}

// finish makes all sentences readable.
func (s *Side) finish(sentences int) error {
	if s.Len() != sentences {
		return fmt.Errorf("a side of %d sentences, of %d", s.Len(), sentences)
	}
	for id, df := range s.frequencies {
		if s.table != nil && df > 0 && (id >= len(s.rows) || s.rows[id] < 0 || int(s.rows[id]) >= s.table.Len()) {
			return fmt.Errorf("the token id %d has no vector", id)
		}
	}
	s.record, s.last = nil, nil
	if s.weights == nil && s.dim > 0 {
		s.weigh()
	}
	if s.parts != nil {
		return nil
	}
	return s.log.Flush()
}

// meanLength is the mean length in characters of the described sentences.
func (s *Side) meanLength() float64 { return float64(s.lengths) / float64(max(1, s.described)) }

// loaded is a sentence as it is compared: without false names and too frequent tokens. It is part of
// a buffer, or of the log.
type loaded struct {
	number  int32 // counted from 1; 0: nothing was loaded
	surface surface.Features
	list    *NameList // list that names are places of
	names   []int32
	sounds  []surface.Sound
	tokens  []int32       // rows of the table
	weights []float32     // weights of the tokens
	table   *TokenVectors // table of the side or the sentence
	own     TokenVectors
	buffer  []byte
}

// usual is how much of a sentence is read at once: few have more.
const usual = 512

// load reads sentence i, unless it was the last one that was loaded.
func (l *loaded) load(s *Side, i int32) error {
	if l.number == i+1 {
		return nil
	}
	l.number, l.tokens, l.weights = i+1, l.tokens[:0], l.weights[:0]
	part, row := s.place(i)
	ids, err := l.loadRow(part, row)
	if err != nil {
		return err
	}
	if l.table = s.table; l.table == nil {
		l.table = &l.own
	}
	for row, id := range ids {
		if s.weights == nil {
			continue
		}
		if uint(id) >= uint(len(s.weights)) {
			return errCut
		}
		if s.weights[id] < 0 {
			continue
		}
		if s.table != nil {
			row = int(s.rows[id])
		}
		l.tokens, l.weights = append(l.tokens, int32(row)), append(l.weights, s.weights[id])
	}
	return nil
}

// loadRow reads a row of a side that has its sentences itself, and returns its token ids, whose vectors are in l.own
// if they depend on the sentence.
func (l *loaded) loadRow(s *Side, row int) ([]int32, error) {
	l.surface, l.list, l.names, l.sounds = surface.Features{}, s.Names, l.names[:0], nil
	if s.places[row] == 0 {
		return nil, nil
	}
	record, err := l.read(s.log, int64(s.places[row]-1)*spill.Align)
	if err != nil {
		return nil, err
	}
	h := takeValues[head](&record, 1)[0]
	if h.size() != uint64(h.bytes) {
		return nil, errCut
	}
	f := &l.surface
	f.Length, f.Numerals, f.Marks, f.Negation = h.length, h.numerals, h.marks, h.negation
	f.Capitals, f.Stems = takeValues[uint32](&record, h.capitals), takeValues[uint32](&record, h.stems)
	f.Numbers = takeValues[surface.Number](&record, h.numbers)
	for _, name := range takeValues[int32](&record, h.names) {
		if uint(name) >= uint(len(l.list.entries)) {
			return nil, errCut
		}
		if l.list.words == nil || !l.list.words[name] {
			l.names = append(l.names, name)
		}
	}
	ids := takeValues[int32](&record, h.tokens)
	l.own = NewTokenVectors(s.dim)
	l.own.values = takeValues[int16](&record, h.vectors)
	l.sounds = takeValues[surface.Sound](&record, h.sounds)
	return ids, nil
}

// read reads a record.
func (l *loaded) read(log *spill.Log, at int64) ([]byte, error) {
	if l.buffer == nil {
		l.buffer = make([]byte, usual)
	}
	record, err := log.At(at, l.buffer)
	if err != nil || len(record) < headBytes {
		return nil, errors.Join(err, errCut)
	}
	n := int((*head)(unsafe.Pointer(&record[0])).bytes)
	if n < headBytes || int64(n) > log.Len() {
		return nil, errCut
	}
	if len(record) < n {
		l.buffer = make([]byte, 2*n)
		if record, err = log.At(at, l.buffer); err != nil || len(record) < n {
			return nil, errors.Join(err, errCut)
		}
	}
	return record[:n], nil
}
