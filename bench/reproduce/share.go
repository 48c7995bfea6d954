package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"bitextmine/internal/lockfile"
)

// again is how long a call waits for others when all that it has left to do is in their hands.
const again = 2 * time.Second

// each does every job. Those that another process holds are tried again after the others, until all are done.
func each[T any](ctx context.Context, left []T, do func(T) error) error {
	for len(left) > 0 {
		var busy []T
		for _, job := range left {
			if err := do(job); held(err) {
				busy = append(busy, job)
			} else if err != nil {
				return err
			}
		}
		if len(busy) == len(left) {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(again):
			}
		}
		left = busy
	}
	return nil
}

// take reserves what is made at a path for this process. If another one has it, that is a held error.
func take(path string) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return lockfile.Lock(path + ".lock")
}

// await reserves it when no other process has it.
func await(ctx context.Context, path string) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return lockfile.Await(ctx, path+".lock")
}

// held reports whether an error says that another process makes something.
func held(err error) bool {
	locked := (*lockfile.Locked)(nil)
	return errors.As(err, &locked)
}
