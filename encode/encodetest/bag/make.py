"""Writes the small bag that tests use, out of a bag that mine train made: its most frequent pieces, those of the German
and English sample text and all short ones, with their rows. python3 make.py BAG, with onnx and sentencepiece of PyPI,
from this folder; BAG is what scripts/bag-encoder makes."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2

bag = pathlib.Path(sys.argv[1])
text = pathlib.Path("../../../fixtures/text")
model = sentencepiece_model_pb2.ModelProto()
model.ParseFromString((bag / "spm.model").read_bytes())
pieces = SentencePieceProcessor(model_file=str(bag / "spm.model"))
kept = set(range(2500))
kept |= {i for i, p in enumerate(model.pieces) if len(p.piece.lstrip("\u2581")) <= 1 and p.piece.isascii()}
for name in ("de.txt", "en.txt", "hard.tsv"):
    for line in (text / name).read_text(encoding="utf-8").lower().split("\n"):
        kept.update(pieces.encode(line))
kept = sorted(kept)

rows = [model.pieces[i] for i in kept]
small = sentencepiece_model_pb2.ModelProto()
small.CopyFrom(model)
del small.pieces[:]
small.pieces.extend(rows)
small.trainer_spec.vocab_size = len(rows)
pathlib.Path("spm.model").write_bytes(small.SerializeToString(deterministic=True))

graph = onnx.load(bag / "model.onnx")
for tensor in graph.graph.initializer:
    if tensor.name in ("table", "scales"):
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(numpy_helper.to_array(tensor)[kept]), tensor.name))
pathlib.Path("model.onnx").write_bytes(graph.SerializeToString(deterministic=True))
print(len(kept), "pieces")
