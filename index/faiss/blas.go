// The BLAS of the process: which library it is, and its number of threads.
//
// FAISS is as fast as the sgemm that it calls. Debian's alternatives decide at load time which
// library that is. The choice matters more than any of our settings: the reference BLAS has a sixtieth of the speed of
// OpenBLAS on the same CPU.

package faiss

/*
#cgo LDFLAGS: -lblas -lgomp -ldl
#include <stdlib.h>
#include "blas.h"
*/
import "C"

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"bitextmine/internal/badinput"
)

// Kinds of BLAS that the program distinguishes.
const (
	OpenBLAS      = "OpenBLAS"
	BLIS          = "BLIS"
	MKL           = "MKL"
	ReferenceBLAS = "reference BLAS"
	UnknownBLAS   = "unknown BLAS"
)

// BLASPackage is the Debian package that Check and Warning recommend.
const BLASPackage = "libopenblas-openmp-dev"

// BLAS describes the BLAS that provides sgemm in this process.
type BLAS struct {
	Kind      string
	Version   string // version that the library reports, or empty
	Threading string // "openmp", "pthread", "sequential"; empty if not known
	Core      string // the CPU whose kernels OpenBLAS uses; empty otherwise
	Path      string // the shared object with sgemm, symbolic links resolved; empty if linked statically
}

// RunningBLAS returns the BLAS of this process.
func RunningBLAS() BLAS {
	path := C.GoString(C.blas_path())
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	lib := BLAS{Kind: UnknownBLAS, Path: path}
	switch {
	// Look first at where sgemm itself is: LAPACK may have loaded OpenBLAS although nothing calls it.
	case isReference(path):
		lib.Kind, lib.Threading = ReferenceBLAS, "sequential"
	case C.blas_openblas_config() != nil:
		lib.Kind = OpenBLAS
		lib.Version = openBLASVersion(C.GoString(C.blas_openblas_config()))
		lib.Core = C.GoString(C.blas_openblas_core())
		lib.Threading = [...]string{"sequential", "pthread", "openmp"}[min(max(int(C.blas_openblas_parallel()), 0), 2)]
	case C.blas_blis_version() != nil:
		lib.Kind, lib.Version = BLIS, C.GoString(C.blas_blis_version())
		lib.Threading = flavour(path)
	case C.blas_is_mkl() != 0:
		lib.Kind = MKL
	}
	return lib
}

// An OpenBLAS that is older than the CPU does not know it and uses kernels of the year 2004: Debian 12's 0.3.21 treats
// Sapphire and Emerald Rapids as a Prescott and reaches a fifth of their speed. Here the right kernels are chosen
// before anything has called BLAS. A choice of the user's is not changed.
func init() {
	if core := bestCore(); core != "" && C.blas_openblas_config() != nil && isOld(C.GoString(C.blas_openblas_core())) {
		cname := C.CString(core)
		defer C.free(unsafe.Pointer(cname))
		C.blas_openblas_choose(cname)
	}
}

// bestCore names OpenBLAS's kernels for this CPU's instructions. It is empty if the oldest kernels may be right.
func bestCore() string { return C.GoString(C.blas_best_core()) }

func isOld(core string) bool {
	return slices.Contains([]string{"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Atom", "Nano",
		"Sandybridge"}, core)
}

// openBLASVersion extracts "0.3.21" from a text such as "OpenBLAS 0.3.21 NO_LAPACK DYNAMIC_ARCH USE_OPENMP SkylakeX".
func openBLASVersion(config string) string {
	if fields := strings.Fields(config); len(fields) > 1 {
		return fields[1]
	}
	return config
}

// flavour derives the threading from Debian's directory names, because BLIS 0.9 has no function that returns it.
func flavour(path string) string {
	dir := filepath.Base(filepath.Dir(path))
	for _, name := range []string{"openmp", "pthread"} {
		if strings.HasSuffix(dir, name) {
			return name
		}
	}
	return ""
}

// isReference recognises Netlib's reference BLAS by the path at which distributions install it.
func isReference(path string) bool {
	dir := filepath.Base(filepath.Dir(path))
	name := filepath.Base(path)
	return strings.HasPrefix(name, "libblas.so.3.") || dir == "blas" && strings.HasPrefix(name, "libblas")
}

// String describes the library for logs and reports: "OpenBLAS 0.3.21 (openmp, SkylakeX)".
func (l BLAS) String() string {
	s := l.Kind
	if l.Version != "" {
		s += " " + l.Version
	}
	if how := strings.Trim(l.Threading+", "+l.Core, ", "); how != "" {
		s += " (" + how + ")"
	}
	return s
}

// Check returns an error if the library is too slow to use, which the reference BLAS is.
func (l BLAS) Check() error {
	if l.Kind == ReferenceBLAS {
		return badinput.Errorf(
			"the program runs on the reference BLAS (%s), about sixty times slower than OpenBLAS; install %s, which replaces it, and start again",
			l.Path, BLASPackage)
	}
	return nil
}

// Warning returns one sentence about a BLAS that works but is known to be slow or was never measured. It is empty
// otherwise.
func (l BLAS) Warning() string {
	switch {
	case l.Kind == OpenBLAS && l.Threading == "pthread":
		return fmt.Sprintf(
			"%s shares the processors badly with FAISS's own threads (62 to 170 GFLOP/s where the OpenMP build reached 180); install %s",
			l, BLASPackage)
	case isOld(l.Core) && bestCore() != "":
		return fmt.Sprintf(
			"OpenBLAS %s uses its kernels for %s, several times slower than this CPU can run; unset OPENBLAS_CORETYPE, or set it to %s",
			l.Version, l.Core, bestCore())
	case l.Kind == UnknownBLAS:
		return fmt.Sprintf("the BLAS at %s is not one that was measured; if searches are slow, install %s", l.Path,
			BLASPackage)
	}
	return ""
}

// SetBLASThreads sets the number of threads that BLAS and OpenMP use for calls from the current OS thread; n must be
// positive. Lock the goroutine to its thread first. A pthread build of OpenBLAS has no setting per caller; there it
// applies to the process.
func SetBLASThreads(n int) { C.blas_set_threads(C.int(n)) }
