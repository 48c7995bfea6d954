package laser

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// scalar carries out an instruction that pushes a number, a text or a constant.
func (u *unpickler) scalar(op byte) (bool, error) {
	var n uint64
	var b []byte
	var s string
	var err error
	switch op {
	case 0x80: // PROTO
		_, err = u.number(1)
	case 0x95: // FRAME
		_, err = u.number(8)
	case 'N':
		u.push(nil)
	case 0x88, 0x89:
		u.push(op == 0x88)
	case 'J':
		n, err = u.number(4)
		u.push(int64(int32(n)))
	case 'K':
		n, err = u.number(1)
		u.push(int64(n))
	case 'M':
		n, err = u.number(2)
		u.push(int64(n))
	case 0x8a: // LONG1
		if b, err = u.text(1); err != nil {
			return true, err
		}
		u.push(long(b))
	case 'G':
		n, err = u.number(8)
		u.push(math.Float64frombits(bits.ReverseBytes64(n)))
	case 'I', 'L':
		if s, err = u.line(); err != nil {
			return true, err
		}
		var i int64
		if i, err = strconv.ParseInt(strings.TrimSuffix(s, "L"), 10, 64); s == "00" || s == "01" {
			u.push(s == "01")
		} else {
			u.push(i)
		}
	default:
		width, ok := texts[op]
		if !ok {
			return false, nil
		}
		if b, err = u.text(width); op == 'B' || op == 'C' {
			u.push(b)
		} else {
			u.push(string(b))
		}
	}
	return true, err
}

// texts are the instructions that push a text or bytes, and the width of its length.
var texts = map[byte]int{'X': 4, 'T': 4, 0x8c: 1, 'U': 1, 0x8d: 8, 'B': 4, 'C': 1}

// long is a number, or its bytes if it has more than eight.
func long(b []byte) any {
	if len(b) > 8 {
		return b
	}
	var whole [8]byte
	if len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		whole = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	}
	copy(whole[:], b)
	return int64(binary.LittleEndian.Uint64(whole[:]))
}
