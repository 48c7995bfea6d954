// Package sentencepiece splits text into the pieces of a SentencePiece model with the reference library itself
// (libsentencepiece, Debian package libsentencepiece-dev), so the ids are those of spm_encode.
package sentencepiece

/*
#cgo CXXFLAGS: -std=c++17 -O2
#cgo LDFLAGS: -lsentencepiece
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// Call is the most texts that cross into C together: enough to make the crossing free, few enough that the buffers stay in
// the second-level cache.
const Call = 256

// Model is a loaded SentencePiece model. Its methods may be called from any number of goroutines until Close.
type Model struct {
	c       *C.sp_model
	unknown int32
	size    int32
	// unknownPiece is how the model spells the unknown piece.
	unknownPiece string
	buffers      sync.Pool // of *buffer
}

// buffer holds one call's arguments: the texts back to back, where each ends, and the ids that come back.
type buffer struct {
	text    []byte
	ends    []C.size_t
	ids     []int32 // [Call, most]
	lengths []int32
}

// New parses a serialised model (the bytes of a .model file).
func New(model []byte) (*Model, error) {
	if len(model) == 0 {
		return nil, errors.New("the SentencePiece model is empty")
	}
	var message *C.char
	c := C.sp_load(unsafe.Pointer(&model[0]), C.size_t(len(model)), &message)
	if c == nil {
		return nil, fmt.Errorf("not a SentencePiece model: %s", take(message))
	}
	m := &Model{c: c, unknown: int32(C.sp_unknown_id(c)), size: int32(C.sp_size(c))}
	m.unknownPiece = C.GoString(C.sp_unknown_piece(c))
	m.buffers.New = func() any { return new(buffer) }
	return m, nil
}

// Close frees the model. No other call may be running or follow.
func (m *Model) Close() {
	C.sp_free(m.c)
	m.c = nil
}

// Unknown is the id of the unknown piece.
func (m *Model) Unknown() int32 { return m.unknown }

// Size is the number of pieces.
func (m *Model) Size() int { return int(m.size) }

// ID is the id of a piece, if the model has it.
func (m *Model) ID(piece string) (int32, bool) {
	id := int32(C.sp_id(m.c, (*C.char)(unsafe.Pointer(unsafe.StringData(piece))), C.size_t(len(piece))))
	return id, id != m.unknown || piece == m.unknownPiece
}

// Piece is the spelling of an id, which must be below Size.
func (m *Model) Piece(id int32) string { return C.GoString(C.sp_piece(m.c, C.int32_t(id))) }

// Encode calls yield with each text's ids in order, cut to the first `most`; yield must not keep the slice.
// The text is given to the model as it is: an empty one, or one of which the model's normaliser leaves nothing, has no ids.
func (m *Model) Encode(texts []string, most int, yield func(i int, ids []int32)) error {
	if most <= 0 {
		return fmt.Errorf("split into at most %d pieces: the number must be positive", most)
	}
	b := m.buffers.Get().(*buffer)
	defer m.buffers.Put(b)
	for lo := 0; lo < len(texts); lo += Call {
		part := texts[lo:min(lo+Call, len(texts))]
		if err := m.call(b, part, most); err != nil {
			return fmt.Errorf("split texts %d to %d: %w", lo, lo+len(part)-1, err)
		}
		for i := range part {
			yield(lo+i, b.ids[i*most:][:b.lengths[i]])
		}
	}
	return nil
}

// call fills b.ids and b.lengths for at most Call texts.
func (m *Model) call(b *buffer, texts []string, most int) error {
	b.text, b.ends = b.text[:0], b.ends[:0]
	for _, text := range texts {
		b.text = append(b.text, text...)
		b.ends = append(b.ends, C.size_t(len(b.text)))
	}
	if need := len(texts) * most; cap(b.ids) < need {
		b.ids = make([]int32, Call*most)
	}
	b.ids = b.ids[:cap(b.ids)]
	if b.lengths == nil {
		b.lengths = make([]int32, Call)
	}
	var message *C.char
	rc := C.sp_encode(m.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(b.text))), &b.ends[0], C.int(len(texts)),
		C.int(most), (*C.int32_t)(&b.ids[0]), (*C.int32_t)(&b.lengths[0]), &message)
	runtime.KeepAlive(m)
	if rc != 0 {
		return errors.New(take(message))
	}
	return nil
}

// take copies a message out of C and frees it.
func take(message *C.char) string {
	defer C.sp_free_message(message)
	return C.GoString(message)
}
