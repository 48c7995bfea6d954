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

// s3Server builds versitygw, an S3 server, and returns the path of the program. The Go toolchain builds it from a
// module of its own, so that this module does not depend on it, and stores it in the build cache.
var s3Server = sync.OnceValues(func() (program string, err error) {
	here, err := exec.Command("go", "list", "-f", "{{.Dir}}", "bitextmine/pipeline/store").Output()
	if err != nil {
		return "", fmt.Errorf("find the module of the S3 server: %w", err)
	}
	build := exec.Command("go", "tool", "-n", "versitygw")
	build.Dir = filepath.Join(strings.TrimSpace(string(here)), "testdata", "s3server")
	build.Stderr = os.Stderr
	path, err := build.Output()
	if err != nil {
		return "", fmt.Errorf("build the S3 server: %w", err)
	}
	return strings.TrimSpace(string(path)), nil
})

// S3 starts an S3 server on loopback until the test ends, and returns the location of a new bucket. Skipped with
// -short.
func S3(t testing.TB) (location string) {
	t.Helper()
	if testing.Short() {
		t.Skip("the S3 server is built from source; not in -short")
	}
	server, err := s3Server()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, sidecar := filepath.Join(dir, "root"), filepath.Join(dir, "sidecar")
	for _, d := range []string{filepath.Join(root, "corpus"), sidecar} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	address := freeAddress(t)
	cmd := exec.Command(server, "--access", "test", "--secret", "testsecret", "--port", address, "--quiet", "posix", "--sidecar", sidecar, root)
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
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "testsecret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	options := fmt.Sprintf("?endpoint=http://%s&region=us-east-1&use_path_style=true&disable_https=true", address)
	awaitBucket(t, "s3://corpus"+options)
	return "s3://corpus/work" + options
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
			t.Fatalf("the S3 server does not answer: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
