// Package export writes trained encoders as ONNX graphs, which is all that mining sees of training.
package export
