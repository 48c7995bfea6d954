package cuda_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/index/indextest"
	. "bitextmine/internal/cuda"
)

func TestDriver(t *testing.T) {
	indextest.Driver(t, "GPUS=3")
	d, err := OpenDriver()
	if err != nil {
		t.Fatal(err)
	}
	if d.Version() != "13.0" || len(d.GPUs) != 3 || d.GPUs[1].String() != "NVIDIA H200, 140 GiB, compute capability 9.0" || d.GPUs[2].Name != "NVIDIA L4" {
		t.Errorf("the driver is %+v", d)
	}
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
			indextest.Driver(t, "VERSION=12080", fmt.Sprintf("INIT=%d", c.init), fmt.Sprintf("GPUS=%d", c.count), fmt.Sprintf("DESCRIBE=%d", c.describe))
			d, err := OpenDriver()
			encodetest.Refused(t, err, c.says)
			if d.CUDA != 12080 {
				t.Errorf("the version is %d", d.CUDA)
			}
		})
	}
	indextest.Driver(t)
	Library = filepath.Join(t.TempDir(), "libcuda.so.1")
	_, err := OpenDriver()
	encodetest.Refused(t, err, "the NVIDIA driver is not installed here")
	indextest.Library(t, Library, "int nothing;")
	_, err = OpenDriver()
	encodetest.Refused(t, err, "is no NVIDIA driver")
}

// TestDevice: memory, its errors and parameters.
func TestDevice(t *testing.T) {
	indextest.Driver(t, "ALLOCATIONS=2")
	driver, err := OpenDriver()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Attach(driver.GPUs[0])
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Allocate(16)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Allocate(16); !NoMemory(err) {
		t.Errorf("no memory: %v", err)
	}
	got := make([]int32, 4)
	for _, err := range []error{d.Fill(m, 7, 4), Upload(d, m+4, []int32{1, 2}), Download(d, got, m), Upload(d, m, got[:0]), d.Wait(), d.Release(m), d.Release(0)} {
		if err != nil {
			t.Error(err)
		}
	}
	if fmt.Sprint(got) != "[7 1 2 7]" {
		t.Errorf("memory has %v", got)
	}
	if _, err := d.Compile(Source{Name: "none", PTX: "no PTX"}); err == nil || !strings.Contains(err.Error(), "compiling none: CUDA_ERROR_PRETENDED (CUDA error 218)") {
		t.Errorf("a kernel that is none: %v", err)
	}
	k, err := d.Compile(Source{Name: "some", Entry: "select", PTX: ".entry select"})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(1, 1.5); err == nil || !strings.Contains(err.Error(), "float64") {
		t.Errorf("a parameter of another type: %v", err)
	}
	if err := k.Release(); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
