package importer

import (
	"errors"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/protofield"
)

// pieceModel is a SentencePiece model (sentencepiece_model.proto) of kind unigram that is being written.
type pieceModel struct {
	pieces        []string
	scores        []float32
	charsmap      []byte // the normaliser's table
	unknown       int
	control       []int
	bos, eos, pad int
}

// Fields of ModelProto.
const (
	modelPieces     = 1
	modelTrainer    = 2
	modelNormaliser = 3

	normaliserCharsmap = 2
)

func (m pieceModel) marshal() []byte {
	varint := func(b []byte, field protowire.Number, v int) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
	}
	message := func(b []byte, field protowire.Number, part []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), part)
	}
	const normal, unknown, control = 1, 2, 3
	var out []byte
	for id, piece := range m.pieces {
		kind := normal
		switch {
		case id == m.unknown:
			kind = unknown
		case slices.Contains(m.control, id):
			kind = control
		}
		part := message(nil, 1, []byte(piece))
		part = protowire.AppendFixed32(protowire.AppendTag(part, 2, protowire.Fixed32Type),
			math.Float32bits(m.scores[id]))
		out = message(out, modelPieces, varint(part, 3, kind))
	}
	trainer := varint(nil, 3, 1)                // model_type: unigram
	trainer = varint(trainer, 4, len(m.pieces)) // vocab_size
	trainer = varint(trainer, 40, m.unknown)    // unk_id, bos_id, eos_id, pad_id
	trainer = varint(varint(varint(trainer, 41, m.bos), 42, m.eos), 43, m.pad)
	out = message(out, modelTrainer, trainer)
	normaliser := message(message(nil, 1, []byte("nmt_nfkc")), normaliserCharsmap, m.charsmap)
	return message(out, modelNormaliser, normaliser)
}

// charsmapOf is the normaliser's table of a SentencePiece model.
func charsmapOf(model []byte) ([]byte, error) {
	all, err := protofield.Split(model)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		if f.Number != modelNormaliser {
			continue
		}
		parts, err := protofield.Split(f.Content)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			if part.Number == normaliserCharsmap {
				return part.Content, nil
			}
		}
	}
	return nil, errors.New("the SentencePiece model has no table of its normaliser")
}
