package shard

import (
	"fmt"
	"syscall"
	"testing"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// TestOfFile: only what a file says sets it aside. What the machine lacks ends the task, so that no good text is lost.
func TestOfFile(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{badinput.Errorf("de.txt: line 3 is not UTF-8"), true},
		{fmt.Errorf("de.txt: %w", syscall.EIO), false},
		{fmt.Errorf("de.txt: %w", syscall.EMFILE), false},
		{badinput.Mark(fmt.Errorf("de.txt: %w", syscall.EMFILE)), false},
		{fmt.Errorf("de.txt: %w", syscall.ENOTDIR), false},
		{fmt.Errorf("shard: %w", syscall.ENOSPC), false},
		{badinput.Mark(input.ErrMemory), false},
	} {
		if got := OfFile(c.err); got != c.want {
			t.Errorf("OfFile(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}
