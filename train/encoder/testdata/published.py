"""Writes small random models in the shapes of BERT and XLM-R as Hugging Face publishes them, and what they compute, in float64 and from the definitions
of the models alone: the golden files of published_test.go. Needs torch and numpy; run in this directory."""
import json
import os
import struct

import numpy as np
import torch
from torch.nn import functional as F

WIDTH, HEADS, LAYERS, FFN, WORDS = 16, 4, 2, 24, 40
rng = np.random.RandomState(7)


def draw(*shape):
    return rng.normal(0, 0.4, shape).astype(np.float32)


def tensors(places, types, extra):
    t = {
        "embeddings.word_embeddings.weight": draw(WORDS, WIDTH),
        "embeddings.position_embeddings.weight": draw(places, WIDTH),
        "embeddings.token_type_embeddings.weight": draw(types, WIDTH),
    }

    def dense(name, n_in, n_out):
        t[name + ".weight"], t[name + ".bias"] = draw(n_out, n_in), draw(n_out)

    def norm(name):
        t[name + ".weight"], t[name + ".bias"] = 1 + draw(WIDTH), draw(WIDTH)

    norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        for part in "query", "key", "value":
            dense(at + "attention.self." + part, WIDTH, WIDTH)
        dense(at + "attention.output.dense", WIDTH, WIDTH)
        norm(at + "attention.output.LayerNorm")
        dense(at + "intermediate.dense", WIDTH, FFN)
        dense(at + "output.dense", FFN, WIDTH)
        norm(at + "output.LayerNorm")
    t.update(extra)
    return t


def forward(t, ids, mask, positions, epsilon, activation):
    """The last layer, [n, length, width], in float64."""
    t = {k: torch.tensor(v, dtype=torch.float64) for k, v in t.items() if v.dtype == np.float32}

    def dense(name, x):
        return F.linear(x, t[name + ".weight"], t[name + ".bias"])

    def norm(name, x):
        return F.layer_norm(x, (WIDTH,), t[name + ".weight"], t[name + ".bias"], epsilon)

    x = t["embeddings.word_embeddings.weight"][ids] + t["embeddings.position_embeddings.weight"][positions]
    x = norm("embeddings.LayerNorm", x + t["embeddings.token_type_embeddings.weight"][0])
    n, length, _ = x.shape
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        q, k, v = (dense(at + "attention.self." + p, x).view(n, length, HEADS, -1).transpose(1, 2) for p in ("query", "key", "value"))
        scores = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        scores = scores.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, length, WIDTH)
        x = norm(at + "attention.output.LayerNorm", x + dense(at + "attention.output.dense", context))
        hidden = activation(dense(at + "intermediate.dense", x))
        x = norm(at + "output.LayerNorm", x + dense(at + "output.dense", hidden))
    return x


def write(path, t):
    header, data = {}, b""
    for name, value in t.items():
        raw = value.tobytes()
        dtype = {"float32": "F32", "float16": "F16", "int64": "I64"}[str(value.dtype)]
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    raw = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(raw)) + raw + data)


def golden(directory, x, ids, lengths):
    out = {"length": ids.shape[1], "ids": ids.flatten().tolist(), "lengths": lengths}
    rows = [x[i, :l] for i, l in enumerate(lengths)]
    out["cls"] = [r[0].tolist() for r in rows]
    out["mean"] = [r.mean(0).tolist() for r in rows]
    out["max"] = [r.max(0).values.tolist() for r in rows]
    with open(directory + "/vectors.json", "w") as f:
        json.dump(out, f)


def config(directory, **fields):
    common = dict(hidden_size=WIDTH, num_attention_heads=HEADS, num_hidden_layers=LAYERS, intermediate_size=FFN, vocab_size=WORDS,
                  hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, position_embedding_type="absolute", torch_dtype="float32")
    with open(directory + "/config.json", "w") as f:
        json.dump({**common, **fields}, f, indent=1)


lengths = [9, 1, 5, 7]
ids = torch.from_numpy(rng.randint(5, WORDS, (len(lengths), 9)))
mask = (torch.arange(9)[None] < torch.tensor(lengths)[:, None]).long()

os.makedirs("bert", exist_ok=True)
bert = tensors(12, 2, {"embeddings.position_ids": np.arange(12)[None], "pooler.dense.weight": draw(WIDTH, WIDTH), "pooler.dense.bias": draw(WIDTH)})
bert_ids = ids * mask  # [PAD] is 0
write("bert/model.safetensors", bert)
config("bert", model_type="bert", hidden_act="gelu", layer_norm_eps=1e-12, max_position_embeddings=12, type_vocab_size=2, pad_token_id=0)
golden("bert", forward(bert, bert_ids, mask, torch.arange(9)[None], 1e-12, F.gelu), bert_ids, lengths)

os.makedirs("xlm-roberta", exist_ok=True)
xlmr = tensors(14, 1, {})
xlmr_ids = ids * mask + (1 - mask)  # <pad> is 1
positions = mask.cumsum(1) * mask + 1
x = forward(xlmr, xlmr_ids, mask, positions, 1e-5, F.gelu)
golden("xlm-roberta", x, xlmr_ids, lengths)
config("xlm-roberta", model_type="xlm-roberta", hidden_act="gelu", layer_norm_eps=1e-5, max_position_embeddings=14, type_vocab_size=1, pad_token_id=1)
# As a masked language model is published: a prefix, a head, and two shards.
named = {"roberta." + k: v for k, v in xlmr.items()}
named["lm_head.bias"] = draw(WORDS)
half = len(named) // 2
shards = {}
for i, part in enumerate((list(named)[:half], list(named)[half:])):
    file = f"model-0000{i + 1}-of-00002.safetensors"
    write("xlm-roberta/" + file, {k: named[k] for k in part})
    shards.update({k: file for k in part})
with open("xlm-roberta/model.safetensors.index.json", "w") as f:
    json.dump({"metadata": {}, "weight_map": shards}, f, indent=1)
