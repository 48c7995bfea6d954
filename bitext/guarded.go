// This file calls the Parquet library on files that may be damaged or hostile.

package bitext

import "fmt"

// Call calls the Parquet library, which panics on some damaged files and returns errors for others.
func Guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return call()
}
