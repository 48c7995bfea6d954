#!/usr/bin/env python3
"""Writes the text of the encoder for sixty languages: scripts/encoder-60/text.py MIRROR SHARED OUT.

MIRROR has clones of the repositories of sources.tsv, as owner+name (bare, with a work tree, or with the git directory
in repo); SHARED is as in scripts/training-text/make. OUT gets pairs.tsv (English, language, text, source), mono.tsv
(language, text) and centre/LANGUAGE.txt, text that no pair has where there is any, for mine model centre. Sentences of
the evaluation sets are left out, as in scripts/training-text.
"""

import collections
import csv
import gzip
import html
import json
import pathlib
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "training-text"))
import heldout  # noqa: E402
from sentences import clean, key, split  # noqa: E402

LANGUAGES = set("""af am ar bg bn ca cs cy da de el en es et eu fa fi fr ga gu ha he hi hu hy id ig is it ja ka kk km ko
    lt lv mr mt my nb ne nl pa pl pt ro ru si so sv sw ta te th tr uk ur vi xh yo zh zht zu""".split())
SPACELESS = {"ja", "ko", "zh", "zht"}
# use-static knows these: their own text has vectors to learn, too.
KNOWN = "ar de en es fr it ja ko nl pl pt ru th tr zh".split()
CODES = {"iw": "he", "in": "id", "no": "nb", "zh-CN": "zh", "zh-rCN": "zh", "zh-Hans": "zh", "zh-cn": "zh", "en": "en",
         "zh-rTW": "zht", "zh-TW": "zht", "zh-Hant": "zht", "zh-tw": "zht", "pt-rBR": "pt", "pt-BR": "pt",
         "danish": "da", "dutch": "nl", "english": "en", "estonian": "et", "finnish": "fi", "french": "fr", "german": "de",
         "hungarian": "hu", "icelandic": "is", "italian": "it", "latvian": "lv", "polish": "pl", "portuguese": "pt",
         "romanian": "ro", "spanish": "es", "swedish": "sv"}
PLACEHOLDER = re.compile(r"%(?:\d+\$)?[-+#0 ]*\d*\.?\d*[sdifFxXc@]|\^?\d?\{\{?[^{}]*\}?\}|<[^<>]+>|\\[nt'\"u@]|"
                         r"\$\{?[A-Za-z_]+\}?|__?\w+__|\[/?[a-zA-Z]+\]")
BOOKS = {"MAR": "MRK", "JOH": "JHN", "PHI": "PHP"}
VERSES = re.compile("(GEN|EXO|PSA|PRO|ISA|MAT|MRK|LUK|JHN|ACT|ROM|1CO|2CO|GAL|EPH|PHP|COL|HEB|JAS|1PE) ")
CENTRE = 3000  # sentences a language


def language(code):
    """The language of a program's code; empty if it is none of these, or a variety of one."""
    code = code.replace("_", "-")
    if code in CODES:
        return CODES[code]
    found = re.fullmatch(r"([a-z]{2})(?:-r?([A-Z]{2}))?", code)
    if not found or found.group(1) not in LANGUAGES - {"en"}:
        return ""
    if found.group(2) and (found.group(1) in ("zh", "pt") or found.group(1) in ("es", "fr", "de")
                           and found.group(1).upper() != found.group(2) or code == "fa-AF"):
        return ""
    return found.group(1)


