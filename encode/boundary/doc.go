// Package boundary finds the ends of sentences with a model that a user brings, of the interface of wtpsplit's SaT
// models: an ONNX graph that gets the tokens of XLM-RoBERTa and gives each a logit, that a sentence ends after it.
//
// A directory has the graph, model_optimized.onnx or model.onnx, and the tokenizer, sentencepiece.bpe.model. Windows of
// 510 tokens, between the tokens <s> and </s>, begin every 64 tokens; a token's logits in all windows that have it are
// averaged (wtpsplit/extract.py). A sentence ends after a token whose probability is above a threshold.
package boundary
