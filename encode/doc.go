// Package encode turns sentences into vectors.
//
// An encoder is described by a manifest (model.yaml, docs/encoders.md): an ONNX graph, a tokenizer and how the two fit
// together. Load reads a manifest and computes one digest of everything that changes the vectors. Open starts the
// encoder. Encode and EncodeFile run it.
//
// A vector depends on its sentence alone. Sentences are batched only with others of exactly the same number of tokens,
// so there is no padding, and the batch, window, thread or shard that a sentence is in does not change a bit of its
// vector. docs/encoders.md states for which graphs this holds.
package encode
