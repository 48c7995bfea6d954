"""Writes golden.json: VMSST in float64 numpy on one small batch, each term's value, and by central differences the gradients of the weighted total."""
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../objectivetest"))
import differences
from differences import softmax

differences.STEP = 1e-7  # at 1e-5 a difference crosses a kink of the ReLU

N, LENGTH, WIDTH, DIM, VOCABULARY, LANGUAGES, FFN, HEADS, STEP = 3, 4, 4, 5, 6, 3, 5, 2, 5
rng = np.random.default_rng(6)
ids = [[[1, 4, 5, 2], [1, 3, 2], [4, 2]], [[1, 5, 2], [1, 3, 3, 2], [3, 5]]]
languages = [[0, 1, 0], [1, 2, 2]]
pick = [0, 1, 0]
noise = {"semantic": rng.normal(size=(N, DIM)).round(3), "language": rng.normal(size=(2 * N, WIDTH)).round(3)}
encoders = 2
w = {"source": rng.normal(size=(N, DIM)), "target": rng.normal(size=(N, DIM))}
for name in ["tokens0", "tokens1"]:
    w[name] = rng.normal(size=(N, LENGTH, WIDTH))
w["table"] = rng.normal(size=(VOCABULARY, WIDTH))


def add_dense(name, a, b):
    w[name + ".weight"], w[name + ".bias"] = rng.normal(size=(a, b)), rng.normal(size=b)


def add_norm(name):
    w[name + ".scale"], w[name + ".bias"] = rng.normal(size=WIDTH), rng.normal(size=WIDTH)


def add_layer(p):
    for part in ["query", "key", "value", "out"]:
        add_dense(p + ".attention." + part, WIDTH, WIDTH)
    add_norm(p + ".attention.norm")
    add_dense(p + ".ffn.in", WIDTH, FFN)
    add_dense(p + ".ffn.out", FFN, WIDTH)
    add_norm(p + ".ffn.norm")


add_dense("heads.semantic.variance", WIDTH, DIM)
add_dense("heads.language.mean", WIDTH, WIDTH)
add_dense("heads.language.variance", WIDTH, WIDTH)
for part, count in [("language.encoder", encoders), ("decoder", 2)]:
    w[f"heads.{part}.positions"] = rng.normal(size=(LENGTH + 1, WIDTH))
    w[f"heads.{part}.languages"] = rng.normal(size=(LANGUAGES, WIDTH))
    add_norm(f"heads.{part}.norm")
    for i in range(count):
        add_layer(f"heads.{part}.{i}" + (".0" if part == "language.encoder" else ""))
        if part == "decoder":
            add_dense(f"heads.decoder.{i}.latent", DIM + WIDTH, WIDTH)
w["heads.decoder.factor"] = rng.normal(size=(2 * WIDTH + DIM, WIDTH))
w["heads.decoder.words"] = rng.normal(size=(VOCABULARY, 2 * WIDTH + DIM))
small = rng.normal(size=(VOCABULARY, WIDTH)).round(3)  # heads.decoder.words where factored
for x in w.values():
    x[...] = (x * 0.7).round(3)


def norm(name, x):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-6) * w[name + ".scale"] + w[name + ".bias"]


def dense(name, x):
    return x @ w[name + ".weight"] + w[name + ".bias"]


def layer(p, x, causal=False, latent=None):
    y = norm(p + ".attention.norm", x)
    q, k, v = (dense(p + ".attention." + part, y) for part in ["query", "key", "value"])
    size, out = WIDTH // HEADS, []
    for h in range(HEADS):
        at = slice(h * size, (h + 1) * size)
        scores = q[:, at] @ k[:, at].T / np.sqrt(size)
        seen = lambda place: place + 1 if causal else len(x)
        out.append(np.array([softmax(scores[i, : seen(i)]) @ v[: seen(i), at] for i in range(len(x))]))
    x = x + dense(p + ".attention.out", np.concatenate(out, axis=1))
    if latent is not None:
        x = x + dense(p + ".latent", latent[None])
    return x + dense(p + ".ffn.out", np.maximum(dense(p + ".ffn.in", norm(p + ".ffn.norm", x)), 0))


def log_p(s, side, i, semantic, language):
    sentence, tongue, total = ids[side][i], languages[side][i], 0
    latent = np.concatenate([semantic, language])
    x = np.array([w["table"][sentence[p - 1]] if p > 0 else np.zeros(WIDTH) for p in range(len(sentence))]) + w["heads.decoder.positions"][: len(sentence)]
    if s["decoder_language"]:
        x[0] = x[0] + w["heads.decoder.languages"][tongue]
    for k in range(s["decoder_layers"]):
        x = layer(f"heads.decoder.{k}", x, True, latent)
    x = norm("heads.decoder.norm", x)
    for p, id in enumerate(sentence):
        full = np.concatenate([x[p], latent])
        logits = small_words @ (full @ w["heads.decoder.factor"]) if s["factored"] else w["heads.decoder.words"] @ full
        total += np.log(softmax(logits)[id])
    return total


