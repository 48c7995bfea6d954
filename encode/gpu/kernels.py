"""The kernels of a transformer's layers on NVIDIA's GPUs, in Triton, and what compiles them: kernels.py OUT.json.gz

Sentences lie one after the other, without padding: x [tokens, width]. Numbers are float16, all sums float32. Rows up to
the next multiple of a tile's may be written and read, but nothing of them goes into a sentence's. A sentence's sums do
not depend on where in a batch it is. PTX as in index/cuda/kernels.py (make cuda-kernels).
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "internal" / "cuda"))
import compiling  # before Triton: it sets what Triton reads
import triton
import triton.language as tl


@triton.jit
def normalised(x, at, scale, shift, width, epsilon):
    """Layer normalisation of rows x [rows, WIDTH], of which columns from `width` on are 0."""
    inside = at < width
    centred = tl.where(inside[None, :], x - tl.sum(x, axis=1)[:, None] / width, 0.0)
    variance = tl.sum(centred * centred, axis=1) / width
    y = centred * tl.rsqrt(variance + epsilon)[:, None]
    return y * tl.load(scale + at, mask=inside, other=0.0)[None, :] + tl.load(shift + at, mask=inside, other=0.0)[None, :]


@triton.jit
def embed(ids, places, words, positions, scale, shift, out, width, rows, epsilon, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The normalised sums of a token's word and place: float32 tables [., width]."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, WIDTH)
    there = row < rows
    mask = there[:, None] & (at < width)[None, :]
    id = tl.load(ids + row, mask=there, other=0).to(tl.int64)
    place = tl.load(places + row, mask=there, other=0)
    x = tl.load(words + (id[:, None] * width + at[None, :]), mask=mask, other=0.0)
    x += tl.load(positions + (place[:, None] * width + at[None, :]), mask=mask, other=0.0)
    y = normalised(x, at, scale, shift, width, epsilon)
    tl.store(out + (row[:, None] * width + at[None, :]), y.to(tl.float16), mask=mask)


@triton.jit
def norm(x, residual, scale, shift, out, width, rows, epsilon, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The normalised sums of x and residual [rows, width]. out may be residual."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, WIDTH)
    mask = (row < rows)[:, None] & (at < width)[None, :]
    cell = row[:, None] * width + at[None, :]
    sums = tl.load(x + cell, mask=mask, other=0.0).to(tl.float32) + tl.load(residual + cell, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + cell, normalised(sums, at, scale, shift, width, epsilon).to(tl.float16), mask=mask)


@triton.jit
def tile(row_tiles, col_tiles, SWATH: tl.constexpr):
    """The tile of this block. Tiles go in swaths of rows, so that those at work at one time share operands in the cache."""
    at = tl.program_id(0)
    swath = SWATH * col_tiles
    first = at // swath * SWATH
    height = min(row_tiles - first, SWATH)
    return first + (at % swath) % height, (at % swath) // height


@triton.jit
def sums(x, matrix, rows, cols, depth, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The products of rows of x [., depth] with rows of matrix [., depth], [BM, BN]."""
    part = tl.arange(0, BK)
    a = x + (rows[:, None] * depth + part[None, :])
    b = matrix + (cols[None, :] * depth + part[:, None])
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, depth, BK):
        total = tl.dot(tl.load(a), tl.load(b), total)
        a += BK
        b += BK
    return total


@triton.jit
def product(x, matrix, bias, out, row_tiles, col_tiles, depth,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SWATH: tl.constexpr):
    """out [rows, columns] = x [rows, depth] by matrix [columns, depth], and a bias [columns] in float32."""
    row, col = tile(row_tiles, col_tiles, SWATH)
    rows, cols = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN)
    y = sums(x, matrix, rows, cols, depth, BM, BN, BK) + tl.load(bias + cols)[None, :]
    tl.store(out + (rows[:, None] * (col_tiles * BN) + cols[None, :]), y.to(tl.float16))


@triton.jit
def gelu(x, matrix, bias, out, row_tiles, col_tiles, depth,
         BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SWATH: tl.constexpr):
    """product, and y times the share of a normal distribution below y. That is computed to 1e-7 (Abramowitz and Stegun, 7.1.26)."""
    row, col = tile(row_tiles, col_tiles, SWATH)
    rows, cols = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN)
    y = sums(x, matrix, rows, cols, depth, BM, BN, BK) + tl.load(bias + cols)[None, :]
    z = tl.abs(y) * 0.7071067811865476
    t = 1.0 / (1.0 + 0.3275911 * z)
    tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    tail = 0.5 * tail * tl.exp2(z * z * -1.4426950408889634)
    y = y * tl.where(y < 0, tail, 1.0 - tail)
    tl.store(out + (rows[:, None] * (col_tiles * BN) + cols[None, :]), y.to(tl.float16))


