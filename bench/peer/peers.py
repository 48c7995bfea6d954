"""What `mine` is compared with, each a function that is run as a process of its own by speed.py:

    python bench/peer/peers.py NAME ARGUMENT...

It prints seconds of wall and of CPU time as JSON. They begin when the libraries are imported.
"""

import json
import os
import resource
import subprocess
import sys
import time

THREADS, K = 2, 4
os.environ.update(OMP_NUM_THREADS=str(THREADS), RAYON_NUM_THREADS=str(THREADS), OMP_WAIT_POLICY="passive")
import numpy as np


def now():
    used = sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return np.array([time.perf_counter(), used])


def report(used, **more):
    print(json.dumps({"wall": used[0], "cpu": used[1], **more}))


def lines(path):
    return open(path, encoding="utf-8").read().splitlines()


def model2vec(folder, text, out, processes):
    from model2vec import StaticModel

    began = now()
    model = StaticModel.from_pretrained(folder)
    np.save(out, model.encode(lines(text), use_multiprocessing=processes == "processes"))
    if processes == "processes":  # CPU seconds of children count when they have ended
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)
    report(now() - began)


def onnxruntime(folder, text, out):
    import mine
    import onnxruntime, sentencepiece  # noqa: F401

    began = now()
    np.save(out, mine.encode(*mine.load(folder), lines(text)))
    report(now() - began)


def whole(model, source, target, out, threshold):
    import mine
    import onnxruntime, sentencepiece  # noqa: F401

    began = now()
    mine.main(model, source, target, out, threshold)
    report(now() - began)


def sentence_transformers(folder, source, target, out, threshold):
    """Encoding by sentence-transformers, then exact search by FAISS and the ratio margin, as in its bitext mining example."""
    import faiss
    import mine
    import torch
    from safetensors.numpy import load_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    torch.set_num_threads(THREADS)
    faiss.omp_set_num_threads(THREADS)
    began = now()
    table = load_file(f"{folder}/model.safetensors")["embeddings"]
    static = StaticEmbedding(Tokenizer.from_file(f"{folder}/tokenizer.json"), embedding_weights=table)
    model = SentenceTransformer(modules=[static], device="cpu")
    x, y = mine.read(source), mine.read(target)
    rows = [model.encode([text for _, text in side], batch_size=256, normalize_embeddings=True) for side in (x, y)]
    with open(out, "w", encoding="utf-8") as f:
        for score, i, j in mine.mine(*rows, float(threshold)):
            f.write(f"{score:.6f}\t{x[i][0]}\t{y[j][0]}\t{x[i][1]}\t{y[j][1]}\n")
    report(now() - began)


def unit(path):
    rows = np.load(path).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def faiss_flat(source, target, out):
    import faiss

    faiss.omp_set_num_threads(THREADS)
    began = now()
    x, y = unit(source), unit(target)
    for name, queries, base in (("src", x, y), ("tgt", y, x)):
        index = faiss.IndexFlatIP(base.shape[1])
        index.add(base)
        np.save(f"{out}.{name}.npy", index.search(queries, K)[1])
    report(now() - began)


def usearch_exact(source, target, out):
    from usearch.index import MetricKind, search

    began = now()
    x, y = unit(source), unit(target)
    for name, queries, base in (("src", x, y), ("tgt", y, x)):
        np.save(f"{out}.{name}.npy", search(base, queries, K, MetricKind.IP, exact=True, threads=THREADS).keys.astype(np.int64))
    report(now() - began)


def approximate(source, target, exact, recall, build, settings):
    """Both directions with the first setting that reaches the recall. Searches with the settings before it do not count."""
    began = now()
    x, y = unit(source), unit(target)
    indexes = build(y), build(x)
    built = now() - began
    want = [np.load(f"{exact}/{name}_rows.npy") for name in ("src", "tgt")]
    for setting in settings:
        began = now()
        found = [search(queries, setting) for search, queries in zip(indexes, (x, y))]
        searched = now() - began
        got = np.mean([(w[:, :, None] == f[:, None, :]).any(2).mean() for w, f in zip(want, found)])
        if got >= float(recall):
            break
    report(built + searched, agreement=f"recall {got:.4f} at {setting}")


def faiss_index(factory, setting, base):
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.index_factory(base.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
    index.train(base)
    index.add(base)

    def search(queries, value):
        faiss.ParameterSpace().set_index_parameter(index, setting, value)
        return index.search(queries, K)[1]

    return search


def faiss_ivf(source, target, exact, recall, lists):
    import faiss  # noqa: F401

    approximate(source, target, exact, recall, lambda base: faiss_index(f"IVF{lists},Flat", "nprobe", base), (1, 2, 4, 8, 16, 24, 32, 36, 40, 44, 48, 56, 64))


def faiss_hnsw(source, target, exact, recall):
    import faiss  # noqa: F401

    approximate(source, target, exact, recall, lambda base: faiss_index("HNSW32,Flat", "efSearch", base), (8, 12, 16, 18, 20, 22, 24, 28, 32, 36, 40, 48, 64, 96, 128, 256))


def usearch_hnsw(source, target, exact, recall):
    from usearch.index import Index

    def build(base):
        index = Index(ndim=base.shape[1], metric="ip")
        index.add(np.arange(len(base)), base, threads=THREADS)

        def search(queries, breadth):
            index.expansion_search = breadth
            return index.search(queries, K, threads=THREADS).keys.astype(np.int64)

        return search

    approximate(source, target, exact, recall, build, (8, 12, 16, 18, 20, 22, 24, 28, 32, 36, 40, 48, 64, 96, 128, 256))


def opusfilter(config):
    """Its own command, whose start counts. It has two processes, each with one thread."""
    os.environ["OMP_NUM_THREADS"] = "1"
    began = now()
    subprocess.run([os.path.join(os.path.dirname(sys.executable), "opusfilter"), config, "--overwrite"], check=True)
    report(now() - began)


def pyarrow(source, out):
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet

    began = now()
    options = csv.WriteOptions(delimiter="\t")
    file = parquet.ParquetFile(source)
    with csv.CSVWriter(out, file.schema_arrow, write_options=options) as writer:
        for batch in file.iter_batches():
            writer.write_batch(batch)
    report(now() - began)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
