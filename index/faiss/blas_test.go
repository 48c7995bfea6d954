package faiss

import (
	"os"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

func TestRunningNamesTheLibrary(t *testing.T) {
	lib := RunningBLAS()
	t.Logf("%s at %s", lib, lib.Path)
	if lib.Path == "" {
		t.Error("no path for the library that holds sgemm")
	}
	if lib.Kind == OpenBLAS && (lib.Version == "" || lib.Threading == "") {
		t.Errorf("OpenBLAS without version or threading: %+v", lib)
	}
}

func TestOpenBLASKnowsThisCPU(t *testing.T) {
	lib := RunningBLAS()
	if lib.Kind != OpenBLAS || bestCore() == "" || os.Getenv("OPENBLAS_CORETYPE") != "" {
		t.Skip("not an OpenBLAS that chose for itself")
	}
	if isOld(lib.Core) {
		t.Errorf("%s on a CPU that runs %s", lib, bestCore())
	}
}

func TestCheckRefusesReferenceBLAS(t *testing.T) {
	for _, path := range []string{"/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0", "/usr/lib/libblas.so.3.12.0"} {
		if !isReference(path) {
			t.Errorf("%s was not recognised as the reference BLAS", path)
		}
	}
	for _, path := range []string{
		"/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3",
		"/usr/lib/x86_64-linux-gnu/blis-openmp/libblas.so.3",
		"/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblasp-r0.3.21.so",
	} {
		if isReference(path) {
			t.Errorf("%s was mistaken for the reference BLAS", path)
		}
	}
	err := BLAS{Kind: ReferenceBLAS, Path: "/x/libblas.so.3"}.Check()
	if !badinput.Is(err) || !strings.Contains(err.Error(), BLASPackage) {
		t.Errorf("Check of the reference BLAS = %v; want a badinput error that names %s", err, BLASPackage)
	}
	if err := (BLAS{Kind: OpenBLAS}).Check(); err != nil {
		t.Errorf("Check of OpenBLAS = %v", err)
	}
}

func TestWarning(t *testing.T) {
	cases := map[string]struct {
		lib  BLAS
		want string
	}{
		"pthread":  {BLAS{Kind: OpenBLAS, Threading: "pthread"}, BLASPackage},
		"openmp":   {BLAS{Kind: OpenBLAS, Threading: "openmp"}, ""},
		"old core": {BLAS{Kind: OpenBLAS, Threading: "openmp", Core: "Prescott"}, bestCore()},
		"blis":     {BLAS{Kind: BLIS, Threading: "openmp"}, ""},
		"unknown":  {BLAS{Kind: UnknownBLAS, Path: "/x"}, "/x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := c.lib.Warning()
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("Warning() = %q, want it to contain %q", got, c.want)
			}
		})
	}
}

func TestFlavourAndVersion(t *testing.T) {
	if got := flavour("/usr/lib/x86_64-linux-gnu/blis-openmp/libblas.so.3"); got != "openmp" {
		t.Errorf("flavour = %q", got)
	}
	if got := openBLASVersion("OpenBLAS 0.3.21 NO_LAPACK DYNAMIC_ARCH"); got != "0.3.21" {
		t.Errorf("version = %q", got)
	}
}
