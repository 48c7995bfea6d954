package gpu

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bitextmine/encode/encodetest"
	"bitextmine/index/indextest"
	"bitextmine/internal/cuda"
)

// provided makes a directory with a provider that needs libraries, each of which needs the next of them.
func provided(t *testing.T, names ...string) (runtime string) {
	t.Helper()
	dir := t.TempDir()
	var link []string
	for i := len(names) - 1; i >= 0; i-- {
		path := indextest.Library(t, filepath.Join(dir, names[i]), "int f"+string(rune('a'+i))+";", append([]string{"-Wl,-soname," + names[i], "-Wl,--no-as-needed"}, link...)...)
		link = []string{path}
	}
	all := []string{"-Wl,--no-as-needed"}
	for _, name := range names {
		all = append(all, filepath.Join(dir, name))
	}
	indextest.Library(t, filepath.Join(dir, "libonnxruntime_providers_cuda.so"), "int provider;", all...)
	return filepath.Join(dir, "libonnxruntime.so.1.28.0")
}

// TestPreload: libraries are loaded from beside ONNX Runtime, in whatever order they need each other.
func TestPreload(t *testing.T) {
	runtime := provided(t, "libcublas.so.87", "libcublasLt.so.87", "libcudart.so.87")
	if !Has(runtime, CUDA) || Has(runtime, TensorRT) {
		t.Error("the providers are not those of the directory")
	}
	needed, err := Preload(runtime, CUDA)
	if err != nil || len(needed) != 3 || Major(needed) != 87 {
		t.Fatalf("needs %v, %v", needed, err)
	}
	if err := Missing(runtime, needed); err != nil {
		t.Error(err)
	}
	encodetest.Refused(t, Supports(cuda.Driver{CUDA: 13010}, needed), "the NVIDIA driver supports CUDA 13.1, but the libraries are of CUDA 87")
	if err := Supports(cuda.Driver{CUDA: 87000}, needed); err != nil {
		t.Error(err)
	}
}

func TestPreloadNamesWhatIsMissing(t *testing.T) {
	runtime := provided(t, "libcublas.so.78", "libcudart.so.78", "libcurand.so.78")
	dir := filepath.Dir(runtime)
	for _, name := range []string{"libcudart.so.78", "libcurand.so.78"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	needed, err := Preload(runtime, CUDA)
	if err != nil {
		t.Fatal(err)
	}
	err = Missing(runtime, needed)
	for _, name := range []string{"libcublas.so.78 (", "libcudart.so.78 (", "libcurand.so.78 (", "No such file", "run mine gpu setup"} {
		encodetest.Refused(t, err, name)
	}
	if other := indextest.Library(t, filepath.Join(dir, "other"), "int other;", "-Wl,-soname,libcudart.so.77"); open(other) != nil {
		t.Fatal("the other CUDA cannot be loaded")
	}
	encodetest.Refused(t, Missing(runtime, needed), "for another CUDA than the CUDA 77 that is installed")

	_, err = Preload(filepath.Join(t.TempDir(), "libonnxruntime.so"), CUDA)
	encodetest.Refused(t, err, "is one for the CPU alone")
	if err := os.WriteFile(filepath.Join(dir, "libonnxruntime_providers_tensorrt.so"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Preload(runtime, TensorRT)
	encodetest.Refused(t, err, "libonnxruntime_providers_tensorrt.so is no library")
}

// signals is a library that takes signals when it is loaded, as CUDA's does: without the alternate stack.
const signals = `
#include <signal.h>
static void handler(int s) {}
__attribute__((constructor)) static void take(void) {
	struct sigaction a = {.sa_handler = handler};
	sigaction(SIGSEGV, &a, 0);
	sigaction(SIGURG, &a, 0);
	sigaction(SIGTERM, &a, 0);
}`

// TestGuardKeepsSignalHandlers: after a library took them, Go still turns a nil pointer into a panic, still preempts,
// and still gets its signals. Without the guard, the program ends at the first of these.
func TestGuardKeepsSignalHandlers(t *testing.T) {
	if os.Getenv("MINE_TEST_SIGNALS") == "" {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestGuardKeepsSignalHandlers$", "-test.v")
		cmd.Env = append(os.Environ(), "MINE_TEST_SIGNALS=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "three handlers") {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	path := indextest.Library(t, filepath.Join(t.TempDir(), "libtake.so"), signals)
	if n := cuda.Guard(func() {
		if err := open(path); err != nil { // its own guard has put them back
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%d handlers were left to the outer guard", n)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a nil pointer is no panic")
			}
		}()
		var p *int
		*p = 1
	}()
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGTERM)
	for _, s := range []syscall.Signal{syscall.SIGURG, syscall.SIGTERM} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-got:
		t.Log("three handlers are Go's")
	case <-time.After(5 * time.Second):
		t.Error("SIGTERM did not arrive")
	}
}
