package bitext_test

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// laughingSchema is an Arrow IPC message of a schema with one field. Both children of each field are one and the same
// field, whose children are again one field, and so on ("billion laughs").
func laughingSchema(depth int) []byte {
	const structType, schemaHeader, version5 = 13, 1, 4
	b := flatbuffers.NewBuilder(1 << 12)
	b.StartObject(0)
	kind := b.EndObject()
	name := b.CreateString("x")
	vector := func(elements ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		b.StartVector(flatbuffers.SizeUOffsetT, len(elements), flatbuffers.SizeUOffsetT)
		for _, e := range elements {
			b.PrependUOffsetT(e)
		}
		return b.EndVector(len(elements))
	}
	var field flatbuffers.UOffsetT
	for level := range depth {
		var children flatbuffers.UOffsetT
		if level == 0 {
			children = vector()
		} else {
			children = vector(field, field)
		}
		b.StartObject(7)
		b.PrependUOffsetTSlot(0, name, 0)
		b.PrependByteSlot(2, structType, 0)
		b.PrependUOffsetTSlot(3, kind, 0)
		b.PrependUOffsetTSlot(5, children, 0)
		field = b.EndObject()
	}
	fields := vector(field)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	schema := b.EndObject()
	b.StartObject(5)
	b.PrependInt16Slot(0, version5, 0)
	b.PrependByteSlot(1, schemaHeader, 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	message := b.FinishedBytes()
	for len(message)%8 != 0 {
		message = append(message, 0)
	}
	out := binary.LittleEndian.AppendUint32(nil, 0xffffffff)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(message))), message...)
}
