"""Computes what the graphs of this package must give: for each architecture a small model with weights that follow from
their names, run by its authors' program (PyPI's torch and transformers). Run in this directory; writes NAME.json with
the configuration, the tensors' shapes, sentences of ids, and of each sentence the mean and the last of the tokens'
vectors. architecture_test.go makes the same weights."""
import json
import os
import sys
import tempfile

import numpy as np
import torch
import transformers as hf
from safetensors.numpy import load_file

SENTENCES = [[2, 5, 7], [3, 9, 11, 4, 30, 39, 8, 2, 17, 21, 22], [36, 35, 6, 6, 12, 13, 14, 15, 16, 18, 19, 20, 23, 24, 25, 26, 27, 2]]


def values(name, shape):
    h = 2166136261
    for c in name.encode():
        h = (h ^ c) * 16777619 & 0xFFFFFFFF
    n = int(np.prod(shape))
    x = (np.arange(n, dtype=np.uint64) * 0x9E3779B1 + h) & 0xFFFFFFFF
    for shift, factor in (16, 0x85EBCA6B), (13, 0xC2B2AE35):
        x = (x ^ (x >> np.uint64(shift))) * factor & 0xFFFFFFFF
    u = ((x ^ (x >> np.uint64(16))) >> np.uint64(8)).astype(np.float64) / (1 << 23) - 1
    if len(shape) > 1:
        u = u * 0.5
    elif "bias" in name:
        u = u * 0.3
    else:
        u = 0.7 + u * 0.4
    return u.astype(np.float32).reshape(shape)


BERT = dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24, max_position_embeddings=24, type_vocab_size=2)
DECODER = dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8, intermediate_size=24, max_position_embeddings=64)
GEMMA = dict(DECODER, num_hidden_layers=3, query_pre_attn_scalar=5, layer_types=["sliding_attention", "full_attention", "sliding_attention"], sliding_window=4)
T5 = dict(vocab_size=40, d_model=16, d_kv=6, d_ff=24, num_layers=2, num_heads=4, relative_attention_num_buckets=8, relative_attention_max_distance=12)
CASES = {
    "bert": (hf.BertModel, hf.BertConfig(**BERT, hidden_act="gelu_new")),
    "xlm-roberta": (hf.XLMRobertaModel, hf.XLMRobertaConfig(**dict(BERT, type_vocab_size=1), pad_token_id=1)),
    "mpnet": (hf.MPNetModel, hf.MPNetConfig(**BERT, relative_attention_num_buckets=32)),
    "distilbert": (hf.DistilBertModel, hf.DistilBertConfig(vocab_size=40, dim=16, n_layers=2, n_heads=4, hidden_dim=24, max_position_embeddings=24)),
    "modernbert": (hf.ModernBertModel, hf.ModernBertConfig(**{k: v for k, v in BERT.items() if k != "type_vocab_size"}, pad_token_id=0, local_attention=6, layer_types=["full_attention", "sliding_attention"])),
    "gte": (hf.GteModel, hf.GteConfig(**dict(BERT, type_vocab_size=1), rope_parameters={"rope_type": "default", "rope_theta": 20000.0})),
    "gemma3-both-ways": (hf.Gemma3TextModel, hf.Gemma3TextConfig(**GEMMA, use_bidirectional_attention=True)),
    "gemma3-causal": (hf.Gemma3TextModel, hf.Gemma3TextConfig(**GEMMA)),
    "qwen3": (hf.Qwen3Model, hf.Qwen3Config(**DECODER, rope_parameters={"rope_type": "yarn", "rope_theta": 10000.0, "factor": 2.0, "original_max_position_embeddings": 32})),
    "qwen2": (hf.Qwen2Model, hf.Qwen2Config(**{k: v for k, v in DECODER.items() if k != "head_dim"}, use_sliding_window=True, sliding_window=4, max_window_layers=1)),
    "llama": (hf.LlamaModel, hf.LlamaConfig(**DECODER, rope_parameters={"rope_type": "llama3", "rope_theta": 10000.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16})),
    "mistral": (hf.MistralModel, hf.MistralConfig(**DECODER, sliding_window=3, rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 3.0})),
    "t5": (hf.T5EncoderModel, hf.T5Config(**T5)),
    "mt5": (hf.MT5EncoderModel, hf.MT5Config(**T5, feed_forward_proj="gated-gelu")),
    "umt5": (hf.UMT5EncoderModel, hf.UMT5Config(**T5, feed_forward_proj="gated-gelu")),
    "m2m100": (hf.M2M100Model, hf.M2M100Config(vocab_size=40, d_model=16, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=24)),
}
for name in sys.argv[1:] or CASES:
    kind, config = CASES[name]
    torch.manual_seed(0)
    model = kind(config).eval()
    with torch.no_grad(), tempfile.TemporaryDirectory() as tmp:
        if name == "m2m100":
            model = model.encoder
        model.save_pretrained(tmp)
        shapes = {k: list(v.shape) for k, v in load_file(os.path.join(tmp, "model.safetensors")).items()}
        # What the files call a tensor is not always what PyTorch does: the weights are set through files.
        from safetensors.numpy import save_file
        save_file({k: values(k, s) for k, s in shapes.items()}, os.path.join(tmp, "model.safetensors"), {"format": "pt"})
        if name == "m2m100":
            model.load_state_dict({k: torch.tensor(values(k, s)) for k, s in shapes.items()}, strict=False)
        else:
            model = kind.from_pretrained(tmp).eval()
        written = json.load(open(os.path.join(tmp, "config.json")))
        for needless in "transformers_version", "dtype", "use_cache", "initializer_range", "initializer_cutoff_factor":
            written.pop(needless, None)
        vectors = []
        for ids in SENTENCES:
            states = model(input_ids=torch.tensor([ids])).last_hidden_state[0].double()
            vectors.append([[round(float(x), 6) for x in v] for v in (states.mean(0), states[-1])])
    with open(name + ".json", "w") as f:
        lines = [f'"{k}": {json.dumps(v)}' for k, v in (("config", written), ("tensors", shapes), ("sentences", SENTENCES), ("vectors", vectors))]
        f.write("{" + ",\n ".join(lines) + "}\n")
    print(name, len(shapes), [round(x, 3) for x in vectors[1][0][:4]])
