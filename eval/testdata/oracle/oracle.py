"""Independent implementations of the evaluation protocols; see README.md. Usage: oracle.py OUTPUT_DIRECTORY"""

import hashlib
import json
import math
import os
import sys

import numpy as np

K = 4
f32 = np.float32


def key(text):
    return hashlib.sha256(text.encode()).digest()[:16]


def cosine(x, y):
    """Exactly rounded, so that equal vectors give equal cosines wherever they stand."""
    return f32(math.fsum(float(a) * float(b) for a, b in zip(x, y)))


def matrix(xs, ys):
    return [[cosine(x, y) for y in ys] for x in xs]


def mean(values):
    return f32(sum(float(v) for v in values) / len(values))


class Sentence:
    """One line, or with unify one distinct text."""

    def __init__(self, id_, text, vector):
        self.id, self.text, self.vector, self.times = id_, text, vector, 1


def sentences(side, unify):
    """In key order: text key, id, line."""
    out, seen = [], {}
    for line, (id_, text, vector) in enumerate(zip(side["ids"], side["texts"], side["vectors"])):
        text = text.strip()
        if unify and text in seen:
            seen[text].times += 1
            continue
        s = Sentence(id_, text, [f32(v) for v in vector])
        s.order = (key(text), id_, line)
        s.line = line
        seen[text] = s
        out.append(s)
    return sorted(out, key=lambda s: s.order)


def nearest(row, k):
    return sorted(range(len(row)), key=lambda j: (-row[j], j))[:k]


class Margins:
    """Ratio margins between two lists of sentences."""

    def __init__(self, xs, ys):
        cos = matrix([x.vector for x in xs], [y.vector for y in ys])
        self.cos = cos
        self.forward = [nearest(row, K) for row in cos]
        columns = [[cos[i][j] for i in range(len(xs))] for j in range(len(ys))]
        self.backward = [nearest(column, K) for column in columns]
        self.ax = [mean([cos[i][j] for j in js]) for i, js in enumerate(self.forward)]
        self.ay = [mean([cos[i][j] for i in is_]) for j, is_ in enumerate(self.backward)]

    def score(self, i, j):
        b = (float(self.ax[i]) + float(self.ay[j])) / 2
        return f32(float(self.cos[i][j]) / b) if b else f32(0)

    def forward_best(self, i):
        return max(self.forward[i], key=lambda j: self.score(i, j))  # max keeps the first of equals

    def backward_best(self, j):
        return max(self.backward[j], key=lambda i: self.score(i, j))


def max_retrieval(xs, ys):
    m = Margins(xs, ys)
    candidates = {(i, m.forward_best(i)) for i in range(len(xs))} | {(m.backward_best(j), j) for j in range(len(ys))}
    ordered = sorted(candidates, key=lambda c: (-m.score(*c), c))
    out, seen_x, seen_y = [], set(), set()
    for i, j in ordered:
        if i not in seen_x and j not in seen_y:
            seen_x.add(i)
            seen_y.add(j)
            out.append((float(m.score(i, j)), i, j))
    return out


def prf(correct, extracted, gold):
    p = correct / extracted if extracted else 0.0
    r = correct / gold if gold else 0.0
    f = 2 * p * r / (p + r) if p + r else 0.0
    return p, r, f


def optimise(scored, gold, between_ties=True):
    """bucc.py's BuccOptimize over [(score, pair)], best first; the last pair's threshold is its own score."""
    best, threshold, point = 0.0, 0.0, (0, 0)
    correct = 0
    for i, (score, pair) in enumerate(scored):
        correct += pair in gold
        tied = i + 1 < len(scored) and scored[i + 1][0] == score
        if correct and (between_ties or not tied):
            f = prf(correct, i + 1, len(gold))[2]
            if f > best + 1e-12:
                best, point = f, (i + 1, correct)
                threshold = (score + scored[min(i + 1, len(scored) - 1)][0]) / 2
    return threshold, point


def report(scored, gold, threshold, counts=None):
    kept = [pair for score, pair in scored if score >= threshold]
    extracted, correct = counts or (len(kept), sum(pair in gold for pair in kept))
    p, r, f = prf(correct, extracted, len(gold))
    return {
        "threshold": threshold, "extracted": extracted, "correct": correct, "gold": len(gold),
        "precision": 100 * p, "recall": 100 * r, "f1": 100 * f,
        "pairs": [[pair[0], pair[1], score] for score, pair in scored],
    }


def bucc_laser(case):
    xs, ys = sentences(case["source"], True), sentences(case["target"], True)
    gold = {tuple(g) for g in case["gold"]}
    scored = [(s, (xs[i].id, ys[j].id)) for s, i, j in max_retrieval(xs, ys)
              if s > 0 and xs[i].times == 1 and ys[j].times == 1]
    threshold, _ = optimise(scored, gold)
    return report(scored, gold, threshold)


