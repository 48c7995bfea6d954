"""Splits paragraphs into sentences, cleans them, and says what is no sentence."""

import re
import unicodedata

SPACELESS = {"ja", "zh", "th"}
SCRIPT = {
    "ar": r"[\u0600-\u06ff]",
    "ja": r"[\u3040-\u30ff\u3400-\u9fff々]",
    "ko": r"[\uac00-\ud7a3]",
    "ru": r"[\u0400-\u04ff]",
    "th": r"[\u0e00-\u0e7f]",
    "zh": r"[\u3400-\u9fff]",
}
LATIN = r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"

# Words after which a full stop does not end a sentence, in any of the languages.
ABBREVIATIONS = set("""
    mr mrs ms dr prof st sr jr vs etc no nr inc ltd co corp fig vol pp ca z.b d.h u.a usw bzw evtl ggf hr fr
    abs art bd jh geb gest min max mio mrd dhr mevr drs ir ing bv nv blz o.a d.w.z bijv m.n t.o.v nl m mme
    mlle p ex cf av apr env sig sigg dott avv pag es ecc d.c a.c sra srta ud uds ee uu pág núm aprox depto jan
    feb mär aug sept okt nov dez np tzn tj m.in ok r w ul al pl os im św ks mgr inż dyr gen płk ppłk kpt por
    sp zob n.e p.n.e wg tys mln mld zł gr г гг в вв н.э т.е т.д т.п т.к и.о им ул д стр см ок тыс млн млрд руб
    акад проф др напр англ нем лат фр род ум вып рис табл vb yy yüzyıl doç yrd bkz örn mah cad sok alb ört tel
""".split())

TERMINATOR = re.compile(r"([.!?…]+[\"'»”’)\]]*|[؟۔]+[\"'»”’)\]]*)\s+|([。！？!?]+[」』”）)]*)")
BROKEN = re.compile(r"https?:|www\.|[|{}\\<>=~^_#@\ufffd\ue000-\uf8ff]|&[a-z]+;|\[\s*\]|\(\s*[,;)]|\.{4,}|--+>|\t")
TRAILING = re.compile(r"[.!?…。！？؟۔\"'»”’)\]」』]$")


def detokenize(words):
    """Joins tokens as one writes them."""
    text = " ".join(words)
    text = re.sub(r" ([.,;:!?)\]}»”%…])", r"\1", text)
    text = re.sub(r"([(\[{«“„]) ", r"\1", text)
    text = re.sub(r" (['’]) ?", r"\1", text)
    return re.sub(r'" ([^"]*) "', r'"\1"', text)


def clean(text):
    """NFC, ordinary spaces, no footnote marks, no control characters, no stress marks of Russian encyclopedias."""
    text = unicodedata.normalize("NFC", text).replace("\u00a0", " ").replace("\u200b", "").replace("\ufeff", "")
    text = re.sub(r"[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200e\u200f\u202a-\u202e\u2060\u0301]", "", text)
    text = re.sub(r"\[(?:\d{1,3}|[a-z]|citation needed|出典)\]", "", text)
    text = re.sub(r"\(\s*[;,，、]?\s*\)|（\s*[;,，、]?\s*）", "", text)
    text = re.sub(r"\s+([,.;!?])(?=\s|$)", r"\1", text)
    return re.sub(r"\s+", " ", text).strip(" \t•·*–—-")


def key(text):
    """The form in which sentences are compared: NFKC, lower case, no punctuation, single spaces."""
    text = unicodedata.normalize("NFKC", text).lower()
    text = "".join(" " if unicodedata.category(c)[0] in "PSCZ" else c for c in text)
    return " ".join(text.split())


def split(text, language):
    """The sentences of a paragraph."""
    if language == "th":
        yield from thai(text)
        return
    start = 0
    for match in TERMINATOR.finditer(text):
        if match.group(1) is not None and not ends(text, start, match):
            continue
        if match.group(2) is not None and match.group(2)[0] in "!?" and language not in ("ja", "zh"):
            continue
        yield text[start:match.end()].strip()
        start = match.end()
    yield text[start:].strip()


def ends(text, start, match):
    """Whether this mark ends a sentence: not after an abbreviation, an initial or a number before a small letter."""
    following = text[match.end():match.end() + 1]
    if following and following.islower():
        return False
    if not match.group(1).startswith(".") or match.group(1).startswith(".."):
        return True
    word = re.search(r"[^\s(\[«„“\"']*$", text[start:match.start()]).group()
    if word.lower() in ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return False
    return not re.fullmatch(r"\d{1,2}|[IVX]+|(?:\w\.)+\w", word)


def thai(text):
    """Thai has no full stop: pieces between spaces, joined until they are as long as a sentence."""
    line = ""
    for piece in text.split(" "):
        line = f"{line} {piece}".strip()
        if len(line) >= 50:
            yield line
            line = ""
    yield line


def fault(text, language, whole):
    """Why this is no sentence to train on: "length" or "form"; empty if it is one."""
    if language in SPACELESS:
        if not 10 <= len(text) <= 200:
            return "length"
    elif not 5 <= len(text.split()) <= 60 or len(text) > 450 or len(text) < 20:
        return "length"
    if language == "ko" and len(text) > 220:
        return "length"
    if BROKEN.search(text):
        return "form"
    letters = len(re.findall(SCRIPT.get(language, LATIN), text))
    solid = len(text) - text.count(" ")
    if letters < (0.6 if language in SCRIPT else 0.72) * solid:
        return "form"
    if text.count('"') % 2 or text.count("(") != text.count(")") or text.count("（") != text.count("）"):
        return "form"
    if language not in SCRIPT and text.upper() == text:
        return "form"
    first = text.lstrip("\"'«„“”‘’([¿¡-–— ")[:1]
    if not whole:
        if language not in ("th", "ar") and not TRAILING.search(text):
            return "form"
        if first.islower() or not (first.isalpha() or first.isdigit()):
            return "form"
    return ""
