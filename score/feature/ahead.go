package feature

import (
	"unsafe"

	"bitextmine/internal/spill"
)

// cacheLine is how many bytes a processor fetches at a time.
const cacheLine = 64

// ahead fetches the sentences of some pairs before they are compared. One sentence stands anywhere in its file, and a
// processor that reads one after the other waits for memory at every step: where it stands, how long it is, what it
// has. Each step of many at once takes little longer than of one.
type ahead struct {
	parts []*Side
	at    []int // row, then place in the log
	sum   byte  // everything that was read goes into it, so that it is read
}

// fetch fetches n sentences of a side. It changes nothing, and leaves out what is in a temporary file.
func (f *ahead) fetch(s *Side, n int, number func(i int) int32) {
	f.parts, f.at = f.parts[:0], f.at[:0]
	for i := range n {
		part, row := s.place(number(i))
		f.parts, f.at = append(f.parts, part), append(f.at, row)
	}
	for i, row := range f.at {
		f.at[i] = (int(f.parts[i].places[row]) - 1) * spill.Align
	}
	for i, at := range f.at {
		if records := f.parts[i].log.Held(); at >= 0 && at+headBytes <= len(records) {
			f.sum += records[at]
		} else {
			f.at[i] = -1
		}
	}
	for i, at := range f.at {
		if at < 0 {
			continue
		}
		records := f.parts[i].log.Held()[at:]
		size := min(int((*head)(unsafe.Pointer(&records[0])).bytes), len(records))
		for line := cacheLine; line < size; line += cacheLine {
			f.sum += records[line]
		}
	}
}
