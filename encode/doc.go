// Package encode turns sentences into vectors.
//
// An encoder is described by a manifest (model.yaml, docs/encoders.md): an ONNX graph, a tokenizer and how the two fit together.
// Load reads a manifest and names everything that changes its vectors by one digest; Open starts it; Encode
// and EncodeFile run it. A vector is the sentence's alone: sentences are batched only with others of exactly as many
// tokens, so there is no padding, and which batch, window, thread or shard a sentence falls in does not show in its bits
// (docs/encoders.md states for which graphs that holds).
package encode
