package bitext_test

import "encoding/binary"

// The types of Thrift's compact protocol that Parquet uses.
const (
	typeBool   = 1 // true; false is 2
	typeI32    = 5
	typeI64    = 6
	typeBinary = 8
	typeList   = 9
	typeStruct = 12
)

// message writes the fields of one struct in Thrift's compact protocol, in ascending order of their ids.
type message struct {
	bytes []byte
	last  int
}

func (m *message) field(id int, kind byte) {
	m.bytes = append(m.bytes, byte(id-m.last)<<4|kind)
	m.last = id
}

func (m *message) int32(id int, v int32) *message {
	m.field(id, typeI32)
	m.bytes = binary.AppendVarint(m.bytes, int64(v))
	return m
}

func (m *message) int64(id int, v int64) *message {
	m.field(id, typeI64)
	m.bytes = binary.AppendVarint(m.bytes, v)
	return m
}

func (m *message) bool(id int, v bool) *message {
	kind := byte(typeBool)
	if !v {
		kind = 2
	}
	m.field(id, kind)
	return m
}

func (m *message) text(id int, v string) *message {
	m.field(id, typeBinary)
	m.bytes = append(binary.AppendUvarint(m.bytes, uint64(len(v))), v...)
	return m
}

func (m *message) inner(id int, v *message) *message {
	m.field(id, typeStruct)
	m.bytes = append(m.bytes, v.end()...)
	return m
}

// list writes the header of a list with n elements. The elements must follow.
func (m *message) list(id int, kind byte, n int, elements ...[]byte) *message {
	m.field(id, typeList)
	if n < 15 {
		m.bytes = append(m.bytes, byte(n)<<4|kind)
	} else {
		m.bytes = binary.AppendUvarint(append(m.bytes, 0xf0|kind), uint64(n))
	}
	for _, e := range elements {
		m.bytes = append(m.bytes, e...)
	}
	return m
}

func (m *message) structs(id int, elements [][]byte) *message {
	return m.list(id, typeStruct, len(elements), elements...)
}

func (m *message) end() []byte { return append(m.bytes, 0) }

func stringElement(s string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(s))), s...)
}
