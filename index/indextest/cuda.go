package indextest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"bitextmine/internal/cuda"
)

//go:embed testdata/driver.c
var driver string

//go:embed testdata/layers.c
var layers string

// Driver puts a library in the place of NVIDIA's driver: GPUs that are pretended, whose memory is the host's, and which
// compute the kernels of exact search and of encoders in C. Definitions such as GPUS=2 say how it behaves; driver.c has
// them.
func Driver(t testing.TB, definitions ...string) {
	t.Helper()
	flags := []string{"-O3", "-march=native", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"}
	for _, d := range definitions {
		flags = append(flags, "-D"+d)
	}
	before := cuda.Library
	cuda.Library = Library(t, filepath.Join(t.TempDir(), cuda.DriverName), layers+driver, append(flags, "-lm")...)
	t.Cleanup(func() { cuda.Library = before })
}

// Library compiles a shared library from C, which stands in for one of NVIDIA's.
func Library(t testing.TB, path, source string, flags ...string) string {
	t.Helper()
	from := filepath.Join(t.TempDir(), "library.c")
	if err := os.WriteFile(from, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", append([]string{"-shared", "-fPIC", "-o", path, from}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	return path
}
