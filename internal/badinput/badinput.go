// Package badinput marks errors that a retry cannot fix: bad input, bad settings, a full disk. cmd/mine turns them into
// exit code 2. All other errors are exit code 1, which is worth a retry.
package badinput

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
)

type permanent struct{ err error }

func (p permanent) Error() string { return p.err.Error() }
func (p permanent) Unwrap() error { return p.err }

// Errorf is fmt.Errorf with an error that is marked permanent. The text is one sentence that names the file or setting,
// what is wrong, and what to do.
func Errorf(format string, args ...any) error { return permanent{fmt.Errorf(format, args...)} }

// Mark marks err as permanent; nil stays nil.
func Mark(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

// DiskFull are the errors of a disk, a quota or a file that may not grow (ulimit -f).
var DiskFull = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// IsDiskFull reports whether err, or an error that it wraps, is of DiskFull.
func IsDiskFull(err error) bool {
	return slices.ContainsFunc(DiskFull, func(full error) bool { return errors.Is(err, full) })
}

// Is reports whether err, or an error that it wraps, is permanent. A full disk, a missing file, a missing permission
// and a limit of open files are always permanent.
func Is(err error) bool {
	var p permanent
	return errors.As(err, &p) || IsDiskFull(err) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EMFILE) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
