package sentencepiece

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/protofield"
)

// Numbers of sentencepiece_model.proto.
const (
	modelPieces     = 1
	modelTrainer    = 2
	modelNormaliser = 3
	modelSelfTest   = 4

	pieceSpelling = 1
	pieceScore    = 2
	pieceType     = 3

	typeNormal      = 1
	typeUnknown     = 2
	typeControl     = 3
	typeUserDefined = 4
	typeUnused      = 5
	typeByte        = 6

	trainerType     = 3
	trainerSuffix   = 24 // treat_whitespace_as_suffix
	trainerFallback = 35 // byte_fallback
	typeUnigram     = 1

	normaliserCharsmap = 2
	normaliserPrefix   = 3 // add_dummy_prefix
	normaliserExtra    = 4 // remove_extra_whitespaces
	normaliserEscape   = 5 // escape_whitespaces
)

// minNormal is C's FLT_MIN.
const minNormal = 0x1p-126

// specification is a parsed serialised model.
type specification struct {
	spellings []string // spelling by id
	scores    []float32
	kinds     []byte
	fallback  bool // unknown text becomes bytes
	suffix    bool // white space is written after words

	charsmap              []byte
	prefix, extra, escape bool
}

// parse reads a model that is computed here; nil: it is left to the library, whose messages say what is wrong with it.
func parse(text string) *pieces {
	s := &specification{prefix: true, extra: true, escape: true}
	seen := map[protowire.Number]bool{}
	for model := []byte(text); len(model) > 0; { // spellings are parts of text
		number, kind, n := protowire.ConsumeTag(model)
		if n < 0 {
			return nil
		}
		size := protowire.ConsumeFieldValue(number, kind, model[n:])
		if size < 0 {
			return nil
		}
		size += n
		ok := true
		switch number {
		case modelPieces:
			ok = s.addPiece(model[:size], text[:size])
		case modelTrainer, modelNormaliser, modelSelfTest:
			content, _ := protowire.ConsumeBytes(model[n:size])
			ok = number != modelSelfTest && !seen[number] && s.set(number, content)
			seen[number] = true
		}
		if !ok {
			return nil
		}
		model, text = model[size:], text[size:]
	}
	return newPieces(s)
}

// addPiece adds a piece: a field of the model, given as text, too.
func (s *specification) addPiece(field []byte, text string) bool {
	_, _, n := protowire.ConsumeTag(field)
	content, size := protowire.ConsumeBytes(field[n:])
	if size < 0 {
		return false
	}
	spelling, score, kind := "", float32(0), uint64(typeNormal)
	for len(content) > 0 {
		number, wire, n := protowire.ConsumeTag(content)
		if n < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, wire, content[n:])
		if size < 0 {
			return false
		}
		value := content[n : n+size]
		switch {
		case number == pieceSpelling && wire == protowire.BytesType:
			part, _ := protowire.ConsumeBytes(value)
			begin := len(text) - len(content) + n + size - len(part)
			spelling = text[begin : begin+len(part)]
		case number == pieceScore && wire == protowire.Fixed32Type:
			bits, _ := protowire.ConsumeFixed32(value)
			score = math.Float32frombits(bits)
		case number == pieceType && wire == protowire.VarintType:
			kind, _ = protowire.ConsumeVarint(value)
		}
		content = content[n+size:]
	}
	s.spellings, s.scores, s.kinds = append(s.spellings, spelling), append(s.scores, score), append(s.kinds, byte(kind))
	return kind >= typeNormal && kind <= typeByte
}

// set reads the specification of the trainer or of the normaliser.
func (s *specification) set(message protowire.Number, content []byte) bool {
	fields, err := protofield.Split(content)
	if err != nil {
		return false
	}
	for _, f := range fields {
		yes := f.Value != 0
		switch {
		case message == modelTrainer && f.Number == trainerType && f.Value != typeUnigram:
			return false
		case message == modelTrainer && f.Number == trainerSuffix:
			s.suffix = yes
		case message == modelTrainer && f.Number == trainerFallback:
			s.fallback = yes
		case message == modelNormaliser && f.Number == normaliserCharsmap:
			s.charsmap = f.Content
		case message == modelNormaliser && f.Number == normaliserPrefix:
			s.prefix = yes
		case message == modelNormaliser && f.Number == normaliserExtra:
			s.extra = yes
		case message == modelNormaliser && f.Number == normaliserEscape:
			s.escape = yes
		}
	}
	return true
}
