"""Writes golden.json: MEXMA in float64 numpy on one small batch, each term's value, and by central differences the gradients of the weighted total."""
import math
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../objectivetest"))
import differences
from differences import softmax

N, LENGTH, WIDTH, VOCABULARY, FFN, HEADS = 3, 5, 4, 9, 5, 2
rng = np.random.default_rng(5)
erf = np.vectorize(math.erf)

# Lengths of the source's and of the target's sentences; in each sentence, the masked places and what they were.
lengths = [[5, 3, 4], [4, 5, 2]]
hidden = [[{1: 4, 3: 5}, {1: 6}, {2: 7}], [{2: 8}, {1: 3, 2: 4, 3: 5}, {}]]
w = {}
for name in ["clean0", "clean1", "masked0", "masked1"]:
    w[name] = rng.normal(size=(N, WIDTH))
for name in ["tokens0", "tokens1"]:
    w[name] = rng.normal(size=(N, LENGTH, WIDTH))
w["table"] = rng.normal(size=(VOCABULARY, WIDTH))
w["heads.unmask.bias"] = rng.normal(size=VOCABULARY)
for layer in range(2):
    p = f"heads.unmask.{layer}."
    for part in ["query", "key", "value", "out"]:
        w[p + f"attention.{part}.weight"], w[p + f"attention.{part}.bias"] = rng.normal(size=(WIDTH, WIDTH)), rng.normal(size=WIDTH)
    w[p + "ffn.in.weight"], w[p + "ffn.in.bias"] = rng.normal(size=(WIDTH, FFN)), rng.normal(size=FFN)
    w[p + "ffn.out.weight"], w[p + "ffn.out.bias"] = rng.normal(size=(FFN, WIDTH)), rng.normal(size=WIDTH)
    for part in ["attention.norm", "ffn.norm"]:
        w[p + part + ".scale"], w[p + part + ".bias"] = rng.normal(size=WIDTH), rng.normal(size=WIDTH)
for x in w.values():
    x[...] = x.round(3)


def norm(name, x):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12) * w[name + ".scale"] + w[name + ".bias"]


def dense(name, x):
    return x @ w[name + ".weight"] + w[name + ".bias"]


def layer(p, x):
    """One layer of BERT over one sentence without padding [length, width]."""
    q, k, v = (dense(p + "attention." + part, x) for part in ["query", "key", "value"])
    size, out = WIDTH // HEADS, []
    for h in range(HEADS):
        at = slice(h * size, (h + 1) * size)
        out.append(np.array([softmax(row) for row in q[:, at] @ k[:, at].T / np.sqrt(size)]) @ v[:, at])
    x = norm(p + "attention.norm", x + dense(p + "attention.out", np.concatenate(out, axis=1)))
    inner = dense(p + "ffn.in", x)
    return norm(p + "ffn.norm", x + dense(p + "ffn.out", inner * (1 + erf(inner / np.sqrt(2))) / 2))


def cross_entropy(s, tokens, side, sentence_vectors):
    """The mean over the masked tokens of one side."""
    total, count = 0, 0
    for i in range(N):
        x = tokens[i, : lengths[side][i]]
        if s.get("context") != "none":
            x = np.concatenate([sentence_vectors[i][None], x[1:]])
        for k in range(s["head_layers"]):
            x = layer(f"heads.unmask.{k}.", x)
        for place, id in hidden[side][i].items():
            total -= np.log(softmax(w["table"] @ x[place] + w["heads.unmask.bias"])[id])
            count += 1
    return total / count


def koleo(x):
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    return -np.mean([np.log(min(np.linalg.norm(x[i] - x[j]) for j in range(N) if j != i)) for i in range(N)])


def contrastive(u, v, t):
    unit = lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)
    logits = unit(u) @ unit(v).T / t
    rank = lambda m: -np.mean([np.log(softmax(m[i])[i]) for i in range(N)])
    return rank(logits), rank(logits.T)


