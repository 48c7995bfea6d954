package encode

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"slices"

	"bitextmine/corpus"
	cut "bitextmine/corpus/shard"
	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/view"
)

// FitGiven compares the vectors that another program made of an input with its lines, once it is cut, and notes the
// line of the first row. Row i is the vector of line i; a sentence in several lines has the vector of the first, even
// where another spelling of it has another vector. It refuses formats with records that are no lines.
func FitGiven(in *plan.Input, info *cut.Result) error {
	v := in.Vectors
	if v == nil {
		return nil
	}
	if f := info.Format; f.Subtitles() || f.Pages() || f == corpus.FormatPO {
		return badinput.Errorf("%s is %s, whose records are no lines, so that none has a row of %s: give the sentences that mine split writes, or plain text, and their vectors",
			in.Path, f, v.Path)
	}
	if uint64(v.Rows) != info.Counts.Lines {
		return embedding.RowsError(v.Path, v.Rows, embedding.DType(v.Raw), in.Path, info.Counts.Lines)
	}
	if info.Format == corpus.FormatTSV || info.Format == corpus.FormatCSV {
		v.Header = 1
	}
	return nil
}

// DigestGiven notes in every shard the digest of its rows' vectors, which is in the keys of all that is made of them.
// Languages without vectors of another program stay as they are.
func DigestGiven(ctx context.Context, files *view.Files) error {
	for l := range files.Plan.Languages {
		language := &files.Plan.Languages[l]
		for s := range language.Shards {
			if in := language.InputOf(s); in == nil || in.Vectors == nil {
				continue
			}
			sum := newDigest()
			err := eachGivenRow(ctx, files, l, s, nil, func(row []float32) error {
				sum.Add(row)
				return nil
			})
			if err != nil {
				return err
			}
			language.Shards[s].Given = sum.String()
		}
	}
	return nil
}

// rowDigest is a digest of rows.
type rowDigest struct {
	hash hash.Hash
	buf  []byte
}

// newDigest returns the digest of no row.
func newDigest() *rowDigest { return &rowDigest{hash: sha256.New()} }

// Add adds a row.
func (s *rowDigest) Add(row []float32) {
	s.buf = s.buf[:0]
	for _, x := range row {
		s.buf = binary.LittleEndian.AppendUint32(s.buf, math.Float32bits(x))
	}
	s.hash.Write(s.buf)
}

func (s *rowDigest) String() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// source is where a row's vector is: a row of an input's file of vectors.
type source struct {
	input *plan.Input
	row   uint64
}

// contextEvery is how many rows are read between two looks at the context.
const contextEvery = 4096

// eachGivenRow calls each with the L2-normalised vectors of rows of a shard, in order; nil: of all. A row that is not
// finite, or is all zeros, is a badinput error that names the file and the row, counted from 0. each must not keep
// the row.
func eachGivenRow(ctx context.Context, files *view.Files, language, shard int, wanted []uint32, each func(row []float32) error) (err error) {
	sources, err := sourcesOf(ctx, files, language, shard)
	if err != nil {
		return err
	}
	open := map[string]*embedding.File{}
	defer func() {
		for _, file := range open {
			err = errors.Join(err, file.Close())
		}
	}()
	row := make([]float32, files.Plan.Languages[language].InputOf(shard).Vectors.Dim)
	n := len(sources)
	if wanted != nil {
		n = len(wanted)
	}
	for i := range n {
		at := i
		if wanted != nil {
			at = int(wanted[i])
		}
		if i%contextEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := sources[at].read(open, row); err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}

// read reads a vector, opening its file if it is not open yet.
func (s source) read(open map[string]*embedding.File, row []float32) error {
	v := s.input.Vectors
	file := open[v.Path]
	if file == nil {
		var err error
		if v.Raw == "" {
			file, err = embedding.OpenArray(v.Path)
		} else {
			file, err = embedding.OpenRaw(v.Path, v.Dim, embedding.DType(v.Raw))
		}
		if err != nil {
			return err
		}
		open[v.Path] = file
	}
	if file.N != v.Rows || file.Dim != len(row) {
		return plan.Changed(v.Path)
	}
	file.Float32(row, int(s.row), int(s.row)+1)
	if err := embedding.Normalise(row); err != nil {
		return badinput.Errorf("%s: row %d, of line %d of %s, %w: make the vector of that line again, or remove both", v.Path, s.row, s.row+1+v.Header, s.input.Path, err)
	}
	return nil
}

// checkUnchanged compares a shard's rows, once all of them are read, with what the plan says of them.
func checkUnchanged(p *plan.Plan, language, shard int, now *rowDigest) error {
	l := &p.Languages[language]
	if now.String() != l.Shards[shard].Given {
		return plan.Changed(l.InputOf(shard).Vectors.Path)
	}
	return nil
}

// sourcesOf finds the row of every sentence of a shard: that of its first occurrence.
func sourcesOf(ctx context.Context, files *view.Files, language, shard int) ([]source, error) {
	numbered, err := files.Sentences(language)
	if err != nil {
		return nil, err
	}
	type occurrence struct {
		row   int // row in the shard
		first view.Place
	}
	firsts := make([]occurrence, len(numbered.Rows[shard]))
	for row, number := range numbered.Rows[shard] {
		firsts[row] = occurrence{row, numbered.First[number]}
	}
	slices.SortFunc(firsts, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.first.Shard, b.first.Shard), cmp.Compare(a.first.Row, b.first.Row))
	})
	sources := make([]source, len(firsts))
	for len(firsts) > 0 {
		of := firsts[0].first.Shard
		n := 0
		var rows []uint32
		for n < len(firsts) && firsts[n].first.Shard == of {
			rows = append(rows, firsts[n].first.Row)
			n++
		}
		in := files.Plan.Languages[language].InputOf(int(of))
		lines, err := linesOf(ctx, files, language, int(of), rows)
		if err != nil {
			return nil, err
		}
		for i, one := range firsts[:n] {
			row := lines[i] - 1 - in.Vectors.Header
			if row >= uint64(in.Vectors.Rows) {
				return nil, fmt.Errorf("shard %s has line %d, and %s %d rows", files.Plan.Languages[language].Shards[of].Name, lines[i], in.Vectors.Path, in.Vectors.Rows)
			}
			sources[one.row] = source{in, row}
		}
		firsts = firsts[n:]
	}
	return sources, nil
}

// linesOf returns the lines, from 1, of rows of a shard, given in ascending order.
func linesOf(ctx context.Context, files *view.Files, language, shard int, rows []uint32) (lines []uint64, err error) {
	reader, err := files.OpenShard(ctx, &files.Plan.Languages[language].Shards[shard])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for row, err := range reader.RowsAt(rows) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, row.Line)
	}
	return lines, nil
}
