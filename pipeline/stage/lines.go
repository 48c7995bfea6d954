package stage

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// ReadLines calls each with the JSON objects of a file that a stage wrote, one a line, in order.
func ReadLines[T any](path string, each func(*T) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open what a stage wrote: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := json.NewDecoder(bufio.NewReader(f))
	for {
		one := new(T)
		if err := lines.Decode(one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if err := each(one); err != nil {
			return err
		}
	}
}
