package pairdocs

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"bitextmine/encode/embedding"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/spill"
)

// writeSections writes a file of sections.
func writeSections(path string, sections ...[]byte) error {
	return atomicfile.Write(path, func(f *os.File) error {
		out := bufio.NewWriterSize(f, 1<<20)
		for _, section := range sections {
			if err := spill.WriteSection(out, section); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// ascendTo says whether no number is below one before it or above the last possible one.
func ascendTo(numbers []uint64, last uint64) bool {
	return slices.IsSorted(numbers) && (len(numbers) == 0 || numbers[len(numbers)-1] <= last)
}

// damaged is the error of a file that is not as it was written.
func damaged(path string) error {
	return fmt.Errorf("%s is damaged: remove its directory, and it is made again", path)
}

// beginOf is where number k of what has these ends begins.
func beginOf(ends []uint64, k int) uint64 {
	if k == 0 {
		return 0
	}
	return ends[k-1]
}

// mapping is a mapped file.
type mapping struct{ data []byte }

func (m *mapping) close() error {
	if m.data == nil {
		return nil
	}
	err := unix.Munmap(m.data)
	m.data = nil
	return err
}

// opened maps a file that decode reads, and says whether it is one of its kind.
func opened[T interface{ close() error }](path string, decode func(data []byte) (T, bool)) (none T, err error) {
	data, err := embedding.Map(path)
	if err != nil {
		return none, err
	}
	found, ok := decode(data)
	if !ok {
		return none, errors.Join(damaged(path), found.close())
	}
	return found, nil
}
