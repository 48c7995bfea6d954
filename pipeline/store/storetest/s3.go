package storetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var buildS3 = builder("s3server", "versitygw")

// S3 starts versitygw, an S3 server, on loopback until the test ends, and returns the location of a new bucket. Skipped
// with -short.
func S3(t testing.TB) (location string) {
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
	serve(t, server, "--access", "test", "--secret", "testsecret", "--port", address, "--quiet", "posix", "--sidecar", sidecar, root)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "testsecret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	options := fmt.Sprintf("?endpoint=http://%s&region=us-east-1&use_path_style=true&disable_https=true", address)
	awaitBucket(t, "s3://corpus"+options)
	return "s3://corpus/work" + options
}
