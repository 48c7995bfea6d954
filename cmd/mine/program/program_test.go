package program

import (
	"runtime/debug"
	"testing"
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
