// Package export writes trained encoders as ONNX graphs. Mining uses nothing else of a training.
package export
