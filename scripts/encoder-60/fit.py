#!/usr/bin/env python3
"""Fits the encoder for sixty languages: scripts/encoder-60/fit.py pieces|fit OUT (make calls it).

pieces writes the text that use-static encodes: every piece of e5's vocabulary, and each English sentence once. fit makes
OUT/model: rows of pieces whose sum, divided by the root of their number, is near use-static's vector of the sentence's
English translation, by least squares. Where the text says little of a piece its row is a linear map of its row in
multilingual-e5-small, which brings languages together, and of use-static's vector of it.
"""

import pathlib
import shutil
import sys

import numpy as np
import onnx
import scipy.sparse
import sentencepiece
from onnx import TensorProto, helper, numpy_helper

COLUMNS = 256  # principal columns of use-static's 512
PAIRS = 16000  # of a language
RARE = 1e-3  # a piece's row in the prior is multiplied by RARE / (RARE + its frequency)
RIDGE, PRIOR_RIDGE, PRIOR_ROWS = 1, 30, 100000
STEPS = 6  # of conjugate gradients
EVEN = 0.25  # columns are divided by their variance to this power
LONGEST = 100  # pieces of a sentence


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def pieces(out, processor):
    names = (processor.id_to_piece(i).replace("▁", " ").strip() or "." for i in range(processor.get_piece_size()))
    (out / "pieces.txt").write_text("".join(n + "\n" for n in names), encoding="utf-8")
    english = dict.fromkeys(row.split("\t")[0] for row in lines(out / "pairs.tsv"))
    (out / "english.txt").write_text("".join(e + "\n" for e in english), encoding="utf-8")
    (out / "mono.txt").write_text("".join(r.split("\t")[1] + "\n" for r in lines(out / "mono.tsv")), encoding="utf-8")


def unit(x):
    return x / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-9)


def targets(out):
    """use-static's vectors of pieces, English and other sentences: principal columns, centred."""
    vectors = {name: unit(np.load(out / f"{name}.npy").astype(np.float32)) for name in ("pieces", "english", "mono")}
    some = np.concatenate([vectors["english"][::4], vectors["mono"][::2]])
    mean = some.mean(0)
    _, turn = np.linalg.eigh(np.cov(unit(some - mean).T))
    turn = turn[:, ::-1][:, :COLUMNS].astype(np.float32)
    return {name: unit((v - mean) @ turn) for name, v in vectors.items()}


def read(out, processor, vectors):
    """Sentences as pieces, the target of each, and its weight: less in a language with more text."""
    rows = [row.split("\t") for row in lines(out / "pairs.tsv")]
    place = {e: i for i, e in enumerate(dict.fromkeys(row[0] for row in rows))}
    counts, texts, aims, languages = {}, [], [], []
    for english, language, text, _ in rows:
        counts[language] = counts.get(language, 0) + 1
        if counts[language] <= PAIRS:
            texts.append(text)
            aims.append(place[english])
            languages.append(language)
    kept = {language: min(n, PAIRS) for language, n in counts.items()}
    mean = np.mean(list(kept.values()))
    weights = [(kept[language] / mean) ** -0.15 for language in languages]
    used = sorted(set(aims))
    english, mono = lines(out / "english.txt"), lines(out / "mono.txt")
    texts += [english[i] for i in used] + mono
    goal = np.concatenate([vectors["english"][aims], vectors["english"][used], vectors["mono"]])
    ids = [i[:LONGEST] or [3] for i in processor.encode(texts)]
    return ids, goal, np.array(weights + [1.0] * (len(ids) - len(weights)), np.float32)


def e5_rows(out, size):
    """The rows of pieces in multilingual-e5-small."""
    weights = onnx.load(out / "e5/mine.onnx").graph.initializer
    return next(numpy_helper.to_array(w) for w in weights if w.name == "embeddings.words")[:size]


def prior(a, goal, frequency, teacher, vectors):
    """The linear map's rows: of e5's rows and use-static's vectors of the pieces."""
    factor = (RARE / (RARE + frequency))[:, None].astype(np.float32)
    teacher = (teacher - teacher.mean(0)) / teacher.std()
    known = np.concatenate([teacher * factor, vectors * factor * 3], 1)
    some = np.sort(np.random.default_rng(0).choice(a.shape[0], PRIOR_ROWS, replace=False))
    x = a[some] @ known
    square = x.T @ x + PRIOR_RIDGE * np.eye(x.shape[1], dtype=np.float32)
    return known @ np.linalg.solve(square, x.T @ goal[some]).astype(np.float32)


