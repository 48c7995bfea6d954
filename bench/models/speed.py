"""Encoders of this program and the same encoders in PyTorch, by turns: speed, cosines and F1 (docs/benchmarks.md).

usage: speed.py [--threads N] [--rounds N] [--bucc FOLDER --pair zh-en --rows N] MINE TEXT ENCODER...   (make bench-models)

ENCODER is FOLDER:SENTENCES or FOLDER,EIGHT:SENTENCES: the folder of an encoder, that of its form in 8 bits (mine model
quantise), and how many lines of TEXT are encoded, the first ones. Every program gets two threads, and those of PyTorch
sleep while they wait. What counts is the round with the least time; mine's is that of the sentences less that of the
first alone. Cosines are to PyTorch's vectors in float32. F1 is that of bucc-laser on a sample of a set: a tenth of its
rows have a translation.

Needs Debian's python3-torch, python3-onnx, python3-sentencepiece and python3-yaml.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
import time

os.environ["OMP_WAIT_POLICY"] = "passive"  # waiting is no work, which CPU seconds would not tell
import numpy as np
import sentencepiece
import torch
import yaml

from peers import peers

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=2)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--bucc")
parser.add_argument("--pair", default="zh-en")
parser.add_argument("--rows", type=int, default=3000, help="rows of each side of the sample")
parser.add_argument("mine")
parser.add_argument("text")
parser.add_argument("encoders", nargs="+")
args = parser.parse_args()
torch.set_num_threads(args.threads)
torch.set_grad_enabled(False)


def now(who=resource.RUSAGE_SELF):
    """CPU seconds and seconds."""
    used = resource.getrusage(who)
    return np.array([used.ru_utime + used.ru_stime, time.perf_counter()])


def tokens(folder, manifest, lines):
    tokenizer = manifest["tokenizer"]
    pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, tokenizer["file"]))
    prefix = manifest.get("prefixes", {}).get("*", {}).get("text", "")
    most = manifest["max_tokens"] - 2
    return [[tokenizer["bos"]] + i[:most] + [tokenizer["eos"]] for i in pieces.encode([prefix + line for line in lines], num_threads=args.threads)]


def theirs(folder, manifest, encode, lines):
    begin = now()
    vectors = encode(tokens(folder, manifest, lines)).numpy()
    return vectors, now() - begin


def ours(folder, lines):
    with tempfile.TemporaryDirectory() as tmp:
        source, out = os.path.join(tmp, "text"), os.path.join(tmp, "vectors.npy")
        with open(source, "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in lines)
        begin = now(resource.RUSAGE_CHILDREN)
        subprocess.run([args.mine, "encode", "--threads", str(args.threads), "--encoder", manifest_path(folder), "--lang", "en", source, "--out", out],
                       check=True, stdout=subprocess.DEVNULL)
        return np.load(out).astype(np.float32), now(resource.RUSAGE_CHILDREN) - begin


def manifest_path(folder):
    return os.path.abspath(os.path.join(folder, "model.yaml"))


def sample(tmp):
    """The first rows of a BUCC set whose gold pairs are both among them, and the pairs."""
    src, tgt = args.pair.split("-")
    stem = os.path.join(args.bucc, args.pair, args.pair + ".train.")
    gold = [line.split() for line in open(stem + "gold", encoding="utf-8")]
    kept = [set(), set()]
    for pair in gold[:args.rows // 10]:
        for ids, one in zip(kept, pair):
            ids.add(one)
    os.makedirs(os.path.join(tmp, args.pair))
    for ids, side in zip(kept, (src, tgt)):
        lines = open(stem + side, encoding="utf-8").read().splitlines()
        for line in lines:
            if len(ids) >= args.rows:
                break
            ids.add(line.split("\t")[0])
        with open(os.path.join(tmp, args.pair, f"{args.pair}.train.{side}"), "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in lines if line.split("\t")[0] in ids)
    with open(os.path.join(tmp, args.pair, args.pair + ".train.gold"), "w", encoding="utf-8") as f:
        f.writelines("\t".join(pair) + "\n" for pair in gold if pair[0] in kept[0] and pair[1] in kept[1])


def f1(tmp, folder):
    done = subprocess.run([args.mine, "eval", "bucc-laser", "--dir", tmp, "--src", args.pair.split("-")[0], "--encoder", manifest_path(folder), "--format", "json"],
                          check=True, capture_output=True)
    row = json.loads(done.stdout)["rows"][0]
    return f"F1 {row['f1']:.1f} on {row['counts']['source']} x {row['counts']['target']} rows of {args.pair} with {row['counts']['gold']} gold pairs"


def measure(spec):
    folders, count = spec.rsplit(":", 1)
    forms = dict(zip(("mine", "mine, 8 bits"), folders.split(",")))
    folder = forms["mine"]
    manifest = yaml.safe_load(open(manifest_path(folder), encoding="utf-8"))
    lines = open(args.text, encoding="utf-8").read().splitlines()[:int(count)]
    least, vectors = {}, {}
    others = {"PyTorch, " + precision: encode for precision, encode in peers(folder, manifest).items()}
    for encode in others.values():
        theirs(folder, manifest, encode, lines[:64])  # what is made at the first call
    for _ in range(args.rounds):
        for name, encode in others.items():
            vectors[name], used = theirs(folder, manifest, encode, lines)
            least[name] = np.minimum(used, least.get(name, used))
        for name, form in forms.items():
            _, start = ours(form, lines[:1])
            vectors[name], whole = ours(form, lines)
            least[name] = np.minimum(whole - start, least.get(name, whole))
    words = sum(len(line.split()) for line in lines) / len(lines)
    print(f"{manifest['name']}: {len(lines)} sentences of {words:.1f} words; torch {torch.__version__}; load {os.getloadavg()[0]:.0f}")
    want = vectors["PyTorch, float32"]
    for name, used in least.items():
        times = least["PyTorch, float32"] / used
        cosine = (want * vectors[name]).sum(1) / np.linalg.norm(want, axis=1) / np.linalg.norm(vectors[name], axis=1)
        print(f"  {name}: {len(lines) / used[0]:.0f} sentences a CPU second, {times[0]:.2f} times PyTorch's float32; "
              f"{len(lines) / used[1]:.0f} a second, {times[1]:.2f} times (of use on an idle machine only); "
              f"cosine least {cosine.min():.4f}, mean {cosine.mean():.4f}", flush=True)
    if args.bucc:
        with tempfile.TemporaryDirectory() as tmp:
            sample(tmp)
            for name, form in forms.items():
                print(f"  {name}: bucc-laser {f1(tmp, form)}", flush=True)


for encoder in args.encoders:
    measure(encoder)
