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

// lasting are the system's errors that stay: of a file that is missing, or that this user may not have, of a path that
// leads to a directory, through a file, through too many links or is too long, and of a limit of open files.
var lasting = slices.Concat(DiskFull, []error{fs.ErrNotExist, fs.ErrPermission, syscall.EROFS, syscall.EISDIR, syscall.ENOTDIR, syscall.ELOOP,
	syscall.ENAMETOOLONG, syscall.EMFILE})

// OfSystem reports whether err, or an error that it wraps, is one of the system's that stay, not of what a file says.
func OfSystem(err error) bool {
	return slices.ContainsFunc(lasting, func(one error) bool { return errors.Is(err, one) })
}

// Is reports whether err, or an error that it wraps, is permanent. A full disk and what else is lasting always are.
func Is(err error) bool {
	var p permanent
	return errors.As(err, &p) || OfSystem(err)
}
