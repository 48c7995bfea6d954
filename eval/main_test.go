package eval

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, encoder := range encoders {
			if err := encoder.Close(); err != nil && code == 0 {
				code = 1
			}
		}
		for _, dir := range unpacked {
			if err := os.RemoveAll(dir); err != nil && code == 0 {
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// unpacked holds the directories of the shared test sets that tests have unpacked, by archive.
var unpacked = map[string]string{}

// put writes files under a directory of the test and returns it.
func put(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
