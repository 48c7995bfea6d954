"""Writes a small random encoder in the form of SONAR's text encoder on the hub (model_type m2m_100), and the means of its
tokens' vectors, in float64 and from the model's definition alone. Needs numpy; run in this directory."""
import json
import math
import struct

import numpy as np

WIDTH, HEADS, LAYERS, FFN, WORDS, PLACES, PAD = 16, 4, 2, 24, 40, 12, 1
rng = np.random.RandomState(3)
t = {"embed_tokens.weight": rng.normal(0, 0.3, (WORDS, WIDTH))}


def dense(name, n_in, n_out):
    t[name + ".weight"], t[name + ".bias"] = rng.normal(0, 0.4, (n_out, n_in)), rng.normal(0, 0.4, n_out)


def norm(name):
    t[name + ".weight"], t[name + ".bias"] = 1 + rng.normal(0, 0.4, WIDTH), rng.normal(0, 0.4, WIDTH)


for i in range(LAYERS):
    at = f"layers.{i}."
    for part in "q_proj", "k_proj", "v_proj", "out_proj":
        dense(at + "self_attn." + part, WIDTH, WIDTH)
    norm(at + "self_attn_layer_norm")
    dense(at + "fc1", WIDTH, FFN)
    dense(at + "fc2", FFN, WIDTH)
    norm(at + "final_layer_norm")
norm("layer_norm")
t = {k: v.astype(np.float32) for k, v in t.items()}
w = {k: v.astype(np.float64) for k, v in t.items()}


def apply(name, x):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def normalise(name, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * w[name + ".weight"] + w[name + ".bias"]


def place(p):
    """The position embedding of tensor2tensor, as fairseq has it."""
    half = WIDTH // 2
    angles = [p * math.exp(i * -math.log(10000) / (half - 1)) for i in range(half)]
    return np.array([math.sin(a) for a in angles] + [math.cos(a) for a in angles])


def encode(ids):
    x = w["embed_tokens.weight"][ids] * math.sqrt(WIDTH) + np.stack([place(PAD + 1 + i) for i in range(len(ids))])
    for i in range(LAYERS):
        at = f"layers.{i}."
        y = normalise(at + "self_attn_layer_norm", x)
        q, k, v = (apply(at + "self_attn." + p, y).reshape(len(ids), HEADS, -1).transpose(1, 0, 2) for p in ("q_proj", "k_proj", "v_proj"))
        scores = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS))
        y = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        x = x + apply(at + "self_attn.out_proj", y)
        x = x + apply(at + "fc2", np.maximum(apply(at + "fc1", normalise(at + "final_layer_norm", x)), 0))
    return normalise("layer_norm", x).mean(0)


sentences = [[35, 7, 9, 30, 2], [36, 12, 2], [35, 39, 38, 4, 5, 6, 2]]
with open("m2m/vectors.json", "w") as f:
    json.dump({"sentences": sentences, "mean": [encode(ids).tolist() for ids in sentences]}, f)
with open("m2m/config.json", "w") as f:
    json.dump(dict(model_type="m2m_100", architectures=["M2M100Encoder"], d_model=WIDTH, encoder_layers=LAYERS, encoder_attention_heads=HEADS, encoder_ffn_dim=FFN,
                   activation_function="relu", max_position_embeddings=PLACES, vocab_size=WORDS, pad_token_id=PAD, scale_embedding=True), f, indent=1)
header, data = {}, b""
for name, value in t.items():
    raw = value.tobytes()
    header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
raw = json.dumps(header).encode()
with open("m2m/model.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(raw)) + raw + data)
