"""Baseline for `mine run` as a whole process: the same mining with the Python libraries of a LASER user (sentencepiece,
onnxruntime, faiss-cpu). Pairs are scored and matched as in LASER's mine_bitexts (max retrieval, ratio margin, k = 4).
Prints the seconds of each stage as JSON.

    python bench/peer/mine.py MODEL_DIR SRC TGT OUT THRESHOLD        (SRC, TGT: id<TAB>sentence)
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import faiss
import numpy as np

K, TOKENS, THREADS, DIM = 4, 160, 2, 512
BEGIN, END = 1, 2  # of every sentence, as use-static's model.yaml says


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t", 1) for line in lines]


def encode(session, pieces, texts):
    """Encodes on all cores, in batches of about 4,096 tokens. The graph has no mask, so a batch has sentences of one length."""
    ids = [[BEGIN, *i[: TOKENS - 2], END] for i in pieces.encode(texts, num_threads=THREADS)]
    lengths = {}
    for i, tokens in enumerate(ids):
        lengths.setdefault(len(tokens), []).append(i)
    batches = []
    for length, rows in lengths.items():
        size = max(1, 4096 // length)
        batches += [rows[at : at + size] for at in range(0, len(rows), size)]
    out = np.empty((len(texts), DIM), np.float32)

    def run(batch):
        out[batch] = session.run(None, {"ids": np.array([ids[i] for i in batch], np.int64)})[0]

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(run, batches))
    return out


def neighbours(x, y):
    index = faiss.IndexFlatIP(y.shape[1])
    index.add(y)
    return index.search(x, K)


def mine(x, y, threshold):
    x_cos, x_ids = neighbours(x, y)
    y_cos, y_ids = neighbours(y, x)
    x_mean, y_mean = x_cos.mean(1), y_cos.mean(1)
    x_margin = x_cos / ((x_mean[:, None] + y_mean[x_ids]) / 2)
    y_margin = y_cos / ((y_mean[:, None] + x_mean[y_ids]) / 2)
    x_best = x_ids[np.arange(len(x)), x_margin.argmax(1)]
    y_best = y_ids[np.arange(len(y)), y_margin.argmax(1)]
    pairs = np.stack((np.concatenate((np.arange(len(x)), y_best)), np.concatenate((x_best, np.arange(len(y)))))).T
    scores = np.concatenate((x_margin.max(1), y_margin.max(1)))
    taken_x, taken_y, kept = set(), set(), []
    for at in np.argsort(-scores):
        i, j = pairs[at]
        if i not in taken_x and j not in taken_y:
            taken_x.add(i), taken_y.add(j)
            if scores[at] > threshold:
                kept.append((scores[at], i, j))
    return kept


def load(model):
    import onnxruntime
    import sentencepiece

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(f"{model}/model.onnx", options)
    return session, sentencepiece.SentencePieceProcessor(model_file=f"{model}/spm.model")


def main(model, source, target, out, threshold):
    began = time.time()
    faiss.omp_set_num_threads(THREADS)
    session, pieces = load(model)
    x, y = read(source), read(target)
    loaded = time.time()
    x_rows, y_rows = encode(session, pieces, [t for _, t in x]), encode(session, pieces, [t for _, t in y])
    encoded = time.time()
    kept = mine(x_rows, y_rows, float(threshold))
    mined = time.time()
    with open(out, "w", encoding="utf-8") as f:
        for score, i, j in kept:
            f.write(f"{score:.6f}\t{x[i][0]}\t{y[j][0]}\t{x[i][1]}\t{y[j][1]}\n")
    print(json.dumps({"load": loaded - began, "encode": encoded - loaded, "search and match": mined - encoded, "pairs": len(kept)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