class Clone:
    """A repository at the commit of a row of sources.tsv."""

    def __init__(self, mirror, row):
        folder = mirror / row["repository"].replace("/", "+")
        found = [d for d in (folder / "repo/.git", folder / "repo", folder / ".git", folder) if (d / "objects").is_dir()]
        if not found:
            raise SystemExit(f"no clone of {row['repository']} in {mirror}; run: "
                             f"git clone --bare https://github.com/{row['repository']} {folder}")
        self.git, self.commit, self.name = ["git", f"--git-dir={found[0]}"], row["commit"], row["repository"]

    def paths(self):
        listed = subprocess.run(self.git + ["ls-tree", "-r", "-z", "--name-only", self.commit], stdout=subprocess.PIPE)
        if listed.returncode != 0:
            raise SystemExit(f"{self.name} has no commit {self.commit}; fetch it")
        return listed.stdout.decode("utf-8", "replace").split("\0")[:-1]

    def read(self, paths):
        """(path, text) of files that are there."""
        batch = subprocess.Popen(self.git + ["cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for path in paths:
            batch.stdin.write(f"{self.commit}:{path}\n".encode())
            batch.stdin.flush()
            head = batch.stdout.readline().split()
            if len(head) == 3 and head[1] == b"blob":
                yield path, batch.stdout.read(int(head[2]) + 1)[:-1].decode("utf-8", "replace")
        batch.stdin.close()
        batch.wait()

    def one(self, path):
        for _, text in self.read([path]):
            return text
        raise SystemExit(f"{self.name} has no {path} at {self.commit}; clone it whole")


def message(text):
    """A message of a program without placeholders and mark-up."""
    text = html.unescape(text.replace("\\'", "'").replace('\\"', '"').replace("\\n", " "))
    return clean(re.sub(r"\s+", " ", PLACEHOLDER.sub(" ", text)).strip(" \"'"))


def named(paths):
    return dict(p.split("=") for p in paths.split())


def tabs(clone, paths):
    languages = {path: code for code, path in named(paths).items()}
    for path, text in clone.read(languages):
        for line in text.splitlines():
            fields = line.split("\t")
            if len(fields) >= 2:
                yield clean(fields[0]), languages[path], clean(fields[1])


def strings(text):
    """The messages of an Android resource by name."""
    try:
        root = ET.fromstring(text.encode())
    except ET.ParseError:
        return {}
    found = {}
    for e in root:
        name = e.get("name")
        if e.tag == "string":
            found[name] = message("".join(e.itertext()))
        elif e.tag == "plurals":
            found.update((name, message("".join(i.itertext()))) for i in e if i.get("quantity") == "other")
        elif e.tag == "string-array":
            found.update((f"{name}#{k}", message("".join(i.itertext()))) for k, i in enumerate(e))
    return found


def android(clone, _):
    places = collections.defaultdict(dict)
    for path in clone.paths():
        found = re.fullmatch(r"(|.*/)values(?:-([^/]+))?/([^/]*strings[^/]*\.xml)", path)
        if found:
            places[found.group(1) + found.group(3)][found.group(2) or ""] = path
    for codes in places.values():
        texts = dict(clone.read(codes.values()))
        english = strings(texts.get(codes.get(""), ""))
        for code, path in codes.items():
            if code and language(code):
                for name, text in strings(texts.get(path, "")).items():
                    if name in english:
                        yield english[name], language(code), text


def leaves(value, path=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}/{name}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, f"{path}/{i}")
    elif isinstance(value, str):
        yield path, value


def messages(clone, pattern):
    files = collections.defaultdict(dict)
    for path in clone.paths():
        found = re.fullmatch(pattern, path)
        if found:
            files[found.group("file")][found.group("code")] = path
    for codes in files.values():
        texts = {}
        for path, text in clone.read(codes.values()):
            try:
                texts[path] = dict(leaves(json.loads(text)))
            except ValueError:
                pass
        english = texts.get(codes.get("en"), {})
        for code, path in codes.items():
            if code == "en" or not language(code):
                continue
            for name, text in texts.get(path, {}).items():
                name = name if name in english else re.sub(r"^/[^/]+/", "/en/", name)
                if name not in english:
                    continue
                if name.endswith("/terms"):  # lists of search words
                    for e, t in zip(english[name].split(","), text.split(",")):
                        yield message(e), language(code), message(t)
                else:
                    yield message(english[name]), language(code), message(text)


def xquad(clone, codes):
    def paragraphs(code):
        for article in json.loads(clone.one(f"xquad.{code}.json"))["data"]:
            for p in article["paragraphs"]:
                yield clean(p["context"]), [clean(q["question"]) for q in p["qas"]]

    english = list(paragraphs("en"))
    for code in codes.split():
        for (e, asked), (text, theirs) in zip(english, paragraphs(code)):
            es = [s for s in split(e, "en") if s]
            ts = [s.strip() for s in (re.split(r"(?<=।)\s*", text) if code == "hi" else split(text, code)) if s.strip()]
            if code != "th" and len(es) == len(ts):
                yield from ((a, code, b) for a, b in zip(es, ts))
            yield from ((a, code, b) for a, b in zip(asked, theirs))


def pud(clone, code, english={}):
    """Sentences of a parallel treebank; the English one is the first of the rows, and is kept."""
    for _, text in clone.read(p for p in clone.paths() if p.endswith(".conllu")):
        for name, sentence in re.findall(r"^# sent_id = (.*)$(?:\n#.*)*?\n# text = (.*)$", text, re.M):
            if code == "en":
                english[name] = clean(sentence)
            elif name in english:
                yield english[name], code, clean(sentence)


def verses(clone, paths, english={}):
    """Verses beside the World English Bible, which is kept for the Testaments of another repository."""
    places = clone.one("metadata/vref.txt").splitlines()
    english.update(zip(places, map(clean, clone.one("corpus/eng-engwebp.txt").splitlines())))
    for code, name in named(paths).items():
        for place, text in zip(places, clone.one(f"corpus/{name}.txt").splitlines()):
            if text and text != "<range>" and english.get(place) and VERSES.match(place):
                yield english[place], code, clean(text)


def testament(clone, paths):
    english = verses.__defaults__[0]
    for code, name in named(paths).items():
        text = clone.one(f"bibles/{name}.xml")
        for book, chapter, verse, words in re.findall(r'<seg id="b\.(\w+)\.(\d+)\.(\d+)"[^>]*>([^<]*)</seg>', text):
            place = f"{BOOKS.get(book, book)} {chapter}:{verse}"
            if english.get(place):
                yield english[place], code, clean(html.unescape(words))


def shared(folder, source, codes):
    for code in codes.split():
        with gzip.open(folder / f"train/{source}.en-{code}.tsv.gz", "rt", encoding="utf-8", newline="\n") as opened:
            for line in opened:
                fields = line.rstrip("\n").split("\t")
                if source == "tatoeba" and len(fields) == 2:
                    yield clean(fields[0]), code, clean(fields[1])
                elif len(fields) == 3 and fields[0] in ("phpdoc", "pydocs", "freebsd"):
                    yield clean(fields[1]), code, clean(fields[2])


def lines(clone, pattern):
    found = ((p, re.fullmatch(pattern, p)) for p in clone.paths())
    codes = {p: language(m.group("code")) for p, m in found if m and language(m.group("code"))}
    for path, text in clone.read(codes):
        for line in text.splitlines():
            yield codes[path], clean(line.split("\t")[-1])


def udhr(clone, paths):
    """Sentences of the Universal Declaration of Human Rights."""
    marks = {"am": "።", "km": "។", "my": "။"}
    for code, name in named(paths).items():
        for paragraph in re.findall(r"<para>(.*?)</para>", clone.one(f"data/udhr/udhr_{name}.xml"), re.S):
            text = clean(html.unescape(re.sub(r"<[^>]+>", "", paragraph)))
            for sentence in text.split(marks[code]) if code in marks else split(text, code):
                if len(sentence) > 8:
                    yield code, sentence.strip()


PAIRS = dict(tabs=tabs, android=android, messages=messages, xquad=xquad, pud=pud, verses=verses, testament=testament)
ALONE = dict(lines=lines, udhr=udhr)


def read(mirror, folder, bad):
    """Pairs by (language, source), and sentences by (language, source), each once."""
    pairs, alone, seen, left = collections.defaultdict(list), collections.defaultdict(list), set(), collections.Counter()
    with open(HERE / "sources.tsv", encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE))
    caps = {row["source"]: row["cap"] for row in rows}
    for row in rows:
        if row["reader"] in ALONE:
            for code, text in ALONE[row["reader"]](Clone(mirror, row), row["paths"]):
                k = key(text)
                if not (8 if code in SPACELESS else 15) <= len(text) <= 400 or k in seen:
                    continue
                seen.add(k)
                if bad(k):
                    left["held out"] += 1
                else:
                    alone[code, row["source"]].append(text)
            continue
        found = (shared(folder, row["source"], row["paths"]) if row["reader"] == "shared"
                 else PAIRS[row["reader"]](Clone(mirror, row), row["paths"]))
        for english, code, text in found:
            k = key(english), code, key(text)
            if english == text or not text or "\t" in english + text or len(english) > 400 or len(text) > 500 or \
                    not re.search("[A-Za-z]{2}", english):
                left["form"] += 1
            elif k in seen:
                left["duplicate"] += 1
            elif bad(k[0]) or bad(k[2]):
                left["held out"] += 1
            else:
                pairs[code, row["source"]].append((english, text))
            seen.add(k)
    print("left out:", dict(left), file=sys.stderr)
    return pairs, alone, caps


