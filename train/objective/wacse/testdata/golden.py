"""Writes golden.json: WACSE in float64 numpy on one small batch, each term's value, and by central differences the gradients of the weighted total."""
import math
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../objectivetest"))
import differences

N, LENGTH, WIDTH, VOCABULARY = 3, 6, 4, 11
rng = np.random.default_rng(7)
erf = np.vectorize(math.erf)

# Of each side: tokens, with 1 and 2 at the ends; words as [begin, end) in them. The target's sentences are shorter.
ids = [[[1, 4, 5, 6, 7, 2], [1, 8, 9, 2], [1, 10, 2]], [[1, 9, 3, 4, 2], [1, 5, 6, 7, 2], [1, 8, 2]]]
words = [[[[1, 2], [2, 4], [4, 5]], [[1, 2], [2, 3]], [[1, 2]]], [[[1, 3], [3, 4]], [[1, 2], [2, 4]], []]]
links = [[[0, 1], [1, 0], [1, 1]], [[0, 1]], []]  # of a source word and a target word
w = {}
for name in ["vectors0", "vectors1"]:
    w[name] = rng.normal(size=(N, WIDTH))
for name in ["tokens0", "tokens1", "masked0", "masked1"]:
    w[name] = rng.normal(size=(N, LENGTH, WIDTH))
w["table"] = rng.normal(size=(VOCABULARY, WIDTH))
w["heads.word.dense.weight"], w["heads.word.dense.bias"] = rng.normal(size=(WIDTH, WIDTH)), rng.normal(size=WIDTH)
w["heads.word.norm.scale"], w["heads.word.norm.bias"] = rng.normal(size=WIDTH), rng.normal(size=WIDTH)
w["heads.word.bias"] = rng.normal(size=VOCABULARY)
for x in w.values():
    x[...] = x.round(3)


def log_softmax(x):
    return x - x.max() - np.log(np.exp(x - x.max()).sum())


def cos(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def ranking(t):
    return -np.mean([log_softmax(np.array([cos(w["vectors0"][i], w["vectors1"][n]) for n in range(N)]) / t)[i] for i in range(N)])


def turned(side):
    """The links as (row, own word, other word) seen from a side."""
    return [(i, *(l if side == 0 else l[::-1])) for i in range(N) for l in links[i]]


def prediction():
    """Every linked word is masked: its first tokens predict those of the linked word."""
    total = 0
    for side in range(2):
        for i, own, other in turned(side):
            (begin, end), (first, last) = words[side][i][own], words[1 - side][i][other]
            for place, at in zip(range(begin, end), range(first, last)):
                x = w[f"masked{side}"][i, place] @ w["heads.word.dense.weight"] + w["heads.word.dense.bias"]
                x = x * (1 + erf(x / math.sqrt(2))) / 2
                x = (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).mean() + 1e-5) * w["heads.word.norm.scale"] + w["heads.word.norm.bias"]
                total -= log_softmax(w["table"] @ x + w["heads.word.bias"])[ids[1 - side][i][at]]
    return total / (2 * N)


def similarity(side, i, own, other):
    """The mean of the cosines of all tokens of two words."""
    a, b = words[side][i][own], words[1 - side][i][other]
    return np.mean([cos(w[f"tokens{side}"][i, p], w[f"tokens{1 - side}"][i, q]) for p in range(*a) for q in range(*b)])


def word_ranking(t):
    total = 0
    for side in range(2):
        for i, own, other in turned(side):
            total -= log_softmax(np.array([similarity(side, i, own, n) for n in range(len(words[1 - side][i]))]) / t)[other]
    return total / (2 * N)


def terms(s):
    out = {"tr": (s["tr_weight"], ranking(s["temperature"])), "awp": (s["awp_weight"], prediction()), "wtr": (s["wtr_weight"], word_ranking(s["word_temperature"]))}
    return {name: term for name, term in out.items() if term[0] > 0}


BASE = {"name": "wacse", "temperature": 1, "word_temperature": 1, "tr_weight": 0.8, "awp_weight": 0.1, "wtr_weight": 0.1, "masking": 1}
cases = {
    "wacse": BASE,
    "temperatures": BASE | {"temperature": 0.3, "word_temperature": 0.2},
    "weights": BASE | {"tr_weight": 0.25, "awp_weight": 2, "wtr_weight": 3},
    "tr alone": BASE | {"awp_weight": 0, "wtr_weight": 0},
    "without tr": BASE | {"tr_weight": 0},
    "without awp": BASE | {"awp_weight": 0},
    "without wtr": BASE | {"wtr_weight": 0},
}


def tensors(s):
    """Those that a case has."""
    return {name: x for name, x in w.items()
            if not (s["awp_weight"] == 0 and name.startswith(("masked", "table", "heads")) or name.startswith("tokens") and s["awp_weight"] + s["wtr_weight"] == 0)}


golden = {"n": N, "length": LENGTH, "width": WIDTH, "vocabulary": VOCABULARY, "ids": ids, "words": words, "links": links,
          "tensors": differences.flat(w)}
differences.write(__file__, golden, {name: differences.case(s, terms, tensors(s)) for name, s in cases.items()})
