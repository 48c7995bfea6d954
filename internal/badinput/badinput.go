// Package badinput marks errors that a retry cannot mend: bad input, bad settings, a full disk.
// cmd/mine turns them into exit code 2; everything else is exit code 1, worth a retry.
package badinput

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

type permanent struct{ err error }

func (p permanent) Error() string { return p.err.Error() }
func (p permanent) Unwrap() error { return p.err }

// Errorf is fmt.Errorf whose error is marked permanent. The text is one sentence that names the file
// or setting, what is wrong, and what to do.
func Errorf(format string, args ...any) error {
	return permanent{fmt.Errorf(format, args...)}
}

// Mark makes err permanent; nil stays nil.
func Mark(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

// Is reports whether err, or anything it wraps, is permanent. A full disk, a missing file and a refused
// permission are permanent wherever they arise.
func Is(err error) bool {
	var p permanent
	return errors.As(err, &p) ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