def bucc_st(case):
    xs, ys = sentences(case["source"], False), sentences(case["target"], False)
    gold = {tuple(g) for g in case["gold"]}
    scored = []
    for s, i, j in max_retrieval(xs, ys):
        if s < 1:
            break
        scored.append((s, (xs[i].id, ys[j].id)))
    best, threshold, counts, correct = 0.0, 0.0, (0, 0), 0
    for i, (score, pair) in enumerate(scored):
        if pair in gold:
            correct += 1
            f = prf(correct, i + 1, len(gold))[2]
            if f > best + 1e-12:
                best, counts = f, (i + 1, correct)
                threshold = (score + scored[min(i + 1, len(scored) - 1)][0]) / 2
    return report(scored, gold, threshold, counts)


def bucc_cosine(case):
    xs, ys = sentences(case["source"], True), sentences(case["target"], True)
    gold = {tuple(g) for g in case["gold"]}
    cos = matrix([x.vector for x in xs], [y.vector for y in ys])
    scored = []
    for i, x in enumerate(xs):
        j = nearest(cos[i], 1)[0]
        if x.times == 1 and ys[j].times == 1:
            scored.append((float(cos[i][j]), (x.id, ys[j].id)))
    scored.sort(key=lambda s: -s[0])  # stable: key order within equals
    threshold, _ = optimise(scored, gold, between_ties=False)
    return report(scored, gold, threshold)


def bucc_mteb(case):
    xs = {s.id: s for s in sentences(case["source"], False)}
    ys = sentences(case["target"], False)
    labels, predictions = [], []
    for source, target in case["gold"]:
        row = [cosine(xs[source].vector, y.vector) for y in ys]
        labels.append(target)
        predictions.append(ys[nearest(row, 1)[0]].id)
    n = len(labels)
    if n == 0:
        return {"precision": 0, "recall": 0, "f1": 0, "correct": 0, "queries": 0}
    p = r = f = 0.0
    for label in set(labels):
        support = labels.count(label)
        predicted = predictions.count(label)
        hit = sum(a == label and b == label for a, b in zip(labels, predictions))
        pl, rl = (hit / predicted if predicted else 0.0), hit / support
        p += support * pl
        r += support * rl
        f += support * (2 * pl * rl / (pl + rl) if pl + rl else 0.0)
    hits = sum(a == b for a, b in zip(labels, predictions))
    return {"precision": 100 * p / n, "recall": 100 * r / n, "f1": 100 * f / n, "correct": hits, "queries": n}


def unsorted_lines(side):
    return [s.strip() for s in side["texts"]]


def tatoeba(case):
    xs, ys = sentences(case["source"], False), sentences(case["target"], False)
    cos = matrix([x.vector for x in xs], [y.vector for y in ys])
    out = {}
    for by_text in (False, True):
        forward = backward = 0
        for i, x in enumerate(xs):
            y = ys[nearest(cos[i], 1)[0]]
            right = unsorted_lines(case["target"])[x.line]
            forward += y.line == x.line or (by_text and y.text == right)
        for j, y in enumerate(ys):
            x = xs[nearest([cos[i][j] for i in range(len(xs))], 1)[0]]
            right = unsorted_lines(case["source"])[y.line]
            backward += x.line == y.line or (by_text and x.text == right)
        out["by_text" if by_text else "by_line"] = [forward, backward]
    return out


def xsim(case):
    xs, ys = sentences(case["source"], False), sentences(case["target"], False)
    m = Margins(xs, ys)
    texts = unsorted_lines(case["target"])
    line = text = 0
    kinds = {}
    negatives = {(n["text"], n["of"]): n["kind"] for n in case.get("negatives", [])}
    for i, x in enumerate(xs):
        y = ys[m.forward_best(i)]
        line += y.line != x.line
        if y.text != texts[x.line]:
            text += 1
            kind = negatives.get((y.text, texts[x.line]), "Misaligned")
            kinds[kind] = kinds.get(kind, 0) + 1
    return {"errors_by_line": line, "errors_by_text": text, "kinds": kinds}


def rank(values):
    values = list(values)
    return [sum(w < v for w in values) + (sum(w == v for w in values) + 1) / 2 for v in values]


def sts(case):
    sets, pooled = [], ([], [])
    for s in case["sets"]:
        x, y = np.array(s["gold"], dtype=np.float64), np.array(s["cosine"], dtype=np.float64)
        sets.append((100 * np.corrcoef(x, y)[0, 1], 100 * np.corrcoef(rank(x), rank(y))[0, 1], len(x)))
        pooled[0].extend(x)
        pooled[1].extend(y)
    pairs = sum(n for _, _, n in sets)
    return {
        "sets": [[p, s] for p, s, _ in sets],
        "mean": [sum(p * n for p, _, n in sets) / pairs, sum(s * n for _, s, n in sets) / pairs],
        "all": [100 * np.corrcoef(*pooled)[0, 1], 100 * np.corrcoef(rank(pooled[0]), rank(pooled[1]))[0, 1]],
    }


# Cases.

def unit(v):
    v = np.asarray(v, dtype=np.float32)
    return [float(x) for x in v / np.linalg.norm(v)]


def side(prefix, texts, vectors, width=3):
    ids = [f"{prefix}-{i:0{width}d}" for i in range(len(texts))]
    return {"ids": ids, "texts": texts, "vectors": [unit(v) for v in vectors]}


