// Package encodetest has what tests of encoders share: ONNX Runtime, for they run from a checkout where it is not
// installed, and changed copies of the built-in encoder.
package encodetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// module contains libonnxruntime.so. go.mod sets its version and go.sum verifies it.
const module = "github.com/k2-fsa/sherpa-onnx-go-linux"

// Main is the TestMain of a package whose tests open an encoder and need no other setup.
func Main(m *testing.M) {
	if err := SetLibrary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// SetLibrary sets MINE_ONNXRUNTIME to libonnxruntime.so in the module cache, unless it is set already.
func SetLibrary() error {
	const env = "MINE_ONNXRUNTIME"
	if os.Getenv(env) != "" {
		return nil
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("go list -m %s: %w", module, err)
	}
	dir := strings.TrimSpace(string(out))
	if dir == "" {
		return fmt.Errorf("the module %s is not in the module cache: run go mod download %s", module, module)
	}
	arch := map[string]string{"amd64": "x86_64-unknown-linux-gnu", "arm64": "aarch64-unknown-linux-gnu"}[runtime.GOARCH]
	return os.Setenv(env, filepath.Join(dir, "lib", arch, "libonnxruntime.so"))
}
