"""What only a GPU can show, in ten minutes: check.py PROGRAM RESULT [--plugin FILE] [--rows N] [--encoder MODEL]

PROGRAM is mine, such as usr/lib/mine/launch of a package (make packages), which brings its libraries along. FILE is a
PJRT plugin, for training; without it that of a JAX for CUDA in this Python is taken. RESULT is a Markdown file, which has a row for
every check as soon as it is done: result, seconds, detail. A check that cannot be made has the reason. Rehearsal
without a GPU: make check-gpu.
"""
import argparse, glob, hashlib, json, os, pathlib, random, re, site, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("result")
parser.add_argument("--plugin")
parser.add_argument("--rows", type=int, default=1_000_000, help="of each side of the search that is timed")
parser.add_argument("--dim", type=int, default=1024)
parser.add_argument("--encoder", help="a model.yaml of several layers, to encode on the GPU and on the CPU")
parser.add_argument("--seconds", type=int, default=180, help="of one check at most")
a = parser.parse_args()
program, result = os.path.abspath(a.program), pathlib.Path(a.result).absolute()
root = pathlib.Path(__file__).resolve().parents[2]
folders = [*site.getsitepackages(), site.getusersitepackages()]
plugin = a.plugin or next((p for f in folders for p in sorted(glob.glob(f + "/jax_plugins/xla_cuda*/xla_cuda_plugin.so"))), "")
libraries = [d for f in folders for d in sorted(glob.glob(f + "/nvidia/*/lib"))]
environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([*libraries, os.environ.get("LD_LIBRARY_PATH", "")]).strip(":"), "GOPJRT_CUDA_CHECKS": "0"}


def driver():
    """The GPUs and their driver; empty without one."""
    if not any(os.access(os.path.join(p, "nvidia-smi"), os.X_OK) for p in os.environ["PATH"].split(":")):
        return ""
    cards = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], capture_output=True, text=True)
    return "; ".join(cards.stdout.splitlines())


gpu = driver()


class Skipped(Exception):
    """A check that this machine cannot make."""


def mine(*words):
    """Runs the program; returns its seconds and what it printed."""
    begin = time.monotonic()
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, env=environment, timeout=a.seconds, errors="replace")
    if done.returncode:
        raise RuntimeError(f"mine {words[0]} ended with {done.returncode}: {' '.join(done.stderr.split())[-400:]}")
    return time.monotonic() - begin, done.stdout + done.stderr


def rows(path, n, seed):
    """Writes n random rows in float16 of lengths near one."""
    head = f"{{'descr': '<f2', 'fortran_order': False, 'shape': ({n}, {a.dim}), }}".ljust(117) + "\n"
    draw = random.Random(seed)
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00v\x00" + head.encode())
        low, high = bytes(range(256)), bytes((b & 0x83) | 0x24 for b in range(256))  # an exponent of 2^-6, sign and mantissa as drawn
        for _ in range(n):
            data = bytearray(draw.randbytes(2 * a.dim))
            data[1::2] = bytes(data[1::2]).translate(high)
            f.write(data)


def need_gpu():
    if not gpu:
        raise Skipped("no NVIDIA driver")
    return "cuda"


def need_plugin():
    if not plugin:
        raise Skipped("no PJRT plugin: name one with --plugin, or use a Python with JAX for CUDA")
    return "xla:" + os.path.abspath(plugin)


def digest(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir()) if p.suffix == ".npy"}


def search_is_exact(tmp):
    """The lists of both directions have the bytes of exact search on the CPU."""
    where = need_gpu()
    for i, name in enumerate("ab"):
        rows(tmp / f"{name}.npy", 4000 + 500 * i, i)
    found = {}
    for name, how in ("cpu", "exact"), ("device", where):
        seconds, _ = mine("neighbours", tmp / "a.npy", tmp / "b.npy", "--search", how, "--k", 8, "--out", tmp / name)
        found[name] = digest(tmp / name)
    if found["cpu"] != found["device"]:
        raise RuntimeError("the lists differ")
    return f"4,000 x 4,500 x {a.dim}, k = 8: the same bytes; {seconds:.1f} s with start on the device"


