package encode

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
)

// TestProcessor runs in a process of its own, where no other test has opened an encoder: a static encoder depends on no
// processor, and one that ONNX Runtime computes does, also after it is closed.
func TestProcessor(t *testing.T) {
	const alone = "MINE_TEST_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcessor$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	encodeAll(t, open(t, Options{}), sentences(3, 1))
	if name := Processor(); name != "" {
		t.Errorf("with a static encoder %q", name)
	}
	t.Run("ONNX", func(t *testing.T) { openModel(t, encodetest.Bag(), Options{}) })
	if name := Processor(); !strings.HasPrefix(name, "ONNX Runtime 1.") || !strings.Contains(name, " on ") {
		t.Errorf("with an encoder of ONNX Runtime %q", name)
	}
}
