package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"bitextmine/internal/badinput"
)

// Locked is the error of a run that found another one under way.
type Locked struct {
	Path string
	Holder
}

func (l *Locked) Error() string {
	if l.PID == 0 {
		return fmt.Sprintf("another run holds %s; wait for its end", l.Path)
	}
	return fmt.Sprintf("process %d on %s holds %s since %s; wait for its end", l.PID, l.Host, l.Path, l.Since.Local().Format(time.DateTime))
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

// Lock takes the lock file at path and writes its holder into it. The lock is the kernel's: it goes when its process does, however that
// ends, and on file systems that machines share it holds between them. release ends it.
func Lock(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, badinput.Errorf("the lock %s cannot be opened (%w); name another directory with --out", path, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(badinput.Errorf("%s cannot be locked (%w); its file system must know flock", path, err), f.Close())
		}
		locked := &Locked{Path: path}
		// What a holder has not finished writing names nobody.
		if data, err := io.ReadAll(f); err == nil {
			_ = json.Unmarshal(data, &locked.Holder)
		}
		return nil, errors.Join(locked, f.Close())
	}
	data, err := json.Marshal(Self())
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(data, '\n'), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), f.Close())
	}
	return f.Close, nil // the file stays: removing it would let two runs lock two files of one name
}
