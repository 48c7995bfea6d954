package corpus

import (
	"errors"
	"io"
	"iter"

	"bitextmine/corpus/input"
)

// Sentences opens an input, yields its sentences to the end and closes it. It yields an error last; the error may come
// from opening or closing.
func Sentences(in input.File, opts Options) iter.Seq2[Sentence, error] {
	return func(yield func(Sentence, error) bool) {
		r, err := Open(in, opts)
		if err != nil {
			yield(Sentence{}, err)
			return
		}
		for s, err := range r.All() {
			if err != nil {
				yield(Sentence{}, errors.Join(err, r.Close()))
				return
			}
			if !yield(s, nil) {
				_ = r.Close() // a caller that stops early does not need the error
				return
			}
		}
		if err := r.Close(); err != nil {
			yield(Sentence{}, err)
		}
	}
}

// Texts reads the normalised sentences of inputs, in order.
func Texts(inputs []input.File, opts Options) (texts []string, err error) {
	for _, in := range inputs {
		for s, err := range Sentences(in, opts) {
			if err != nil {
				return nil, err
			}
			texts = append(texts, s.Normal)
		}
	}
	return texts, nil
}

// All yields the remaining sentences. It yields an error last.
func (r *Reader) All() iter.Seq2[Sentence, error] {
	return func(yield func(Sentence, error) bool) {
		for {
			s, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(s, err) || err != nil {
				return
			}
		}
	}
}
