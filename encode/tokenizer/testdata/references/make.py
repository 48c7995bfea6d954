"""Makes golden.json of reference_test.go: the ids that the reference programs give.

    apt-get install sentencepiece            # spm_encode 0.1.97, Debian 12
    pip install tokenizers==0.23.3           # the Rust library
    REFERENCES=/tmp/references go test ./encode/tokenizer -run TestReferences   # writes lines and tokenizers there
    python3 make.py /tmp/references          # in this directory
"""
import hashlib
import json
import os
import subprocess
import sys

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

work = sys.argv[1]
TOGETHER, EXPLICIT = 100, 5


def spm(name):
    def encode(lines):
        text = "".join(line + "\n" for line in lines)
        out = subprocess.run(["spm_encode", "--model=" + os.path.join(work, name), "--output_format=id"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
        rows = [[int(n) for n in row.split()] for row in out.decode().split("\n")[:-1]]
        assert len(rows) == len(lines), (name, len(rows), len(lines))
        return rows
    return encode


def fast(tokenizer):
    return lambda lines: [tokenizer.encode(line, add_special_tokens=False).ids for line in lines]


def wordpiece(lower):
    vocabulary = {piece: i for i, piece in enumerate(open(os.path.join(work, "vocab.txt"), encoding="utf-8").read().split("\n")[:-1])}
    t = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=lower)
    t.pre_tokenizer = BertPreTokenizer()
    return t


programs = {
    "unigram.model": spm("unigram.model"),
    "bpe.model": spm("bpe.model"),
    "unigram.json": fast(Tokenizer.from_file(os.path.join(work, "unigram.json"))),
    "bpe.json": fast(Tokenizer.from_file(os.path.join(work, "bpe.json"))),
    "wordpiece cased": fast(wordpiece(False)),
    "wordpiece uncased": fast(wordpiece(True)),
}
golden = {}
for name, encode in programs.items():
    golden[name] = {}
    for kind in "fixtures", "natural", "hostile":
        rows = encode(json.load(open(os.path.join(work, kind + ".json"), encoding="utf-8")))
        digests = []
        for i in range(0, len(rows), TOGETHER):
            text = "".join(" ".join(map(str, row)) + "\n" for row in rows[i:i + TOGETHER])
            digests.append(hashlib.sha256(text.encode()).hexdigest()[:12])
        golden[name][kind] = {"lines": len(rows), "digests": digests, "first": rows[:EXPLICIT]}
        with open(os.path.join(work, f"{name}.{kind}.ids"), "w") as f:
            f.writelines(" ".join(map(str, row)) + "\n" for row in rows)
with open("golden.json", "w") as f:
    f.write(json.dumps(golden).replace('}, "', '},\n"') + "\n")
