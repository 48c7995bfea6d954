package gpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// library compiles a shared library from C, which stands in for one of NVIDIA's.
func library(t testing.TB, path, source string, flags ...string) string {
	t.Helper()
	from := filepath.Join(t.TempDir(), "library.c")
	if err := os.WriteFile(from, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-shared", "-fPIC", "-o", path, from}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	return path
}

func refused(t testing.TB, err error, says string) {
	t.Helper()
	if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want a badinput error with %q", err, says)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text       string
		want       Device
		arithmetic string
	}{
		{"", Device{}, ""},
		{"cpu", Device{}, ""},
		{"cuda", Device{Kind: CUDA, GPUs: 1}, "cuda"},
		{"cuda:2,0", Device{Kind: CUDA, GPUs: 5}, "cuda"},
		{"cuda:all", Device{Kind: CUDA, All: true}, "cuda"},
		{"cuda:float16", Device{Kind: CUDA, GPUs: 1, Float16: true}, "cuda float16"},
		{"tensorrt:all:float16", Device{Kind: TensorRT, All: true, Float16: true}, "tensorrt float16"},
	} {
		got, err := Parse(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) || got.Arithmetic() != c.arithmetic {
			t.Errorf("%q is %+v (%s), %v; want %+v (%s)", c.text, got, got.Arithmetic(), err, c.want, c.arithmetic)
		}
	}
	for _, text := range []string{"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0,0", "cuda:0:1", "cuda:64", "cuda:all:bfloat16", "cpu:0", "cuda:float16:0", ":0"} {
		_, err := Parse(text)
		refused(t, err, fmt.Sprintf("device = %q is not known", text))
	}
}

// driver is a library with the functions of libcuda.so.1 that are used.
const driver = `
#include <string.h>
int cuInit(unsigned flags) { return INIT; }
int cuDriverGetVersion(int *v) { *v = VERSION; return 0; }
int cuDeviceGetCount(int *n) { *n = COUNT; return 0; }
int cuDeviceGet(int *d, int n) { *d = n + 40; return 0; }
int cuDeviceGetName(char *name, int size, int d) { strncpy(name, d == 42 ? "NVIDIA L4" : "NVIDIA H200", size); return DESCRIBE; }
int cuDeviceTotalMem_v2(unsigned long *n, int d) { *n = 140ul << 30; return 0; }
int cuDeviceGetAttribute(int *v, int what, int d) { *v = what == 75 ? 9 : what == 76 ? 0 : -1; return 0; }
`

func withDriver(t *testing.T, init, version, count, describe int) {
	t.Helper()
	before := driverLibrary
	driverLibrary = library(t, filepath.Join(t.TempDir(), "libcuda.so.1"), driver,
		fmt.Sprintf("-DINIT=%d", init), fmt.Sprintf("-DVERSION=%d", version), fmt.Sprintf("-DCOUNT=%d", count), fmt.Sprintf("-DDESCRIBE=%d", describe))
	t.Cleanup(func() { driverLibrary = before })
}

func TestDriver(t *testing.T) {
	withDriver(t, 0, 13000, 3, 0)
	d, err := OpenDriver()
	if err != nil {
		t.Fatal(err)
	}
	if d.Version() != "13.0" || len(d.GPUs) != 3 || d.GPUs[1].String() != "NVIDIA H200, 140 GiB, compute capability 9.0" {
		t.Errorf("the driver is %+v", d)
	}
	chosen, err := d.Choose(Device{Kind: CUDA, GPUs: 3})
	if err != nil || len(chosen) != 2 || chosen[1].Number != 1 {
		t.Errorf("chose %v, %v", chosen, err)
	}
	_, err = d.Choose(Device{Kind: CUDA, GPUs: 9})
	refused(t, err, "device names GPU 3, but the driver shows 3")
	_, err = d.Choose(Device{Kind: CUDA, All: true})
	refused(t, err, "GPU 0 is NVIDIA H200 and GPU 2 is NVIDIA L4")
}

func TestDriverThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		name                  string
		init, count, describe int
		says                  string
	}{
		{"no GPU", 100, 0, 0, "the NVIDIA driver sees no GPU"},
		{"none visible", 0, 0, 0, "CUDA_VISIBLE_DEVICES"},
		{"after an update", 803, 1, 0, "of different versions (CUDA error 803)"},
		{"out of order", 999, 1, 0, "does not start (CUDA error 999)"},
		{"a GPU that was lost", 0, 1, 999, "cannot describe GPU 0 (CUDA error 999)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			withDriver(t, c.init, 12080, c.count, c.describe)
			d, err := OpenDriver()
			refused(t, err, c.says)
			if d.CUDA != 12080 {
				t.Errorf("the version is %d", d.CUDA)
			}
		})
	}
	before := driverLibrary
	defer func() { driverLibrary = before }()
	driverLibrary = filepath.Join(t.TempDir(), "libcuda.so.1")
	_, err := OpenDriver()
	refused(t, err, "the NVIDIA driver is not installed here")
	library(t, driverLibrary, "int nothing;")
	_, err = OpenDriver()
	refused(t, err, "is no NVIDIA driver")
}
