package pairs

import (
	"encoding/binary"
	"math"

	"bitextmine/bitext"
)

// A record is a pair in the file of texts: both texts first, each after its length, then all that is not in memory.

func appendRow(to []byte, row *bitext.Row) []byte {
	to = appendText(to, row.Source.Text)
	to = appendText(to, row.Target.Text)
	for _, s := range []*bitext.Sentence{&row.Source, &row.Target} {
		for _, text := range []string{s.Lang, s.Shard, s.Doc, s.URL, s.Identified} {
			to = appendText(to, text)
		}
		to = binary.AppendUvarint(to, uint64(s.Row))
		to = binary.AppendUvarint(to, s.Line)
		to = appendFloat(to, s.Share)
	}
	for _, value := range []float32{row.Score, row.Cosine, row.SourceMean, row.TargetMean} {
		to = appendFloat(to, value)
	}
	to = append(to, row.SourceRank, row.TargetRank)
	for _, value := range []*float32{row.Prob, row.RefineCosine} {
		if value == nil {
			to = append(to, 0)
		} else {
			to = appendFloat(append(to, 1), *value)
		}
	}
	to = binary.AppendUvarint(to, uint64(len(row.Features)))
	for _, value := range row.Features {
		to = appendFloat(to, value)
	}
	return appendAlignment(to, row.Alignment)
}

// appendAlignment begins with 0 for nil, 1 for an alignment and 2 for one with a bead.
func appendAlignment(to []byte, a *bitext.Alignment) []byte {
	if a == nil {
		return append(to, 0)
	}
	kind := byte(1)
	if a.Bead != nil {
		kind = 2
	}
	to = appendText(append(to, kind), a.FoundBy)
	for _, n := range a.Sentences {
		to = binary.AppendUvarint(to, uint64(n))
	}
	if a.Bead == nil {
		return to
	}
	for _, n := range a.Bead.First {
		to = binary.AppendUvarint(to, uint64(n))
	}
	return appendFloat(appendFloat(to, a.Bead.Score), a.Bead.DocScore)
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

func appendFloat(to []byte, value float32) []byte {
	return binary.LittleEndian.AppendUint32(to, math.Float32bits(value))
}

// record reads what appendRow wrote. This process wrote it, so it is not checked.
type record struct{ data []byte }

func (r *record) row() *bitext.Row {
	row := &bitext.Row{}
	row.Source.Text, row.Target.Text = r.text(), r.text()
	for _, s := range []*bitext.Sentence{&row.Source, &row.Target} {
		for _, text := range []*string{&s.Lang, &s.Shard, &s.Doc, &s.URL, &s.Identified} {
			*text = r.text()
		}
		s.Row, s.Line, s.Share = uint32(r.number()), r.number(), r.float()
	}
	for _, value := range []*float32{&row.Score, &row.Cosine, &row.SourceMean, &row.TargetMean} {
		*value = r.float()
	}
	row.SourceRank, row.TargetRank = r.byte(), r.byte()
	for _, value := range []**float32{&row.Prob, &row.RefineCosine} {
		if r.byte() == 1 {
			v := r.float()
			*value = &v
		}
	}
	if n := r.number(); n > 0 {
		row.Features = make([]float32, n)
		for i := range row.Features {
			row.Features[i] = r.float()
		}
	}
	row.Alignment = r.alignment()
	return row
}

func (r *record) alignment() *bitext.Alignment {
	kind := r.byte()
	if kind == 0 {
		return nil
	}
	a := &bitext.Alignment{FoundBy: r.text()}
	for side := range a.Sentences {
		a.Sentences[side] = uint32(r.number())
	}
	if kind == 2 {
		a.Bead = &bitext.Bead{First: [2]uint32{uint32(r.number()), uint32(r.number())}, Score: r.float(),
			DocScore: r.float()}
	}
	return a
}

func (r *record) byte() (b byte) {
	b, r.data = r.data[0], r.data[1:]
	return b
}

func (r *record) number() uint64 {
	v, n := binary.Uvarint(r.data)
	r.data = r.data[n:]
	return v
}

func (r *record) bytes() []byte {
	n := r.number()
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *record) text() string { return string(r.bytes()) }

func (r *record) float() float32 {
	v := math.Float32frombits(binary.LittleEndian.Uint32(r.data))
	r.data = r.data[4:]
	return v
}
