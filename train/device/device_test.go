package device

import (
	"strings"
	"testing"

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
