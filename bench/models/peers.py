"""Encoders of this program in PyTorch: a function for each precision, from lists of token ids to vectors."""
import os

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from graph import Graph


class Layers(torch.nn.Module):
    """What follows the sum of a static encoder's table."""

    def __init__(self, value):
        super().__init__()
        for name in ("d0", "p1", "d1", "d2", "p3", "d3"):
            weight = value(name + ".half").T.contiguous()
            layer = torch.nn.Linear(*weight.T.shape, bias=False)
            layer.weight.data = weight
            setattr(self, name, layer)

    def forward(self, x):
        y1 = torch.relu(self.p1(x) + self.d1(torch.relu(self.d0(x))))
        return torch.nn.functional.normalize(torch.tanh(self.p3(y1) + self.d3(torch.relu(self.d2(y1)))))


def eight_bits(model):
    return torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear})


def static(weights):
    """A static encoder of mine distill: its table in an EmbeddingBag, its layers in Linear."""
    value = lambda name: torch.from_numpy(numpy_helper.to_array(weights[name]).astype(np.float32))
    packed = numpy_helper.to_array(weights["student.table"]).astype(np.int32)
    numbers = np.concatenate([packed & 15, packed >> 4], axis=1) - numpy_helper.to_array(weights["student.zeros"])
    table = torch.from_numpy((numbers * numpy_helper.to_array(weights["student.scales"]).astype(np.float32)).astype(np.float32))
    plain, layers, power = torch.nn.EmbeddingBag.from_pretrained(table, mode="sum"), Layers(value), float(value("student.power"))
    eight = torch.ao.nn.quantized.EmbeddingBag(plain.num_embeddings, plain.embedding_dim, mode="sum", dtype=torch.quint8)
    observer = torch.ao.quantization.PerChannelMinMaxObserver(dtype=torch.quint8, qscheme=torch.per_channel_affine_float_qparams, ch_axis=0)
    observer(plain.weight)
    scales, zeros = observer.calculate_qparams()
    eight.set_weight(torch.quantize_per_channel(plain.weight.data, scales.float(), zeros.float(), 0, torch.quint8))

    def encoder(bag, layers):
        def encode(ids):
            out = []
            for lo in range(0, len(ids), 256):
                part = ids[lo:lo + 256]
                sizes = torch.tensor([len(i) for i in part])
                sums = bag(torch.tensor([i for s in part for i in s]), torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)[:-1]]))
                out.append(layers(sums * (sizes.float() ** power)[:, None]))
            return torch.cat(out)
        return encode

    return {"float32": encoder(plain, layers), "8 bits": encoder(eight, eight_bits(layers))}


def batches(ids, padded, size=32):
    """Positions in batches of similar length, or, where nothing tells padding from tokens, of equal length."""
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    batch = []
    for i in order:
        if batch and (len(batch) == size or not padded and len(ids[i]) != len(ids[batch[0]])):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def transformer(graph, manifest):
    """Any other encoder: its graph, which computes the vectors from ids and, if it takes one, a mask."""
    inputs, pad = manifest["inputs"], manifest["tokenizer"].get("pad", 0)
    model = Graph(graph, manifest["output"])

    def encoder(model, narrow=False):
        def encode(ids):
            out = torch.zeros(len(ids), manifest["dim"])
            for batch in batches(ids, "mask" in inputs):
                length = max(len(ids[i]) for i in batch)
                values = {inputs["ids"]: torch.tensor([ids[i] + [pad] * (length - len(ids[i])) for i in batch])}
                if "mask" in inputs:
                    values[inputs["mask"]] = torch.tensor([[1] * len(ids[i]) + [0] * (length - len(ids[i])) for i in batch])
                with torch.autocast("cpu", dtype=torch.bfloat16, enabled=narrow):
                    out[batch] = model(**values).float()
            return out
        return encode

    return {"float32": encoder(model), "bfloat16": encoder(model, True), "8 bits": encoder(eight_bits(model))}


def peers(folder, manifest):
    graph = onnx.load(os.path.join(folder, manifest["onnx"])).graph
    weights = {w.name: w for w in graph.initializer}
    return static(weights) if "student.table" in weights else transformer(graph, manifest)
