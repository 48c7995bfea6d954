# Writes what MTEB's own tasks make of vectors drawn here, for the protocols bitext-mteb, pairs and sts:
#     python3 -m venv venv && venv/bin/pip install mteb==2.26.24 && venv/bin/python eval/testdata/oracle/mteb_tasks.py eval/testdata/golden/mteb.json
import json
import sys

import mteb
import numpy as np
import torch
from mteb._evaluators.text.bitext_mining_evaluator import BitextMiningEvaluator
from sklearn.metrics.pairwise import paired_cosine_distances

rng = np.random.default_rng(11)


class Cosine:
    """All that MTEB asks of a model whose vectors are there."""

    @staticmethod
    def similarity(a, b):
        return torch.tensor(a) @ torch.tensor(b).T


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def listed(rows):
    return [[float("%.9g" % x) for x in row] for row in rows]  # which tells float32 apart


def sides(n, dim, noise):
    """Vectors [n, dim] of n texts, and those of their partners, so noisy that some are nearest to another text."""
    a = rng.normal(size=(n, dim))
    return unit(a), unit(a + noise * rng.normal(size=(n, dim)))


def bitext(n, dim, noise):
    a, b = sides(n, dim, noise)
    nearest = BitextMiningEvaluator._similarity_search(None, a, b, Cosine)
    return {"a": listed(a), "b": listed(b),
            "want": dict(mteb.get_task("Tatoeba")._compute_metrics(nearest, [(i, i) for i in range(n)]))}


def pairs(n, dim):
    a, b = sides(n, dim, 1.5)
    cosines = 1 - paired_cosine_distances(a, b)
    labels = (cosines + rng.normal(0, 0.3, n) > 0.5).astype(int)
    found = mteb.get_task("XNLI")._compute_metrics_values(cosines.tolist(), labels, True)
    return {"a": listed(a), "b": listed(b), "labels": labels.tolist(), "want": found}


def sts(n, dim):
    a, b = sides(n, dim, 1)
    cosines = (1 - paired_cosine_distances(a, b)).tolist()
    gold = np.round(np.clip(4 * np.array(cosines) + rng.normal(0, 1, n), 1, 4) * 3) / 3  # with ties, as STS22 has them
    task = mteb.get_task("STS22.v2")
    scores = {"cosine_scores": cosines, "manhattan_distances": cosines, "euclidean_distances": cosines,
              "similarity_scores": None}
    found = task._calculate_scores(scores, [task._normalize(x) for x in gold])
    return {"a": listed(a), "b": listed(b), "gold": gold.tolist(),
            "want": {"pearson": found["cosine_pearson"], "spearman": found["cosine_spearman"]}}


json.dump({"mteb": mteb.__version__, "bitext": [bitext(60, 8, 0.9), bitext(25, 4, 2), bitext(7, 3, 0.1)],
           "pairs": [pairs(80, 6), pairs(30, 12)], "sts": [sts(90, 6), sts(40, 9)]}, open(sys.argv[1], "w"))
