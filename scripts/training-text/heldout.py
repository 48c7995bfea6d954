"""Sentences of the evaluation sets, which no training text may hold."""

import bz2
import gzip
import hashlib
import io
import lzma
import pathlib
import subprocess
import tarfile

from sentences import key

SETS = ("bucc_style.tar.xz", "bucc_style2.tar.xz", "flores60.tar.zst", "ntrex40.tar.zst", "laser_tatoeba.tar.xz",
        "sts.tar.xz", "align.tar.xz")


def digest(sentence_key):
    """64 bits of a sentence's key."""
    return int.from_bytes(hashlib.blake2b(sentence_key.encode(), digest_size=8).digest(), "big")


def members(path):
    """(name, bytes) of the files of an archive, archives inside it included."""
    data = path.read_bytes() if isinstance(path, pathlib.Path) else path[1]
    name = path.name if isinstance(path, pathlib.Path) else path[0]
    if name.endswith(".zst"):
        data = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout
    elif name.endswith(".xz"):
        data = lzma.decompress(data)
    elif name.endswith((".gz", ".tgz")):
        data = gzip.decompress(data)
    elif name.endswith(".bz2"):
        data = bz2.decompress(data)
    if ".tar" in name or name.endswith(".tgz"):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if member.isfile():
                    yield from members((member.name, archive.extractfile(member).read()))
    else:
        yield name, data


def load(shared):
    """The digests of all sentences of the evaluation sets under the folder shared, and FLORES dev by language."""
    found, flores = set(), {}
    for name in SETS:
        path = pathlib.Path(shared) / name
        if not path.exists():
            raise SystemExit(f"{path} is missing: the text cannot be kept apart from the evaluation sets without it")
        before = len(found)
        for member, data in members(path):
            text = data.decode("utf-8", "replace")
            if member.startswith("flores60/dev/"):
                flores[member.split("/")[-1][:-4]] = text
            for line in text.splitlines():
                fields = line.split("\t")
                for field in fields if len(fields) == 1 else [line, *fields]:
                    k = key(field)
                    if len(k) > 5:
                        found.add(digest(k))
        if len(found) == before:
            raise SystemExit(f"{path} has no sentence: is it whole?")
    return found, flores