def search_speed(tmp):
    where = need_gpu()
    for i, name in enumerate("ab"):
        rows(tmp / f"{name}.npy", a.rows, i)
    seconds, _ = mine("neighbours", tmp / "a.npy", tmp / "b.npy", "--search", where, "--k", 4, "--out", tmp / "big")
    return f"{a.rows:,} x {a.rows:,} x {a.dim}, both directions, k = 4: {seconds:.1f} s with start, reading and writing"


def run_is_the_same(tmp):
    where = need_gpu()
    got = {}
    for name, how in ("cpu", "exact"), ("device", where):
        mine("run", "--src", "de", "--tgt", "en", "--search", how, "--out", tmp / name)
        got[name] = json.loads((tmp / name / "run.json").read_text())["bitext"]
    if got["cpu"]["sha256"] != got["device"]["sha256"]:
        raise RuntimeError("the bitext differs")
    return f"{got['cpu']['rows']} pairs, the same bytes"


def training(tmp):
    where = need_plugin()
    last = {}
    mine("run", "--src", "de", "--tgt", "en", "--out", tmp / "mined")
    (tmp / "fixtures").symlink_to(root / "fixtures")
    os.chdir(tmp)  # where the preset has its text and its test set
    for name, device in ("cpu", "cpu"), ("device", where):
        seconds, _ = mine("train", "--config", root / "configs/train/bag-sample.yaml", "--device", device, "--out", tmp / name)
        steps = [json.loads(line) for line in (tmp / name / "train.jsonl").read_text().splitlines()]
        last[name] = [s["loss"] for s in steps if "loss" in s][-1]
    os.chdir(root)
    if abs(last["cpu"] - last["device"]) > 0.02 * abs(last["cpu"]):
        raise RuntimeError(f"the last loss is {last['device']}, on the CPU {last['cpu']}")
    return f"last loss {last['device']:.4f}, on the CPU {last['cpu']:.4f}; {seconds:.1f} s with compiling"


def encoding(tmp):
    if not a.encoder:
        raise Skipped("name an encoder of several layers with --encoder")
    _, said = mine("doctor", "--device", "cuda", "--encoder", a.encoder)
    text = tmp / "text"
    lines = (root / "fixtures/text/en.txt").read_text().splitlines()
    text.write_text("".join(f"{lines[i % len(lines)]} ({i})\n" for i in range(20_000)))
    import numpy
    vectors, told = {}, []
    for device in "cpu", "cuda", "cuda:all:float16":
        out = tmp / (device.replace(":", "-") + ".npy")
        part = text
        if device == "cpu":
            part = tmp / "some"
            part.write_text("".join(text.read_text().splitlines(keepends=True)[:500]))
        seconds, _ = mine("encode", "--lang", "en", part, "--device", device, "--encoder", a.encoder, "--out", out)
        vectors[device] = numpy.load(out).astype("float32")
        told.append(f"{device} {len(vectors[device]) / seconds:.0f} sentences/s with start")
    for device in "cuda", "cuda:all:float16":
        least = (vectors["cpu"] * vectors[device][:500]).sum(1).min()
        told.append(f"least cosine of {device} to the CPU {least:.5f}")
        if least < 0.999:
            raise RuntimeError("; ".join(told))
    return "; ".join(told)


def facts(tmp):
    _, said = mine("doctor")
    cpu = re.search(r"^cpu .*$", said, re.M).group(0)
    return f"{gpu or 'no NVIDIA driver'}; {' '.join(cpu.split()[2:])}; plugin {os.path.basename(plugin) or 'none'}"


failed = 0
result.write_text(f"# On a GPU\n\n`bench/gpu/check.py`, {time.strftime('%Y-%m-%d')}\n\n| check | result | s | detail |\n| --- | --- | --- | --- |\n")
for check in facts, search_is_exact, run_is_the_same, training, encoding, search_speed:
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mine-gpu-") as tmp:
        try:
            outcome, detail = "ok", check(pathlib.Path(tmp))
        except Skipped as why:
            outcome, detail = "not made", str(why)
        except (RuntimeError, OSError, ImportError, subprocess.TimeoutExpired) as why:
            outcome, detail, failed = "FAILED", str(why), failed + 1
    with open(result, "a") as f:
        f.write(f"| {check.__name__.replace('_', ' ')} | {outcome} | {time.monotonic() - begin:.0f} | {detail.replace('|', '/')} |\n")
print(result.read_text(), end="")
sys.exit(1 if failed else 0)
