//go:build !faissgpu

package faiss

import (
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

func TestWithoutGPUNamesTagAndLibrary(t *testing.T) {
	_, err := OpenGPU("Flat", Options{})
	if !badinput.Is(err) || !strings.Contains(err.Error(), "-tags faissgpu") || !strings.Contains(err.Error(), "libfaiss_c") {
		t.Errorf("error %v; want a badinput error that names the tag and the library", err)
	}
}
