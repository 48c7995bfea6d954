"""Find translations in monolingual text: the program mine, called from Python.

Each function runs the program, which is inside this package, and returns what it wrote. Settings are the program's
flags with underscores: threshold=0.6 is --threshold 0.6, features=True is --features, a list repeats its flag.
`mine run --help` lists them. A call that the program refuses raises Error with its message.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import pyarrow.parquet

__all__ = ["Error", "Neighbours", "encode", "main", "mine", "neighbours", "run"]

PROGRAM = str(pathlib.Path(__file__).parent / "program" / "mine")

# Rows and cosines are arrays [n, k], the nearest first; -1 stands where there is no neighbour.
Neighbours = collections.namedtuple("Neighbours", "src_rows src_cosines tgt_rows tgt_cosines")


class Error(RuntimeError):
    """The program failed. code is its exit code: 1 is worth a retry, 2 is for good, 3 means another run is under way."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


def run(*arguments, **settings):
    """Runs the program and returns what it printed."""
    done = subprocess.run(
        [PROGRAM, *map(os.fspath, arguments), *_flags(settings)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
    )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("mine: ")]
        raise Error(lines[-1][6:] if lines else done.stderr.strip(), done.returncode)
    return done.stdout


def mine(source, target, *, src, tgt, out=None, **settings):
    """Mines two texts and returns the bitext as a pyarrow.Table.

    source and target are sentences, or a path or glob as a str or pathlib.Path. src and tgt are language codes. out is
    a directory that keeps the run, so that a later call computes only what is new; without it nothing is kept.
    """
    with tempfile.TemporaryDirectory() as scratch:
        texts = [_text(side, os.path.join(scratch, name)) for side, name in ((source, "src.jsonl"), (target, "tgt.jsonl"))]
        folder = os.path.join(scratch, "mined") if out is None else os.fspath(out)
        run("run", src=src, tgt=tgt, src_text=texts[0], tgt_text=texts[1], out=folder, **settings)
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as report:
            path = json.load(report)["bitext"]["path"]
        return pyarrow.parquet.ParquetFile(path, memory_map=False).read()


def encode(sentences, lang, **settings):
    """Returns the vectors of sentences [n, dim], float32 and of length 1."""
    with tempfile.TemporaryDirectory() as scratch:
        text, out = os.path.join(scratch, "text"), os.path.join(scratch, "vectors.npy")
        with open(text, "w", encoding="utf-8", newline="") as file:
            for row, sentence in enumerate(sentences):
                if "\n" in sentence or "\r" in sentence:
                    raise ValueError(f"sentence {row} has a line break: replace it by a space")
                file.write(sentence + "\n")
        run("encode", text, lang=lang, out=out, **settings)
        return numpy.load(out)


def neighbours(source, target, k=4, **settings):
    """Returns the k nearest rows of two arrays of vectors [n, dim], in both directions, as Neighbours."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = [os.path.join(scratch, name) for name in ("src.npy", "tgt.npy")]
        for path, vectors in zip(paths, (source, target)):
            numpy.save(path, numpy.ascontiguousarray(vectors, dtype=numpy.float32))
        run("neighbours", *paths, k=k, out=scratch, **settings)
        return Neighbours(*(numpy.load(os.path.join(scratch, name + ".npy")) for name in Neighbours._fields))


def main():
    """The command mine: this process becomes the program."""
    os.execv(PROGRAM, ["mine", *sys.argv[1:]])


def _text(side, path):
    """Is the path or glob of a text; sentences are written to path first."""
    if isinstance(side, (str, os.PathLike)):
        return os.fspath(side)
    with open(path, "w", encoding="utf-8") as file:
        for sentence in side:
            file.write(json.dumps({"text": sentence}, ensure_ascii=False) + "\n")
    return path


def _flags(settings):
    flags = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            flags.append(f"{flag}={str(value).lower()}")
        else:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                flags += [flag, str(one)]
    return flags
