"""Makes parts.json of parts_test.go: small tokenizers of every part that a tokenizer.json has, and digests of their ids.

    pip install tokenizers==0.23.3
    REFERENCES=/tmp/references go test ./encode/tokenizer -run TestReferences   # writes lines there
    python3 parts.py /tmp/references          # in this directory
"""
import gzip
import hashlib
import json
import os
import sys

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

work = sys.argv[1]
TOGETHER = 500
lines = {kind: json.load(open(os.path.join(work, kind + ".json"), encoding="utf-8")) for kind in ("fixtures", "natural", "hostile")}
text = lines["fixtures"] + lines["natural"][::20]

# Models, trained here.
BYTES = [f"<0x{b:02X}>" for b in range(256)]
SPECIALS = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]


def train(model, trainer, pre, normal=None):
    t = Tokenizer(model)
    t.normalizer, t.pre_tokenizer = normal, pre
    t.train_from_iterator(text if pre else text[:400], trainer)
    return json.loads(t.to_str())["model"]


space = normalizers.Replace(" ", "▁")
base = {
    "bytes": train(models.BPE(), trainers.BpeTrainer(vocab_size=1500, special_tokens=SPECIALS, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False),
                   pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "fallback": train(models.BPE(unk_token="<unk>"), trainers.BpeTrainer(vocab_size=1600, special_tokens=SPECIALS + BYTES, limit_alphabet=250, show_progress=False),
                      pre_tokenizers.Metaspace()),
    "sentences": train(models.BPE(unk_token="<unk>"), trainers.BpeTrainer(vocab_size=1000, special_tokens=SPECIALS + BYTES, limit_alphabet=150, show_progress=False), None, space),
    "affixes": train(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", end_of_word_suffix="</w>"),
                     trainers.BpeTrainer(vocab_size=1500, special_tokens=SPECIALS, limit_alphabet=150, continuing_subword_prefix="##", end_of_word_suffix="</w>", show_progress=False),
                     pre_tokenizers.Whitespace()),
    "unigram": train(models.Unigram(), trainers.UnigramTrainer(vocab_size=1500, special_tokens=SPECIALS + BYTES, unk_token="<unk>", show_progress=False), pre_tokenizers.Metaspace()),
    "wordpiece": train(models.WordPiece(unk_token="<unk>"), trainers.WordPieceTrainer(vocab_size=1500, special_tokens=SPECIALS, limit_alphabet=400, show_progress=False),
                       pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer()),
    "words": train(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=1000, special_tokens=SPECIALS, show_progress=False), pre_tokenizers.Whitespace()),
}

