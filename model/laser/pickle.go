package laser

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// A pickle is a program for a stack machine that can call anything. This reader runs none of it: it knows the
// instructions that build lists, tuples, dictionaries and numbers, and the few classes of inert lists, and refuses
// every other instruction and class by its name.

// unpickler reads one pickle.
type unpickler struct {
	in    *bytes.Reader
	stack []any
	memo  map[uint64]any
	load  func(id tuple) (any, error) // loads the object of a persistent id
}

// unpickle reads the pickle that in begins with.
func unpickle(in *bytes.Reader, load func(id tuple) (any, error)) (any, error) {
	u := &unpickler{in: in, memo: map[uint64]any{}, load: load}
	for {
		op, err := in.ReadByte()
		if err != nil {
			return nil, errors.New("its pickle ends too early")
		}
		if op == '.' {
			return u.pop()
		}
		if err := u.step(op); err != nil {
			return nil, err
		}
	}
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

var errStack = errors.New("its pickle is damaged: its stack is empty")

func (u *unpickler) pop() (any, error) {
	if len(u.stack) == 0 {
		return nil, errStack
	}
	v := u.stack[len(u.stack)-1]
	u.stack = u.stack[:len(u.stack)-1]
	return v, nil
}

// popMark takes everything above the last mark.
func (u *unpickler) popMark() ([]any, error) {
	for i, v := range slices.Backward(u.stack) {
		if v == (mark{}) {
			items := slices.Clone(u.stack[i+1:])
			u.stack = u.stack[:i]
			return items, nil
		}
	}
	return nil, errStack
}

// popTuple takes n values.
func (u *unpickler) popTuple(n int) (tuple, error) {
	if len(u.stack) < n {
		return nil, errStack
	}
	items := tuple(slices.Clone(u.stack[len(u.stack)-n:]))
	u.stack = u.stack[:len(u.stack)-n]
	return items, nil
}

// number reads a little-endian number of n bytes.
func (u *unpickler) number(n int) (uint64, error) {
	var b [8]byte
	_, err := io.ReadFull(u.in, b[:n])
	return binary.LittleEndian.Uint64(b[:]), err
}

// text reads n bytes, after their number in width bytes.
func (u *unpickler) text(width int) ([]byte, error) {
	n, err := u.number(width)
	if err != nil || n > uint64(u.in.Len()) {
		return nil, errors.New("its pickle is damaged: a text is longer than the file")
	}
	b := make([]byte, n)
	_, err = io.ReadFull(u.in, b)
	return b, err
}

// line reads up to a line feed.
func (u *unpickler) line() (string, error) {
	var b []byte
	for {
		c, err := u.in.ReadByte()
		if err != nil || c == '\n' {
			return string(b), err
		}
		b = append(b, c)
	}
}

// step carries out an instruction.
func (u *unpickler) step(op byte) error {
	if done, err := u.scalar(op); done || err != nil {
		return err
	}
	if done, err := u.remember(op); done || err != nil {
		return err
	}
	var items []any
	var err error
	switch op {
	case '(':
		u.push(mark{})
	case ']':
		u.push(&list{})
	case '}':
		u.push(newDict())
	case ')':
		u.push(tuple{})
	case 0x8f: // EMPTY_SET
		u.push(&list{})
	case '0':
		_, err = u.pop()
	case '1':
		_, err = u.popMark()
	case 't', 'l', 0x91, 'd':
		return u.collect(op)
	case 0x85, 0x86, 0x87:
		var t tuple
		if t, err = u.popTuple(int(op - 0x84)); err == nil {
			u.push(t)
		}
	case 'a':
		if items, err = u.popTuple(1); err == nil {
			err = u.extend(items)
		}
	case 'e', 0x90:
		if items, err = u.popMark(); err == nil {
			err = u.extend(items)
		}
	case 's':
		if items, err = u.popTuple(2); err == nil {
			err = u.fill(items)
		}
	case 'u':
		if items, err = u.popMark(); err == nil {
			err = u.fill(items)
		}
	default:
		return u.objects(op)
	}
	return err
}

// collect makes a tuple, a dictionary or a list of what is on the stack from the mark on.
func (u *unpickler) collect(op byte) error {
	items, err := u.popMark()
	if err != nil {
		return err
	}
	switch op {
	case 't':
		u.push(tuple(items))
	case 'd':
		d := newDict()
		u.push(d)
		return fill(d, items)
	default:
		u.push(&list{items})
	}
	return nil
}

// extend adds items to the list on the stack.
func (u *unpickler) extend(items []any) error {
	if len(u.stack) == 0 {
		return errStack
	}
	l, ok := u.stack[len(u.stack)-1].(*list)
	if !ok {
		return errors.New("its pickle is damaged: it adds to what is no list")
	}
	l.items = append(l.items, items...)
	return nil
}

// fill sets keys of the dictionary on the stack; the items of an inert class are dropped.
func (u *unpickler) fill(items []any) error {
	if len(u.stack) == 0 {
		return errStack
	}
	switch top := u.stack[len(u.stack)-1].(type) {
	case *dict:
		return fill(top, items)
	case *object:
		return nil
	}
	return errors.New("its pickle is damaged: it sets a key of what is no dictionary")
}

func fill(d *dict, items []any) error {
	if len(items)%2 != 0 {
		return errors.New("its pickle is damaged: a key has no value")
	}
	for i := 0; i < len(items); i += 2 {
		d.set(items[i], items[i+1])
	}
	return nil
}

// remember carries out an instruction about the memo.
func (u *unpickler) remember(op byte) (bool, error) {
	var at uint64
	var err error
	width, get := 0, false
	switch op {
	case 'q':
		width = 1
	case 'r':
		width = 4
	case 'h':
		width, get = 1, true
	case 'j':
		width, get = 4, true
	case 0x94: // MEMOIZE
		at = uint64(len(u.memo))
	case 'p', 'g':
		var s string
		if s, err = u.line(); err == nil {
			at, err = strconv.ParseUint(s, 10, 32)
		}
		get = op == 'g'
	default:
		return false, nil
	}
	if width > 0 {
		at, err = u.number(width)
	}
	if err != nil {
		return true, err
	}
	if get {
		v, ok := u.memo[at]
		if !ok {
			return true, errors.New("its pickle is damaged: it reads a value that it never kept")
		}
		u.push(v)
		return true, nil
	}
	if len(u.stack) == 0 {
		return true, errStack
	}
	u.memo[at] = u.stack[len(u.stack)-1]
	return true, nil
}

// global pushes the class that the next two lines name or that is on the stack.
func (u *unpickler) global(lines bool) (err error) {
	var c class
	if lines {
		if c.module, err = u.line(); err == nil {
			c.name, err = u.line()
		}
	} else {
		var t tuple
		if t, err = u.popTuple(2); err == nil {
			c.module, _ = t[0].(string)
			c.name, _ = t[1].(string)
		}
	}
	if err != nil {
		return err
	}
	if !c.known() {
		return fmt.Errorf("its pickle names %.100q, which weights do not need: it was not run, and the file is refused",
			c.String())
	}
	u.push(c)
	return nil
}

// objects carries out an instruction about classes: here a pickle could run code.
func (u *unpickler) objects(op byte) error {
	switch op {
	case 'c', 0x93: // GLOBAL, STACK_GLOBAL
		return u.global(op == 'c')
	case 'R', 0x81: // REDUCE, NEWOBJ
		t, err := u.popTuple(2)
		if err != nil {
			return err
		}
		c, isClass := t[0].(class)
		args, isTuple := t[1].(tuple)
		if !isClass || !isTuple {
			return errors.New("its pickle calls what is no class: it was not run, and the file is refused")
		}
		v, err := build(c, args)
		if err != nil {
			return err
		}
		u.push(v)
	case 'b': // BUILD
		t, err := u.popTuple(1)
		if err != nil {
			return err
		}
		if len(u.stack) == 0 {
			return errStack
		}
		if o, ok := u.stack[len(u.stack)-1].(*object); ok {
			o.state = t[0]
		}
	case 'Q': // BINPERSID
		t, err := u.popTuple(1)
		if err != nil {
			return err
		}
		id, ok := t[0].(tuple)
		if !ok || u.load == nil {
			return errors.New("its pickle has a persistent id that is no storage")
		}
		v, err := u.load(id)
		if err != nil {
			return err
		}
		u.push(v)
	default:
		return fmt.Errorf("its pickle has the instruction %q, which weights do not need: the file is refused", op)
	}
	return nil
}
