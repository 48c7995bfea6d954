"""Readers: one function a form of source. Each takes the decoded text of one file and the manifest's option, and
yields (text, whole) pairs; whole says that the text is one sentence already and is not to be split."""

import csv
import io
import json
import re

from sentences import detokenize


def lines(text, option):
    """One sentence a line; an option of N takes only column N (from 0) of tab-separated lines."""
    for line in text.splitlines():
        if option:
            columns = line.split("\t")
            if len(columns) <= int(option):
                continue
            line = columns[int(option)]
        if len(line) > 2 and line[0] == line[-1] == '"':
            line = line[1:-1]
        yield line.replace('""', '"'), True


def unmarked(text, option):
    """A sentence a line; lines that begin with # are comments."""
    for line in text.splitlines():
        if not line.startswith("#"):
            yield line, True


def paragraphs(text, option):
    """Plain text: each line is a paragraph; with the option wrapped, an empty line ends one."""
    if option == "wrapped":
        text = re.sub(r"-\n(?=\w)", "", text)
        for block in re.split(r"\n\s*\n", text):
            yield block.replace("\n", " "), False
        return
    for line in text.splitlines():
        yield line, False


def wikiextractor(text, option):
    """Wikipedia as WikiExtractor writes it: <doc ...>, the title, paragraphs, </doc>."""
    for document in re.split(r"<doc [^>]*>\n", text)[1:]:
        for line in document.split("</doc>")[0].splitlines()[1:]:
            yield re.sub(r"</?[a-z][^>]*>|&lt;.*?&gt;", "", line), False


def markdown(text, option):
    """Prose of Markdown: front matter, code, tables, HTML, quotes of code and link targets are dropped."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->|\{\{.*?\}\}|\{%.*?%\}", "", text, flags=re.S)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?[a-zA-Z][^>]*>", "", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)]) )", text):
        block = re.sub(r"^\s*(?:[-*+>]|\d+[.)])\s+", "", block).replace("\n", " ").strip()
        if block.startswith(("#", "|")) or "`" in block:
            continue
        yield re.sub(r"[*_]{1,3}(\S[^*_]*)[*_]{1,3}", r"\1", block), False


def conllu(text, option):
    """Universal Dependencies: the text of each sentence."""
    for line in text.splitlines():
        if line.startswith("# text = "):
            yield line[9:], True


def comments(text, option):
    """A treebank whose comments are its sentences, tokens apart."""
    for line in text.splitlines():
        if line.startswith("# "):
            yield detokenize(line[2:].split()), True


def columns(text, option):
    """A token a line, in the column of the option (from 0), an empty line after each sentence."""
    words = []
    for line in text.splitlines() + [""]:
        fields = line.split("\t") if "\t" in line else line.split(" ")
        if line.strip():
            if len(fields) > int(option) and not line.startswith("#"):
                words.append(fields[int(option)])
        elif words:
            yield detokenize(words), True
            words = []


def records(text, option):
    """JSON or JSON lines: the strings under the keys of the option (key,key), wherever they are. A key with a
    trailing ! holds one sentence."""
    keys = {key.rstrip("!"): key.endswith("!") for key in option.split(",")}
    try:
        documents = [json.loads(text)]
    except json.JSONDecodeError:
        documents = [json.loads(line) for line in text.splitlines() if line.strip()]

    def walk(node):
        if isinstance(node, dict):
            for key, value in node.items():
                if key in keys and isinstance(value, str):
                    for line in value.split("\n"):
                        yield line, keys[key]
                elif key in keys and isinstance(value, list) and value and isinstance(value[0], str):
                    yield (detokenize(value) if keys[key] else " ".join(value)), keys[key]
                else:
                    yield from walk(value)
        elif isinstance(node, list):
            for value in node:
                yield from walk(value)

    yield from walk(documents)


def table(text, option):
    """CSV or TSV (column,column of the option, by name or from 0; a ! after one: a sentence)."""
    csv.field_size_limit(1 << 30)
    wanted = option.split(",")
    delimiter = "\t" if text.split("\n", 1)[0].count("\t") else ","
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    for name in wanted:
        whole, name = name.endswith("!"), name.rstrip("!")
        if name.isdigit():
            at, body = int(name), rows
        else:
            at, body = rows[0].index(name), rows[1:]
        for row in body:
            if len(row) > at:
                for line in row[at].split("\n"):
                    yield line, whole


READERS = {
    "lines": lines,
    "unmarked": unmarked,
    "paragraphs": paragraphs,
    "wikiextractor": wikiextractor,
    "markdown": markdown,
    "conllu": conllu,
    "comments": comments,
    "columns": columns,
    "records": records,
    "table": table,
}
