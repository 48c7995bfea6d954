package lockfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bitextmine/internal/badinput"
)

// TestShare: processes with one purpose hold a file together, and another waits for the last of them.
func TestShare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var held []func() error
	for range 2 {
		release, err := Share(path, "one")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, release)
	}
	for _, release := range held {
		locked := (*Locked)(nil)
		if _, err := Share(path, "other"); !errors.As(err, &locked) || !strings.Contains(err.Error(), "another process holds "+path) {
			t.Errorf("another purpose gave %v", err)
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	release, err := Share(path, "other")
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

func TestSecondHolderIsRefusedByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Lock(path)
	locked := (*Locked)(nil)
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), Self().Host) {
		t.Errorf("a held lock gave %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Await(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for a held lock gave %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := Await(t.Context(), path)
	if err != nil {
		t.Fatalf("a released lock gave %v", err)
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(filepath.Join(t.TempDir(), "missing", "lock")); !badinput.Is(err) {
		t.Errorf("a missing directory gave %v", err)
	}
}

func TestDead(t *testing.T) {
	for name, c := range map[string]struct {
		process Process
		dead    bool
	}{
		"this process":           {Self(), false},
		"no such process":        {Process{Host: Self().Host, PID: 1 << 30}, true},
		"one of another machine": {Process{Host: "elsewhere", PID: 1 << 30}, false},
	} {
		if got := c.process.Dead(); got != c.dead {
			t.Errorf("%s: dead %v, want %v", name, got, c.dead)
		}
	}
}

// TestFullDisk: a lock that cannot be written is named once, with what to do.
func TestFullDisk(t *testing.T) {
	err := unwritten("a.lock", &os.PathError{Op: "write", Path: "a.lock", Err: syscall.ENOSPC})
	if !badinput.Is(err) || strings.Count(err.Error(), "a.lock") != 1 || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("error %v", err)
	}
}
