"""The kernels of exact search on NVIDIA's GPUs, in Triton, and what compiles them: kernels.py OUT.json.gz

The file has PTX, which the driver compiles for its GPU: of products once for Hopper, whose matrix units need code of
their own, and once for every GPU since Ampere. The same Triton writes the same bytes (make cuda-kernels).
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "internal" / "cuda"))
import compiling  # before Triton: it sets what Triton reads
import triton
import triton.language as tl

GROUP = 16  # columns' lists have groups of so many queries, rows' lists of FOLD times as many base rows
FOLD = 2


@triton.jit
def maxima(queries, base, row_max, col_max, row_stride, col_stride, row_tiles, col_tiles, dim,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GM: tl.constexpr, GN: tl.constexpr, SWATH: tl.constexpr):
    """The largest scores of each query in each group of GN base rows, and of each base row in each group of GM queries.

    queries [rows, dim] and base [cols, dim] are float16, scores float32 and never written. Tiles go in swaths of rows, so
    that those at work at one time share operands in the cache.
    """
    at = tl.program_id(0)
    swath = SWATH * col_tiles
    first = at // swath * SWATH
    height = min(row_tiles - first, SWATH)
    row_tile = first + (at % swath) % height
    col_tile = (at % swath) // height
    rows = row_tile * BM + tl.arange(0, BM)
    cols = col_tile * BN + tl.arange(0, BN)
    part = tl.arange(0, BK)
    q = queries + (rows[:, None] * dim + part[None, :])
    b = base + (cols[None, :] * dim + part[:, None])
    scores = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, dim, BK):
        scores = tl.dot(tl.load(q), tl.load(b), scores)
        q += BK
        b += BK
    of_rows = tl.max(tl.reshape(scores, (BM, BN // GN, GN)), axis=2)
    of_cols = tl.max(tl.reshape(scores, (BM // GM, GM, BN)), axis=1)
    col_groups = col_tile * (BN // GN) + tl.arange(0, BN // GN)
    row_groups = row_tile * (BM // GM) + tl.arange(0, BM // GM)
    tl.store(row_max + (rows[:, None] * row_stride + col_groups[None, :]), of_rows)
    tl.store(col_max + (cols[None, :] * col_stride + row_groups[:, None]), of_cols)


@triton.jit
def select(maxima, stride, groups, first, keep, values, chosen, SLOTS: tl.constexpr, WIDTH: tl.constexpr):
    """Merges a list's maxima [groups], of groups from `first` on, into its largest so far: values and numbers [keep]."""
    row = tl.program_id(0).to(tl.int64)
    slot = tl.arange(0, SLOTS)
    value = tl.load(values + row * keep + slot, mask=slot < keep, other=float("inf"))
    number = tl.load(chosen + row * keep + slot, mask=slot < keep, other=0)
    worst = tl.min(value, axis=0)
    lane = tl.arange(0, WIDTH)
    for start in range(0, groups, WIDTH):
        some = tl.load(maxima + row * stride + start + lane, mask=start + lane < groups, other=float("-inf"))
        best = tl.max(some, axis=0)
        while best > worst:
            where = tl.argmax(some, axis=0)
            out = slot == tl.argmin(value, axis=0)
            value = tl.where(out, best, value)
            number = tl.where(out, first + start + where, number)
            worst = tl.min(value, axis=0)
            some = tl.where(lane == where, float("-inf"), some)
            best = tl.max(some, axis=0)
    tl.store(values + row * keep + slot, value, mask=slot < keep)
    tl.store(chosen + row * keep + slot, number, mask=slot < keep)


@triton.jit
def rescore(queries, base, values, chosen, fold, keep, rows, dim, scores, ids, floors,
            SLOTS: tl.constexpr, GROUP: tl.constexpr, BK: tl.constexpr):
    """The largest scores of a query with the rows of its chosen groups, each of `fold` times GROUP of the base's rows.

    floors has the least value of the chosen groups: no other row's score is above it.
    """
    row = tl.program_id(0).to(tl.int64)
    slot = tl.arange(0, SLOTS)
    least = tl.min(tl.load(values + row * keep + slot, mask=slot < keep, other=float("inf")), axis=0)
    tl.store(floors + row, least)
    score = tl.where(slot < keep, float("-inf"), float("inf"))
    id = tl.full((SLOTS,), -1, tl.int32)
    worst = tl.min(score, axis=0)
    lane = tl.arange(0, GROUP)
    part = tl.arange(0, BK)
    for i in range(0, keep):
        group = tl.load(chosen + row * keep + i)
        if group >= 0:
            for j in range(0, fold):
                members = (group * fold + j) * GROUP + lane
                sums = tl.zeros((GROUP,), dtype=tl.float32)
                for d in range(0, dim, BK):
                    q = tl.load(queries + row * dim + d + part).to(tl.float32)
                    b = tl.load(base + (members[:, None].to(tl.int64) * dim + d + part[None, :])).to(tl.float32)
                    sums += tl.sum(q[None, :] * b, axis=1)
                sums = tl.where(members < rows, sums, float("-inf"))
                best = tl.max(sums, axis=0)
                while best > worst:
                    where = tl.argmax(sums, axis=0)
                    out = slot == tl.argmin(score, axis=0)
                    score = tl.where(out, best, score)
                    id = tl.where(out, (group * fold + j) * GROUP + where, id)
                    worst = tl.min(score, axis=0)
                    sums = tl.where(lane == where, float("-inf"), sums)
                    best = tl.max(sums, axis=0)
    tl.store(scores + row * keep + slot, score, mask=slot < keep)
    tl.store(ids + row * keep + slot, id, mask=slot < keep)


TYPES = {"queries": "*fp16", "base": "*fp16", "row_max": "*fp32", "col_max": "*fp32", "maxima": "*fp32", "values": "*fp32",
         "chosen": "*i32", "scores": "*fp32", "ids": "*i32", "floors": "*fp32"}


def compiled(name, kernel, capability, warps, stages, **constants):
    return compiling.compiled(name, kernel, TYPES, ("dim", "stride", "row_stride", "col_stride"), capability, warps, stages, **constants)


if __name__ == "__main__":
    groups = dict(GM=GROUP, GN=FOLD * GROUP, SWATH=16)
    bundle = [compiled("maxima", maxima, 90, 8, 3, BM=128, BN=256, BK=64, **groups),
              compiled("maxima", maxima, 80, 8, 4, BM=128, BN=256, BK=32, **groups)]
    for slots in 16, 32, 128:
        bundle.append(compiled(f"select{slots}", select, 80, 4, 1, SLOTS=slots, WIDTH=1024))
        bundle.append(compiled(f"rescore{slots}", rescore, 80, 4, 1, SLOTS=slots, GROUP=GROUP, BK=128))
    compiling.write(sys.argv[1], bundle)