@triton.jit
def attend(x, tiles, out, heads, width, scale, BM: tl.constexpr, BN: tl.constexpr, SIZE: tl.constexpr):
    """What tokens attend to: x [tokens, 3, heads, SIZE] has queries, keys and values, out [tokens, heads, SIZE].

    A block computes a head of BM tokens of a sentence: tiles has the first of them and the sentence's first and end.
    Scores times `scale` are exponents of 2. (Dao et al. 2022.)
    """
    at = tl.program_id(0) // heads
    head = tl.program_id(0) % heads
    first = tl.load(tiles + 3 * at)
    start = tl.load(tiles + 3 * at + 1)
    end = tl.load(tiles + 3 * at + 2)
    size = tl.arange(0, SIZE)
    rows = first + tl.arange(0, BM)
    of = x + head * SIZE
    q = tl.load(of + (rows[:, None] * (3 * width) + size[None, :]), mask=(rows < end)[:, None], other=0.0)
    largest = tl.full((BM,), float("-inf"), tl.float32)
    shares = tl.zeros((BM,), dtype=tl.float32)
    total = tl.zeros((BM, SIZE), dtype=tl.float32)
    for other in range(start, end, BN):
        cols = other + tl.arange(0, BN)
        there = cols < end
        k = tl.load(of + width + (cols[None, :] * (3 * width) + size[:, None]), mask=there[None, :], other=0.0)
        scores = tl.where(there[None, :], tl.dot(q, k) * scale, float("-inf"))
        above = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp2(scores - above[:, None])
        less = tl.exp2(largest - above)
        shares = shares * less + tl.sum(weights, axis=1)
        v = tl.load(of + 2 * width + (cols[:, None] * (3 * width) + size[None, :]), mask=there[:, None], other=0.0)
        total = tl.dot(weights.to(tl.float16), v, total * less[:, None])
        largest = above
    y = total / shares[:, None]
    tl.store(out + (rows[:, None] * width + head * SIZE + size[None, :]), y.to(tl.float16), mask=(rows < end)[:, None])


@triton.jit
def pool(x, starts, out, width, first, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The mean of each sentence's rows, or its first row, in float32: sentence i has the rows from starts[i] to starts[i+1]."""
    sentence = tl.program_id(0)
    start = tl.load(starts + sentence)
    end = tl.load(starts + sentence + 1)
    end = tl.where(first != 0, start + 1, end)
    at = tl.arange(0, WIDTH)
    total = tl.zeros((WIDTH,), dtype=tl.float32)
    for row in range(start, end, ROWS):
        rows = row + tl.arange(0, ROWS)
        some = tl.load(x + (rows[:, None] * width + at[None, :]), mask=(rows < end)[:, None] & (at < width)[None, :], other=0.0)
        total += tl.sum(some.to(tl.float32), axis=0)
    tl.store(out + sentence * width + at, total / (end - start), mask=at < width)


@triton.jit
def turn(values, matrix, depth, columns, SIDE: tl.constexpr):
    """matrix [columns, depth] in float16, of values [depth, columns] in float32."""
    across = columns // SIDE
    rows = tl.program_id(0) // across * SIDE + tl.arange(0, SIDE)
    cols = tl.program_id(0) % across * SIDE + tl.arange(0, SIDE)
    some = tl.load(values + (rows[:, None] * columns + cols[None, :]))
    tl.store(matrix + (cols[:, None] * depth + rows[None, :]), tl.trans(some).to(tl.float16))


TYPES = {name: "*fp16" for name in ("x", "residual", "matrix", "out")}
TYPES |= {name: "*fp32" for name in ("words", "positions", "scale", "shift", "bias", "values")}
TYPES |= {name: "*i32" for name in ("ids", "places", "tiles", "starts")}
TYPES |= {"epsilon": "fp32"}
OTHERS = {attend: {"scale": "fp32"}, pool: {"out": "*fp32"}}


def compiled(name, kernel, capability, warps, stages, **constants):
    return compiling.compiled(name, kernel, TYPES | OTHERS.get(kernel, {}), ("width", "depth", "columns"), capability, warps, stages, **constants)


if __name__ == "__main__":
    bundle = []
    for kernel in product, gelu:
        name = kernel.fn.__name__
        bundle += [compiled(name, kernel, 90, 4, 3, BM=128, BN=128, BK=64, SWATH=16),
                   compiled(name, kernel, 80, 4, 4, BM=128, BN=128, BK=32, SWATH=16)]
    for size in 32, 64:
        bundle.append(compiled(f"attend{size}", attend, 80, 4, 2, BM=64, BN=64, SIZE=size))
    for width in 512, 1024:
        bundle += [compiled(f"{kernel.fn.__name__}{width}", kernel, 80, 4, 1, ROWS=4, WIDTH=width) for kernel in (embed, norm)]
        bundle.append(compiled(f"pool{width}", pool, 80, 4, 1, ROWS=8, WIDTH=width))
    bundle.append(compiled("turn", turn, 80, 4, 1, SIDE=64))
    compiling.write(sys.argv[1], bundle)
