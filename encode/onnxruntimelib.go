//go:build onnxruntimelib

package encode

// This file is never built. It makes go.mod require the module that contains libonnxruntime.so. The build copies the
// library from the module cache to the program's directory, so go.sum verifies it as it does every other dependency.
import _ "github.com/k2-fsa/sherpa-onnx-go-linux"
