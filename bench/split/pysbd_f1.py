#!/usr/bin/env python3
"""F1 of pysbd's sentence ends on text whose sentences are known: FILEs named LANG.txt, one sentence a line.

The sentences are joined, 50 at a time, with a space, or with nothing in Japanese and Chinese, and divided again. An end
is right if a sentence ends there; white space does not count. pip install pysbd==0.3.4.
"""
import pathlib
import sys
import time

import pysbd


def ends(sentences):
    """Numbers of characters other than white space up to the end of each sentence."""
    out, n = set(), 0
    for sentence in sentences:
        n += sum(not c.isspace() for c in sentence)
        out.add(n)
    return out


for path in map(pathlib.Path, sys.argv[1:]):
    language = path.stem
    lines = path.read_text(encoding="utf-8").splitlines()
    space = "" if language in ("ja", "zh") else " "
    segmenter = pysbd.Segmenter(language=language, clean=False)
    right = found = 0
    begin = time.process_time()
    for at in range(0, len(lines), 50):
        gold = lines[at : at + 50]
        got = [s for s in segmenter.segment(space.join(gold)) if s.strip()]
        right += len(ends(got) & ends(gold))
        found += len(got)
    seconds = time.process_time() - begin
    precision, recall = right / found, right / len(lines)
    size = path.stat().st_size / 1e6
    print(f"{language} P {100 * precision:.2f} R {100 * recall:.2f} F1 {200 * precision * recall / (precision + recall):.2f} {size / seconds:.3f} MB/s")
