// Package encodetest has what tests of encoders share: ONNX Runtime, for they run from a checkout where it is not
// installed, and changed copies of the built-in encoder.
package encodetest

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"bitextmine/internal/badinput"
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

// manifest is model.FileName, which the tests of that package cannot import from here.
const manifest = "model.yaml"

// BagName is the name of the small bag that tests use beside the default encoder: a table in a graph of its own, of
// [5975, 512] numbers in one byte each, which is no static encoder. bag/make.py cuts it from a larger one.
const BagName = "small-bag"

// Bag is the directory of the small bag.
func Bag() string { return here("bag") }

// Pieces is a SentencePiece model of 45,000 pieces, those of the bag that the small one is cut from.
func Pieces() string { return here("pieces/spm.model") }

// root is the repository's folder.
var root = sync.OnceValue(func() string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "bitextmine").Output()
	if err != nil {
		panic(fmt.Errorf("go list -m bitextmine: %w", err))
	}
	return strings.TrimSpace(string(out))
})

func here(path string) string { return filepath.Join(root(), "encode", "encodetest", path) }

// Changed is the small bag with parts of its manifest replaced; oldnew holds old and new texts in turn.
func Changed(t testing.TB, oldnew ...string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for _, name := range []string{manifest, "model.onnx", "spm.model"} {
		data, err := os.ReadFile(filepath.Join(Bag(), name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	text := string(files[manifest].Data)
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(text, oldnew[i]) {
			t.Fatalf("the manifest has no %q", oldnew[i])
		}
		text = strings.Replace(text, oldnew[i], oldnew[i+1], 1)
	}
	files[manifest] = &fstest.MapFile{Data: []byte(text)}
	return files
}

// Refused checks that an error is one line of a badinput error that says a text.
func Refused(t testing.TB, err error, says string) {
	t.Helper()
	if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want a badinput error with %q", err, says)
	}
}

// sat/make.py writes both files.
//
//go:embed sat/model_optimized.onnx sat/golden.json
var sat embed.FS

// SplitterGolden is where sentences end by the splitter of Splitter.
func SplitterGolden() ([]byte, error) { return sat.ReadFile("sat/golden.json") }

// Splitter is a directory with a small splitter of SaT's interface; changed replaces files, or leaves one out that is
// nil.
func Splitter(t testing.TB, changed map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	graph, err := sat.ReadFile("sat/model_optimized.onnx")
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := os.ReadFile(Pieces())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"model_optimized.onnx": graph, "sentencepiece.bpe.model": pieces} {
		if other, ok := changed[name]; ok {
			data = other
		}
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
