package bitext

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"

	"bitextmine/corpus"
)

// group decodes the columns of one row group. err is the first error in any of them.
type group struct {
	reader  *file.RowGroupReader
	columns map[string]int
	err     error
}

// fill sets every field of rows, column by column, and the given features.
func (g *group) fill(rows []Row, features []string) {
	g.side(rows, "src", func(r *Row) *Sentence { return &r.Source })
	g.side(rows, "tgt", func(r *Row) *Sentence { return &r.Target })
	each(g, rows, "score", floats, func(r *Row, v float32) { r.Score = v })
	each(g, rows, "cosine", floats, func(r *Row, v float32) { r.Cosine = v })
	each(g, rows, "src_mean", floats, func(r *Row, v float32) { r.SourceMean = v })
	each(g, rows, "tgt_mean", floats, func(r *Row, v float32) { r.TargetMean = v })
	each(g, rows, "src_rank", ints, func(r *Row, v int32) { r.SourceRank = uint8(v) })
	each(g, rows, "tgt_rank", ints, func(r *Row, v int32) { r.TargetRank = uint8(v) })
	each(g, rows, "keep", bools, func(r *Row, v bool) { r.Keep = v })
	for _, name := range features {
		each(g, rows, featurePrefix+name, floats, func(r *Row, v float32) { r.Features = append(r.Features, v) })
	}
	nullable(g, rows, "prob", floats, func(r *Row, v *float32) { r.Prob = v })
	g.identified(rows, "lid_src", func(r *Row) *Sentence { return &r.Source })
	g.identified(rows, "lid_tgt", func(r *Row) *Sentence { return &r.Target })
	if _, ok := g.columns[refineColumn]; ok {
		nullable(g, rows, refineColumn, floats, func(r *Row, v *float32) { r.RefineCosine = v })
	}
	g.places(rows, "src", func(r *Row) *Sentence { return &r.Source })
	g.places(rows, "tgt", func(r *Row) *Sentence { return &r.Target })
	if _, ok := g.columns["found_by"]; ok {
		g.alignments(rows)
	}
	g.reasons(rows)
}

// alignments reads what aligning documents says of the rows.
func (g *group) alignments(rows []Row) {
	alignment := func(r *Row) *Alignment {
		if r.Alignment == nil {
			r.Alignment = &Alignment{}
		}
		return r.Alignment
	}
	bead := func(r *Row) *Bead {
		a := alignment(r)
		if a.Bead == nil {
			a.Bead = &Bead{}
		}
		return a.Bead
	}
	nullable(g, rows, "found_by", byteArrays, func(r *Row, v *parquet.ByteArray) { alignment(r).FoundBy = string(*v) })
	for side, name := range [...]string{"src", "tgt"} {
		if _, ok := g.columns["n_"+name]; ok {
			nullable(g, rows, "n_"+name, ints, func(r *Row, v *int32) { alignment(r).Sentences[side] = uint32(*v) })
		}
		if _, ok := g.columns[name+"_first"]; ok {
			nullable(g, rows, name+"_first", ints, func(r *Row, v *int32) { bead(r).First[side] = uint32(*v) })
		}
	}
	if _, ok := g.columns["bead_score"]; ok {
		nullable(g, rows, "bead_score", floats, func(r *Row, v *float32) { bead(r).Score = *v })
	}
	if _, ok := g.columns["doc_score"]; ok {
		nullable(g, rows, "doc_score", floats, func(r *Row, v *float32) { bead(r).DocScore = *v })
	}
}

// places reads the places of a side's sentences, if the file has such columns.
func (g *group) places(rows []Row, side string, of func(*Row) *Sentence) {
	for _, c := range placeColumns {
		if _, ok := g.columns[side+c.name]; !ok {
			continue
		}
		nullable(g, rows, side+c.name, ints, func(r *Row, v *int32) {
			s := of(r)
			if s.Place == nil {
				s.Place = &corpus.Place{}
			}
			*c.of(s.Place) = uint32(*v)
		})
	}
}

func (g *group) side(rows []Row, side string, of func(*Row) *Sentence) {
	text := func(name string, set func(s *Sentence, v string)) {
		each(g, rows, side+name, byteArrays, func(r *Row, v parquet.ByteArray) { set(of(r), string(v)) })
	}
	text("_text", func(s *Sentence, v string) { s.Text = v })
	text("_lang", func(s *Sentence, v string) { s.Lang = v })
	text("_shard", func(s *Sentence, v string) { s.Shard = v })
	text("_doc", func(s *Sentence, v string) { s.Doc = v })
	text("_url", func(s *Sentence, v string) { s.URL = v })
	each(g, rows, side+"_key", fixedArrays, func(r *Row, v parquet.FixedLenByteArray) { of(r).Key = [16]byte(v) })
	each(g, rows, side+"_row", ints, func(r *Row, v int32) { of(r).Row = uint32(v) })
	each(g, rows, side+"_line", longs, func(r *Row, v int64) { of(r).Line = uint64(v) })
}