def injected(seed, n, m, gold, dim=8, noise=0.35):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, dim)) + 0.4
    y = rng.normal(size=(m, dim)) + 0.4
    at_x, at_y = rng.permutation(n)[:gold], rng.permutation(m)[:gold]
    for i, j in zip(at_x, at_y):
        y[j] = x[i] + noise * rng.normal(size=dim)
    return x, y, at_x, at_y


def case_random(seed=1, n=40, m=55, gold=15):
    x, y, at_x, at_y = injected(seed, n, m, gold)
    s = side("de", [f"Satz {i}" for i in range(n)], x)
    t = side("en", [f"Sentence {j}" for j in range(m)], y)
    return {"source": s, "target": t, "gold": [[s["ids"][i], t["ids"][j]] for i, j in zip(at_x, at_y)]}


def case_ties():
    rng = np.random.default_rng(2)
    few = np.eye(4).tolist() + [[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1], [3, 1, 1, 1], [1, 3, 1, 1]]
    x = [few[i] for i in rng.integers(0, len(few), 20)]
    y = [few[i] for i in rng.integers(0, len(few), 24)]
    s, t = side("de", [f"Satz {i}" for i in range(20)], x), side("en", [f"Sentence {j}" for j in range(24)], y)
    case = {"source": s, "target": t, "gold": []}
    mined = [pair[:2] for pair in bucc_laser(case)["pairs"]]
    case["gold"] = mined[1::2] + [[s["ids"][0], t["ids"][0]], [s["ids"][1], t["ids"][1]]]
    return case


def case_duplicates():
    x, y, at_x, at_y = injected(3, 40, 40, 16)
    texts_x, texts_y = [f"Satz {i}" for i in range(40)], [f"Sentence {j}" for j in range(40)]
    for a, b in ((at_x[0], 3), (at_x[1], 7), (5, 9)):
        texts_x[b], x[b] = texts_x[a] + ("  " if b == 7 else ""), x[a]
    for a, b in ((at_y[2], 4), (at_y[3], 8)):
        texts_y[b], y[b] = texts_y[a], y[a]
    s, t = side("de", texts_x, x), side("en", texts_y, y)
    return {"source": s, "target": t, "gold": [[s["ids"][i], t["ids"][j]] for i, j in zip(at_x, at_y)]}


def case_aligned():
    rng = np.random.default_rng(5)
    n, extra = 30, 24
    x = rng.normal(size=(n, 8)) + 0.4
    x[4] = x[2] + 0.05 * rng.normal(size=8)
    y = np.concatenate([x + 0.8 * rng.normal(size=(n, 8)), np.zeros((extra, 8))])
    texts = [f"Sentence {j}" for j in range(n)]
    y[2] = x[2] + 0.1 * rng.normal(size=8)
    texts[4], y[4] = texts[2], y[2]
    negatives = []
    for e in range(extra):
        of = e % 12
        kind = ("Number", "Entity", "Causality")[e % 3]
        y[n + e] = y[of] + 0.3 * rng.normal(size=8)
        negatives.append({"text": f"{texts[of]} edited {e}", "of": texts[of], "kind": kind})
    s = side("de", [f"Satz {i}" for i in range(n)], x)
    return {
        "source": s,
        "target": side("en", texts, y[:n]),
        "negatives": negatives,
        "targets_with_negatives": side("en", texts + [n_["text"] for n_ in negatives], y),
    }


def case_sts():
    rng = np.random.default_rng(6)
    sets = []
    for name, n in (("first", 40), ("second", 25)):
        gold = np.round(rng.uniform(0, 5, n) * 2) / 2
        cos = np.clip(gold / 5 + 0.2 * rng.normal(size=n), -1, 1)
        cos[:4] = cos[0]
        sets.append({"name": name, "gold": gold.tolist(), "cosine": cos.tolist()})
    return {"sets": sets}


def main(out):
    bucc = {
        "random": case_random(),
        "ties": case_ties(),
        "duplicates": case_duplicates(),
        "unequal": case_random(seed=4, n=7, m=90, gold=5),
        "tiny": case_random(seed=7, n=3, m=2, gold=2),
        "empty-gold": dict(case_random(seed=8, n=12, m=15, gold=4), gold=[]),
    }
    for name, case in bucc.items():
        case["want"] = {
            "bucc-laser": bucc_laser(case), "bucc-st": bucc_st(case),
            "bucc-cosine": bucc_cosine(case), "bucc-mteb": bucc_mteb(case),
        }
    aligned = case_aligned()
    with_negatives = dict(aligned, target=aligned["targets_with_negatives"])
    aligned["want"] = {
        "tatoeba": tatoeba(aligned), "xsim": xsim(dict(aligned, negatives=[])),
        "xsim++": xsim(with_negatives), "retrieval": xsim(dict(with_negatives, negatives=[])),
    }
    scores = case_sts()
    scores["want"] = sts(scores)
    for name, case in {**{f"bucc-{n}": c for n, c in bucc.items()}, "aligned": aligned, "sts": scores}.items():
        with open(os.path.join(out, name + ".json"), "w") as f:
            json.dump(case, f, separators=(",", ":"))
            f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
