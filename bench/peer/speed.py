"""`mine` beside the best other program for each part of its work, by turns in one run: medians of wall and CPU seconds and
of peak memory, what the others need as a multiple of it, and how far the results agree.

    python bench/peer/speed.py MINE SOURCE TARGET PAIRS WORK [--torch PYTHON] [--strong MODEL] [--rounds 3] [--only NAME,NAME]

SOURCE and TARGET have id<TAB>sentence, PAIRS (TSV, also .gz) English and German in its last two columns. Seconds of `mine`
are those of its process, those of others begin after the import of their libraries (peers.py). PYTHON has
sentence-transformers (bench/models/architectures.txt), MODEL is a model.yaml; without them their comparisons are left out.
"""

import argparse
import csv
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys

import numpy as np
import yaml

parser = argparse.ArgumentParser()
for name in ("mine", "source", "target", "pairs", "work"):
    parser.add_argument(name)
parser.add_argument("--torch", default="")
parser.add_argument("--strong", default="")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--only", default="", help="how the parts to compare begin: encode,search: exact")
parser.add_argument("--sentences", type=int, default=100_000, help="to encode: those of both sides, and spliced ones")
parser.add_argument("--rows", type=int, default=10_000, help="of each side, to search")
parser.add_argument("--filter", type=int, default=20_000, help="pairs to filter")
parser.add_argument("--export", type=int, default=500_000, help="pairs to export: PAIRS repeated")
args = parser.parse_args()
W, PEERS = args.work, os.path.join(os.path.dirname(__file__), "peers.py")
ENCODER = "fixtures/models/use-static"
LISTS, PROBES = 256, 8


# A process begins with the peak memory of the one that starts it, so a small one starts what is measured.
LAUNCHER = """import os, sys, time
began = time.perf_counter()
_, status, used = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ), 0)
print()
print(os.waitstatus_to_exitcode(status), time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"""


def timed(argv):
    """Wall and CPU seconds and peak MiB of a process, and what it says of itself."""
    done = subprocess.run([sys.executable, "-ISc", LAUNCHER, *argv], check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    *output, last = done.stdout.strip().splitlines()
    status, wall, cpu, memory = map(float, last.split())
    if status:
        sys.exit(f"{' '.join(argv)}: exit status {status:.0f}\n" + "\n".join(output))
    said = json.loads(output[-2]) if PEERS in argv else {}
    return said.get("wall", wall), said.get("cpu", cpu), memory, said.get("agreement", "")


def mine(*argv):
    return [args.mine, *argv]


def peer(name, *argv, python=sys.executable):
    return [python, PEERS, name, *map(str, argv)]


def fresh(path):
    shutil.rmtree(path, ignore_errors=True)
    return path


def compare(title, ours, others, work=0, unit="", clean=()):
    """Runs ours and the others by turns. Others have a command and a function that says how far results agree."""
    if args.only and not title.startswith(tuple(args.only.split(","))):
        return
    results = {}
    for _ in range(args.rounds):
        for name, argv in ours, *((name, argv) for name, argv, _ in others):
            for path in clean if name == ours[0] else ():
                fresh(path)
            results.setdefault(name, []).append(timed(argv))
    medians = {name: [statistics.median(r[i] for r in runs) for i in range(3)] for name, runs in results.items()}
    checks = {name: check for name, _, check in others}
    base = medians[ours[0]]
    for name, m in medians.items():
        times = "" if name == ours[0] else " / ".join(f"{a / b:.2f}" for a, b in zip(m, base))
        rate = f"{work / m[0]:,.0f} {unit}" if work else ""
        said = results[name][-1][3] or (checks[name]() if checks.get(name) else "")
        print(f"| {title} | {name} | {m[0]:.2f} | {m[1]:.2f} | {m[2]:.0f} | {times} | {rate} | {said} |", flush=True)


def text(path):
    return [line.rstrip("\n").split("\t", 1)[1] for line in open(path, encoding="utf-8")]


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)


