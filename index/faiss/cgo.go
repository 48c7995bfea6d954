//go:build !faissgpu

package faiss

/*
#cgo CXXFLAGS: -std=c++17 -O2 -fopenmp
#cgo LDFLAGS: "-L${SRCDIR}/lib" -lfaiss -lblas -llapack -lgomp -lm
const char *bitextmine_faiss_version(void);
*/
import "C"

import _ "github.com/DataIntelligenceCrew/go-faiss"

// Version returns the version of the linked FAISS.
func Version() string { return C.GoString(C.bitextmine_faiss_version()) }
