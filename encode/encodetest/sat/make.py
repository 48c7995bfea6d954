"""Writes model_optimized.onnx, a graph of SaT's interface, and golden.json: where wtpsplit's way of reading such a graph
ends sentences. It follows wtpsplit/extract.py and wtpsplit/__init__.py (version 2.2.1) with numpy, onnxruntime, onnx
and sentencepiece alone: python3 make.py SPM_MODEL, with encode/encodetest/pieces/spm.model."""

import json
import math
import sys

import numpy as np
import onnx
import onnxruntime
import sentencepiece
from onnx import TensorProto, helper, numpy_helper

spm = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])
size = spm.get_piece_size() + 1
random = np.random.default_rng(1)


def make():
    """A token's logit is a number of its own, less or more by the window's mean of another number, and by the mask."""
    table = np.zeros((size, 2), np.float32)
    table[:, 0] = random.normal(-3, 1, size)
    table[:, 1] = random.normal(0, 3, size)
    for piece in ".!?":
        for form in (piece, "\u2581" + piece):
            if spm.piece_to_id(form) != spm.unk_id():
                table[spm.piece_to_id(form) + 1, 0] = 1.0
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["halves"]),
        helper.make_node("Cast", ["halves"], ["rows"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
        helper.make_node("Mul", ["rows", "wide"], ["kept"]),
        helper.make_node("Split", ["kept"], ["own", "other"], axis=2, num_outputs=2),
        helper.make_node("ReduceMean", ["other", "tokens"], ["mean"]),
        helper.make_node("Add", ["own", "mean"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["logits"], to=TensorProto.FLOAT16),
    ]
    graph = helper.make_graph(
        nodes,
        "sat",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"]),
            helper.make_tensor_value_info("attention_mask", TensorProto.FLOAT16, ["batch", "sequence"]),
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT16, ["batch", "sequence", 1])],
        [
            numpy_helper.from_array(table.astype(np.float16), "table"),
            numpy_helper.from_array(np.array([2], np.int64), "last"),
            numpy_helper.from_array(np.array([1], np.int64), "tokens"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    onnx.save(model, "model_optimized.onnx")
    return onnxruntime.InferenceSession("model_optimized.onnx")


def ends(session, text, threshold, block=512, stride=64):
    tokens = []
    at = 0
    for line in text.splitlines(keepends=True):
        for piece in spm.encode(line, return_type="proto").pieces:
            tokens.append((3 if piece.id < 3 else piece.id + 1, at + piece.end))
        at += len(line.encode())
    ids = [token[0] for token in tokens]
    n = len(ids)
    block = min(block, n)
    if block > 510:
        block = 510
    total, counts = np.zeros(n, np.float32), np.zeros(n, np.float32)
    for j in range(0, n, stride):
        start, end, done = j, j + block, False
        if end >= n:
            end, start, done = n, max(n - block, 0), True
        chunk = np.array([[0] + ids[start:end] + [2]], np.int64)
        logits = session.run(["logits"], {"input_ids": chunk, "attention_mask": np.ones_like(chunk, np.float16)})[0]
        total[start:end] += logits[0, 1:-1, 0]
        counts[start:end] += 1
        if done:
            break
    probability = 1 / (1 + np.exp(-(total / counts)))
    by_byte = np.full(at, -math.inf)
    for (_, end), p in zip(tokens, probability):
        if end > 0:
            by_byte[end - 1] = p
    return [int(k) + 1 for k in np.where(by_byte > threshold)[0]], n


words = "Das Haus am See war alt und leer Niemand wusste warum der Wind so kalt blies Then the snow came over the hills".split()


def sentence():
    return " ".join(random.choice(words, random.integers(3, 12))) + random.choice([".", "!", "?", " ."])


session = make()
texts = [
    "",
    "Das Haus.",
    "Das Haus war alt. Niemand wusste warum!  Größe – „Äpfel“?\nThen the snow came\n\nover the hills. ",
    " ".join(sentence() for _ in range(12)),
    "\n".join(" ".join(sentence() for _ in range(5)) for _ in range(30)),
    "日本語の文。そして次の文。" * 20,
]
golden = []
for text in texts:
    for threshold in (0.25, 0.6):
        found, n = ends(session, text, threshold) if text else ([], 0)
        golden.append({"text": text, "threshold": threshold, "tokens": n, "ends": found})
        print(n, len(found))
with open("golden.json", "w") as out:
    json.dump(golden, out, ensure_ascii=False, indent=0)
    out.write("\n")
