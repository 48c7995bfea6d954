// Package guarded calls the Parquet library on files that may be damaged or hostile.
package guarded

import "fmt"

// Call calls the Parquet library, which panics on some damaged files and returns errors for others.
func Call(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return call()
}
