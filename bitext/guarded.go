package bitext

import "fmt"

// Guard calls the Parquet library, which panics on some damaged files and returns errors for others.
func Guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return call()
}
