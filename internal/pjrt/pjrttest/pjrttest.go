// Package pjrttest gives tests a PJRT plugin for the CPU, the stand-in for a GPU's.
package pjrttest

import (
	"os"
	"testing"
)

// Env is the environment variable with the plugin's path.
const Env = "MINE_TEST_PJRT"

// Plugin returns the path of the plugin. It skips the test where there is none.
func Plugin(t testing.TB) string {
	t.Helper()
	path := os.Getenv(Env)
	if path == "" {
		t.Skip("there is no PJRT plugin: make test-pjrt fetches one for the CPU and runs this test")
	}
	return path
}
