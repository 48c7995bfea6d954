# Writes the golden values of the protocols pairs and probe, by scikit-learn on vectors drawn here:
#     python3 eval/testdata/oracle/labelled.py eval/testdata/golden/labelled.json
import json
import sys

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

rng = np.random.default_rng(7)


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def pairs(n, levels):
    """Cosines with ties, and labels that follow them a little."""
    cosines = np.round(rng.uniform(-1, 1, n) * levels) / levels
    labels = (cosines + rng.normal(0, 0.7, n) > 0.3).astype(int)
    thresholds = list(np.unique(cosines)) + [2.0]
    f1 = accuracy = 0.0
    for t in thresholds:
        found = cosines >= t
        accuracy = max(accuracy, (found == (labels == 1)).mean())
        hits = (found & (labels == 1)).sum()
        f1 = max(f1, 2 * hits / max(1, found.sum() + labels.sum()))
    return {"cosines": cosines.tolist(), "labels": labels.tolist(), "ap": 100 * average_precision_score(labels, cosines),
            "accuracy": 100 * accuracy, "f1": 100 * f1}


def probe(train, test, dim, labels):
    centres = rng.normal(size=(labels, dim))
    y, z = rng.integers(0, labels, train), rng.integers(0, labels, test)
    x = unit(centres[y] + 1.5 * rng.normal(size=(train, dim)))
    u = unit(centres[z] + 1.5 * rng.normal(size=(test, dim)))
    fitted = LogisticRegression(C=1.0, tol=1e-10, max_iter=10000).fit(x.astype(np.float64), y)
    chances = fitted.predict_proba(u.astype(np.float64))
    return {"train": x.tolist(), "train_labels": y.tolist(), "test": u.tolist(), "test_labels": z.tolist(),
            "probabilities": chances.tolist(), "accuracy": 100 * (fitted.predict(u) == z).mean()}


json.dump({"scikit-learn": sklearn.__version__, "pairs": [pairs(60, 5), pairs(200, 1000), pairs(12, 2)],
           "probes": [probe(60, 40, 6, 3), probe(80, 50, 8, 4), probe(50, 30, 5, 2)]}, open(sys.argv[1], "w"))
