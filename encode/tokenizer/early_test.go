package tokenizer

import (
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
)

// A tokenizer that was opened early ends only when those opened after it have ended, and is opened once.
func TestEarly(t *testing.T) {
	files := encodetest.Changed(t, "lowercase: true", "lowercase: true")
	m, err := model.LoadFS(files, model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	NewEarly(m).Close()
	early := NewEarly(m)
	early.Begin()
	early.Begin()
	v, err := Open(m)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	early.opening.Wait()
	if early.opened == nil {
		t.Error("a tokenizer was not opened early")
	}
	early.Close()
	if id, ok := v.ID("▁the"); !ok || id < 0 {
		t.Error("a tokenizer ended with the one that was opened early")
	}
	delete(files, "spm.model") // what is missing is said by the encoder
	early = NewEarly(m)
	early.Begin()
	early.Close()
}
