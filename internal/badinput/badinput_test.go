package badinput

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestIs(t *testing.T) {
	_, missing := os.Open("no such file")
	_, through := os.Open("badinput_test.go/file")
	_, long := os.Open(strings.Repeat("x", 300))
	_, directory := os.ReadFile(".")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"nil":                   {nil, false},
		"an ordinary error":     {errors.New("connection reset"), false},
		"marked at its source":  {Errorf("k = 0"), true},
		"wrapped twice":         {fmt.Errorf("run: %w", fmt.Errorf("search: %w", Errorf("k = 0"))), true},
		"joined with another":   {errors.Join(errors.New("close"), Errorf("k = 0")), true},
		"marked afterwards":     {Mark(errors.New("refused")), true},
		"marking nothing":       {Mark(nil), false},
		"a missing file":        {missing, true},
		"a refused permission":  {fs.ErrPermission, true},
		"a full disk":           {fmt.Errorf("write: %w", syscall.ENOSPC), true},
		"a file's limit":        {fmt.Errorf("write: %w", syscall.EFBIG), true},
		"a read-only disk":      {syscall.EROFS, true},
		"a path through a file": {through, true},
		"a name too long":       {long, true},
		"a directory":           {directory, true},
		"links in a circle":     {syscall.ELOOP, true},
		"an input/output error": {syscall.EIO, false}, // may be gone on the next try
	} {
		t.Run(name, func(t *testing.T) {
			if got := Is(c.err); got != c.want {
				t.Errorf("Is(%v) = %v", c.err, got)
			}
		})
	}
}

func TestErrorKeepsItsCause(t *testing.T) {
	if err := Errorf("open: %w", fs.ErrExist); !errors.Is(err, fs.ErrExist) || err.Error() != "open: file already exists" {
		t.Errorf("error %v", err)
	}
}

func TestProblems(t *testing.T) {
	var wrong Problems
	wrong.Unless(true, "k is 0")
	if err := wrong.Err("settings: "); err != nil {
		t.Errorf("without a problem: %v", err)
	}
	wrong.Unless(false, "k is %d", 0)
	wrong.Unless(false, "m is 100%%")
	if err := wrong.Err("settings: "); !Is(err) || err.Error() != "settings: k is 0; m is 100%" {
		t.Errorf("two problems: %v", err)
	}
}
