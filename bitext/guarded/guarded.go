// Package guarded calls the Parquet library on files that may be damaged or hostile.
package guarded

import (
	"fmt"
	"io"
)

// Call calls the Parquet library, which panics on some damaged files and returns errors for others.
func Call(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return call()
}

// KeepOpen hides Close from the Parquet writer: the file is closed by whoever opened it, after it is synced.
type KeepOpen struct{ io.Writer }
