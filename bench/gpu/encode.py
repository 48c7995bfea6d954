"""What encoding in float16 does on a GPU, in 130 seconds: encode.py PROGRAM [--seconds 145] [--out FILE]

It makes an encoder of XLM-R large's shape with random weights, times each kernel of encode/gpu/kernels.py and compares
it with PyTorch, runs `mine encode`, compares vectors with PyTorch's in float32, and times sentence-transformers in float16.
Each part stands alone: what fails says so, and the others go on. Needs PyTorch, Triton and numpy; sentence-transformers for
the last part. --device cpu with a small --layers and --width rehearses what is not Triton's.
"""
import argparse, json, os, pathlib, random, struct, subprocess, sys, tempfile, threading, time, traceback

began = time.monotonic()
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("--out", help="also write what is printed there")
parser.add_argument("--seconds", type=float, default=145)
parser.add_argument("--layers", type=int, default=24)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--heads", type=int, default=16)
parser.add_argument("--words", type=int, default=8000)
parser.add_argument("--sentences", type=int, default=40_000)
parser.add_argument("--device", default="cuda", help="of PyTorch")
parser.add_argument("--mine-device", default="cuda:0:float16")
parser.add_argument("--tokens", type=int, default=16384, help="of a batch, for the kernels by themselves")
a = parser.parse_args()
root = pathlib.Path(__file__).resolve().parents[2]
tmp = pathlib.Path(tempfile.mkdtemp(prefix="mine-encode-"))
program = os.path.abspath(a.program)
W, L, H, V, F = a.width, a.layers, a.heads, a.words, 4 * a.width
log = open(a.out, "w") if a.out else None


def say(*words):
    line = f"[{time.monotonic() - began:6.1f}] " + " ".join(str(w) for w in words)
    print(line, flush=True)
    if log:
        print(line, file=log, flush=True)


def left():
    return a.seconds - (time.monotonic() - began)


def part(f, least=5.0):
    if left() < least:
        return say(f"SKIPPED {f.__name__}: {left():.0f} s are left")
    say(f"--- {f.__name__}")
    try:
        return f()
    except BaseException as e:  # one part must not stop the others
        say(f"FAILED {f.__name__}: {type(e).__name__}: {str(e)[:600]}")
        say(traceback.format_exc()[-1500:])


say("argv", sys.argv)
import numpy as np
import torch

gpu = a.device != "cpu"
say("torch", torch.__version__, "numpy", np.__version__)


def facts():
    for words in (["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader"], ["nproc"]):
        try:
            say(subprocess.run(words, capture_output=True, text=True, timeout=20).stdout.strip())
        except (OSError, subprocess.TimeoutExpired) as e:
            say(words[0], e)
    if gpu:
        say(torch.cuda.get_device_name(0))


# The encoder: a folder as Hugging Face has it, and what mine model import makes of it.
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
weights = {}