frozen = {name: w[name].copy() for name in ["tokens0", "tokens1"]}


def terms(s):
    """Each term with its weight. Without token gradients the tokens are constants."""
    t0, t1 = (w if s["token_gradients"] else frozen)["tokens0"], (w if s["token_gradients"] else frozen)["tokens1"]
    out = {}
    if not s["symmetric"]:
        out["unmask"] = (s["unmask_weight"], cross_entropy(s, t0, 0, w["clean0"]))
        if s["alignment"] == "masked":
            out["align"] = (s["align_weight"], np.mean((w["masked0"] - w["clean0"]) ** 2))
        return out
    out["unmask"] = (s["unmask_weight"], cross_entropy(s, t0, 0, w["clean1"]) + cross_entropy(s, t1, 1, w["clean0"]))
    if s["alignment"] == "clean":
        out["align"] = (s["align_weight"], np.mean((w["clean0"] - w["clean1"]) ** 2))
    if s["alignment"] == "masked":
        both = np.mean((w["masked0"] - w["clean1"]) ** 2), np.mean((w["masked1"] - w["clean0"]) ** 2)
        out["align"] = (s["align_weight"], sum(both) / 2)
    if s["alignment"] == "contrastive":
        for name, value in zip(["forward", "backward"], contrastive(w["clean0"], w["clean1"], s["temperature"])):
            out[name] = (s["align_weight"] / 2, value)
    if s["koleo_weight"] > 0:
        out["koleo"] = (s["koleo_weight"], koleo(w["clean0"]) + koleo(w["clean1"]))
    return out


BASE = {"name": "mexma", "masking": 0.4, "replacement": "mask", "symmetric": True, "token_gradients": True, "alignment": "clean", "align_weight": 1,
        "unmask_weight": 0.5, "koleo_weight": 0.005, "head_layers": 1, "head_heads": HEADS, "head_ffn": FFN}
ONE = {"symmetric": False, "token_gradients": False, "alignment": "none", "koleo_weight": 0}
cases = {
    # the steps of Table 11, each with what the one before it has
    "1 not symmetric": BASE | ONE,
    "2 symmetric": BASE | ONE | {"symmetric": True},
    "3 masked alignment": BASE | ONE | {"symmetric": True, "alignment": "masked", "align_weight": 0.7},
    "4 clean alignment": BASE | ONE | {"symmetric": True, "alignment": "clean"},
    "5 token gradients": BASE | {"koleo_weight": 0},
    "6 mexma": BASE | {"unmask_weight": 0.25, "koleo_weight": 0.3},
    "two layers": BASE | {"head_layers": 2},
    "contrastive": BASE | {"name": "mexma-contrastive", "alignment": "contrastive", "temperature": 0.3, "koleo_weight": 0, "align_weight": 3},
    "not symmetric, masked alignment": BASE | ONE | {"alignment": "masked", "token_gradients": True},
    # masked-language modelling
    "no context": BASE | {"context": "none", "koleo_weight": 0},
    "no context, contrastive": BASE | {"name": "mexma-contrastive", "context": "none", "alignment": "contrastive", "temperature": 0.3, "koleo_weight": 0},
    "no context, not symmetric": BASE | ONE | {"context": "none", "alignment": "masked", "token_gradients": True},
}


def tensors(s):
    """Those that a case has."""
    return {name: x for name, x in w.items()
            if not (name.startswith("heads.unmask.1") and s["head_layers"] == 1 or not s["symmetric"] and name[-1] == "1" and not name.startswith("heads"))}


golden = {"n": N, "length": LENGTH, "width": WIDTH, "vocabulary": VOCABULARY, "lengths": lengths,
          "hidden": [[sorted([p, id] for p, id in of.items()) for of in side] for side in hidden],
          "tensors": differences.flat(w)}
differences.write(__file__, golden, {name: differences.case(s, terms, tensors(s)) for name, s in cases.items()})
