//go:build !faissgpu

package faiss

/*
#cgo CXXFLAGS: -std=c++17 -O2 -fopenmp
#cgo LDFLAGS: "-L${SRCDIR}/lib" -lfaiss -lblas -llapack -lgomp -lm
*/
import "C"

import _ "github.com/DataIntelligenceCrew/go-faiss"
