package feature

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"bitextmine/corpus/surface"
	"bitextmine/encode/embedding"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// The files of sides and of candidates begin with a header. Its sections follow, each padded to spill.Align bytes; the
// numbers in them are little-endian, as in memory.

// sideMagic begins the file of a side: "MINEDESC".
const sideMagic uint64 = 0x4353454445_4e494d

// sideHeader is the beginning of the file of a side.
type sideHeader struct {
	magic, rows, dim                                uint64
	lengths, described, tokenised                   uint64
	frequencies, lower, names, nameIDs, sounds, log uint64 // lengths of the sections
}

// Write writes a side that has its sentences itself. Records follow the other sections.
func (s *Side) Write(path string) error {
	if err := s.log.Flush(); err != nil {
		return err
	}
	h := sideHeader{
		magic: sideMagic, rows: uint64(len(s.places)), dim: uint64(s.dim),
		lengths: uint64(s.lengths), described: uint64(s.described), tokenised: uint64(s.tokenised),
		frequencies: uint64(len(s.frequencies)), lower: uint64(len(s.Lower)), names: uint64(len(s.Names.entries)),
		nameIDs: uint64(len(s.Names.ids)), sounds: uint64(len(s.Names.sounds)), log: uint64(s.log.Len()),
	}
	return atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<20)
		var err error
		for _, section := range [][]byte{
			spill.Bytes([]sideHeader{h}), spill.Bytes(s.places), spill.Bytes(s.frequencies), spill.Bytes(s.Lower),
			spill.Bytes(s.Names.entries), spill.Bytes(s.Names.ids), spill.Bytes(s.Names.sounds),
		} {
			err = errors.Join(err, spill.WriteSection(w, section))
		}
		if err == nil {
			err = s.log.Copy(w)
		}
		return errors.Join(err, w.Flush())
	})
}

// OpenSide maps the file of a side of so many sentences.
func OpenSide(path string, sentences int) (*Side, error) {
	data, err := embedding.Map(path)
	if err != nil {
		return nil, err
	}
	s := &Side{mapped: data}
	in := spill.Sections{Rest: data}
	h := spill.TakeOne[sideHeader](&in)
	s.dim, s.lengths, s.described, s.tokenised = int(h.dim), int64(h.lengths), int64(h.described), int(h.tokenised)
	s.places, s.frequencies, s.Lower = spill.Take[uint32](&in, h.rows), spill.Take[int32](&in, h.frequencies), spill.Take[uint32](&in, h.lower)
	s.Names = &NameList{entries: spill.Take[nameEntry](&in, h.names), ids: spill.Take[int32](&in, h.nameIDs), sounds: spill.Take[surface.Sound](&in, h.sounds)}
	if h.magic != sideMagic || in.Short || h.rows != uint64(sentences) || h.log != uint64(len(in.Rest)) {
		return nil, errors.Join(damaged(path, "described sentences"), s.Close())
	}
	s.log = spill.LogOf(in.Rest)
	return s, nil
}

// damaged is the error of a file that is not as it was written.
func damaged(path, what string) error {
	return badinput.Errorf("%s is damaged: it does not have the %s that it should have; remove its directory, and it is made again", path, what)
}

// candidatesMagic begins the file of candidates: "MINECAND".
const candidatesMagic uint64 = 0x444e4143_454e494d

// candidatesHeader is the beginning of the file of candidates: how many there are, and how many values each has.
type candidatesHeader struct{ magic, candidates, values uint64 }

// stored is a candidate as it stands in a file.
type stored struct {
	source, target                        int32
	score, cosine, sourceMean, targetMean float32
	sourceRank, targetRank                uint8
	forward, backward                     bool
}

// WriteCandidates writes candidates with their features.
func WriteCandidates(path string, candidates []mine.Candidate, values *Table) error {
	return atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<20)
		header := []candidatesHeader{{candidatesMagic, uint64(len(candidates)), uint64(Count)}}
		err := spill.WriteSection(w, spill.Bytes(header))
		size := 0
		for _, c := range candidates {
			one := [1]stored{{
				c.Source, c.Target, c.Score, c.Cosine, c.SourceMean, c.TargetMean, c.SourceRank, c.TargetRank, c.Forward, c.Backward,
			}}
			n, e := w.Write(spill.Bytes(one[:]))
			size, err = size+n, errors.Join(err, e)
		}
		err = errors.Join(err, spill.Pad(w, size))
		if err == nil {
			var failed error
			err = values.Each(func(_ int, v []float32) {
				if _, e := w.Write(spill.Bytes(v)); e != nil {
					failed = e
				}
			})
			err = errors.Join(err, failed)
		}
		return errors.Join(err, w.Flush())
	})
}

// AppendCandidates appends the candidates of a file, and opens their features.
func AppendCandidates(to []mine.Candidate, path string) (_ []mine.Candidate, _ *Table, err error) {
	data, err := embedding.Map(path)
	if err != nil {
		return to, nil, err
	}
	defer func() { err = errors.Join(err, unix.Munmap(data)) }()
	in := spill.Sections{Rest: data}
	h := spill.TakeOne[candidatesHeader](&in)
	rows := spill.Take[stored](&in, h.candidates)
	if h.magic != candidatesMagic || in.Short || h.values != uint64(Count) || uint64(len(in.Rest)) != 4*h.candidates*h.values {
		return to, nil, damaged(path, "candidates")
	}
	for _, c := range rows {
		to = append(to, mine.Candidate{
			Source: c.source, Target: c.target, Score: c.score, Cosine: c.cosine, SourceMean: c.sourceMean, TargetMean: c.targetMean,
			SourceRank: c.sourceRank, TargetRank: c.targetRank, Forward: c.forward, Backward: c.backward,
		})
	}
	file, err := os.Open(path)
	if err != nil {
		return to, nil, fmt.Errorf("open the features of candidates: %w", err)
	}
	values := spill.TableIn[float32](file, int64(len(data)-len(in.Rest)), len(rows), Count)
	return to, &Table{rows: []*spill.Table[float32]{values}}, nil
}

// Join appends the candidates of another table, whose files it takes over.
func (t *Table) Join(more *Table) {
	t.rows = append(t.rows, more.rows...)
}

// Close frees the table.
func (t *Table) Close() (err error) {
	for _, rows := range t.rows {
		err = errors.Join(err, rows.Close())
	}
	return err
}
