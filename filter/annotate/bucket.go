package annotate

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// buckets spread records of a fixed size over files. What fits in memory is not written.
type buckets struct {
	dir, name string
	size      int // bytes of a record
	limit     int // bytes of a bucket that are kept in memory
	buffers   [][]byte
	written   map[int]bool
}

func newBuckets(dir, name string, size, limit int) *buckets {
	return &buckets{dir: dir, name: name, size: size, limit: limit, written: map[int]bool{}}
}

// add appends a record of values to a bucket.
func (b *buckets) add(bucket int, values ...uint64) error {
	for bucket >= len(b.buffers) {
		b.buffers = append(b.buffers, nil)
	}
	buffer := b.buffers[bucket]
	if len(buffer)+b.size > b.limit {
		if err := b.flush(bucket, buffer); err != nil {
			return err
		}
		buffer = buffer[:0]
	}
	for _, v := range values {
		buffer = binary.LittleEndian.AppendUint64(buffer, v)
	}
	b.buffers[bucket] = buffer
	return nil
}

func (b *buckets) path(bucket int) string {
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d", b.name, bucket))
}

// flush opens the file for each write, so that the number of buckets is not limited by that of open files.
func (b *buckets) flush(bucket int, data []byte) error {
	f, err := os.OpenFile(b.path(bucket), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write a temporary file of the survey: %w", err)
	}
	b.written[bucket] = true
	if _, err := f.Write(data); err != nil {
		_ = f.Close() // the first error is the one to report
		return fmt.Errorf("write a temporary file of the survey: %w", err)
	}
	return f.Close()
}

// take returns the records of a bucket one after the other, and removes them.
func (b *buckets) take(bucket int) ([]uint64, error) {
	var data []byte
	if b.written[bucket] {
		var err error
		if data, err = os.ReadFile(b.path(bucket)); err != nil {
			return nil, fmt.Errorf("read a temporary file of the survey: %w", err)
		}
		if err := os.Remove(b.path(bucket)); err != nil {
			return nil, fmt.Errorf("remove a temporary file of the survey: %w", err)
		}
		delete(b.written, bucket)
	}
	if bucket < len(b.buffers) {
		data = append(data, b.buffers[bucket]...)
		b.buffers[bucket] = nil
	}
	values := make([]uint64, len(data)/8)
	for i := range values {
		values[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return values, nil
}
