package tokenizer

import (
	"sync"

	"bitextmine/encode/model"
)

// Early opens a model's tokenizer while something else is done: an encoder that is opened after it finds it open. It is
// for SentencePiece, whose models of one file are shared.
type Early struct {
	model   *model.Model
	once    sync.Once
	opening sync.WaitGroup
	opened  *Vocabulary
}

// NewEarly returns one that has not begun.
func NewEarly(m *model.Model) *Early { return &Early{model: m} }

// Begin begins to open the tokenizer. What is wrong with it is said by the encoder.
func (e *Early) Begin() {
	if e.model.Tokenizer.Kind != "sentencepiece" {
		return
	}
	e.once.Do(func() {
		e.opening.Go(func() {
			if v, err := Open(e.model); err == nil {
				e.opened = v
			}
		})
	})
}

// Close waits for the tokenizer and closes it.
func (e *Early) Close() {
	e.opening.Wait()
	if e.opened != nil {
		e.opened.Close()
		e.opened = nil
	}
}