func (g *group) identified(rows []Row, column string, of func(*Row) *Sentence) {
	nullable(g, rows, column, byteArrays, func(r *Row, v *parquet.ByteArray) { of(r).Identified = string(*v) })
	nullable(g, rows, column+"_p", floats, func(r *Row, v *float32) { of(r).Share = *v })
}

// reasons reads the lists. A repetition level of 0 begins a row's list; a definition level below the highest means an
// empty list.
func (g *group) reasons(rows []Row) {
	column, err := g.column(reasonsPath)
	if err != nil {
		g.err = errors.Join(g.err, err)
		return
	}
	highest := column.Descriptor().MaxDefinitionLevel()
	values, definition, repetition, err := readChunk(column, byteArrays, g.levels(reasonsPath))
	if err != nil {
		g.err = errors.Join(g.err, err)
		return
	}
	row, value := -1, 0
	for i, level := range repetition {
		if level == 0 {
			row++
		}
		if row < 0 || row >= len(rows) {
			break
		}
		if definition[i] == highest {
			rows[row].Reasons = append(rows[row].Reasons, string(values[value]))
			value++
		}
	}
	if row != len(rows)-1 {
		g.err = errors.Join(g.err, fmt.Errorf("column reasons has lists for %d of %d rows", row+1, len(rows)))
	}
}

func (g *group) column(path string) (file.ColumnChunkReader, error) {
	return g.reader.Column(g.columns[path])
}

// levels is the number of values in the column, including nulls and empty lists.
func (g *group) levels(path string) int64 {
	chunk, err := g.reader.MetaData().ColumnChunk(g.columns[path])
	if err != nil {
		g.err = errors.Join(g.err, err)
		return 0
	}
	return chunk.NumValues()
}

// batchReader is the ReadBatch method of one type of column.
type batchReader[C, V any] func(C, int64, []V, []int16, []int16) (int64, int, error)

var (
	floats      = (*file.Float32ColumnChunkReader).ReadBatch
	ints        = (*file.Int32ColumnChunkReader).ReadBatch
	longs       = (*file.Int64ColumnChunkReader).ReadBatch
	bools       = (*file.BooleanColumnChunkReader).ReadBatch
	byteArrays  = (*file.ByteArrayColumnChunkReader).ReadBatch
	fixedArrays = (*file.FixedLenByteArrayColumnChunkReader).ReadBatch
)

// each reads a column without nulls and sets its value in every row.
func each[C file.ColumnChunkReader, V any](g *group, rows []Row, name string, read batchReader[C, V],
	set func(*Row, V)) {
	if g.err != nil {
		return
	}
	column, err := g.column(name)
	if err != nil {
		g.err = err
		return
	}
	values, _, _, err := readChunk(column, read, int64(len(rows)))
	if err == nil && len(values) != len(rows) {
		err = fmt.Errorf("it has %d values for %d rows", len(values), len(rows))
	}
	if err != nil {
		g.err = fmt.Errorf("column %s: %w", name, err)
		return
	}
	for i := range rows {
		set(&rows[i], values[i])
	}
}

// nullable reads a column that has nulls and sets its values in the rows that have one.
func nullable[C file.ColumnChunkReader, V any](g *group, rows []Row, name string, read batchReader[C, V],
	set func(*Row, *V)) {
	if g.err != nil {
		return
	}
	column, err := g.column(name)
	if err != nil {
		g.err = err
		return
	}
	highest := column.Descriptor().MaxDefinitionLevel()
	values, definition, _, err := readChunk(column, read, int64(len(rows)))
	if err == nil && len(definition) != len(rows) {
		err = fmt.Errorf("it has %d values for %d rows", len(definition), len(rows))
	}
	if err != nil {
		g.err = fmt.Errorf("column %s: %w", name, err)
		return
	}
	for i, level := range definition {
		if level == highest {
			set(&rows[i], &values[0])
			values = values[1:]
		}
	}
}

// maxValues is the maximum number of values in a column of a row group. A row has up to a few reasons and one value in
// every other column.
const maxValues = 8 * RowGroup

// readChunk decodes up to n levels of a column and the values that belong to them.
func readChunk[C file.ColumnChunkReader, V any](column file.ColumnChunkReader, read batchReader[C, V],
	n int64) (values []V, definition, repetition []int16, err error) {
	if n < 0 || n > maxValues { // checked before memory is allocated for them
		return nil, nil, nil, fmt.Errorf("it claims to have %d values", n)
	}
	values, definition, repetition = make([]V, n), make([]int16, n), make([]int16, n)
	var levels, found int64
	for levels < n {
		total, count, err := read(column.(C), n-levels, values[found:], definition[levels:], repetition[levels:])
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, nil, err
		}
		if total == 0 {
			break
		}
		levels, found = levels+total, found+int64(count)
	}
	return values[:found], definition[:levels], repetition[:levels], nil
}
