//go:build onnxruntimelib

package encode

// Never built: it keeps in go.mod the module whose files include libonnxruntime.so. The build copies that library from the
// module cache to beside the program, so go.sum verifies it like any other dependency.
import _ "github.com/k2-fsa/sherpa-onnx-go-linux"