def average(side, i):
    return w[f"tokens{side}"][i, : len(ids[side][i])].mean(axis=0)


def language_state(s, side, i):
    if s["language_encoders"] == 0:
        return average(side, i)
    sentence, tongue = ids[side][i], languages[side][i]
    x = w["table"][sentence] + w["heads.language.encoder.positions"][: len(sentence)]
    if s["encoder_language"]:
        x = x + w["heads.language.encoder.languages"][tongue]
    which = of_language[tongue] if s["language_encoders"] > 1 else 0
    return norm("heads.language.encoder.norm", layer(f"heads.language.encoder.{which}.0", x)).mean(axis=0)


def kl(mean, log_variance):
    return sum(mean**2 + np.exp(log_variance) - 1 - log_variance) / 2


def terms(s):
    mean = [w["source"], w["target"]]
    out = {}
    if s["translate"]:
        zero = np.zeros(WIDTH)
        out["translate"] = (1, -sum(log_p(s, 0, i, mean[1][i], zero) + log_p(s, 1, i, mean[0][i], zero) for i in range(N)) / N)
    if s["contrastive"]:
        logits = mean[0] @ mean[1].T
        out["forward"] = (0.5, -np.mean([np.log(softmax(logits[i])[i]) for i in range(N)]))
        out["backward"] = (0.5, -np.mean([np.log(softmax(logits[:, i])[i]) for i in range(N)]))
    if s["elbo_weight"] == 0:
        return out
    reconstruct, divergence = 0, 0
    for i in range(N):
        mu, log_variance = mean[pick[i]][i], dense("heads.semantic.variance", average(pick[i], i))
        z = mu + np.exp(log_variance / 2) * noise["semantic"][i]
        divergence += kl(mu, log_variance)
        for side in range(2):
            state = language_state(s, side, i)
            mu_l, log_variance_l = dense("heads.language.mean", state), dense("heads.language.variance", state)
            z_l = mu_l + np.exp(log_variance_l / 2) * noise["language"][side * N + i]
            divergence += kl(mu_l, log_variance_l)
            reconstruct -= log_p(s, side, i, z, z_l)
    out["reconstruct"] = (s["elbo_weight"], reconstruct / N)
    if s["kl"]:
        grown = min(1, STEP / s["kl_anneal"]) if s["kl_anneal"] > 0 else 1
        out["kl"] = (s["elbo_weight"] * grown, divergence / N)
    return out


BASE = {"name": "vmsst", "translate": True, "contrastive": False, "elbo_weight": 0.3, "kl": True, "kl_anneal": 20, "language_encoders": 1, "language_layers": 1,
        "decoder_layers": 1, "encoder_language": True, "decoder_language": True, "factored": False, "heads": HEADS, "ffn": FFN}
cases = {
    "vmsst": BASE,
    # the rows of Table 4
    "factored": BASE | {"factored": True},
    "several encoders": BASE | {"language_encoders": encoders},
    "two layers in the decoder": BASE | {"decoder_layers": 2},
    "no kl": BASE | {"kl": False},
    "one encoder": BASE | {"language_encoders": 0, "kl_anneal": 0},
    "no encoder language": BASE | {"encoder_language": False},
    "no decoder language": BASE | {"decoder_language": False},
    # its baselines
    "bitranslation": BASE | {"name": "bitranslation", "elbo_weight": 0, "kl": False, "kl_anneal": 0},
    "vmsst-contrastive": BASE | {"name": "vmsst-contrastive", "translate": False, "contrastive": True, "elbo_weight": 0.0005, "kl_anneal": 2},
}


def used(s, name):
    """Whether a case has a tensor."""
    if name.startswith("tokens") or name.startswith("heads.semantic") or name.startswith("heads.language"):
        if s["elbo_weight"] == 0:
            return name.startswith("tokens")
        if name.startswith("heads.language.encoder"):
            extra = name.startswith("heads.language.encoder.1.") and s["language_encoders"] < 2
            return s["language_encoders"] > 0 and not extra and (s["encoder_language"] or not name.endswith("languages"))
    if name == "heads.decoder.factor":
        return s["factored"]
    if name == "heads.decoder.languages":
        return s["decoder_language"]
    return not name.startswith("heads.decoder.1.") or s["decoder_layers"] > 1


def tensors(s):
    """Those that a case has."""
    return {name: small_words if name == "heads.decoder.words" and s["factored"] else x for name, x in w.items() if used(s, name)}


of_language = [0, 1, 0]  # as the seed of golden_test.go draws it, which the test checks
small_words = small
golden = {"n": N, "length": LENGTH, "width": WIDTH, "dim": DIM, "vocabulary": VOCABULARY, "languages": LANGUAGES, "step": STEP, "ids": ids, "tongues": languages,
          "pick": pick, "noise": {k: x.ravel().tolist() for k, x in noise.items()}, "encoders": of_language,
          "tensors": differences.flat(w | {"factored words": small})}
differences.write(__file__, golden, {name: differences.case(s, terms, tensors(s)) for name, s in cases.items()})