def splice(lines, count):
    """The lines, and as many more as count needs: the first half of one and the second half of another."""
    words, out = [line.split() for line in lines], list(lines[:count])
    for i in range(count - len(out)):
        a, b = words[i % len(words)], words[(i * 7919 + 13) % len(words)]
        out.append(" ".join(a[: len(a) // 2] + b[len(b) // 2 :]))
    return out


def random_model(folder, lines):
    """A model of model2vec of the shape of the potion models: 256 values for each of about 30,000 WordPieces."""
    import tokenizers as tk
    from model2vec import StaticModel

    t = tk.Tokenizer(tk.models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = tk.normalizers.BertNormalizer(lowercase=True), tk.pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(lines, tk.trainers.WordPieceTrainer(vocab_size=30_000, special_tokens=["[PAD]", "[UNK]"], show_progress=False))
    rows = np.random.default_rng(1).normal(size=(t.get_vocab_size(), 256)).astype(np.float32)
    StaticModel(rows, t, normalize=True).save_pretrained(fresh(folder))


def cosines(a, b):
    def check():
        x, y = np.load(a).astype(np.float32), np.load(b).astype(np.float32)
        each = (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
        return f"cosine least {np.nanmin(each):.4f}, mean {np.nanmean(each):.4f}"

    return check


def same_lists(ours, out):
    return lambda: f"recall {recall(ours, [np.load(f'{out}.{side}.npy') for side in ('src', 'tgt')]):.5f}"


def recall(ours, found):
    want = [np.load(f"{ours}/{side}_rows.npy") for side in ("src", "tgt")]
    return np.mean([(w[:, :, None] == f[:, None, :]).any(2).mean() for w, f in zip(want, found)])


def encoding(lines):
    count = len(lines)
    compare(
        "encode: model2vec",
        ("`mine encode`", mine("encode", "--threads", "2", "--lang", "en", "--encoder", f"{W}/imported/model.yaml", f"{W}/text", "--out", f"{W}/ours.npy")),
        [(f"model2vec, {how}", peer("model2vec", f"{W}/potion", f"{W}/text", f"{W}/theirs.npy", how), cosines(f"{W}/ours.npy", f"{W}/theirs.npy"))
         for how in ("one process", "processes")],
        count, "sentences/s")
    compare(
        "encode: default encoder",
        ("`mine encode`", mine("encode", "--threads", "2", "--lang", "en", f"{W}/text", "--out", f"{W}/ours.npy")),
        [("onnxruntime, sentencepiece", peer("onnxruntime", ENCODER, f"{W}/text", f"{W}/theirs.npy"), cosines(f"{W}/ours.npy", f"{W}/theirs.npy"))],
        count, "sentences/s")


def searching(source, target):
    sides = []
    for name, lang, lines in ("x", "de", source), ("y", "en", target):
        write(f"{W}/{name}", splice(lines, args.rows))
        sides.append(f"{W}/{name}.npy")
        timed(mine("encode", "--lang", lang, f"{W}/{name}", "--out", sides[-1]))
    exact, ivf = ("neighbours", *sides, "--threads", "2", "--out", f"{W}/exact"), ("neighbours", *sides, "--threads", "2", "--out", f"{W}/ivf")
    near = (*ivf, "--search", f"ivf:{LISTS}", "--nprobe", str(PROBES))
    timed(mine(*exact)), timed(mine(*near))
    reached = recall(f"{W}/exact", [np.load(f"{W}/ivf/{side}_rows.npy") for side in ("src", "tgt")])
    compare("search: exact", ("`mine neighbours`", mine(*exact)), [
        ("FAISS flat", peer("faiss_flat", *sides, f"{W}/flat"), same_lists(f"{W}/exact", f"{W}/flat")),
        ("usearch exact", peer("usearch_exact", *sides, f"{W}/usearch"), same_lists(f"{W}/exact", f"{W}/usearch"))])
    compare("search: approximate", (f"`mine neighbours`, ivf, recall {reached:.4f}", mine(*near)), [
        ("FAISS IVF", peer("faiss_ivf", *sides, f"{W}/exact", reached, LISTS), None),
        ("FAISS HNSW", peer("faiss_hnsw", *sides, f"{W}/exact", reached), None),
        ("usearch HNSW", peer("usearch_hnsw", *sides, f"{W}/exact", reached), None)])


def same_pairs(ours, theirs):
    """Pairs that both keep. Ours is a TSV with names of columns, theirs has the ids in its second and third column."""
    def check():
        timed(mine("export", ours, "--out", f"{W}/kept.tsv", "--columns", "src_doc,tgt_doc"))
        rows = [line.rstrip("\n").split("\t") for line in open(f"{W}/kept.tsv", encoding="utf-8")]
        at = [rows[0].index(name) for name in ("src_doc", "tgt_doc")]
        a = {(row[at[0]], row[at[1]]) for row in rows[1:]}
        b = {tuple(line.split("\t")[1:3]) for line in open(theirs, encoding="utf-8")}
        return f"{len(a)} and {len(b)} pairs, {len(a & b)} in both"

    return check


def running():
    run = ("run", "--src", "de", "--tgt", "en", "--src-text", args.source, "--tgt-text", args.target, "--threads", "2")
    out = fresh(f"{W}/run")
    margin = (*run, "--out", out, "--scorer", "none", "--threshold")
    files = f"{out}/de-en.parquet", f"{W}/mined.tsv"
    library = "onnxruntime, faiss-cpu", peer("whole", ENCODER, args.source, args.target, files[1], 1.2668)
    compare("run: default", ("`mine run`, by margin", mine(*margin, "1.2668")),
            [(*library, same_pairs(*files)), ("`mine run`, default scorer", mine(*run, "--out", f"{out}.scored"), None)], clean=[out, f"{out}.scored"])
    if args.torch:
        theirs = peer("sentence_transformers", f"{W}/potion", args.source, args.target, files[1], 1.2, python=args.torch)
        compare("run: the same model", ("`mine run`", mine(*margin, "1.2", "--encoder", f"{W}/imported/model.yaml")),
                [("sentence-transformers, faiss-cpu", theirs, same_pairs(*files))], clean=[out])
    if args.strong:  # the default scorer takes no time to fit, as a later night's takes none
        everything = mine(*run, "--out", f"{out}.all", "--encoder", args.strong, "--scorer", "default")
        compare("run: two stages", ("`mine run --refine`", mine(*run, "--out", f"{out}.two", "--refine", args.strong)),
                [("`mine run --encoder`, the strong encoder on all", everything, None)], clean=[f"{out}.two", f"{out}.all"])


RULES = {
    "length": "min(words_src, words_tgt) < 1 or max(words_src, words_tgt) > 100", "ratio": "length_ratio > 3", "word": "longest_word > 40",
    "script": "min(script_src, script_tgt) < 0.9", "letters": "letter_share < 0.6", "language": "foreign > 0",
    "numbers": "numbers_differ * 2 > numbers", "alike": "overlap > 0.9", "duplicate": "copy == 2"}
FILTERS = [
    {"LengthFilter": {"unit": "word", "min_length": 1, "max_length": 100}}, {"LengthRatioFilter": {"unit": "char", "threshold": 3}},
    {"LongWordFilter": {"threshold": 40}}, {"CharacterScoreFilter": {"scripts": ["Latin", "Latin"], "thresholds": [0.9, 0.9]}},
    {"AlphabetRatioFilter": {"threshold": 0.6, "exclude_whitespace": True}}, {"LangidFilter": {"languages": ["de", "en"]}},
    {"NonZeroNumeralsFilter": {"threshold": 0.5}}, {"SimilarityFilter": {"threshold": 0.9}}]


def filtering(pairs):
    pairs = pairs[: args.filter]
    for side, name in enumerate(("en", "de")):
        write(f"{W}/pairs.{name}", [pair[side] for pair in pairs])
    files = [f"{W}/pairs.{name}" for name in ("de", "en")]
    unique, kept = [f + ".unique" for f in files], [f + ".kept" for f in files]
    steps = [{"type": "remove_duplicates", "parameters": {"inputs": files, "outputs": unique}},
             {"type": "filter", "parameters": {"inputs": unique, "outputs": kept, "filters": FILTERS, "n_jobs": 2}}]
    with open(f"{W}/rules.yaml", "w") as ours, open(f"{W}/opusfilter.yaml", "w") as theirs:
        yaml.safe_dump({"rules": RULES}, ours)
        yaml.safe_dump({"common": {"output_directory": os.path.abspath(W)}, "steps": json.loads(json.dumps(steps).replace(W + "/", ""))}, theirs)

    def agreement():
        timed(mine("export", f"{W}/filtered.parquet", "--src", "de", "--tgt", "en", "--format", "moses", "--out", f"{W}/ours"))
        a, b = ({tuple(pair) for pair in zip(*(open(f, encoding="utf-8").read().split("\n") for f in two))} for two in ([f"{W}/ours.de", f"{W}/ours.en"], kept))
        return f"{len(a)} and {len(b)} pairs kept, {len(a & b)} in both"

    compare("filter", ("`mine filter`, all annotations", mine("filter", *files, "--src", "de", "--tgt", "en", "--config", f"{W}/rules.yaml", "--out", f"{W}/filtered.parquet")),
            [("OpusFilter, eight filters", peer("opusfilter", f"{W}/opusfilter.yaml"), agreement)], len(pairs), "pairs/s")


def exporting(pairs):
    repeated = (pairs * (args.export // len(pairs) + 1))[: args.export]
    write(f"{W}/all.tsv", ["src_text\ttgt_text"] + ["\t".join(pair) for pair in repeated])
    timed(mine("export", f"{W}/all.tsv", "--src", "en", "--tgt", "de", "--columns", "src_text,tgt_text", "--out", f"{W}/all.parquet"))

    def agreement():
        ours = open(f"{W}/ours.tsv", encoding="utf-8", newline="").read().replace("\\\\", "\\").split("\n")[:-1]  # our TSV escapes
        with open(f"{W}/theirs.tsv", encoding="utf-8", newline="") as f:
            return "the same rows" if ours == ["\t".join(row) for row in csv.reader(f, delimiter="\t")] else "rows differ"

    compare("export", ("`mine export`", mine("export", f"{W}/all.parquet", "--out", f"{W}/ours.tsv", "--columns", "src_text,tgt_text")),
            [("pyarrow", peer("pyarrow", f"{W}/all.parquet", f"{W}/theirs.tsv"), agreement)], os.path.getsize(f"{W}/all.tsv") / 1e6, "MB/s")


def main():
    os.makedirs(W, exist_ok=True)
    source, target = text(args.source), text(args.target)
    opened = gzip.open if args.pairs.endswith(".gz") else open
    with opened(args.pairs, "rt", encoding="utf-8") as f:
        pairs = [line.rstrip("\n").split("\t")[-2:] for line in f]
    lines = splice(source + target, args.sentences)
    write(f"{W}/text", lines)
    random_model(f"{W}/potion", source + target)
    timed(mine("model", "import", f"{W}/potion", "--out", fresh(f"{W}/imported")))
    print(f"Load {os.getloadavg()[0]:.1f} at the start; medians of {args.rounds}.\n")
    print("| | program | wall s | CPU s | peak MiB | theirs / ours: wall / CPU / memory | rate | agreement |\n|" + " --- |" * 8)
    exporting(pairs), filtering(pairs), encoding(lines), running(), searching(source, target)
    print(f"\nLoad {os.getloadavg()[0]:.1f} at the end.")


main()
