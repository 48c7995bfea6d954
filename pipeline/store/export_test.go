package store

import (
	"testing"
	"time"
)

// BePatient sets how long operations on a bucket are tried again, until the test ends.
func BePatient(t testing.TB, opening, work time.Duration) {
	before := [2]time.Duration{openPatience, workPatience}
	t.Cleanup(func() { openPatience, workPatience = before[0], before[1] })
	openPatience, workPatience = opening, work
}

// Stall sets after which time a server that sends nothing is asked again, until the test ends.
func Stall(t testing.TB, after time.Duration) {
	before := stallTime
	t.Cleanup(func() { stallTime = before })
	stallTime = after
}
