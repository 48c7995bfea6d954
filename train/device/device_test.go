package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"

	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// TestBFloat16IsComputedOrRefused: if ONNX Runtime learns it, the refusal and docs/training.md are to go.
func TestBFloat16IsComputedOrRefused(t *testing.T) {
	for name, has := range map[string]bool{"go": true, "cpu": false} {
		backend, err := Open(name, "")
		if err != nil {
			t.Fatal(err)
		}
		err = RequireBFloat16(name, backend)
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
		if err := RequireFloat32(name, backend); err != nil {
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

// TestCUDAPlugin: a relative path is made absolute, so that nothing is downloaded, and products are not of TF32.
func TestCUDAPlugin(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("plugin.so", []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := cudaConfig("plugin.so"); err != nil || got != "xla:"+filepath.Join(dir, "plugin.so")+",tf32=false" {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Mkdir("a,b", 0o700); err != nil {
		t.Fatal(err)
	}
	for plugin, want := range map[string]string{"": "needs a PJRT plugin", "absent.so": "absent.so, which cannot be used", "a,b": "with a comma"} {
		if _, err := cudaConfig(plugin); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", plugin, err, want)
		}
	}
	t.Setenv(PluginEnv, "plugin.so")
	t.Setenv("GOPJRT_CUDA_CHECKS", "")
	if _, err := Open("cuda", ""); !badinput.Is(err) || !strings.Contains(err.Error(), filepath.Join(dir, "plugin.so")) {
		t.Errorf("a file that is no plugin: %v", err)
	}
}
