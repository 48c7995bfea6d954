// Package encodetest finds ONNX Runtime for tests, which run from a checkout where nothing is installed.
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

// module carries libonnxruntime; go.mod pins it and go.sum verifies it.
const module = "github.com/k2-fsa/sherpa-onnx-go-linux"

// Main is the TestMain of a package whose tests open an encoder and need nothing else.
func Main(m *testing.M) {
	if err := SetLibrary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// SetLibrary names the module cache's libonnxruntime.so in MINE_ONNXRUNTIME, unless that is already set.
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
