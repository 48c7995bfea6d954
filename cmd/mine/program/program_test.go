package program

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"bitextmine/internal/badinput"
)

func TestDescribe(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26", Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "false"},
	}}
	if got, want := Describe(info), Version+", commit 0123456789ab, go1.26"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	info.Settings[1].Value = "true"
	if got, want := Describe(info), Version+", commit 0123456789ab with changes, go1.26"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	info.Settings = nil
	if got, want := Describe(info), Version+", built without a record of the commit, go1.26"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Describe(nil); got != Version {
		t.Errorf("got %q", got)
	}
}

// TestOpenFiles: a limit of open files is no reason to try again as before, and says what to do.
func TestOpenFiles(t *testing.T) {
	err := OpenFiles(fmt.Errorf("open a file: %w", syscall.EMFILE))
	if !badinput.Is(err) || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("error %v", err)
	}
	if other := errors.New("another"); OpenFiles(other) != other { //nolint:errorlint // the very error
		t.Error("another error changed")
	}
}