# Parts of published tokenizers.
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = QWEN.replace(r"\p{N}|", r"\p{N}{1,3}|")
O200K = "|".join([r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                  r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                  r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
DEEPSEEK = ["\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]


def part(kind, **fields):
    return {"type": kind, **fields}


def sequence(field, *parts):
    return {"type": "Sequence", field: list(parts)}


def split(pattern, behaviour="Isolated", invert=False, kind="Regex"):
    return part("Split", pattern={kind: pattern}, behavior=behaviour, invert=invert)


def bytelevel(prefix=False, regex=True):
    return part("ByteLevel", add_prefix_space=prefix, trim_offsets=True, use_regex=regex)


def metaspace(scheme="always", split=True):
    return part("Metaspace", replacement="▁", prepend_scheme=scheme, split=split)


def replace(what, by, kind="String"):
    return part("Replace", pattern={kind: what}, content=by)


def added(content, **how):
    return {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **how}


pre = lambda *p: sequence("pretokenizers", *p)
nor = lambda *p: sequence("normalizers", *p)
bert = lambda **how: part("BertNormalizer", **{"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True, **how})
tokens = [added("<s>"), added("</s>"), added("<mask>", lstrip=True), added("the", single_word=True, normalized=True, special=False), added("und", rstrip=True),
          added("Das", normalized=True, special=False), added("ie", special=False), added("▁", special=False), added("İ", normalized=True), added("new token")]

variants = {
    "gpt2": ("bytes", None, bytelevel(), {}),
    "roberta": ("bytes", None, bytelevel(True), {"added": tokens[:3]}),
    "modernbert": ("bytes", part("NFC"), bytelevel(), {"added": tokens[2:3]}),
    "qwen": ("bytes", part("NFC"), pre(split(QWEN), bytelevel(regex=False)), {"added": tokens}),
    "llama3": ("bytes", None, pre(split(LLAMA3), bytelevel(regex=False)), {"model": {"ignore_merges": True}}),
    "o200k": ("bytes", None, pre(split(O200K), bytelevel(regex=False)), {}),
    "deepseek": ("bytes", None, pre(*(split(p) for p in DEEPSEEK), bytelevel(regex=False)), {}),
    "bytes in the normalizer": ("bytes", part("ByteLevel"), None, {"max": 300}),
    "digits one by one": ("bytes", None, pre(part("Digits", individual_digits=True), bytelevel()), {}),
    "digits": ("bytes", None, pre(part("Digits", individual_digits=False), part("Punctuation", behavior="Contiguous"), bytelevel(regex=False)), {}),
    "gemma": ("fallback", replace(" ", "▁"), split(" ", "MergedWithPrevious", kind="String"), {"model": {"byte_fallback": True, "fuse_unk": True}, "added": tokens[:2] + [added("\n\n"), added("▁▁")]}),
    "gemma of sentences": ("sentences", replace(" ", "▁"), split(" ", "MergedWithPrevious", kind="String"), {"model": {"byte_fallback": True, "fuse_unk": True}}),
    "llama2": ("fallback", nor(part("Prepend", prepend="▁"), replace(" ", "▁")), None, {"model": {"byte_fallback": True, "fuse_unk": True}, "added": tokens[:2]}),
    "mistral": ("fallback", None, metaspace("first", False), {"model": {"byte_fallback": True, "fuse_unk": True}, "added": tokens}),
    "first": ("fallback", part("Strip", strip_left=True, strip_right=True), metaspace("first"), {"added": tokens, "model": {"fuse_unk": True}}),
    "never": ("fallback", None, metaspace("never"), {"model": {"fuse_unk": False}}),
    "left out": ("fallback", None, metaspace("always"), {"model": {"unk_token": None}}),
    "affixes": ("affixes", part("Lowercase"), part("Whitespace"), {"added": tokens}),
    "affixes of text": ("affixes", part("NFKC"), part("WhitespaceSplit"), {"model": {"fuse_unk": True}}),
    "t5": ("unigram", None, metaspace("first"), {"added": tokens[:3]}),
    "unigram bytes": ("unigram", nor(part("Nmt"), part("NFKC"), replace(" {2,}", " ", "Regex")), metaspace("always"), {"model": {"byte_fallback": True}}),
    "albert": ("unigram", nor(replace("``", '"'), replace("''", '"'), part("NFKD"), part("StripAccents"), part("Lowercase"), replace(r"\s+", " ", "Regex")), pre(part("WhitespaceSplit"), metaspace("always")), {}),
    "unigram, one word": ("unigram", replace(" ", "▁"), None, {"model": {"byte_fallback": True}, "max": 40, "direction": "left"}),
    "bert": ("wordpiece", bert(), part("BertPreTokenizer"), {"added": tokens}),
    "bert cased": ("wordpiece", bert(lowercase=False, strip_accents=False, handle_chinese_chars=False, clean_text=False), part("BertPreTokenizer"), {"model": {"max_input_chars_per_word": 12}}),
    "mpnet": ("wordpiece", nor(part("NFD"), part("Lowercase"), part("StripAccents")), part("Whitespace"), {"max": 12, "direction": "left"}),
    "words": ("words", part("NFKC"), pre(part("Whitespace"), part("Digits", individual_digits=False)), {}),
    "delimiter": ("fallback", None, part("CharDelimiterSplit", delimiter="e"), {"max": 7}),
    "lazy": ("bytes", None, pre(split(r"(?:[a-z]{2,5}?|\d+?(?=\d{3}|$)|(?>\w+)\W|^\s++)(?:\.|x++){1,2}"), bytelevel(regex=False)), {}),
    "numbers": ("bytes", None, pre(split(r"(?:\p{Nd}{3})+(?!\p{Nd})|[^\p{^L}\d]{2,4}(?!\W)|\P{L}", "Removed"), bytelevel(regex=False)), {}),
}
for behaviour in "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous":
    for invert in False, True:
        variants[f"{behaviour} {invert}"] = ("bytes", None, pre(split(r"[aeiouäöü]|\s+|\p{Han}", behaviour, invert), bytelevel(regex=False)), {})
    variants[f"{behaviour} punctuation"] = ("wordpiece", bert(), pre(part("WhitespaceSplit"), part("Punctuation", behavior=behaviour)), {})

out = {"models": base, "tokenizers": {}}
for name, (model, normalizer, pretokenizer, more) in variants.items():
    size = len(base[model]["vocab"])
    entries = []
    for token in more.get("added", []):
        known = base[model]["vocab"]
        if isinstance(known, list):
            known = {piece: i for i, (piece, _) in enumerate(known)}
        if token["content"] in known:
            entries.append({"id": known[token["content"]], **token})
        else:
            entries.append({"id": size, **token})
            size += 1
    file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": entries, "normalizer": normalizer, "pre_tokenizer": pretokenizer, "post_processor": None, "decoder": None,
            "model": {**base[model], **more.get("model", {})}}
    if "direction" in more:
        file["truncation"] = {"direction": more["direction"].capitalize(), "max_length": more["max"], "strategy": "LongestFirst", "stride": 0}
    t = Tokenizer.from_str(json.dumps(file))
    if "max" in more:
        t.enable_truncation(more["max"], direction=more.get("direction", "right"))
    digests = {}
    for kind, all in lines.items():
        rows = [encoding.ids for encoding in t.encode_batch(all, add_special_tokens=False)]
        with open(os.path.join(work, f"{name}.{kind}.ids"), "w") as f:
            f.writelines(" ".join(map(str, row)) + "\n" for row in rows)
        digests[kind] = [hashlib.sha256("".join(" ".join(map(str, row)) + "\n" for row in rows[i:i + TOGETHER]).encode()).hexdigest()[:8] for i in range(0, len(rows), TOGETHER)]
    file["model"] = {"base": model, **more.get("model", {})}
    out["tokenizers"][name] = {"file": file, "max": more.get("max", 1 << 14), "digests": digests}
    print(name, sum(map(len, digests.values())))
with open("parts.json.gz", "wb") as f, gzip.GzipFile("", "wb", mtime=0, fileobj=f) as z:
    z.write(json.dumps(out, ensure_ascii=False).encode())
