"""Writes golden.json: every objective on one small batch in float64 numpy, each term's value and, by central differences, its gradients; the terms'
weights and their weighted total."""
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../objectivetest"))
from differences import around, flat, slope, write

N, DIM, LANGUAGE, MLP, VOCABULARY, HARD = 4, 6, 3, 4, 11, 2
LANGUAGES = ["ko", "en", "fr", "sw"]
ANCHORS = ["en", "fr", "ko"]
SPECIAL = [1, 2]
MASK = 3
rng = np.random.default_rng(11)

sides = {
    "source": {"ids": [[1, 4, 5, 5, 2], [1, 6, 2, 0, 0], [1, 7, 8, 4, 2], [1, 9, 10, 2, 0]], "lengths": [5, 3, 5, 4], "languages": [0, 1, 2, 3]},
    "target": {"ids": [[1, 9, 2, 0], [1, 10, 9, 2], [5, 5, 6, 2], [1, 8, 8, 2]], "lengths": [3, 4, 4, 4], "languages": [1, 2, 0, 0]},
}
hidden = {"source": [3, -1, 1, 2], "target": [-1, 1, 2, 1]}  # places that ugt masks
vectors = {name: rng.normal(size=(rows, DIM)) for name, rows in [("source", N), ("target", N), ("negatives", N * HARD)]}
teacher = {name: rng.normal(size=(N, DIM)) for name in ["source", "target"]}


def cos(a, b):
    return a @ b / np.sqrt(a @ a) / np.sqrt(b @ b)


def matrix(us, vs, t):
    return np.array([[cos(u, v) / t for v in vs] for u in us])


def log_softmax(row):
    row = np.asarray(row)
    return row - row.max() - np.log(np.exp(row - row.max()).sum())


def ranking(us, vs, t, margin, one_way, extra=None, hidden_pairs=()):
    logits = matrix(us, vs, t) - margin / t * np.eye(N)
    for i, j in hidden_pairs:
        logits[i, j] = -np.inf
    rows = [np.append(logits[i], extra[i]) if extra is not None else logits[i] for i in range(N)]
    terms = {"forward": -sum(log_softmax(rows[i])[i] for i in range(N)) / N}
    if not one_way:
        terms["backward"] = -sum(log_softmax(logits[:, i])[i] for i in range(N)) / N
    return terms


def parts(s, w, terms):
    """The mean of the terms of whole vectors and of their first numbers. What is hidden follows from whole vectors."""
    of = [terms({k: x[:, :size] for k, x in w.items() if k in vectors}) for size in [DIM] + s.get("matryoshka", [])]
    return {name: sum(t[name] for t in of) / len(of) for name in of[0]}


def contrastive(s, w):
    if s.get("similarity") == "dot":
        logits = w["source"] @ w["target"].T / s["temperature"] - s.get("margin", 0) / s["temperature"] * np.eye(N)
        return {name: -sum(log_softmax(m[i])[i] for i in range(N)) / N for name, m in [("forward", logits), ("backward", logits.T)]}
    return parts(s, w, lambda v: ranking(v["source"], v["target"], s["temperature"], s.get("margin", 0), s.get("one_way", False), hidden_pairs=translations(s, w)))


def translations(s, w):
    """Pairs i, j of which j's sentences are no negatives of i's."""
    most = s.get("false_negatives", 0)
    near = lambda side, i, j: cos(w[side][i], w[side][j]) > most
    return [(i, j) for i in range(N) for j in range(N) if most and i != j and (near("source", i, j) or near("target", i, j))]


def muse(s, w):
    t, most = s["temperature"], s.get("false_negatives", 0)

    def terms(v):
        extra = [[cos(v["source"][i], v["negatives"][k]) / t for k in range(i * HARD, (i + 1) * HARD) if not most or cos(w["target"][i], w["negatives"][k]) <= most] for i in range(N)]
        return ranking(v["source"], v["target"], t, s.get("margin", 0), s.get("one_way", False), extra, translations(s, w))

    return parts(s, w, terms)


def distribution(side, i):
    ids = [w for w in sides[side]["ids"][i][: sides[side]["lengths"][i]] if w not in SPECIAL]
    return np.bincount(ids, minlength=VOCABULARY) / len(ids)


def reconstruction(s, w):
    total = 0
    for own, other in [("source", "target"), ("target", "source")]:
        for i in range(N):
            p = distribution(other, i)
            place = hidden[own][i]
            if s["reconstruction"] == "ugt" and place >= 0:
                p = p / 2
                p[sides[own]["ids"][i][place]] += 0.5
            x = w[own][i]
            if s["language_token"]:
                x = np.concatenate([w["heads.reconstruction.languages"][sides[other]["languages"][i]], x])
            x = w["heads.reconstruction.fc.weight"].T @ x + w["heads.reconstruction.fc.bias"]
            x = x / (1 + np.exp(-x))
            words = w["table"] if s.get("shared_embedding") else w["heads.reconstruction.words"]
            log_q = log_softmax(words @ x)
            total += sum(p[k] * (np.log(p[k]) - log_q[k]) for k in range(VOCABULARY) if p[k] > 0)
    return total / N