def make_folder():
    folder = tmp / "published"
    folder.mkdir()
    g = torch.Generator(device=a.device).manual_seed(3)

    def draw(*shape, spread):
        return (torch.randn(*shape, generator=g, device=a.device) * spread).cpu()

    def dense(name, i, o):
        weights[name + ".weight"], weights[name + ".bias"] = draw(o, i, spread=0.03), draw(o, spread=0.02)

    def norm(name):
        weights[name + ".weight"], weights[name + ".bias"] = 1 + draw(W, spread=0.05), draw(W, spread=0.05)

    weights["embeddings.word_embeddings.weight"] = draw(V, W, spread=0.05)
    weights["embeddings.position_embeddings.weight"] = draw(512, W, spread=0.02)
    weights["embeddings.token_type_embeddings.weight"] = draw(2, W, spread=0.02)
    norm("embeddings.LayerNorm")
    for i in range(L):
        at = f"encoder.layer.{i}."
        for p in "query", "key", "value":
            dense(at + "attention.self." + p, W, W)
        dense(at + "attention.output.dense", W, W)
        norm(at + "attention.output.LayerNorm")
        dense(at + "intermediate.dense", W, F)
        dense(at + "output.dense", F, W)
        norm(at + "output.LayerNorm")
    header, offset = {}, 0
    for name, t in weights.items():
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [offset, offset + 4 * t.numel()]}
        offset += 4 * t.numel()
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    with open(folder / "model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(raw)) + raw)
        for t in weights.values():
            f.write(t.contiguous().numpy().tobytes())
    r, seen = random.Random(1), set(words)
    while len(words) < V:
        w = "".join(r.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(r.randint(3, 8)))
        if w not in seen:
            seen.add(w)
            words.append(w)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    files = {
        "config.json": dict(model_type="bert", architectures=["BertModel"], hidden_size=W, num_hidden_layers=L, num_attention_heads=H,
                            intermediate_size=F, vocab_size=V, max_position_embeddings=512, type_vocab_size=2, hidden_act="gelu",
                            layer_norm_eps=1e-5, pad_token_id=0, position_embedding_type="absolute"),
        "tokenizer_config.json": dict(tokenizer_class="BertTokenizer", do_lower_case=True, model_max_length=512),
        "sentence_bert_config.json": dict(max_seq_length=512, do_lower_case=False),
        "modules.json": [dict(idx=0, name="0", path="", type="sentence_transformers.models.Transformer"),
                         dict(idx=1, name="1", path="1_Pooling", type="sentence_transformers.models.Pooling"),
                         dict(idx=2, name="2", path="2_Normalize", type="sentence_transformers.models.Normalize")],
        "1_Pooling/config.json": dict(word_embedding_dimension=W, pooling_mode_cls_token=False, pooling_mode_mean_tokens=True,
                                      pooling_mode_max_tokens=False, pooling_mode_mean_sqrt_len_tokens=False),
    }
    (folder / "1_Pooling").mkdir()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    say("folder", offset >> 20, "MiB")


imported = {}


def import_model():
    start = time.monotonic()
    done = subprocess.run([program, "model", "import", str(tmp / "published"), "--out", str(tmp / "encoder")], capture_output=True, text=True)
    imported["rc"] = done.returncode
    say(f"import: rc {done.returncode}, {time.monotonic() - start:.1f} s", done.stderr.strip()[-400:] if done.returncode else "")


texts, ids = [], []


def make_sentences():
    r = np.random.default_rng(5)
    lengths = np.clip(np.exp(r.normal(3.87, 0.55, a.sentences)), 3, 300).astype(int)
    for n in lengths:
        some = r.integers(5, V, n)
        ids.append([2, *some.tolist(), 3])
        texts.append(" ".join(words[i] for i in some))
    (tmp / "text").write_text("\n".join(texts) + "\n")
    (tmp / "few").write_text("\n".join(texts[:64]) + "\n")
    say(len(texts), "sentences,", sum(map(len, ids)), "tokens")


def flops(tokens):
    return 2 * tokens * L * (4 * W * W + 2 * W * F)


# Kernels by themselves.
def timed(f, repeat=10):
    """Milliseconds of one call."""
    for _ in range(2):
        f()
    torch.cuda.synchronize()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(repeat):
        f()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / repeat


def kernels():
    sys.path[:0] = [str(root / "encode" / "gpu"), str(root / "internal" / "cuda")]
    import kernels as K
    d, M = a.device, a.tokens
    half = lambda *s: (torch.randn(*s, device=d) * 0.5).half()
    best = {}
    shapes = {"into": (3 * W, W), "out": (W, W), "in": (F, W), "back": (W, F)}

    def one(kernel, name, n, k, bm, bn, bk, warps, stages, swath, check=False):
        x, w, b = half(M, k), (torch.randn(n, k, device=d) / k**0.5).half(), torch.randn(n, device=d)
        out = torch.empty(M, n, device=d, dtype=torch.float16)
        grid = (M // bm * (n // bn),)
        f = lambda: kernel[grid](x, w, b, out, M // bm, n // bn, k, BM=bm, BN=bn, BK=bk, SWATH=swath, num_warps=warps, num_stages=stages)
        ms = timed(f)
        told = ""
        if check:
            want = x.float() @ w.float().T + b
            if kernel is K.gelu:
                want = torch.nn.functional.gelu(want)
            told = f", largest difference {(out.float() - want).abs().max().item():.4f}"
        rate = 2 * M * n * k / ms / 1e9
        say(f"{kernel.fn.__name__} {name} {n}x{k}: tile {bm}x{bn}x{bk}, {warps} warps, {stages} stages, swath {swath}: {ms:.3f} ms, {rate:.0f} TFLOP/s{told}")
        return ms

    def attempt(*words, **more):
        try:
            return one(*words, **more)
        except Exception as e:
            say("  no:", words[1:], type(e).__name__, str(e)[:160].replace("\n", " "))
            return float("inf")

    ours = (128, 128, 64, 4, 3, 16)  # of kernels.py on Hopper
    for name, (n, k) in shapes.items():
        kernel = K.gelu if name == "in" else K.product
        best[name] = attempt(kernel, name, n, k, *ours, check=True)
    for name, (n, k) in shapes.items():
        x, w = half(M, k), half(n, k)
        ms = timed(lambda: torch.nn.functional.linear(x, w))
        say(f"torch linear {name}: {ms:.3f} ms, {2 * M * n * k / ms / 1e9:.0f} TFLOP/s")

    # The other kernels: bytes a second, and differences to PyTorch.
    lens = [len(s) for s in sorted(ids, key=len)[len(ids) // 2:]]
    at, starts, tiles = 0, [0], []
    for n in lens:
        if at + n > M:
            break
        tiles += [(at + j, at, at + n) for j in range(0, n, 64)]
        at += n
        starts.append(at)
    T, S = at, W // H
    qkv = half(T, 3, H, S)
    out = torch.empty(T, H, S, device=d, dtype=torch.float16)
    table = torch.tensor(tiles, dtype=torch.int32, device=d)

    def attention(bm, bn, warps, stages):
        some = table
        if bm != 64:
            some = torch.tensor([(s + j, s, e) for s, e in zip(starts, starts[1:]) for j in range(0, e - s, bm)], dtype=torch.int32, device=d)
        f = lambda: K.attend[(len(some) * H,)](qkv, some, out, H, W, S**-0.5 * 1.4426950408889634, BM=bm, BN=bn, SIZE=S, num_warps=warps, num_stages=stages)
        ms = timed(f)
        say(f"attend {bm}x{bn}, {warps} warps, {stages} stages, {len(starts) - 1} sentences, {T} tokens: {ms:.3f} ms, {8 * T * W / ms / 1e6:.0f} GB/s")
        return ms

    for words in (64, 64, 4, 2), (64, 32, 4, 2):
        try:
            ms = attention(*words)
            if words == (64, 64, 4, 2):
                best["attend"] = ms
                worst = 0
                for s, e in list(zip(starts, starts[1:]))[:: max(1, len(starts) // 20)]:
                    q, k, v = (qkv[s:e, i].float().transpose(0, 1)[None] for i in range(3))
                    want = torch.nn.functional.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1)
                    worst = max(worst, (out[s:e].float() - want).abs().max().item())
                say(f"  largest difference to PyTorch {worst:.5f}")
        except Exception as e:
            say("  no:", words, type(e).__name__, str(e)[:160].replace("\n", " "))
    x, r = half(M, W), half(M, W)
    scale, shift = torch.randn(W, device=d), torch.randn(W, device=d)
    y = torch.empty_like(x)
    broad = 512 if W <= 512 else 1024
    best["norm"] = ms = timed(lambda: K.norm[(M // 4,)](x, r, scale, shift, y, W, M, 1e-5, ROWS=4, WIDTH=broad, num_warps=4))
    want = torch.nn.functional.layer_norm(x.float() + r.float(), (W,), scale, shift, 1e-5)
    say(f"norm: {ms:.4f} ms, {6 * M * W / ms / 1e6:.0f} GB/s, largest difference {(y.float() - want).abs().max().item():.5f}")
    table = torch.randint(0, V, (M,), device=d, dtype=torch.int32)
    places = torch.randint(0, 512, (M,), device=d, dtype=torch.int32)
    vocabulary, positions = torch.randn(V, W, device=d), torch.randn(512, W, device=d)
    ms = timed(lambda: K.embed[(M // 4,)](table, places, vocabulary, positions, scale, shift, y, W, M, 1e-5, ROWS=4, WIDTH=broad, num_warps=4))
    say(f"embed: {ms:.4f} ms")
    begins, pooled = torch.tensor(starts, dtype=torch.int32, device=d), torch.empty(len(starts), W, device=d)
    ms2 = timed(lambda: K.pool[(len(starts) - 1,)](y, begins, pooled, W, 0, ROWS=8, WIDTH=broad, num_warps=4))
    say(f"pool: {ms2:.4f} ms")
    layer = best["into"] + best["out"] + best["in"] + best["back"] + best["attend"] * M / T + 2 * best["norm"]
    batch = ms + ms2 + L * layer
    say(f"a batch of {M} tokens: {batch:.2f} ms by these, {flops(M) / batch / 1e9:.0f} TFLOP/s; a layer: " +
        ", ".join(f"{k} {v:.3f}" for k, v in best.items()))
    # Other shapes of products.
    for words in (256, 128, 64, 8, 3), (128, 256, 64, 8, 3):
        for name, (n, k) in shapes.items():
            if left() < 85:
                return
            attempt(K.gelu if name == "in" else K.product, name, n, k, *words, 16)


def run_mine():
    def encode(name, out, *flags):
        start = time.monotonic()
        done = subprocess.run([program, "encode", "-v", "--lang", "en", str(tmp / name), "--encoder", str(tmp / "encoder"), "--out", str(tmp / out),
                               "--device", a.mine_device, *flags], capture_output=True, text=True, timeout=max(5, left()))
        took = time.monotonic() - start
        told = [line for line in done.stderr.splitlines() if "GPU" in line or "encoded" in line or "WARN" in line or "rror" in line]
        say(f"mine encode {name}: rc {done.returncode}, {took:.2f} s;", " | ".join(told)[-900:] or done.stderr[-600:])
        return took

    first = encode("few", "few.npy")
    few = encode("few", "few.npy")
    took = min(encode("text", "vectors.npy") for _ in range(2))
    tokens = sum(map(len, ids))
    say(f"RESULT mine {a.mine_device}: {took:.2f} s with start, {few:.2f} s of it for start (64 sentences; {first:.2f} with compiling), "
        f"{flops(tokens) / max(0.001, took - few) / 1e12:.0f} TFLOP/s after start, {flops(tokens) / took / 1e12:.0f} with it")
    encode("text", "again.npy")
    one, two = np.load(tmp / "vectors.npy"), np.load(tmp / "again.npy")
    say("a second run gives", "the same bytes" if (one.view("u4") == two.view("u4")).all() else "OTHER BYTES")


def reference(sentences):
    """Vectors in float32, from the definition."""
    torch.backends.cuda.matmul.allow_tf32 = False
    w = {k: v.to(a.device) for k, v in weights.items()}
    F_ = torch.nn.functional
    norm = lambda n, x: F_.layer_norm(x, (W,), w[n + ".weight"], w[n + ".bias"], 1e-5)
    dense = lambda n, x: F_.linear(x, w[n + ".weight"], w[n + ".bias"])
    all = []
    with torch.no_grad():
        for s in sentences:
            t = torch.tensor(s, device=a.device)
            x = w["embeddings.word_embeddings.weight"][t] + w["embeddings.position_embeddings.weight"][: len(s)] + w["embeddings.token_type_embeddings.weight"][0]
            x = norm("embeddings.LayerNorm", x)
            for i in range(L):
                at = f"encoder.layer.{i}."
                q, k, v = (dense(at + "attention.self." + p, x).view(1, len(s), H, -1).transpose(1, 2) for p in ("query", "key", "value"))
                c = (((q @ k.transpose(-1, -2)) / (W // H) ** 0.5).softmax(-1) @ v).transpose(1, 2).reshape(len(s), W)
                x = norm(at + "attention.output.LayerNorm", x + dense(at + "attention.output.dense", c))
                x = norm(at + "output.LayerNorm", x + dense(at + "output.dense", F_.gelu(dense(at + "intermediate.dense", x))))
            all.append(F_.normalize(x.mean(0), dim=0).cpu().numpy())
    return np.array(all)


some = {}


def compare():
    vectors = np.load(tmp / "vectors.npy")
    say("vectors", vectors.shape, vectors.dtype, "finite" if np.isfinite(vectors).all() else "NOT FINITE")
    chosen = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    chosen = [chosen[int(j)] for j in np.linspace(0, len(chosen) - 1, min(500, len(ids)))]
    start = time.monotonic()
    some["chosen"], some["reference"] = chosen, reference([ids[i] for i in chosen])
    cosines = (some["reference"].astype("f8") * vectors[chosen]).sum(1)
    say(f"RESULT least cosine of {len(chosen)} to float32: {cosines.min():.7f}, mean {cosines.mean():.7f} ({time.monotonic() - start:.1f} s); "
        f"between different sentences {(some['reference'][:-1] * some['reference'][1:]).sum(1).mean():.3f}")


def sentence_transformers():
    import sentence_transformers as st
    start = time.monotonic()
    model = st.SentenceTransformer(str(tmp / "published"), device=a.device)
    say("sentence-transformers", st.__version__, f"loaded in {time.monotonic() - start:.1f} s")
    if "chosen" in some:
        got = model.encode([texts[i] for i in some["chosen"][:64]], batch_size=32, normalize_embeddings=True)
        say(f"its float32 to ours: least cosine {(got.astype('f8') * some['reference'][:64]).sum(1).min():.7f}")
    if gpu:
        model.half()
    model.encode(texts[:512], batch_size=256)
    for batch in 256, 64:
        if left() < 25:
            return
        start = time.monotonic()
        got = model.encode(texts, batch_size=batch, normalize_embeddings=True, show_progress_bar=False)
        say(f"RESULT sentence-transformers float16, batches of {batch}: {time.monotonic() - start:.2f} s without start")
        if "chosen" in some:
            say(f"  least cosine {(got[some['chosen']].astype('f8') * some['reference']).sum(1).min():.7f}")


part(facts)
part(make_folder)
background = threading.Thread(target=lambda: part(import_model), daemon=True)
background.start()
part(make_sentences)
if gpu:
    part(kernels, 60)
background.join(max(1, left() - 40))
if imported.get("rc") == 0:
    part(run_mine, 15)
    part(compare, 8)
else:
    say("the encoder was not imported:", imported)
part(sentence_transformers, 25)
say("done")
