package storetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gocloud.dev/blob"
)

// builder returns a function that builds a server and returns the path of the program. The Go toolchain builds it from
// a module of its own in testdata, so that this module does not depend on it, and stores it in the build cache.
func builder(module, tool string) func() (program string, err error) {
	return sync.OnceValues(func() (string, error) {
		here, err := exec.Command("go", "list", "-f", "{{.Dir}}", "bitextmine/pipeline/store").Output()
		if err != nil {
			return "", fmt.Errorf("find the module of %s: %w", tool, err)
		}
		build := exec.Command("go", "tool", "-n", tool)
		build.Dir = filepath.Join(strings.TrimSpace(string(here)), "testdata", module)
		build.Stderr = os.Stderr
		path, err := build.Output()
		if err != nil {
			return "", fmt.Errorf("build %s: %w", tool, err)
		}
		return strings.TrimSpace(string(path)), nil
	})
}

// program builds a server. With -short the test is skipped.
func program(t testing.TB, build func() (string, error)) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the server is built from source; not in -short")
	}
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// serve runs a server until the test ends.
func serve(t testing.TB, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it was killed
	})
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

// awaitBucket waits until the server answers.
func awaitBucket(t testing.TB, location string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		b, err := blob.OpenBucket(ctx, location)
		if err != nil {
			t.Fatal(err)
		}
		err = b.WriteAll(ctx, "ready", []byte("ready"), nil)
		if closeErr := b.Close(); closeErr != nil {
			t.Fatal(closeErr)
		}
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not answer: %v", location, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
