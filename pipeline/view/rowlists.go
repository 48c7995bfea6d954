package view

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// magic begins the file of lists of rows, which is little-endian and not compressed. After it come the number of lists,
// uint32; the end of each list among all rows, uint32; the rows, uint32, ascending within a list.
var magic = []byte("MINEROWS")

// WriteRows writes lists.
func WriteRows(path string, lists [][]uint32) error {
	data := binary.LittleEndian.AppendUint32(bytes.Clone(magic), uint32(len(lists)))
	end := 0
	for _, list := range lists {
		end += len(list)
		data = binary.LittleEndian.AppendUint32(data, uint32(end))
	}
	for _, list := range lists {
		for _, row := range list {
			data = binary.LittleEndian.AppendUint32(data, row)
		}
	}
	return atomicfile.WriteBytes(path, data)
}

// ReadRows reads lists. They must be as many as bounds, and the rows of list i below bounds[i].
func ReadRows(path string, bounds ...int) ([][]uint32, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read lists of rows: %w", err)
	}
	lists, err := decode(data)
	if err == nil {
		err = check(lists, bounds)
	}
	if err != nil {
		return nil, badinput.Errorf("%s is damaged (%w); remove its directory, and it is made again", path, err)
	}
	return lists, nil
}

func decode(data []byte) ([][]uint32, error) {
	rest, ok := bytes.CutPrefix(data, magic)
	if !ok || len(rest) < 4 || len(rest)%4 != 0 {
		return nil, errors.New("it is no list of rows")
	}
	numbers := make([]uint32, len(rest)/4)
	for i := range numbers {
		numbers[i] = binary.LittleEndian.Uint32(rest[4*i:])
	}
	n := uint64(numbers[0])
	if n > uint64(len(numbers)-1) {
		return nil, errors.New("it is cut short")
	}
	ends, all := numbers[1:1+n], numbers[1+n:]
	lists, begin := make([][]uint32, n), uint32(0)
	for i, end := range ends {
		if end < begin || uint64(end) > uint64(len(all)) {
			return nil, fmt.Errorf("list %d ends before it begins, or after the file", i)
		}
		lists[i], begin = all[begin:end:end], end
	}
	if uint64(begin) != uint64(len(all)) {
		return nil, errors.New("it has rows that are of no list")
	}
	return lists, nil
}

func check(lists [][]uint32, bounds []int) error {
	if len(lists) != len(bounds) {
		return fmt.Errorf("it has %d lists instead of %d", len(lists), len(bounds))
	}
	for i, list := range lists {
		for j, row := range list {
			if uint64(row) >= uint64(bounds[i]) || j > 0 && row <= list[j-1] {
				return fmt.Errorf("row %d of list %d is %d of %d, or does not ascend", j, i, row, bounds[i])
			}
		}
	}
	return nil
}
