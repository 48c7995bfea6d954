// Package lockfile keeps two processes from working in one directory, by a file that the kernel locks and that names
// its holder.
package lockfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Process is a process of some machine.
type Process struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// Self is this process, from now on.
func Self() Process {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Process{Host: host, PID: os.Getpid(), Since: time.Now().UTC()}
}

// Dead reports whether it was a process of this machine that is gone. Of other machines nothing is known.
func (p Process) Dead() bool {
	host, err := os.Hostname()
	return err == nil && host == p.Host && errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH)
}

// Locked is the error of a process that found another one at work.
type Locked struct {
	Path string
	Process
}

func (l *Locked) Error() string {
	if l.PID == 0 {
		return fmt.Sprintf("another process holds %s; wait for its end", l.Path)
	}
	return fmt.Sprintf("process %d on %s holds %s since %s; wait for its end", l.PID, l.Host, l.Path,
		l.Since.Local().Format(time.DateTime))
}

// Await takes the lock file at path, waiting for whoever holds it.
func Await(ctx context.Context, path string) (release func() error, err error) {
	for {
		release, err := Lock(path)
		if held := (*Locked)(nil); !errors.As(err, &held) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Share takes part in holding the file at path, which processes with one purpose may hold together. Another purpose is
// a *Locked error as long as one of them does. release ends it.
func Share(path, purpose string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, badinput.Errorf("%s cannot be opened (%w); let this user write there, or name another directory", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil { // nobody holds it
		if err = rewrite(f, []byte(purpose)); err != nil {
			err = unwritten(path, err)
		}
	} else if errors.Is(err, unix.EWOULDBLOCK) {
		err = nil
	}
	if err == nil { // one that is writing its purpose holds it alone, for a moment
		err = flock(f, unix.LOCK_SH)
	}
	if err != nil {
		return nil, err
	}
	held, err := os.ReadFile(path)
	if err == nil && string(held) != purpose {
		err = &Locked{Path: path}
	}
	return f.Close, err
}

// flock locks a file, whatever signals come meanwhile. An error that is not unix.EWOULDBLOCK is badinput.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil, errors.Is(err, unix.EWOULDBLOCK):
			return err
		default:
			return badinput.Errorf("%s cannot be locked (%w); its file system must know flock", f.Name(), err)
		}
	}
}

// unwritten is the error of a lock file that cannot be written; err names the file.
func unwritten(path string, err error) error {
	if badinput.IsDiskFull(err) {
		return atomicfile.Explain(path, err)
	}
	return err
}

// rewrite replaces the content of a file.
func rewrite(f *os.File, data []byte) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(data, 0)
	return err
}

// Lock takes the lock file at path and writes its holder into it. The lock is the kernel's: it goes when its process
// does, however that ends, and on file systems that machines share it holds between them. release ends it.
func Lock(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, badinput.Errorf("the lock %s cannot be opened (%w); let this user write there, or name another directory", path, err)
	}
	if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(err, f.Close())
		}
		locked := &Locked{Path: path}
		// What a holder has not finished writing names nobody.
		if data, err := io.ReadAll(f); err == nil {
			_ = json.Unmarshal(data, &locked.Process)
		}
		return nil, errors.Join(locked, f.Close())
	}
	data, err := json.Marshal(Self())
	if err == nil {
		err = rewrite(f, append(data, '\n'))
	}
	if err != nil {
		return nil, errors.Join(unwritten(path, err), f.Close())
	}
	return f.Close, nil // the file stays: removing it would let two runs lock two files of one name
}
