"""Find translations in monolingual text: the program mine, called from Python.

Each function runs the program, which is inside this package, and returns what it wrote. A setting without a parameter
of its own is the program's flag with underscores: features=True is --features, a list repeats its flag;
`mine run --help` lists them. A call that the program refuses raises Error with its sentence, and what it warns of is a
MineWarning. In a notebook with tqdm its progress is a bar there, on a terminal it is the program's own.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import warnings
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Sequence, Union

import numpy
import pyarrow
import pyarrow.parquet

from ._program import PROGRAM, Error, MineWarning, call

__all__ = [
    "Error", "MineWarning", "Neighbours", "__version__", "encode", "explain", "export", "filter", "langs", "main", "mine",
    "model_get", "neighbours", "run",
]

try:
    __version__ = importlib.metadata.version("bitextmine")
except importlib.metadata.PackageNotFoundError:  # the folder was copied, not installed
    __version__ = "0"

PathLike = Union[str, "os.PathLike[str]"]
# A list, a tuple, a NumPy array, a pyarrow, pandas or Polars column, a generator of str.
Sentences = Iterable[str]


class Neighbours(NamedTuple):
    """Rows and cosines, arrays [n, k], the nearest first; -1 stands where there is no neighbour."""

    src_rows: numpy.ndarray
    src_cosines: numpy.ndarray
    tgt_rows: numpy.ndarray
    tgt_cosines: numpy.ndarray


def run(*arguments: PathLike, **settings: Any) -> str:
    """Runs any command of the program and returns what it printed: run("diff", "monday", "tuesday")."""
    return call([*map(os.fspath, arguments), *_flags(settings)])


def mine(
    source: Union[PathLike, Sentences], target: Union[PathLike, Sentences], *, src: str, tgt: str,
    out: Optional[PathLike] = None, encoder: Optional[PathLike] = None, scorer: Optional[PathLike] = None,
    threshold: Union[float, str, None] = None, k: Optional[int] = None, search: Optional[str] = None,
    split: Optional[str] = None, documents: Optional[str] = None, text_column: Optional[str] = None,
    doc_column: Optional[str] = None, url_column: Optional[str] = None, on_bad_file: Optional[str] = None,
    src_emb: Any = None, tgt_emb: Any = None, keep_below: Optional[bool] = None, features: Optional[bool] = None,
    threads: Optional[int] = None, max_memory: Optional[str] = None, overwrite: Optional[bool] = None, **settings: Any,
) -> pyarrow.Table:
    """Mines two texts and returns the bitext.

    source and target are sentences, or a path or glob as a str or pathlib.Path. src and tgt are language codes. out is
    a directory that keeps the run, so that a later call computes only what is new; without it nothing is kept. src_emb
    and tgt_emb are vectors of the sentences [n, dim], or paths of files of them. Text with fewer sentences than k
    lowers k, unless you gave it, and is decided by the margin, as scorers are fitted with one k.
    """
    given = {name: value for name, value in locals().items() if name not in ("source", "target", "out", "settings")}
    settings = {**{name: value for name, value in given.items() if value is not None}, **settings}
    with tempfile.TemporaryDirectory() as scratch:
        for side, text in (("src", source), ("tgt", target)):
            settings[side + "_text"] = _text(text, os.path.join(scratch, side + ".jsonl"))
            vectors = settings.get(side + "_emb")
            if vectors is not None and not isinstance(vectors, (str, os.PathLike)):
                settings[side + "_emb"] = _save(vectors, os.path.join(scratch, side + ".npy"), side + "_emb")
        settings["out"] = folder = os.path.join(scratch, "mined") if out is None else os.fspath(out)
        while True:
            try:
                run("run", **settings)
                break
            except Error as error:
                fewer, why = _fewer(error, settings.get("k"), folder) if k is None else (0, "")
                if fewer == 0:
                    raise
                warnings.warn(f"k is lowered to {fewer}, and the margin decides: {why}", MineWarning, stacklevel=2)
                settings = {"scorer": "none", **settings, "k": fewer}
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as report:
            path = json.load(report)["bitext"]["path"]
        return _table(path)


def encode(
    sentences: Union[str, "os.PathLike[str]", Sentences], lang: str, *, encoder: Optional[PathLike] = None,
    threads: Optional[int] = None, **settings: Any,
) -> numpy.ndarray:
    """Returns the vectors of sentences [n, dim], float32 and of length 1.

    A str is one sentence, whose vector is [dim]; a pathlib.Path is a file as mine() takes it.
    """
    settings = _given(settings, encoder=encoder, threads=threads)
    with tempfile.TemporaryDirectory() as scratch:
        text, out = os.path.join(scratch, "text"), os.path.join(scratch, "vectors.npy")
        if isinstance(sentences, os.PathLike):
            text = os.fspath(sentences)
        else:
            with open(text, "w", encoding="utf-8", newline="") as file:
                rows = 0
                for row, sentence in enumerate([sentences] if isinstance(sentences, str) else _each(sentences)):
                    if "\n" in sentence or "\r" in sentence:
                        raise ValueError(f"sentence {row} has a line break: replace it by a space")
                    file.write(sentence + "\n")
                    rows += 1
            if rows == 0:
                raise ValueError("there is no sentence to encode")
            settings["format"] = "text"
        run("encode", text, lang=lang, out=out, **settings)
        vectors = numpy.load(out)
    return vectors[0] if isinstance(sentences, str) else vectors


def neighbours(
    source: Any, target: Any, k: int = 4, *, search: Optional[str] = None, threads: Optional[int] = None, **settings: Any,
) -> Neighbours:
    """Returns the k nearest rows of two arrays of vectors [n, dim] by cosine, in both directions."""
    settings = _given(settings, search=search, threads=threads)
    with tempfile.TemporaryDirectory() as scratch:
        paths = [_save(vectors, os.path.join(scratch, name + ".npy"), name)
                 for name, vectors in (("source", source), ("target", target))]
        run("neighbours", *paths, k=k, out=scratch, **settings)
        return Neighbours(*(numpy.load(os.path.join(scratch, name + ".npy")) for name in Neighbours._fields))


def filter(
    bitext: Any, *, config: Optional[PathLike] = None, without: Union[str, Sequence[str], None] = None,
    fix: Optional[bool] = None, **settings: Any,
) -> pyarrow.Table:
    """Annotates bitext and applies rules to it, and returns all its rows: those rejected have keep false and reasons.

    bitext is a table (pyarrow, pandas, Polars), the output directory of a run or a file of bitext.
    """
    settings = _given(settings, config=config, without=without, fix=fix)
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "filtered.parquet")
        run("filter", _bitext(bitext, scratch), out=out, **settings)
        return _table(out)


def export(
    bitext: Any, out: PathLike, *, format: Optional[str] = None, columns: Union[str, Sequence[str], None] = None,
    where: Optional[str] = None, all: Optional[bool] = None, **settings: Any,
) -> str:
    """Writes bitext for other programs: TMX, XLIFF, PO, TSV, CSV, Moses, JSON lines, Parquet, Hugging Face.

    bitext is as of filter; the format is that of the name of out, or format. Returns what was counted.
    """
    settings = _given(settings, format=format, columns=columns, where=where, all=all)
    with tempfile.TemporaryDirectory() as scratch:
        return run("export", _bitext(bitext, scratch), out=os.fspath(out), **settings)


def explain(
    row: Union[int, str], target: Optional[str] = None, *, run: Optional[PathLike] = None, bitext: Optional[PathLike] = None,
    **settings: Any,
) -> str:
    """Says why a pair is in the bitext of a kept run, or is not.

    explain(5, bitext="mined/de-en.parquet") is of a row, from 0; explain("Guten Morgen.", "Good morning.", run="mined")
    of two sentences.
    """
    settings = _given(settings, run=run, bitext=bitext)
    pair = [str(row)] if target is None else [str(row), target]
    return call(["explain", *_flags(settings), "--", *pair])  # a sentence may begin with a dash


def langs(encoder: str = "use-static") -> list[str]:
    """Returns the codes of the languages that an encoder of the program was trained on."""
    for model in json.loads(call(["model", "list", "--json"])):
        if model["name"] == encoder:
            return model["languages"]
    raise ValueError(f"the program knows no encoder {encoder!r}: `mine model list` has them")


def model_get(name: str, *, revision: Optional[str] = None, **settings: Any) -> str:
    """Fetches a published encoder and returns what was printed: model_get("labse")."""
    return call(["model", "get", name, *_flags(_given(settings, revision=revision))])


def main() -> None:
    """The command mine: this process becomes the program."""
    os.execv(PROGRAM[0], [*PROGRAM, *sys.argv[1:]])


def _fewer(error: Error, k: Optional[int], folder: str) -> tuple[int, str]:
    """Is the k with which a run that was refused is worth another try, and why: as many as a side has sentences, or
    that of the kept run in folder; 0: there is none. k is the one that it was lowered to, or None."""
    few = re.search(r"the \S+ text has (\d+) different sentences and k = ", str(error))
    if few is not None:
        return int(few.group(1)), str(error)
    kept = re.search(r" of a run with other settings \(.*\bk was (\d+), is (\d+)", str(error))
    if k is not None or kept is None or int(kept.group(1)) > int(kept.group(2)):
        return 0, ""
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as report:
        return 0 if "scorer" in json.load(report) else int(kept.group(1)), f"so it was in the run in {folder}"


def _given(settings: dict, **parameters: Any) -> dict:
    return {**{name: value for name, value in parameters.items() if value is not None}, **settings}


def _each(side: Any) -> Iterator[str]:
    """Yields the sentences of a list, an array, a column or a generator."""
    if isinstance(side, (bytes, dict)) or hasattr(side, "columns") and not hasattr(side, "to_pylist"):
        raise TypeError(f"sentences are a {type(side).__name__}: give a list of str or one column of text")
    if isinstance(side, (pyarrow.Table, pyarrow.RecordBatch)):
        raise TypeError("sentences are a table: give one column of it, such as table['text']")
    for name in ("to_pylist", "tolist", "to_list"):  # pyarrow; NumPy and pandas; Polars
        if hasattr(side, name):
            side = getattr(side, name)()
            break
    for row, sentence in enumerate(side):
        if hasattr(sentence, "as_py"):
            sentence = sentence.as_py()
        if not isinstance(sentence, str):
            missing = sentence is None or isinstance(sentence, float) and math.isnan(sentence)
            raise TypeError(f"sentence {row} is {'missing' if missing else 'a ' + type(sentence).__name__}, not a str")
        yield sentence


def _text(side: Any, path: str) -> str:
    """Is the path or glob of a text; sentences are written to path first."""
    if isinstance(side, (str, os.PathLike)):
        return os.fspath(side)
    with open(path, "w", encoding="utf-8") as file:
        for sentence in _each(side):
            file.write(json.dumps({"text": sentence}, ensure_ascii=False) + "\n")
    return path


def _save(vectors: Any, path: str, name: str) -> str:
    """Writes vectors [n, dim] as .npy."""
    if isinstance(vectors, (pyarrow.Array, pyarrow.ChunkedArray)) or hasattr(vectors, "to_list"):
        vectors = list(_rows(vectors))
    array = numpy.ascontiguousarray(vectors, dtype=numpy.float32)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} has the shape {list(array.shape)}: give vectors [n, dim]")
    numpy.save(path, array)
    return path


def _rows(column: Any) -> list:
    return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()


def _bitext(bitext: Any, scratch: str) -> str:
    """Is the path of bitext; a table is written first."""
    if isinstance(bitext, (str, os.PathLike)):
        return os.fspath(bitext)
    if hasattr(bitext, "to_arrow"):
        bitext = bitext.to_arrow()
    elif not isinstance(bitext, pyarrow.Table):
        if not hasattr(bitext, "columns"):
            raise TypeError(f"bitext is a {type(bitext).__name__}: give a table, a run's directory or a file")
        bitext = pyarrow.Table.from_pandas(bitext, preserve_index=False)
    for at, field in enumerate(bitext.schema):  # a list that is empty in every row has lost its type
        kind = field.type
        if (pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)) and not pyarrow.types.is_integer(kind.value_type):
            texts = pyarrow.list_(pyarrow.string())
            bitext = bitext.set_column(at, pyarrow.field(field.name, texts), bitext.column(at).cast(texts))
    path = os.path.join(scratch, "bitext.parquet")
    pyarrow.parquet.write_table(bitext, path)
    return path


def _table(path: PathLike) -> pyarrow.Table:
    return pyarrow.parquet.ParquetFile(pathlib.Path(path), memory_map=False).read()


def _flags(settings: dict) -> list:
    flags = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            flags.append(f"{flag}={str(value).lower()}")
        elif value is not None:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                flags += [flag, str(one)]
    return flags
