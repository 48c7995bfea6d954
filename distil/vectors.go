package distil

import (
	"context"

	"bitextmine/distil/teacher"
	"bitextmine/encode"
)

// Features is an encoder whose texts are packed ids, so that the cache of teachers keeps the vectors of sentences that
// no text was written of.
type Features struct{ *encode.Encoder }

// Encode gives the features of sentences that are packed ids.
func (f Features) Encode(ctx context.Context, _ string, texts []string, dst []float32) error {
	sequences := make([][]int32, len(texts))
	for i, text := range texts {
		sequences[i] = unpacked(text)
	}
	return f.EncodeIDs(ctx, sequences, dst)
}

// together is how many sentences are encoded between two writes of the cache.
const together = 4096

// Vectors gives the teacher's features [s.Len(), dim]. report is called with how many are done.
func Vectors(ctx context.Context, t *teacher.Teacher, s *Sentences, report func(done int)) ([]float32, error) {
	all := make([]float32, 0, s.Len()*t.Dim())
	languages := make([]string, together)
	for lo := 0; lo < s.Len(); lo += together {
		var texts []string
		for i := lo; i < min(lo+together, s.Len()); i++ {
			texts = append(texts, packed(s.At(i)))
		}
		rows, err := t.Encode(ctx, languages[:len(texts)], texts)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
		report(lo + len(texts))
	}
	return all, nil
}
