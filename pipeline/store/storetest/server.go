// Package storetest has real S3 and GCS servers to test with.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
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

// Server is a program that serves.
type Server struct {
	program string
	args    []string
	running *exec.Cmd
}

// serve runs a server until the test ends.
func serve(t testing.TB, program string, args ...string) *Server {
	t.Helper()
	s := &Server{program: program, args: args}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Kill(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Start starts the server, again after Kill. It does not wait until it answers.
func (s *Server) Start() error {
	s.running = exec.Command(s.program, s.args...)
	s.running.Stderr = os.Stderr
	return s.running.Start()
}

// Kill ends the server without warning.
func (s *Server) Kill() error {
	if err := s.running.Process.Kill(); err != nil {
		return err
	}
	_ = s.running.Wait() // it was killed
	return nil
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

var buildS3 = builder("s3server", "versitygw")

// S3 starts versitygw, an S3 server, on loopback until the test ends, and returns the location of a new bucket. Skipped
// with -short.
func S3(t testing.TB) (location string) {
	t.Helper()
	location, _ = KillableS3(t)
	return location
}

// KillableS3 is S3 with its server, which may be killed and started again and keeps its objects.
func KillableS3(t testing.TB) (location string, server *Server) {
	t.Helper()
	return startS3(t, func(server string) string { return server })
}

// FaultyS3 is S3 behind faults, of which there are none before Disturb.
func FaultyS3(t testing.TB) (location string, faults *Faults) {
	t.Helper()
	faults = &Faults{}
	location, _ = startS3(t, func(server string) string { return faults.start(t, server) })
	return location, faults
}

// startS3 starts the server. behind returns the address that clients use for the server's.
func startS3(t testing.TB, behind func(server string) string) (location string, started *Server) {
	t.Helper()
	server := program(t, buildS3)
	dir := t.TempDir()
	root, sidecar := filepath.Join(dir, "root"), filepath.Join(dir, "sidecar")
	for _, d := range []string{filepath.Join(root, "corpus"), sidecar} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	address := freeAddress(t)
	started = serve(t, server, "--access", "test", "--secret", "testsecret", "--port", address, "--quiet", "posix",
		"--sidecar", sidecar, root)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "testsecret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	options := fmt.Sprintf("?endpoint=http://%s&region=us-east-1&use_path_style=true&disable_https=true", behind(address))
	awaitBucket(t, "s3://corpus"+options)
	return "s3://corpus/work" + options, started
}

var buildGCS = builder("gcsserver", "fake-gcs-server")

// GCS starts fake-gcs-server, a server of Google Cloud Storage's JSON API, on loopback until the test ends, and returns
// the location of a new bucket. Skipped with -short.
func GCS(t testing.TB) (location string) {
	t.Helper()
	return startGCS(t, func(server string) string { return server })
}

// FaultyGCS is GCS behind faults, of which there are none before Disturb.
func FaultyGCS(t testing.TB) (location string, faults *Faults) {
	t.Helper()
	faults = &Faults{}
	return startGCS(t, func(server string) string { return faults.start(t, server) }), faults
}

// startGCS starts the server, which tells clients to send the parts of an upload to the address that behind returns.
func startGCS(t testing.TB, behind func(server string) string) (location string) {
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
	public := behind(address)
	serve(t, server, "-scheme", "http", "-host", host, "-port", port, "-public-host", public, "-external-url", "http://"+public,
		"-backend", "memory", "-data", data, "-log-level", "error")
	t.Setenv("STORAGE_EMULATOR_HOST", public)
	awaitBucket(t, "gs://corpus")
	return "gs://corpus/work"
}

// Quiet is a log that discards everything.
var Quiet = slog.New(slog.DiscardHandler)

// TakeObjects returns the objects below a location by their names there, and removes them.
func TakeObjects(t testing.TB, location string) map[string][]byte {
	t.Helper()
	u, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	prefix := strings.Trim(u.Path, "/") + "/"
	u.Path = ""
	b, err := blob.OpenBucket(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	objects := map[string][]byte{}
	for list := b.List(&blob.ListOptions{Prefix: prefix}); ; {
		o, err := list.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if objects[strings.TrimPrefix(o.Key, prefix)], err = b.ReadAll(t.Context(), o.Key); err != nil {
			t.Fatal(err)
		}
	}
	for name := range objects {
		if err := b.Delete(t.Context(), prefix+name); err != nil {
			t.Fatal(err)
		}
	}
	return objects
}
