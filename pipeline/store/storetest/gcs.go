package storetest

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

var buildGCS = builder("gcsserver", "fake-gcs-server")

// GCS starts fake-gcs-server, a server of Google Cloud Storage's JSON API, on loopback until the test ends, and returns
// the location of a new bucket. Skipped with -short.
func GCS(t testing.TB) (location string) {
	t.Helper()
	server := program(t, buildGCS)
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "corpus"), 0o755); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, server, "-scheme", "http", "-host", host, "-port", port, "-public-host", address, "-backend", "memory", "-data", data, "-log-level", "error")
	t.Setenv("STORAGE_EMULATOR_HOST", address)
	awaitBucket(t, "gs://corpus")
	return "gs://corpus/work"
}