def ems(s, w):
    terms = {}
    if s["reconstruction"] != "none":
        terms[s["reconstruction"]] = reconstruction(s, w)
    if s["contrastive"]:
        h = lambda x: x
        if s["mlp"]:
            part = lambda n: (w[f"heads.contrastive.{n}.weight"], w[f"heads.contrastive.{n}.bias"])
            (w2, b2), (w1, b1) = part("first"), part("second")
            h = lambda x: np.maximum(x @ w2 + b2, 0) @ w1 + b1
        terms |= ranking(h(w["source"]), h(w["target"]), s["temperature"], s.get("margin", 0), False)
    return terms


def by_anchor(w):
    """What w gives the sides of each pair: the anchors', the others'."""
    place = lambda code: (ANCHORS.index(code) if code in ANCHORS else len(ANCHORS), code)
    code = lambda side, i: LANGUAGES[sides[side]["languages"][i]]
    order = [sorted(["source", "target"], key=lambda side: place(code(side, i))) for i in range(N)]
    return [np.array([w[order[i][k]][i] for i in range(N)]) for k in range(2)]


def imascl(s, w):
    t, taught_t = s["temperature"], s.get("teacher_temperature", s["temperature"])
    g_anchors, g_others = by_anchor(teacher)
    taught = matrix(g_anchors, g_anchors, taught_t)
    if s["label"] == "average":
        taught = (taught + matrix(g_others, g_others, taught_t)) / 2
    label = np.array([np.exp(log_softmax(row)) for row in taught])

    def column(us, vs):
        f = matrix(us, vs, t)
        return -sum(label[i, j] * log_softmax(f[:, j])[i] for i in range(N) for j in range(N)) / N

    anchors, others = by_anchor(w)
    f = matrix(anchors, others, t)
    terms = {"row": -sum(label[i, j] * log_softmax(f[i])[j] for i in range(N) for j in range(N)) / N, "column": column(anchors, others)}
    if s.get("tcm"):
        terms |= {"mono-anchor": column(anchors, anchors), "mono-other": column(others, others)}
    return terms


def distill(s, w):
    return {side: np.mean((w[side] - by_anchor(teacher)[0]) ** 2) for side in ["source", "target"]}


