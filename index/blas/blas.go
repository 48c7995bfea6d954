// Package blas says which BLAS the program is running on and keeps it to a wanted number of threads.
//
// FAISS and the exact search are as fast as the sgemm they call. Debian's alternatives decide at load time which library
// that is, and the choice matters more than any setting of ours: the reference BLAS runs at a sixtieth of the speed
// of OpenBLAS on the same CPU.
package blas

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

// Kinds of BLAS that the program tells apart.
const (
	OpenBLAS  = "OpenBLAS"
	BLIS      = "BLIS"
	MKL       = "MKL"
	Reference = "reference BLAS"
	Unknown   = "unknown BLAS"
)

// Package is the Debian package to install where Check refuses or warns.
const Package = "libopenblas-openmp-dev"

// Library describes the BLAS that answers sgemm in this process.
type Library struct {
	Kind      string
	Version   string // as the library tells it; empty when it does not
	Threading string // "openmp", "pthread", "sequential"; empty when not known
	Core      string // the CPU whose kernels OpenBLAS uses; empty otherwise
	Path      string // the shared object that holds sgemm, symbolic links resolved; empty when linked statically
}

// Running returns the BLAS of this process.
func Running() Library {
	path := C.GoString(C.blas_path())
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	lib := Library{Kind: Unknown, Path: path}
	switch {
	// First, by where sgemm itself lies: LAPACK may have brought OpenBLAS along without its being called.
	case isReference(path):
		lib.Kind, lib.Threading = Reference, "sequential"
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

// An OpenBLAS older than the CPU does not know it and falls back to kernels of the year 2004: Debian 12's 0.3.21 takes Sapphire and
// Emerald Rapids for a Prescott, at a fifth of their speed. The choice is made again with the right answer before anything
// has called BLAS. A choice of the user's own stands.
func init() {
	if core := bestCore(); core != "" && C.blas_openblas_config() != nil && isOld(C.GoString(C.blas_openblas_core())) {
		cname := C.CString(core)
		defer C.free(unsafe.Pointer(cname))
		C.blas_openblas_choose(cname)
	}
}

// bestCore names OpenBLAS's kernels for this CPU's instructions; empty when its oldest may be right.
func bestCore() string { return C.GoString(C.blas_best_core()) }

func isOld(core string) bool {
	return slices.Contains([]string{"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Atom", "Nano", "Sandybridge"}, core)
}

// openBLASVersion takes "0.3.21" from a text such as "OpenBLAS 0.3.21 NO_LAPACK DYNAMIC_ARCH USE_OPENMP SkylakeX".
func openBLASVersion(config string) string {
	if fields := strings.Fields(config); len(fields) > 1 {
		return fields[1]
	}
	return config
}

// flavour reads the threading from Debian's directory names, as BLIS 0.9 has no call that tells it.
func flavour(path string) string {
	dir := filepath.Base(filepath.Dir(path))
	for _, name := range []string{"openmp", "pthread"} {
		if strings.HasSuffix(dir, name) {
			return name
		}
	}
	return ""
}

// isReference tells Netlib's reference BLAS by the place where distributions put it.
func isReference(path string) bool {
	dir := filepath.Base(filepath.Dir(path))
	name := filepath.Base(path)
	return strings.HasPrefix(name, "libblas.so.3.") || dir == "blas" && strings.HasPrefix(name, "libblas")
}

// String is one phrase for logs and reports: "OpenBLAS 0.3.21 (openmp, SkylakeX)".
func (l Library) String() string {
	s := l.Kind
	if l.Version != "" {
		s += " " + l.Version
	}
	if how := strings.Trim(l.Threading+", "+l.Core, ", "); how != "" {
		s += " (" + how + ")"
	}
	return s
}

// Check returns an error when the library is too slow to be of use: the reference BLAS.
func (l Library) Check() error {
	if l.Kind == Reference {
		return badinput.Errorf("the program runs on the reference BLAS (%s), about sixty times slower than OpenBLAS; install %s, which takes its place, and start again", l.Path, Package)
	}
	return nil
}

// Warning returns one sentence on a BLAS that works but is known to be slow or is not known at all; empty when there is
// nothing to say.
func (l Library) Warning() string {
	switch {
	case l.Kind == OpenBLAS && l.Threading == "pthread":
		return fmt.Sprintf("%s shares the processors badly with FAISS's own threads (62 to 170 GFLOP/s where the OpenMP build reached 180); install %s", l, Package)
	case isOld(l.Core) && bestCore() != "":
		return fmt.Sprintf("OpenBLAS %s uses its kernels for %s, several times slower than this CPU can run; unset OPENBLAS_CORETYPE, or set it to %s", l.Version, l.Core, bestCore())
	case l.Kind == Unknown:
		return fmt.Sprintf("the BLAS at %s is not one that was measured; if searches are slow, install %s", l.Path, Package)
	}
	return ""
}

// SetThreads sets how many threads BLAS and OpenMP use for calls made from the current OS thread; n must be positive. Lock the
// goroutine to its thread first. Under a pthread build of OpenBLAS, which has no count per caller, it holds for the process.
func SetThreads(n int) { C.blas_set_threads(C.int(n)) }
