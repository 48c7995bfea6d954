package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockName is the file in a data directory that a download holds. It is hidden, so that no reader takes it for text.
const lockName = ".mine-data.lock"

// lock waits until no other process downloads into dir: two would write into one part, one archive's files and one list
// of digests. The lock is the kernel's and ends with its process. The file stays: if it were removed, two processes could
// lock two files of one name.
func lock(ctx context.Context, dir string) (release func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f.Close, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w; name a directory on a file system that knows flock", f.Name(), err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