EMS = {"temperature": 0.1, "contrastive": True, "mlp": True, "mlp_dim": MLP, "reconstruction": "xtr", "language_token": True, "language_dim": LANGUAGE}
SOFT = {"name": "imascl", "temperature": 0.1, "anchors": ANCHORS, "teacher": "t"}
cases = {
    "contrastive": (contrastive, {"name": "contrastive", "temperature": 0.05}, {}),
    "dot": (contrastive, {"name": "contrastive", "temperature": 2, "margin": 0.5, "similarity": "dot"}, {}),
    "cosine": (contrastive, {"name": "contrastive", "temperature": 0.3, "similarity": "cosine"}, {}),
    "hard": (contrastive, {"name": "contrastive", "temperature": 0.1}, {}),
    "one-way": (contrastive, {"name": "contrastive", "temperature": 0.2, "one_way": True}, {}),
    "margin": (contrastive, {"name": "contrastive", "temperature": 0.1, "margin": 0.3}, {}),
    # a margin of the temperature's size, and cosines whose exponentials are beyond float32
    "margin-of-temperature": (contrastive, {"name": "contrastive", "temperature": 0.1, "margin": 0.1}, {}),
    "sharp": (contrastive, {"name": "contrastive", "temperature": 0.002}, {}),
    "ems": (ems, {"name": "ems"} | EMS, {}),
    "ems-no-language": (ems, {"name": "ems"} | EMS | {"language_token": False}, {}),
    "ems-no-contrastive": (ems, {"name": "ems"} | EMS | {"contrastive": False}, {}),
    "ems-no-xtr": (ems, {"name": "ems"} | EMS | {"reconstruction": "none"}, {}),
    "ems-no-mlp": (ems, {"name": "ems"} | EMS | {"mlp": False}, {}),
    "ems-shared": (ems, {"name": "ems"} | EMS | {"shared_embedding": True}, {}),
    "ems-ugt": (ems, {"name": "ems"} | EMS | {"reconstruction": "ugt"}, {}),
    # these give what the names of the objectives must stand for
    "labse-vanilla": (ems, {"name": "labse-vanilla"}, EMS | {"margin": 0.3, "mlp": False, "reconstruction": "none"}),
    "labse-mlp": (ems, {"name": "labse-mlp", "mlp_dim": MLP}, EMS | {"margin": 0.3, "reconstruction": "none"}),
    "labse-joint": (ems, {"name": "labse-joint", "mlp_dim": MLP, "language_dim": LANGUAGE}, EMS | {"margin": 0.3}),
    "imascl": (imascl, SOFT | {"label": "priority"}, {}),
    "imascl-average": (imascl, SOFT | {"label": "average"}, {}),
    "imascl-average-tcm": (imascl, SOFT | {"label": "average", "tcm": True, "cross_weight": 0.1}, {}),
    "imascl-tcm": (imascl, SOFT | {"label": "priority", "tcm": True, "cross_weight": 0.1}, {}),
    "mse-distill": (distill, {"name": "mse-distill", "anchors": ANCHORS, "teacher": "t"}, {}),
    "matryoshka": (contrastive, {"name": "contrastive", "temperature": 0.1, "margin": 0.2, "matryoshka": [2, 4]}, {}),
    "false-negatives": (contrastive, {"name": "contrastive", "temperature": 0.1, "false_negatives": 0.2}, {}),
    "muse-both": (muse, {"name": "muse", "temperature": 0.1, "negatives": HARD, "matryoshka": [3], "false_negatives": 0.2}, {}),
    "muse": (muse, {"name": "muse", "temperature": 0.1, "negatives": HARD}, {}),
    "muse-margin": (muse, {"name": "muse", "temperature": 0.2, "negatives": HARD, "margin": 0.3}, {}),
    "muse-one-way": (muse, {"name": "muse", "temperature": 0.1, "negatives": HARD, "one_way": True}, {}),
    "imascl-teacher": (imascl, SOFT | {"label": "average", "tcm": True, "cross_weight": 0.1, "teacher_temperature": 0.3}, {}),
    "imascl-lambda": (imascl, SOFT | {"label": "priority", "tcm": True, "cross_weight": 0.7, "temperature": 0.3}, {}),
}


def weights(s, terms):
    """Of each term in the loss: 1, but for λ of IMASCL's cross-lingual terms."""
    return {term: s["cross_weight"] if s.get("tcm") and term in ("row", "column") else 1 for term in terms}


def heads(s):
    """The tensors that an objective needs, with random numbers."""
    shapes = {}
    if "reconstruction" in s and s["contrastive"] and s["mlp"]:
        shapes |= {"heads.contrastive.first.weight": (DIM, DIM), "heads.contrastive.first.bias": (DIM,)}
        shapes |= {"heads.contrastive.second.weight": (DIM, MLP), "heads.contrastive.second.bias": (MLP,)}
    if s.get("reconstruction", "none") != "none":
        wide = DIM + (LANGUAGE if s["language_token"] else 0)
        out = DIM if s.get("shared_embedding") else wide
        if s["language_token"]:
            shapes["heads.reconstruction.languages"] = (len(LANGUAGES), LANGUAGE)
        shapes |= {"heads.reconstruction.fc.weight": (wide, out), "heads.reconstruction.fc.bias": (out,)}
        shapes["table" if s.get("shared_embedding") else "heads.reconstruction.words"] = (VOCABULARY, out)
    return {name: np.random.default_rng(len(name)).normal(size=shape).round(3) for name, shape in shapes.items()}


def differences(f, s, w):
    """Gradients of each term: {term: {tensor: flat}}."""
    out = {}
    for name, x in w.items():
        for above, below in around(lambda: f(s, w), x):
            for term in above:
                out.setdefault(term, {}).setdefault(name, []).append(slope(above[term], below[term], 7))
    return out


golden = {"n": N, "dim": DIM, "vocabulary": VOCABULARY, "languages": LANGUAGES, "special": SPECIAL, "mask": MASK, "sides": sides, "hidden": hidden}
for x in [*vectors.values(), *teacher.values()]:
    x[:] = x.round(3)
golden["vectors"] = {k: x.ravel().tolist() for k, x in vectors.items()}
golden["teacher"] = {k: x.ravel().tolist() for k, x in teacher.items()}
written = {}
for name, (f, settings, meant) in cases.items():
    s = settings | meant
    own = heads(s)
    w = {k: x.copy() for k, x in (vectors | own).items() if k != "negatives" or f is muse}
    values = f(s, w)
    written[name] = {
        "settings": settings,
        "heads": flat(own),
        "values": values,
        "weights": weights(s, values),
        "total": sum(weights(s, values)[term] * value for term, value in values.items()),
        "gradients": differences(f, s, w),
    }
write(__file__, golden, written)
