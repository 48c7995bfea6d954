package distil

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/badinput"
	"bitextmine/internal/protofield"
)

// Pieces is a SentencePiece model of which some pieces may be left out.
type Pieces struct {
	spelling []string
	score    []float32 // logarithm of the piece's probability
	normal   []bool    // no special piece
	fixed    []bool    // never left out: special pieces and single characters
	raw      [][]byte  // fields of ModelProto, the pieces
	rest     []byte    // its other fields
}

// wordMark stands for the space before a word in a SentencePiece model.
const wordMark = "\u2581"

// Field and enumeration numbers of sentencepiece_model.proto.
const (
	modelPieces  = 1
	modelTrainer = 2

	pieceSpelling = 1
	pieceScore    = 2
	pieceType     = 3
	typeNormal    = 1

	trainerModelType = 3
	bytePairs        = 2
)

// ParsePieces reads a serialised SentencePiece model.
func ParsePieces(model []byte) (*Pieces, error) {
	all, err := split(model)
	if err != nil {
		return nil, err
	}
	p := &Pieces{}
	for _, f := range all {
		switch f.Number {
		case modelPieces:
			err = p.add(f)
		case modelTrainer:
			err = checkTrainer(f)
			fallthrough
		default:
			p.rest = append(p.rest, f.Raw...)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(p.raw) == 0 {
		return nil, badinput.Errorf("it has no pieces")
	}
	return p, nil
}

// split splits a message of the model into its fields.
func split(message []byte) ([]protofield.Field, error) {
	all, err := protofield.Split(message)
	if err != nil {
		return nil, badinput.Errorf("it is no SentencePiece model: %w", err)
	}
	return all, nil
}

// checkTrainer refuses byte-pair encoding, whose pieces are made of each other.
func checkTrainer(trainer protofield.Field) error {
	all, err := split(trainer.Content)
	for _, f := range all {
		if f.Number == trainerModelType && f.Value == bytePairs {
			return badinput.Errorf("its pieces are merges (BPE), and leaving one out changes how others are made: keep the whole vocabulary (--pieces 0)")
		}
	}
	return err
}

// add adds a piece.
func (p *Pieces) add(piece protofield.Field) error {
	spelling, score, kind := "", float32(0), uint64(typeNormal)
	all, err := split(piece.Content)
	for _, f := range all {
		switch f.Number {
		case pieceSpelling:
			spelling = string(f.Content)
		case pieceScore:
			score = math.Float32frombits(uint32(f.Value))
		case pieceType:
			kind = f.Value
		}
	}
	p.spelling = append(p.spelling, spelling)
	p.score = append(p.score, score)
	p.normal = append(p.normal, kind == typeNormal)
	p.fixed = append(p.fixed, kind != typeNormal || utf8.RuneCountInString(spelling) == 1)
	p.raw = append(p.raw, piece.Raw)
	return err
}

// Choose marks the n pieces to keep: the fixed ones, then the most frequent ones of the text, then the most probable of
// the others. counts are of the file's ids.
func (p *Pieces) Choose(n int, counts []int) ([]bool, error) {
	keep := make([]bool, len(p.raw))
	if n == 0 || n >= len(keep) {
		for i := range keep {
			keep[i] = true
		}
		return keep, nil
	}
	var free []int
	for i, fixed := range p.fixed {
		if keep[i] = fixed; fixed {
			n--
		} else {
			free = append(free, i)
		}
	}
	if n < 0 {
		return nil, badinput.Errorf("it has %d special pieces and single characters, which are always kept: ask for more pieces (--pieces)", len(keep)-len(free))
	}
	slices.SortFunc(free, func(a, b int) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(p.score[b], p.score[a]), cmp.Compare(a, b))
	})
	for _, i := range free[:n] {
		keep[i] = true
	}
	return keep, nil
}

// Model is the SentencePiece model of the kept pieces, in their order, and of merges.
// Text that needs only kept pieces is cut as before, but for merges: its best path through all pieces is also the best
// through the kept ones, and a merge is a little more probable than its parts in a row.
func (p *Pieces) Model(keep []bool, merged ...piece) []byte {
	var out []byte
	for i, raw := range p.raw {
		if keep[i] {
			out = append(out, raw...)
		}
	}
	for _, piece := range merged {
		content := protofield.AppendBytes(nil, pieceSpelling, piece.spelling)
		content = protowire.AppendFixed32(protowire.AppendTag(content, pieceScore, protowire.Fixed32Type),
			math.Float32bits(piece.score))
		out = protofield.AppendBytes(out, modelPieces, content)
	}
	return append(out, p.rest...)
}

// Vocabulary maps the ids of the teacher's graph to the student's: the kept pieces, in order, then merges, then special
// tokens that are no pieces.
type Vocabulary struct {
	Student []int32   // indexed by the teacher's id; unmapped if the student lacks it
	Teacher [][]int32 // indexed by the student's id: the teacher's ids that it stands for, several for a merge
	File    []byte    // the tokenizer's file
	merges  *merges
	merged  int32 // the student's id of the first merge
}

// unmapped stands for a teacher's id that the student lacks.
const unmapped = -1

// NewVocabulary numbers the student's ids. number gives the teacher's graph id of an id of its file; the parts of
// merged are graph ids.
func NewVocabulary(rows int, keep []bool, number func(int32) int32, merged *merges, specials []int32,
	file []byte) (*Vocabulary, error) {
	v := &Vocabulary{Student: make([]int32, rows), File: file, merges: merged}
	for i := range v.Student {
		v.Student[i] = unmapped
	}
	for id, kept := range keep {
		if kept {
			// Two pieces of the file may share an id of the graph; each has its row.
			v.Student[number(int32(id))] = int32(len(v.Teacher))
			v.Teacher = append(v.Teacher, []int32{number(int32(id))})
		}
	}
	v.merged = int32(len(v.Teacher))
	v.Teacher = append(v.Teacher, merged.parts...)
	for _, special := range specials {
		if int(special) >= rows {
			return nil, fmt.Errorf("the special token %d is not among %d ids", special, rows)
		}
		if v.Student[special] == unmapped {
			v.Student[special] = int32(len(v.Teacher))
			v.Teacher = append(v.Teacher, []int32{special})
		}
	}
	return v, nil
}

// Translate appends a sentence's ids in the student's, merges in place of their parts; false if the student lacks one
// of its pieces.
func (v *Vocabulary) Translate(ids []int32, to []int32) ([]int32, bool) {
	at := 0
	for _, s := range v.merges.cut(ids, nil) {
		own := v.Student[ids[at]]
		if s.merge >= 0 {
			own = v.merged + s.merge
		}
		if own == unmapped {
			return nil, false
		}
		to, at = append(to, own), at+s.length
	}
	return to, true
}