def centre(code, alone, pairs, draw):
    """Text of a language in the order in which it serves its mean: news and encyclopedia, speech, other."""
    texts = []
    for source in (("udhr",), ("lingua", "leipzig-wikipedia"), ("common-voice",)):
        some = [t for s in source for t in alone.get((code, s), [])]
        draw.shuffle(some)
        texts += some
    if len(texts) < 100 and code not in ("ig", "km", "my"):
        texts += [t for (c, _), some in pairs.items() if c == code for _, t in some if len(t) > 40]
    while 0 < len(texts) < 100:  # mine model centre takes no fewer
        texts += texts
    return texts[:CENTRE]


def main(mirror, folder, out):
    held, _ = heldout.load(folder)
    pairs, alone, caps = read(mirror, folder, lambda k: heldout.digest(k) in held)
    draw = random.Random("encoder-60")
    (out / "centre").mkdir(parents=True, exist_ok=True)
    table, total = collections.defaultdict(collections.Counter), []
    for (code, source), some in sorted(pairs.items()):
        draw.shuffle(some)
        table[code][source] = len(some[:int(caps[source])])
        total += ((e, code, t, source) for e, t in some[:int(caps[source])])
    draw.shuffle(total)
    (out / "pairs.tsv").write_text("".join("\t".join(row) + "\n" for row in total), encoding="utf-8")
    with open(out / "mono.tsv", "w", encoding="utf-8") as opened:
        for code in KNOWN:
            some = [t for (c, _), texts in sorted(alone.items()) if c == code for t in texts]
            draw.shuffle(some)
            opened.writelines(f"{code}\t{t}\n" for t in some[:40000 if code == "en" else 6000])
    for code in sorted(LANGUAGES - {"zht"}):
        texts = centre(code, alone, pairs, draw)
        (out / "centre" / f"{code}.txt").write_text("".join(t + "\n" for t in texts), encoding="utf-8")
        print(code, sum(table[code].values()), dict(table[code]), len(texts))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*map(pathlib.Path, sys.argv[1:]))
