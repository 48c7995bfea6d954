package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"

	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"
	"bitextmine/internal/pjrt"
	"bitextmine/internal/pjrt/pjrttest"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// TestBFloat16IsComputedOrRefused: if ONNX Runtime learns it, the refusal and docs/training.md are to go.
func TestBFloat16IsComputedOrRefused(t *testing.T) {
	for name, has := range map[string]bool{"go": true, "cpu": false} {
		backend, err := Open(name, "")
		if err != nil {
			t.Fatal(err)
		}
		err = requireBFloat16(name, backend)
		backend.Finalize()
		if has && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !has && (!badinput.Is(err) || !strings.Contains(err.Error(), "the device "+name+" was asked for products in bfloat16")) {
			t.Errorf("%s: got %v, want one badinput sentence", name, err)
		}
	}
}

// TestFloat32IsNotRounded: what the CUDA device must give is given by the others, and a type of fewer bits is noticed.
func TestFloat32IsNotRounded(t *testing.T) {
	for _, name := range []string{"go", "cpu"} {
		backend, err := Open(name, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := requireFloat32(name, backend); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "go" {
			if got, err := rounds(backend, dtypes.BFloat16, 1.0/4096); err != nil || !got {
				t.Errorf("bfloat16 keeps 1 + 2^-12: %v", err)
			}
		}
		backend.Finalize()
	}
}

// TestPlugin: a plugin that cannot be opened is named, and one that can gives products in float32.
func TestPlugin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plugin.so")
	if err := os.WriteFile(path, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(pjrt.Env, path)
	t.Setenv("GOPJRT_CUDA_CHECKS", "")
	for _, name := range []string{"cuda", "xla:" + path} {
		if _, err := Open(name, ""); !badinput.Is(err) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s, a file that is no plugin: %v", name, err)
		}
	}
	backend, err := Open("xla:"+pjrttest.Plugin(t), "")
	if err != nil {
		t.Fatal(err)
	}
	backend.Finalize()
}