def solve(a, rest, table):
    """Adds to the table what conjugate gradients find for the rest, with a ridge on what is added."""
    over = np.asarray(a.multiply(a).sum(0)).ravel().astype(np.float32)[:, None] + RIDGE
    back, size = a.T.tocsr(), float(np.einsum("ij,ij->", rest, rest))
    r, added = back @ rest, np.zeros_like(table)
    z = r / over
    step, product = z.copy(), np.einsum("ij,ij->j", r, z)
    for i in range(STEPS):
        image = a @ step
        share = product / (np.einsum("ij,ij->j", image, image) + RIDGE * np.einsum("ij,ij->j", step, step) + 1e-12)
        added += share * step
        image *= share
        rest -= image
        del image
        r = back @ rest - RIDGE * added
        z = r / over
        before, product = product, np.einsum("ij,ij->j", r, z)
        step *= product / (before + 1e-12)
        step += z
        print(f"step {i + 1}: {np.einsum('ij,ij->', rest, rest) / size:.4f} of the squares are left", flush=True)
    table += added


def fit(out, processor):
    vectors = targets(out)
    size = processor.get_piece_size()
    ids, goal, weights = read(out, processor, vectors)
    lengths = np.array([len(i) for i in ids])
    flat = np.concatenate([np.array(i, np.int32) for i in ids])
    values = np.repeat(weights / lengths**0.5, lengths).astype(np.float32)
    a = scipy.sparse.csr_matrix((values, flat, np.concatenate([[0], np.cumsum(lengths)])), shape=(len(ids), size))
    del ids, values
    goal *= weights[:, None]
    frequency = np.bincount(flat, minlength=size) / len(flat)
    table = prior(a, goal, frequency, e5_rows(out, size), vectors["pieces"])
    goal -= a @ table
    solve(a, goal, table)
    english = a[-len(vectors["mono"]) - 20000:-len(vectors["mono"])]
    write(table * unit(english @ table).var(0) ** -EVEN, out, processor)


def write(table, out, processor):
    """The graph of a student of mine distill in 8 bits."""
    scales = np.maximum(np.abs(table).max(1) / 127.5, 1e-6).astype(np.float16)
    numbers = np.rint(table / scales[:, None].astype(np.float32) + 127.5).clip(0, 255) - 128
    weights = dict(table=numbers.astype(np.int8), scales=scales[:, None], zeros=np.full(COLUMNS, -0.5, np.float32),
                   axis_1=np.array([1]), one=np.array(1), power=np.array(-0.5, np.float32))
    nodes = []

    def node(op, output, *inputs, **attributes):
        names = [i if i == "ids" else "student." + i for i in inputs]
        nodes.append(helper.make_node(op, names, ["student." + output], **attributes))

    node("Gather", "bytes", "table", "ids")
    node("Gather", "half_scales", "scales", "ids")
    node("Cast", "row_scales", "half_scales", to=TensorProto.FLOAT)
    node("Transpose", "factors", "row_scales", perm=[0, 2, 1])
    node("Cast", "numbers", "bytes", to=TensorProto.FLOAT)
    node("MatMul", "numbers_sum_3", "factors", "numbers")
    node("Squeeze", "numbers_sum", "numbers_sum_3", "axis_1")
    node("ReduceSum", "scale_sum", "row_scales", "axis_1", keepdims=0)
    node("Mul", "shift", "scale_sum", "zeros")
    node("Sub", "sum", "numbers_sum", "shift")
    node("Sub", "centred", "numbers", "zeros")
    node("Mul", "tokens", "centred", "row_scales")
    node("Shape", "shape", "ids")
    node("Gather", "count", "shape", "one")
    node("Cast", "count_f", "count", to=TensorProto.FLOAT)
    node("Pow", "scale", "count_f", "power")
    node("Mul", "scaled", "sum", "scale")
    nodes.append(helper.make_node("Identity", ["student.scaled"], ["vectors"]))
    graph = helper.make_graph(
        nodes, "static-60", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", COLUMNS])],
        [numpy_helper.from_array(np.ascontiguousarray(w), "student." + name) for name, w in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    (out / "model").mkdir(exist_ok=True)
    onnx.save(model, out / "model/model.onnx")
    shutil.copy(out / "e5/sp.model", out / "model/sp.model")
    languages = sorted(p.stem for p in (out / "centre").glob("*.txt"))
    (out / "model/model.yaml").write_text(f"""name: static-60
onnx: model.onnx
tokenizer: {{kind: sentencepiece, file: sp.model}}
max_tokens: 512
inputs: {{ids: ids}}
output: vectors
pooling: none
normalise: true
dim: {COLUMNS}
tokens: {{output: student.tokens, dim: {COLUMNS}, static: true}}
licence: "MIT, Apache-2.0; the text's: sources.tsv"
languages: [{', '.join(languages)}]
""")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[2])
    {"pieces": pieces, "fit": fit}[sys.argv[1]](
        folder, sentencepiece.SentencePieceProcessor(model_file=str(folder / "e5/sp.model")))
