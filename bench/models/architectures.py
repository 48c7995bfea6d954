"""Makes a small random model of every architecture that mine builds graphs of, as its authors' programs save it, imports
it, and compares the vectors of sentences of many languages with those that sentence-transformers computes.

usage: architectures.py MINE OUT LEAST LINES FILE... [--only NAME,NAME] [--speed]       (make test-models)

FILEs have one sentence a line; LINES are taken, about as many of each. Sentences of all lengths are in one batch there.
Fails if the least cosine of any sentence is under LEAST. With --speed the models have 12 layers of width 384, and CPU
seconds of two threads are compared with PyTorch's in float32, also of the model in 8 bits.
"""
import os
import resource
import shutil
import subprocess
import sys
import unicodedata

os.environ.update(OMP_NUM_THREADS="2", TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="")
import numpy as np
import tokenizers as tk
import torch
import transformers as hf
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules as st

timed = "--speed" in sys.argv
if timed:
    sys.argv.remove("--speed")
only = None
if "--only" in sys.argv:
    only = sys.argv.pop(i := sys.argv.index("--only") + 1).split(",")
    sys.argv.pop(i - 1)
mine, out, least, count, *files = sys.argv[1:]
each = -(-int(count) // len(files))
sentences = [line for name in files for line in open(name, encoding="utf-8").read().splitlines()[:each]]
# Of mixed lengths, and as mine normalises all text: composed, with single spaces, without what cannot be seen.
sentences = ["".join(c for c in unicodedata.normalize("NFC", s[: 20 + 37 * i % 220]) if unicodedata.category(c) not in ("Cf", "Cc")) for i, s in enumerate(sentences)]
sentences = [" ".join(s.split()) for s in sentences][: int(count)]
shutil.rmtree(out, ignore_errors=True)
os.makedirs(out)

WORDS = 4000
WIDTH, LAYERS, HEADS, INNER, HEAD = (384, 12, 6, 1536, 64) if timed else (64, 4, 4, 96, 24)
W = dict(hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER)
D = dict(W, num_key_value_heads=2, head_dim=HEAD, max_position_embeddings=512)
PROMPTS = {"query": "task: search | query: ", "document": "title: none | text: "}


def unigram(first="<s>", last="</s>"):
    t = tk.Tokenizer(tk.models.Unigram())
    t.pre_tokenizer = tk.pre_tokenizers.Metaspace()
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    t.train_from_iterator(sentences, tk.trainers.UnigramTrainer(vocab_size=WORDS, special_tokens=specials, unk_token="<unk>", show_progress=False))
    around = " ".join(filter(None, [first, "$A", last]))
    t.post_processor = tk.processors.TemplateProcessing(single=around, special_tokens=[(x, t.token_to_id(x)) for x in (first, last) if x])
    return hf.PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>", model_max_length=256)


def wordpiece():
    t = tk.Tokenizer(tk.models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = tk.normalizers.BertNormalizer(lowercase=True), tk.pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(sentences, tk.trainers.WordPieceTrainer(vocab_size=WORDS, special_tokens=specials, show_progress=False))
    t.post_processor = tk.processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[(x, t.token_to_id(x)) for x in ("[CLS]", "[SEP]")])
    return hf.PreTrainedTokenizerFast(tokenizer_object=t, cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", model_max_length=256)


def bytewise(last="</s>"):
    """Byte-level BPE, as Qwen and ModernBERT have it."""
    t = tk.Tokenizer(tk.models.BPE())
    pattern = tk.Regex(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    t.pre_tokenizer = tk.pre_tokenizers.Sequence([tk.pre_tokenizers.Split(pattern, "isolated"), tk.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    specials = ["<s>", "<pad>", "</s>"]
    t.train_from_iterator(sentences, tk.trainers.BpeTrainer(vocab_size=WORDS, special_tokens=specials, initial_alphabet=tk.pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.post_processor = tk.processors.TemplateProcessing(single="$A " + last, special_tokens=[(last, t.token_to_id(last))])
    return hf.PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<s>", eos_token="</s>", pad_token="<pad>", model_max_length=256)


def spread(model):
    """Weights as far apart as those of a trained model: attention that chooses, normalisations that differ. Of twelve
    layers such weights make chaos, in which 8 bits lose more than of a trained model."""
    gain = 1 if timed else 1.5
    torch.manual_seed(7)
    for name, p in model.named_parameters():
        if p.dim() > 1:
            p.data.normal_(0, gain / p.shape[-1] ** 0.5 if "embed" not in name else 0.5)
        else:
            p.data.normal_(0, 0.2).add_(0 if "bias" in name or "gemma" in type(model).__name__.lower() else 1)
    return model.eval()


def rows(tokenizer):
    """Of a table of words, as published models have them: the sentences may give fewer than WORDS."""
    return -(-len(tokenizer) // 64) * 64


def transformer(name, kind, config, tokenizer, pooling, dense=(), prompts=None, side="right", dtype=torch.float32, **save):
    """A model of sentence-transformers in out/NAME: the transformer, a pooling, dense layers and a normalisation."""
    body, folder = os.path.join(out, name + ".body"), os.path.join(out, name)
    tokenizer.padding_side = side
    config.vocab_size = rows(tokenizer)
    spread(kind(config)).to(dtype).save_pretrained(body, **save)
    tokenizer.save_pretrained(body)
    modules = [st.Transformer(body, model_kwargs={"dtype": torch.float32})]
    modules[0].processor = tokenizer  # for some kinds of models the library makes one of its own of the same file
    width = modules[0].get_embedding_dimension()
    modules.append(st.Pooling(width, pooling))
    width *= 1 if isinstance(pooling, str) else len(pooling)
    for to, bias, activation in dense:
        modules.append(spread(st.Dense(width, to, bias=bias, activation_function=activation)))
        width = to
    model = SentenceTransformer(modules=modules + [st.Normalize()], prompts=prompts, device="cpu")
    model.save(folder)
    if dtype != torch.float32 or save:  # what the authors publish: weights in bfloat16, in several files
        for file in os.listdir(folder):
            if file.endswith(".safetensors"):
                os.remove(os.path.join(folder, file))
        for file in os.listdir(body):
            if ".safetensors" in file:
                shutil.copy(os.path.join(body, file), folder)
    return model


def ours(name, *flags):
    folder = os.path.join(out, name)
    imported = os.path.join(out, name + ".mine")
    shutil.rmtree(imported, ignore_errors=True)
    subprocess.run([mine, "model", "import", folder, "--out", imported, *flags], check=True, stdout=subprocess.DEVNULL)
    text, vectors = os.path.join(out, "text"), os.path.join(out, "vectors.npy")
    with open(text, "w", encoding="utf-8") as f:
        f.writelines(s + "\n" for s in sentences)
    return encoded(imported, text, vectors)


def encoded(encoder, text, vectors):
    subprocess.run([mine, "encode", "--threads", "2", "--dtype", "float32", "--encoder", encoder, "--lang", "en", text, "--out", vectors], check=True, stdout=subprocess.DEVNULL)
    return np.load(vectors)


def seconds(work, of=resource.RUSAGE_CHILDREN):
    """The CPU seconds of work and what it returns."""
    before = resource.getrusage(of)
    result = work()
    after = resource.getrusage(of)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def speed(name, encode):
    """Prints how many times as fast as PyTorch the imported model is, in float32 and 8 bits, without their starts."""
    torch.set_num_threads(2)
    encode(sentences[:4])
    # PyTorch's threads spin while other programs have the processors: the shorter of two.
    theirs, want = min((seconds(lambda: encode(sentences), resource.RUSAGE_SELF) for _ in range(2)), key=lambda x: x[0])
    imported, text, vectors, few = (os.path.join(out, x) for x in (name + ".mine", "text", "vectors.npy", "few"))
    with open(few, "w", encoding="utf-8") as f:
        f.writelines(s + "\n" for s in sentences[:2])
    small = imported + ".8"
    shutil.rmtree(small, ignore_errors=True)
    # Random weights may lose too much in 8 bits, which quantise says.
    refused = subprocess.run([mine, "model", "quantise", imported, "--out", small], stdout=subprocess.DEVNULL).returncode
    for what, encoder in (("float32", imported), ("8 bits", small))[:1 if refused else 2]:
        start, _ = seconds(lambda: encoded(encoder, few, vectors))
        used, got = seconds(lambda: encoded(encoder, text, vectors))
        cosine = (want * got).sum(1) / np.linalg.norm(want, axis=1) / np.linalg.norm(got, axis=1)
        print(f"{name:18} {what:8} {theirs:.1f} and {used - start:.1f} CPU seconds: {theirs / (used - start):.1f} times, cosine: least {cosine.min():.4f}, mean {cosine.mean():.4f}", flush=True)


failed = []


def compare(name, what, want, got):
    want = np.asarray(want, np.float64)
    cosine = (want * got).sum(1) / np.linalg.norm(want, axis=1) / np.linalg.norm(got, axis=1)
    apart = (want @ want.T / np.outer(*[np.linalg.norm(want, axis=1)] * 2)).mean()
    print(f"{name:18} {what:28} {len(want)} sentences, cosine: least {cosine.min():.7f}, mean {cosine.mean():.7f} (of two sentences {apart:.2f})", flush=True)
    if not cosine.min() >= float(least):
        failed.append(f"{name}, {what}: {sentences[int(cosine.argmin())]!r} has {cosine.min():.6f}")


def check(name, model, prompts=None, dim=None):
    if timed and dim:
        return
    flags = ["--dim", str(dim)] if dim else []
    encode = lambda **more: model.encode(sentences, batch_size=64, normalize_embeddings=True, truncate_dim=dim, **more)
    compare(name, f"first {dim} numbers" if dim else "plain", encode(), ours(name, "--prompt", "none", *flags))
    if timed:
        return speed(name, lambda lines: model.encode(lines, batch_size=32, normalize_embeddings=True, truncate_dim=dim))
    for prompt in prompts or {}:
        compare(name, "prompt " + prompt, encode(prompt_name=prompt), ours(name, "--prompt", prompt, *flags))


def bert():
    c = hf.BertConfig(max_position_embeddings=256, **W)
    check("bert", transformer("bert", hf.BertModel, c, wordpiece(), "cls", [(48, True, torch.nn.Tanh())]))


def xlm_roberta():
    c = hf.XLMRobertaConfig(max_position_embeddings=258, type_vocab_size=1, pad_token_id=1, **W)
    check("xlm-roberta", transformer("xlm-roberta", hf.XLMRobertaModel, c, unigram(), "mean", prompts=PROMPTS), PROMPTS)


def mpnet():
    c = hf.MPNetConfig(max_position_embeddings=258, **W)
    check("mpnet", transformer("mpnet", hf.MPNetModel, c, unigram(), ["cls", "max", "mean"]))


def distilbert():
    c = hf.DistilBertConfig(dim=WIDTH, n_layers=LAYERS, n_heads=HEADS, hidden_dim=INNER, max_position_embeddings=256)
    check("distilbert", transformer("distilbert", hf.DistilBertModel, c, wordpiece(), "mean", [(40, True, torch.nn.GELU())]))


def modernbert():
    c = hf.ModernBertConfig(local_attention=16, max_position_embeddings=512, pad_token_id=1, **W)
    check("modernbert", transformer("modernbert", hf.ModernBertModel, c, unigram(), "mean_sqrt_len_tokens"))


def gte():
    c = hf.GteConfig(max_position_embeddings=512, rope_parameters={"rope_type": "default", "rope_theta": 20000.0}, **W)
    check("gte", transformer("gte", hf.GteModel, c, unigram(), "cls"), dim=None if timed else 24)


def gemma():
    g = dict(D, query_pre_attn_scalar=HEAD, sliding_window=16, sliding_window_pattern=3)
    c = hf.Gemma3TextConfig(use_bidirectional_attention=True, **g)
    dense = [(128, False, torch.nn.Identity()), (64, False, torch.nn.Identity())]
    m = transformer("embeddinggemma", hf.Gemma3TextModel, c, unigram(), "mean", dense, PROMPTS, dtype=torch.bfloat16, max_shard_size="200KB")
    check("embeddinggemma", m, PROMPTS)
    check("embeddinggemma", m, dim=32)
    check("gemma3-causal", transformer("gemma3-causal", hf.Gemma3TextModel, hf.Gemma3TextConfig(**g), unigram(), "lasttoken"))


def qwen():
    c = hf.Qwen3Config(**D)
    check("qwen3", transformer("qwen3", hf.Qwen3Model, c, bytewise(), "lasttoken", prompts=PROMPTS, side="left", dtype=torch.float16), PROMPTS)
    c = hf.Qwen2Config(**{k: v for k, v in D.items() if k != "head_dim"})
    check("qwen2", transformer("qwen2", hf.Qwen2Model, c, bytewise(), "weightedmean", side="left"))


def llama():
    rope = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
    check("llama", transformer("llama", hf.LlamaModel, hf.LlamaConfig(rope_parameters=rope, **D), unigram(), "lasttoken"))
    c = hf.MistralConfig(sliding_window=12, **D)
    check("mistral", transformer("mistral", hf.MistralModel, c, unigram(), "lasttoken", side="left"))


def t5():
    g = dict(d_model=WIDTH, d_kv=WIDTH // HEADS, d_ff=INNER, num_layers=LAYERS, num_heads=HEADS)
    c = hf.T5Config(**g, architectures=["T5EncoderModel"])
    check("t5", transformer("t5", hf.T5EncoderModel, c, unigram("", "</s>"), "mean", [(48, False, torch.nn.Identity())]))
    c = hf.MT5Config(**g, feed_forward_proj="gated-gelu", architectures=["MT5EncoderModel"])
    check("mt5", transformer("mt5", hf.MT5EncoderModel, c, unigram("", "</s>"), "mean"))


def m2m100():
    """sentence-transformers has no such encoder: the mean of transformers' own, sentence by sentence."""
    tokenizer = unigram()
    c = hf.M2M100Config(vocab_size=rows(tokenizer), d_model=WIDTH, encoder_layers=LAYERS, decoder_layers=1, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=INNER, decoder_ffn_dim=INNER, max_position_embeddings=512)
    model = spread(hf.M2M100Model(c))
    for saved in model, tokenizer:
        saved.save_pretrained(os.path.join(out, "m2m100"))

    def encode(lines):
        with torch.no_grad():
            return np.stack([model.encoder(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0).numpy() for ids in tokenizer(lines, truncation=True, max_length=256)["input_ids"]])
    compare("m2m100", "plain", encode(sentences), ours("m2m100", "--pooling", "mean"))
    if timed:
        speed("m2m100", encode)


def tables():
    model = SentenceTransformer(modules=[st.StaticEmbedding(wordpiece(), embedding_dim=96)], device="cpu")
    spread(model).save(os.path.join(out, "static"))
    check("static", model)
    check("static", model, dim=32)
    if timed:
        return
    from model2vec import StaticModel
    t = wordpiece()._tokenizer
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(1000, 64)).astype(np.float32)
    n = t.get_vocab_size()
    model = StaticModel(rows, t, weights=rng.uniform(0.1, 2, n).astype(np.float32), token_mapping=rng.integers(0, 1000, n), normalize=True)
    model.save_pretrained(os.path.join(out, "model2vec"))
    compare("model2vec", "weights, shared rows", model.encode(sentences), ours("model2vec"))


for make in (bert, xlm_roberta, mpnet, distilbert, modernbert, gte, gemma, qwen, llama, t5, m2m100, tables):
    if only is None or make.__name__ in only:
        make()
if failed:
    sys.exit("\n".join(failed))
