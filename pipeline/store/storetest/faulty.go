// Package storetest has a backend of stores that fails on request, and real S3 and GCS servers to test with.
package storetest

import (
	"context"
	"log/slog"
	"sync/atomic"

	"bitextmine/pipeline/store"
)

// Faulty is a backend whose n-th operation fails with Err, counted from 1 over all methods; 0 means none.
type Faulty struct {
	store.Backend
	Fail  int64
	Err   error
	Every bool // every operation from the n-th on fails, as on a failed disk
	done  atomic.Int64
}

// Operations is the number of operations so far.
func (f *Faulty) Operations() int64 { return f.done.Load() }

func (f *Faulty) next() error {
	if n := f.done.Add(1); f.Fail > 0 && (n == f.Fail || f.Every && n > f.Fail) {
		return f.Err
	}
	return nil
}

// Read implements store.Backend.
func (f *Faulty) Read(ctx context.Context, name string) ([]byte, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.Backend.Read(ctx, name)
}

// Write implements store.Backend.
func (f *Faulty) Write(ctx context.Context, name string, data []byte) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.Backend.Write(ctx, name, data)
}

// Scratch implements store.Backend.
func (f *Faulty) Scratch(name string) (string, error) {
	if err := f.next(); err != nil {
		return "", err
	}
	return f.Backend.Scratch(name)
}

// Publish implements store.Backend.
func (f *Faulty) Publish(ctx context.Context, name, dir string, files []store.File, record []byte) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.Backend.Publish(ctx, name, dir, files, record)
}

// Fetch implements store.Backend.
func (f *Faulty) Fetch(ctx context.Context, name string, files []store.File) (string, error) {
	if err := f.next(); err != nil {
		return "", err
	}
	return f.Backend.Fetch(ctx, name, files)
}

// Remove implements store.Backend.
func (f *Faulty) Remove(ctx context.Context, name string) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.Backend.Remove(ctx, name)
}

// Quiet is a log that discards everything.
var Quiet = slog.New(slog.DiscardHandler)
