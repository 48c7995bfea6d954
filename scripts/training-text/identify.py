"""Tells languages of one script apart by letter trigrams, counted in FLORES dev (text for identification only: none of
it is trained on)."""

import collections
import math
import re

from sentences import LATIN, SCRIPT

# Languages that could be taken for another one, by script; those of one script are rivals.
FLORES = {
    "af": "afr_Latn", "ca": "cat_Latn", "cs": "ces_Latn", "cy": "cym_Latn", "da": "dan_Latn", "de": "deu_Latn",
    "en": "eng_Latn", "es": "spa_Latn", "et": "est_Latn", "eu": "eus_Latn", "fi": "fin_Latn", "fr": "fra_Latn",
    "ga": "gle_Latn", "hu": "hun_Latn", "id": "ind_Latn", "is": "isl_Latn", "it": "ita_Latn", "lt": "lit_Latn",
    "lv": "lvs_Latn", "mt": "mlt_Latn", "nb": "nob_Latn", "nl": "nld_Latn", "pl": "pol_Latn", "pt": "por_Latn",
    "ro": "ron_Latn", "so": "som_Latn", "sv": "swe_Latn", "sw": "swh_Latn", "tr": "tur_Latn", "vi": "vie_Latn",
    "ar": "arb_Arab", "fa": "pes_Arab", "ur": "urd_Arab",
    "bg": "bul_Cyrl", "kk": "kaz_Cyrl", "ru": "rus_Cyrl", "uk": "ukr_Cyrl",
}
SAME = {"af": "nl"}  # Afrikaans is no rival of Dutch in these sources, and would take short Dutch sentences


class Identifier:
    """Whether a sentence is of a language. texts maps FLORES codes to text."""

    def __init__(self, texts, language):
        self.language = language
        self.scores = None
        code = FLORES.get(language)
        if not code:
            return
        script = code[4:]
        self.rivals = [l for l, c in FLORES.items() if c[4:] == script and SAME.get(l) != language and l != language]
        self.rivals.insert(0, language)
        counts = []
        for rival in self.rivals:
            counter = collections.Counter()
            for line in texts[FLORES[rival]].splitlines():
                counter.update(trigrams(line))
            counts.append(counter)
        totals = [sum(c.values()) for c in counts]
        grams = set().union(*counts)
        self.unseen = tuple(math.log(0.3 / (t + 0.3 * len(grams))) for t in totals)
        self.scores = {g: tuple(math.log((c[g] + 0.3) / (t + 0.3 * len(grams))) for c, t in zip(counts, totals))
                       for g in grams}

    def accepts(self, text):
        if self.language == "ja":
            return re.search(r"[\u3040-\u30ff]", text) is not None
        if self.language == "zh":
            return re.search(r"[\u3040-\u30ff\uac00-\ud7a3]|[嘅咗喺嚟冇佢哋啲嗰唔]", text) is None
        if self.scores is None:
            return True
        found = [self.scores.get(g, self.unseen) for g in trigrams(text[:160])]
        sums = [sum(column) for column in zip(*found)]
        return not sums or sums[0] >= max(sums)


def trigrams(text):
    words = re.sub(r"[\W\d_]+", " ", text.lower())
    words = f" {words.strip()} "
    return [words[i:i + 3] for i in range(len(words) - 2)]
