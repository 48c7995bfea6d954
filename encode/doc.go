// Package encode turns sentences into vectors.
//
// Package model reads the manifest of an encoder: an ONNX graph, a tokenizer and how the two fit together. Package
// tokenizer turns text into the ids that the graph gets. Open starts the encoder. Encode and EncodeFile run it.
//
// A vector depends on its sentence alone. Sentences are batched only with others of exactly the same number of tokens,
// so there is no padding, and the batch, window, thread or shard that a sentence is in does not change a bit of its
// vector. docs/encoders.md states for which graphs this holds.
package encode
