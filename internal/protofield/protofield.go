// Package protofield splits messages of protocol buffers into their fields, for readers that need a few of them and
// keep the rest as it is, and appends fields to them.
package protofield

import "google.golang.org/protobuf/encoding/protowire"

// Field is one field of a message. Its slices point into the message.
type Field struct {
	Number  protowire.Number
	Raw     []byte // its whole encoding
	Content []byte // content of a string, bytes or a message
	Value   uint64 // value of a varint, or 32 fixed bits
}

// AppendBytes appends a field that is a message, a string or bytes.
func AppendBytes[T string | []byte](b []byte, number protowire.Number, content T) []byte {
	b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.BytesType), uint64(len(content)))
	return append(b, content...)
}

// AppendVarint appends a field that is a whole number.
func AppendVarint[T ~int | uint64](b []byte, number protowire.Number, value T) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(value))
}

// Split splits a message.
func Split(message []byte) ([]Field, error) {
	var all []Field
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		f := Field{Number: number}
		var size int
		switch kind {
		case protowire.BytesType:
			f.Content, size = protowire.ConsumeBytes(message[n:])
		case protowire.VarintType:
			f.Value, size = protowire.ConsumeVarint(message[n:])
		case protowire.Fixed32Type:
			var bits uint32
			bits, size = protowire.ConsumeFixed32(message[n:])
			f.Value = uint64(bits)
		default:
			size = protowire.ConsumeFieldValue(number, kind, message[n:])
		}
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		f.Raw, message = message[:n+size], message[n+size:]
		all = append(all, f)
	}
	return all, nil
}
