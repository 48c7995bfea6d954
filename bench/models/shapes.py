"""Writes random models of the shapes of published ones, too large for architectures.py, or measures sentence-transformers on one.

usage: shapes.py qwen|gemma|modernbert FOLDER TEXT...      Qwen3-Embedding-0.6B, harrier-270m, ModernBERT-base; TEXT trains a tokenizer
       shapes.py --torch FOLDER TEXT                       CPU seconds of two threads in float32, and FOLDER/torch.npy with the vectors
"""
import json
import os
import resource
import struct
import sys

import numpy as np


def gated(at, hidden, inner, heads, shared, size):
    part = lambda name, *shape: {at + name + ".weight": shape}
    return (part("input_layernorm", hidden) | part("post_attention_layernorm", hidden) | part("self_attn.q_proj", heads * size, hidden)
            | part("self_attn.k_proj", shared * size, hidden) | part("self_attn.v_proj", shared * size, hidden) | part("self_attn.o_proj", hidden, heads * size)
            | part("self_attn.q_norm", size) | part("self_attn.k_norm", size) | part("mlp.gate_proj", inner, hidden) | part("mlp.up_proj", inner, hidden)
            | part("mlp.down_proj", hidden, inner))


def shape(kind):
    if kind == "modernbert":
        width, inner, layers, words = 768, 1152, 22, 50368
        config = dict(model_type=kind, hidden_size=width, intermediate_size=inner, num_hidden_layers=layers, num_attention_heads=12, vocab_size=words, norm_eps=1e-5, global_rope_theta=160000.0,
                      local_rope_theta=10000.0, global_attn_every_n_layers=3, local_attention=128, max_position_embeddings=8192, hidden_activation="gelu", norm_bias=False, attention_bias=False, mlp_bias=False)
        tensors = {"embeddings.tok_embeddings.weight": (words, width), "embeddings.norm.weight": (width,), "final_norm.weight": (width,)}
        for i in range(layers):
            at = f"layers.{i}."
            tensors |= {at + "attn_norm.weight": (width,)} if i else {}
            tensors |= {at + "attn.Wqkv.weight": (3 * width, width), at + "attn.Wo.weight": (width, width), at + "mlp_norm.weight": (width,)}
            tensors |= {at + "mlp.Wi.weight": (2 * inner, width), at + "mlp.Wo.weight": (width, inner)}
        return config | {"architectures": ["ModernBertModel"]}, tensors
    width, inner, layers, heads, shared, size, words = (1024, 3072, 28, 16, 8, 128, 151936) if kind == "qwen" else (640, 2048, 18, 4, 1, 256, 262144)
    config = dict(hidden_size=width, intermediate_size=inner, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=shared, head_dim=size, vocab_size=words, rms_norm_eps=1e-6,
                  rope_theta=1e6, max_position_embeddings=32768, attention_bias=False)
    if kind == "qwen":
        config |= dict(architectures=["Qwen3Model"], model_type="qwen3", hidden_act="silu")
    else:
        config |= dict(architectures=["Gemma3TextModel"], model_type="gemma3_text", rope_local_base_freq=1e4, hidden_activation="gelu_pytorch_tanh", sliding_window=512, query_pre_attn_scalar=256,
                       layer_types=["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(layers)])
    tensors = {"embed_tokens.weight": (words, width), "norm.weight": (width,)}
    for i in range(layers):
        at = f"layers.{i}."
        tensors |= gated(at, width, inner, heads, shared, size)
        if kind == "gemma":
            tensors |= {at + "pre_feedforward_layernorm.weight": (width,), at + "post_feedforward_layernorm.weight": (width,)}
    return config, tensors


def write(kind, folder, texts):
    import tokenizers as tk
    config, tensors = shape(kind)
    os.makedirs(os.path.join(folder, "1_Pooling"), exist_ok=True)
    put = lambda name, value: json.dump(value, open(os.path.join(folder, name), "w"))
    put("config.json", config | {"dtype": "bfloat16"})
    head, at = {}, 0
    for name, dims in tensors.items():
        size = 2 * int(np.prod(dims))
        head[name] = {"dtype": "BF16", "shape": list(dims), "data_offsets": [at, at + size]}
        at += size
    raw = json.dumps(head).encode()
    raw += b" " * (-len(raw) % 8)
    rng = np.random.default_rng(1)
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(raw)) + raw)
        for name, dims in tensors.items():
            for rows in range(0, dims[0] if len(dims) > 1 else 1, 20000):
                x = rng.standard_normal((min(20000, dims[0] - rows), dims[1]) if len(dims) > 1 else dims, dtype=np.float32)
                x = x * (0.05 if "embed" in name else dims[-1] ** -0.5) if len(dims) > 1 else x * 0.1 + (kind != "gemma")
                (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tofile(f)
    t = tk.Tokenizer(tk.models.BPE())
    t.pre_tokenizer = tk.pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train(texts, tk.trainers.BpeTrainer(vocab_size=20000, special_tokens=["<s>", "<pad>", "</s>"], initial_alphabet=tk.pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.post_processor = tk.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", t.token_to_id("</s>"))])
    t.save(os.path.join(folder, "tokenizer.json"))
    put("tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>", "pad_token": "<pad>", "model_max_length": 512})
    put("1_Pooling/config.json", {"word_embedding_dimension": config["hidden_size"], "pooling_mode_mean_tokens" if kind == "modernbert" else "pooling_mode_lasttoken": True})
    put("modules.json", [{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + name}
                         for i, (path, name) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])])


def measure(folder, text):
    os.environ.update(OMP_NUM_THREADS="2", TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="")
    import torch
    from sentence_transformers import SentenceTransformer
    torch.set_num_threads(2)
    lines = open(text, encoding="utf-8").read().splitlines()
    model = SentenceTransformer(folder, device="cpu", model_kwargs={"dtype": torch.float32})
    model.encode(lines[:4])
    cpu = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    start = cpu()
    np.save(os.path.join(folder, "torch.npy"), model.encode(lines, batch_size=32, normalize_embeddings=True))
    print(f"{len(lines)} sentences: {cpu() - start:.2f} CPU seconds")


measure(*sys.argv[2:]) if sys.argv[1] == "--torch" else write(sys.argv[1], sys.argv[2], sys.argv[3:])
