package sentencepiece

/*
#cgo CXXFLAGS: -std=c++17 -O2
#cgo LDFLAGS: -lsentencepiece
#include <stdlib.h>
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

// Call is the maximum number of texts that are passed to C in one call. It is large enough to make the cost of a call
// negligible and small enough that the buffers stay in the second-level cache.
const Call = 256

// library is a model that libsentencepiece has loaded.
type library struct {
	c       *C.sp_model
	unknown int32
	size    int32
	// unknownPiece is the model's spelling of the unknown piece.
	unknownPiece string
	buffers      sync.Pool // pool of *buffer
}

// buffer holds the arguments of one call: the concatenated texts, the end of each, and the ids that are returned.
type buffer struct {
	text    []byte
	ends    []C.size_t
	ids     []int32 // [Call, maxIDs]
	lengths []int32
}

// openLibrary parses a serialised model.
func openLibrary(model []byte) (*library, error) {
	if len(model) == 0 {
		return nil, errors.New("the SentencePiece model is empty")
	}
	var message *C.char
	c := C.sp_load(unsafe.Pointer(&model[0]), C.size_t(len(model)), &message)
	if c == nil {
		return nil, fmt.Errorf("not a SentencePiece model: %s", takeMessage(message))
	}
	m := &library{c: c, unknown: int32(C.sp_unknown_id(c)), size: int32(C.sp_size(c))}
	m.unknownPiece = C.GoString(C.sp_unknown_piece(c))
	m.buffers.New = func() any { return new(buffer) }
	return m, nil
}

func (m *library) close() {
	C.sp_free(m.c)
	m.c = nil
}

func (m *library) id(piece string) (int32, bool) {
	id := int32(C.sp_id(m.c, (*C.char)(unsafe.Pointer(unsafe.StringData(piece))), C.size_t(len(piece))))
	return id, id != m.unknown || piece == m.unknownPiece
}

func (m *library) piece(id int32) string { return C.GoString(C.sp_piece(m.c, C.int32_t(id))) }

func (m *library) encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error {
	b := m.buffers.Get().(*buffer)
	defer m.buffers.Put(b)
	for lo := 0; lo < len(texts); lo += Call {
		part := texts[lo:min(lo+Call, len(texts))]
		if err := m.call(b, part, maxIDs); err != nil {
			return fmt.Errorf("split texts %d to %d: %w", lo, lo+len(part)-1, err)
		}
		for i := range part {
			yield(lo+i, b.ids[i*maxIDs:][:b.lengths[i]])
		}
	}
	return nil
}

func (m *library) places(text string) (ids []int32, ends []int, err error) {
	var cIDs *C.int32_t
	var cEnds *C.uint32_t
	var count C.size_t
	var message *C.char
	rc := C.sp_places(m.c, (*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)), &cIDs, &cEnds,
		&count, &message)
	runtime.KeepAlive(m)
	if rc != 0 {
		return nil, nil, fmt.Errorf("split a text of %d bytes: %s", len(text), takeMessage(message))
	}
	defer C.free(unsafe.Pointer(cIDs))
	defer C.free(unsafe.Pointer(cEnds))
	ids, ends = make([]int32, count), make([]int, count)
	for i, id := range unsafe.Slice((*int32)(unsafe.Pointer(cIDs)), int(count)) {
		ids[i] = id
	}
	for i, end := range unsafe.Slice((*uint32)(unsafe.Pointer(cEnds)), int(count)) {
		ends[i] = int(end)
	}
	return ids, ends, nil
}

// call fills b.ids and b.lengths for at most Call texts.
func (m *library) call(b *buffer, texts []string, maxIDs int) error {
	b.text, b.ends = b.text[:0], b.ends[:0]
	for _, text := range texts {
		b.text = append(b.text, text...)
		b.ends = append(b.ends, C.size_t(len(b.text)))
	}
	if need := len(texts) * maxIDs; cap(b.ids) < need {
		b.ids = make([]int32, Call*maxIDs)
	}
	b.ids = b.ids[:cap(b.ids)]
	if b.lengths == nil {
		b.lengths = make([]int32, Call)
	}
	var message *C.char
	rc := C.sp_encode(m.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(b.text))), &b.ends[0], C.int(len(texts)),
		C.int(maxIDs), (*C.int32_t)(&b.ids[0]), (*C.int32_t)(&b.lengths[0]), &message)
	runtime.KeepAlive(m)
	if rc != 0 {
		return errors.New(takeMessage(message))
	}
	return nil
}

// takeMessage copies a message from C and frees it.
func takeMessage(message *C.char) string {
	defer C.sp_free_message(message)
	return C.GoString(message)
}
