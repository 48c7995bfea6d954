"""Mines one text with engine local and through launchers: check.py PROGRAM PYTHON

PYTHON is that of a virtual environment with Ray and Snakemake (requirements.txt). Every run must give the bytes of the
local one, and a launcher that runs nothing must end in an error that says so. Prints seconds by launcher.
"""
import json, pathlib, subprocess, sys, tempfile, time

here = pathlib.Path(__file__).resolve().parent
program, python = (str(pathlib.Path(p).absolute()) for p in sys.argv[1:3])
LAUNCHERS = {
    "one by one": "{}",
    "xargs": r"xargs -d '\n' -P 2 -I TASK sh -c TASK < {tasks}",
    "ray": f"'{python}' '{here}/ray_tasks.py' {{tasks}}",
    "snakemake": f"START=\"$PWD\" '{python}' -m snakemake --quiet all --cores 2 --snakefile '{here}/Snakefile' --directory \"$(mktemp -d)\" --config tasks={{tasks}}",
}


def write_text(folder):
    head, *rows = [line.split("\t") for line in (here.parent.parent / "fixtures/text/parallel.tsv").read_text().splitlines()]
    for language in ("de", "en"):
        texts = [row[head.index(language)] for row in rows]
        lines = [f"{texts[i % len(texts)]} {texts[7 * i % len(texts)]} ({i})" for i in range(2000)]
        (folder / language).write_text("".join(line + "\n" for line in lines))


def run(folder, out, *engine):
    """The digest of a run's bitext, its seconds, and what it said."""
    begin = time.monotonic()
    done = subprocess.run([program, "run", "--src", "de", "--tgt", "en", "--src-text", "de", "--tgt-text", "en", "--shard-size", "1000", "--threads", "1",
                           "--max-memory", "2GiB", "--out", out, *engine], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return "", time.monotonic() - begin, done.stderr
    return json.loads((folder / out / "run.json").read_text())["bitext"]["sha256"], time.monotonic() - begin, done.stderr


with tempfile.TemporaryDirectory(prefix="mine launchers ") as name:
    folder = pathlib.Path(name)
    write_text(folder)
    want, seconds, said = run(folder, "local")
    if not want:
        sys.exit(said)
    print(f"local: {seconds:.1f} s, bitext {want[:12]}", flush=True)
    for launcher, line in LAUNCHERS.items():
        got, seconds, said = run(folder, launcher, "--engine", "command", "--command", line, "--command-jobs", "2")
        if got != want:
            sys.exit(f"{launcher}: bitext {got[:12]} is not that of the local run: {said[-2000:]}")
        print(f"{launcher}: {seconds:.1f} s, the same bytes", flush=True)
    got, _, said = run(folder, "nothing", "--engine", "command", "--command", "true {}")
    if got or "returned 0, but" not in said:
        sys.exit(f"a launcher that runs nothing: {said[-2000:]}")
    print("a launcher that runs nothing is an error")
