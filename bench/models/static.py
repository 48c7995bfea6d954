"""Compares the default encoder with the same encoder in PyTorch: its table in an EmbeddingBag, its layers in Linear.

usage: static.py MINE FOLDER TEXT ROUNDS

FOLDER is fixtures/models/use-static, TEXT has one sentence a line. Needs python3-torch, python3-onnx and
python3-sentencepiece of Debian 12. Both programs get two threads and run by turns; what counts is the round with the
fewest CPU seconds. mine's are those of TEXT less those of its first sentence.
"""
import os
import resource
import subprocess
import sys
import tempfile

os.environ["OMP_NUM_THREADS"] = "2"
import numpy as np
import onnx
import sentencepiece
import torch
from onnx import numpy_helper

mine, folder, text, rounds = sys.argv[1:]
sentences = open(text, encoding="utf-8").read().splitlines()
weights = {w.name: w for w in onnx.load(os.path.join(folder, "model.onnx")).graph.initializer}
value = lambda name: torch.from_numpy(numpy_helper.to_array(weights[name]).astype(np.float32))
torch.set_num_threads(2)


def table():
    packed = numpy_helper.to_array(weights["student.table"]).astype(np.int32)
    numbers = np.concatenate([packed & 15, packed >> 4], axis=1) - numpy_helper.to_array(weights["student.zeros"])
    return torch.from_numpy((numbers * numpy_helper.to_array(weights["student.scales"]).astype(np.float32)).astype(np.float32))


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("d0", "p1", "d1", "d2", "p3", "d3"):
            weight = value(name + ".half").T.contiguous()
            layer = torch.nn.Linear(*weight.T.shape, bias=False)
            layer.weight.data = weight
            setattr(self, name, layer)

    def forward(self, x):
        y1 = torch.relu(self.p1(x) + self.d1(torch.relu(self.d0(x))))
        return torch.nn.functional.normalize(torch.tanh(self.p3(y1) + self.d3(torch.relu(self.d2(y1)))))


def cpu(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, "spm.model"))
power = float(value("student.power"))


def encode(bag, layers, lines, spent):
    begin = cpu()
    ids = [[1] + i[:158] + [2] for i in pieces.encode(lines, num_threads=2)]
    spent["tokenising"] += cpu() - begin
    begin, out = cpu(), []
    with torch.no_grad():
        for lo in range(0, len(ids), 256):
            part = ids[lo:lo + 256]
            sizes = torch.tensor([len(i) for i in part])
            sums = bag(torch.tensor([i for s in part for i in s]), torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)[:-1]]))
            out.append(layers(sums * (sizes.float() ** power)[:, None]))
    spent["vectors"] += cpu() - begin
    return torch.cat(out).numpy()


def ours(lines):
    with tempfile.TemporaryDirectory() as tmp:
        source, out = os.path.join(tmp, "text"), os.path.join(tmp, "vectors.npy")
        with open(source, "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in lines)
        begin = cpu(resource.RUSAGE_CHILDREN)
        subprocess.run([mine, "encode", "--threads", "2", "--encoder", folder, "--lang", "en", source, "--out", out], check=True, stdout=subprocess.DEVNULL)
        return np.load(out), cpu(resource.RUSAGE_CHILDREN) - begin


plain, layers = torch.nn.EmbeddingBag.from_pretrained(table(), mode="sum"), Layers()
eight = torch.ao.nn.quantized.EmbeddingBag(plain.num_embeddings, plain.embedding_dim, mode="sum", dtype=torch.quint8)
observer = torch.ao.quantization.PerChannelMinMaxObserver(dtype=torch.quint8, qscheme=torch.per_channel_affine_float_qparams, ch_axis=0)
observer(plain.weight)
scales, zeros = observer.calculate_qparams()
eight.set_weight(torch.quantize_per_channel(plain.weight.data, scales.float(), zeros.float(), 0, torch.quint8))
peers = {"PyTorch, float32": (plain, layers), "PyTorch, 8 bits": (eight, torch.ao.quantization.quantize_dynamic(layers, {torch.nn.Linear}))}

least, vectors, parts = {}, {}, {}
for _ in range(int(rounds)):
    for name, peer in peers.items():
        spent = {"tokenising": 0.0, "vectors": 0.0}
        vectors[name] = encode(*peer, sentences, spent)
        if sum(spent.values()) < least.get(name, 1e9):
            least[name], parts[name] = sum(spent.values()), spent
    _, start = ours(sentences[:1])
    vectors["mine"], whole = ours(sentences)
    least["mine"] = min(whole - start, least.get("mine", 1e9))
want = vectors["PyTorch, float32"]
print(f"{len(sentences)} sentences of {sum(len(s.split()) for s in sentences) / len(sentences):.1f} words; torch {torch.__version__}")
for name, used in least.items():
    cosine = (want * vectors[name]).sum(1)
    print(f"{name}: {len(sentences) / used:.0f} sentences a CPU second; cosine to float32 least {cosine.min():.4f}, mean {cosine.mean():.4f}",
          {k: round(len(sentences) / v) for k, v in parts.get(name, {}).items()})
