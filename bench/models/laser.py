"""Makes LASER2 encoders of random weights with LASER's own program, and the vectors that it computes, for
model/laser/testdata.

    pip install torch sentencepiece sacremoses==0.1.0 unicategories numpy
    git clone https://github.com/facebookresearch/LASER
    python3 laser.py LASER model/laser/testdata [TEXT]     # with TEXT also its vectors, for compare
"""
import json
import os
import pathlib
import sys
import types

import numpy
import sentencepiece
import torch

# The BiLSTM needs nothing of fairseq, which the program imports for LASER3.
for name in "fairseq", "fairseq.data", "fairseq.data.dictionary", "fairseq.models", "fairseq.models.transformer", "fairseq.modules", "laser_encoders.download_models":
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["fairseq.data.dictionary"].Dictionary = object
sys.modules["fairseq.models.transformer"].Embedding = sys.modules["fairseq.models.transformer"].TransformerEncoder = object
sys.modules["fairseq.modules"].LayerNorm = object
sys.modules["laser_encoders.download_models"].LaserModelDownloader = object
package = types.ModuleType("laser_encoders")
package.__path__ = [os.path.join(sys.argv[1], "laser_encoders")]
sys.modules["laser_encoders"] = package
from laser_encoders.laser_tokenizer import LaserTokenizer
from laser_encoders.models import LaserLstmEncoder, SentenceEncoder

out = pathlib.Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)
corpus = ["the quick brown fox jumps over the lazy dog", "ein kleines boot liegt am steg , und zwei kinder spielen", "sie sagte : \" nein \" ( 12 % ) .", "le chat n'est pas là … aujourd'hui",
          "маленькая лодка стоит у причала", "一艘小船停在码头旁边", "عشرون قاربا صغيرا في الميناء"] * 30
sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus), model_prefix=str(out / "pieces"), vocab_size=180, normalization_rule_name="identity", hard_vocab_limit=False,
                                         character_coverage=1.0, minloglevel=2)
os.rename(out / "pieces.model", out / "laser2.spm")
os.remove(out / "pieces.vocab")
spm = sentencepiece.SentencePieceProcessor(model_file=str(out / "laser2.spm"))
pieces = [spm.id_to_piece(i) for i in range(spm.get_piece_size())]
pieces = [p for p in pieces if p not in ("<s>", "</s>", "<unk>")]
pieces = pieces[::-1][:-5]  # another order, and some pieces are unknown
dictionary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, **{p: i + 4 for i, p in enumerate(pieces)}}
torch.manual_seed(5)
params = dict(num_embeddings=len(dictionary), padding_idx=1, embed_dim=7, hidden_size=6, num_layers=3, bidirectional=True, left_pad=False, padding_value=0.0)
model = LaserLstmEncoder(**params)
for p in model.parameters():
    torch.nn.init.uniform_(p, -0.7, 0.7)
state = {"params": params, "model": model.state_dict(), "dictionary": dictionary}
torch.save(state, out / "laser2.pt")
torch.save(state, out / "legacy.pt", _use_new_zipfile_serialization=False)

load = torch.load
torch.load = lambda path: load(path, weights_only=False)
encoder = SentenceEncoder(str(out / "laser2.pt"), max_sentences=7, spm_model=str(out / "laser2.spm"), cpu=True, sort_kind="mergesort")
sentences = ["A small boat lies at the pier.", "Маленькая лодка", "一艘小船，停在码头旁边。", "He said: “12 %”, and ‘left’ … (again) !", "l’été — «\u00a0oui\u00a0» 1\u00a0000", "a\u200bb\tc\ue000", "İSTANBUL ΣΑΣ", "x",
             "zwei  Kinder (spielen ) , nº\u00a012 ; `so''", "عشرون قاربا", " ".join(["boat"] * 60), "never seen: Ꭰ Ꭱ 🙂🙂"]
lines = open(sys.argv[3], encoding="utf-8").read().split("\n")[:-1] if len(sys.argv) > 3 else []
punctuation = ["".join(c) for c in
               ["a (b) , c", "( a ) : b ;", "12 % 12% ٣ %", "``a'' 'b'", "„a“ ”b”", "a–b — c", "´´a´", "it’s l‘a ‘x’ ’", "a’b’c’d", "‚a‘", "…", "\u00a0«\u00a0a\u00a0»\u00a0 «b»", "5\u00a0% nº\u00a05 a\u00a0: \u00a0ºC \u00a0cm \u00a0? \u00a0! \u00a0; ,\u00a0",
                "\"a\", \"b\".", "\",..\"", "1\u00a02\u00a03 4\u00a05", "\r\n\t a \x85", "\u2028a\u2029", "\u3000a\u3000", "a ) . b ) ! c", "((a))", "\u200d\u00ad\ufeff", "  a   b  ", ") ?x", "\U000e0100\U0001f600\u0378", "A ÀÉ İ ΑΣ"]]
tokenizer = encoder.tokenizer
texts = []
tokenizer.spm_encoder = types.SimpleNamespace(encode=lambda text, out_type: texts.append(text) or [])
for line in punctuation + sentences + lines:
    tokenizer.tokenize(line)
normal = dict(zip(punctuation + sentences, texts))
encoder.tokenizer = LaserTokenizer(spm_model=out / "laser2.spm")
vectors = encoder(sentences)
json.dump({"normal": normal, "sentences": sentences, "vectors": [[round(float(x), 7) for x in v] for v in vectors]}, open(out / "golden.json", "w"), ensure_ascii=False, indent=0)
if lines:
    numpy.save(out / "vectors.npy", encoder(lines))
    json.dump(dict(zip(lines, texts[len(punctuation) + len(sentences):])), open(out / "normal.json", "w"), ensure_ascii=False)
