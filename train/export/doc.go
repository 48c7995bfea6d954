// Package export writes ONNX graphs: of trained encoders, of distilled students and of imported models. Mining uses
// nothing else of a training.
package export

// The names of the tensors of a trained encoder's graph, for its manifest.
const (
	IDs     = "ids"     // int64 [batch, tokens]
	Mask    = "mask"    // int64 [batch, tokens]: 1, or 0 after a sentence's end
	Vectors = "vectors" // float32 [batch, dim], pooled and of length 1
	// TokenTypes is an input of judges alone, int64 [batch, tokens]: 1 in the second sentence of a pair.
	TokenTypes = "token_types"
	Tokens     = "tokens" // float32 [batch, tokens, width], the last layer
)
