package sentencepiece

import (
	"errors"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/protofield"
)

// File is the content of a model of kind unigram that is written.
type File struct {
	Pieces        []string
	Scores        []float32
	Charsmap      []byte // the normaliser's table
	Unknown       int
	Control       []int
	BOS, EOS, Pad int
}

// Marshal returns the model as its file has it. Its normaliser is called nmt_nfkc.
func (m File) Marshal() []byte {
	varint, message := protofield.AppendVarint[int], protofield.AppendBytes[[]byte]
	var out []byte
	for id, piece := range m.Pieces {
		kind := typeNormal
		switch {
		case id == m.Unknown:
			kind = typeUnknown
		case slices.Contains(m.Control, id):
			kind = typeControl
		}
		part := message(nil, 1, []byte(piece))
		part = protowire.AppendFixed32(protowire.AppendTag(part, 2, protowire.Fixed32Type),
			math.Float32bits(m.Scores[id]))
		out = message(out, modelPieces, varint(part, 3, kind))
	}
	trainer := varint(nil, 3, 1)                // model_type: unigram
	trainer = varint(trainer, 4, len(m.Pieces)) // vocab_size
	trainer = varint(trainer, 40, m.Unknown)    // unk_id, bos_id, eos_id, pad_id
	trainer = varint(varint(varint(trainer, 41, m.BOS), 42, m.EOS), 43, m.Pad)
	out = message(out, modelTrainer, trainer)
	normaliser := message(message(nil, 1, []byte("nmt_nfkc")), normaliserCharsmap, m.Charsmap)
	return message(out, modelNormaliser, normaliser)
}

// CharsmapOf returns the normaliser's table of a SentencePiece model.
func CharsmapOf(model []byte) ([]byte, error) {
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
