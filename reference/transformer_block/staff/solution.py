"""A transformer block in Triton: seven launches of three kernels. GELU and the additions are the ends of products."""

import math

import torch
import triton
import triton.language as tl

# A row of up to this many elements fits into the registers of one program.
ONE_BLOCK = 8192
# Tiles are walked in groups of this many rows of tiles, so that programs that run together share rows of one factor
# and columns of the other in the L2 cache.
GROUP = 8
# Exponentials are powers of 2 in hardware: exp(x) = 2^(x * log2(e)).
LOG2_E = math.log2(math.e)
PLAIN, GELU, ADD = 0, 1, 2


@triton.jit
def norm_kernel(x, gamma, out, eps, cols, BLOCK: tl.constexpr, ONE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    if ONE:
        inside = column < cols
        values = tl.load(x + row + column, mask=inside, other=0.0).to(tl.float32)
        factor = tl.rsqrt(tl.sum(values * values, axis=0) / cols + eps)
        scale = tl.load(gamma + column, mask=inside).to(tl.float32)
        tl.store(out + row + column, (values * factor * scale).to(tl.float16), mask=inside)
    else:
        squares = tl.zeros((BLOCK,), dtype=tl.float32)
        for start in range(0, cols, BLOCK):
            values = tl.load(x + row + start + column, mask=start + column < cols, other=0.0).to(tl.float32)
            squares += values * values
        factor = tl.rsqrt(tl.sum(squares, axis=0) / cols + eps)
        for start in range(0, cols, BLOCK):
            inside = start + column < cols
            values = tl.load(x + row + start + column, mask=inside).to(tl.float32)
            scale = tl.load(gamma + start + column, mask=inside).to(tl.float32)
            tl.store(out + row + start + column, (values * factor * scale).to(tl.float16), mask=inside)


@triton.jit
def product_kernel(
    a,
    b,
    added,
    out,
    m,
    n,
    k,
    END: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
    WHOLE_TILES: tl.constexpr,
):
    """out[m, n] = END(a[m, k] @ b[k, n]): as it is, with GELU, or with added[m, n]."""
    tile = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    first_m = tile // (GROUP * tiles_n) * GROUP
    group_rows = tl.minimum(tiles_m - first_m, GROUP)
    tile_m = first_m + tile % (GROUP * tiles_n) % group_rows
    tile_n = tile % (GROUP * tiles_n) // group_rows

    # 64 bits: an element's offset, row * k + column, outgrows 32 bits long before a row number does.
    rows = tile_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K).to(tl.int64)
    in_rows, in_columns = rows[:, None] < m, columns[None, :] < n
    left_at = a + rows[:, None] * k + depth[None, :]
    right_at = b + depth[:, None] * n + columns[None, :]
    down = tl.full((), BLOCK_K, tl.int64) * n

    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        if WHOLE_TILES:
            left = tl.load(left_at)
            right = tl.load(right_at)
        else:
            left = tl.load(left_at, mask=in_rows & (depth[None, :] < k - start), other=0.0)
            right = tl.load(right_at, mask=in_columns & (depth[:, None] < k - start), other=0.0)
        total = tl.dot(left, right, total)
        left_at += BLOCK_K
        right_at += down
    places = rows[:, None] * n + columns[None, :]
    if END == 1:
        total = 0.5 * total * (1.0 + tl.math.erf(total * 0.7071067811865476))
    if END == 2:
        total += tl.load(added + places, mask=in_rows & in_columns, other=0.0).to(tl.float32)
    tl.store(out + places, total.to(tl.float16), mask=in_rows & in_columns)


@triton.jit
def load_tile(start, row, column, rows, pitch, DIM: tl.constexpr, WIDTH: tl.constexpr, WHOLE: tl.constexpr):
    """``rows`` rows that are ``pitch`` apart, DIM of WIDTH columns; 0 outside. WHOLE: all of the rows exist."""
    places = start + row[:, None] * pitch + column[None, :]
    if WHOLE and DIM == WIDTH:
        tile = tl.load(places)
    elif WHOLE:
        tile = tl.load(places, mask=column[None, :] < DIM, other=0.0)
    else:
        tile = tl.load(places, mask=(row[:, None] < rows) & (column[None, :] < DIM), other=0.0)
    return tile


@triton.jit
def attention_kernel(
    qkv,
    mixed,
    factor,
    seq,
    heads,
    DIM: tl.constexpr,
    WIDTH: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
):
    """Causal attention of one head of one sequence: rows of qkv hold the queries, keys and values of all heads."""
    blocks = tl.cdiv(seq, QUERIES)
    # The last queries see most keys: they begin first, so that no long program is left over at the end.
    first = (blocks - 1 - tl.program_id(0) % blocks) * QUERIES
    pair = (tl.program_id(0) // blocks).to(tl.int64)
    sequence, head = pair // heads, pair % heads
    columns = heads * DIM
    pitch = 3 * columns
    q = qkv + sequence * seq * pitch + head * DIM
    query_row, key_row = tl.arange(0, QUERIES), tl.arange(0, KEYS)
    column = tl.arange(0, WIDTH)
    left = seq - first
    queries = load_tile(q + first.to(tl.int64) * pitch, query_row, column, left, pitch, DIM, WIDTH, False)

    highest = tl.full((QUERIES,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    result = tl.zeros((QUERIES, WIDTH), dtype=tl.float32)
    # Pointers move with the loop: 64-bit arithmetic once a block, 32-bit offsets within it.
    key_start, value_start = q + columns, q + 2 * columns
    step = tl.full((), KEYS, tl.int64) * pitch

    # Keys before the first query of the block: all of its queries see all of them, and no mask is needed.
    for _ in range(0, first, KEYS):
        keys = load_tile(key_start, key_row, column, seq, pitch, DIM, WIDTH, True)
        scores = tl.dot(queries, tl.trans(keys))
        higher = tl.maximum(highest, tl.max(scores, axis=1) * factor)
        powers = tl.exp2(scores * factor - higher[:, None])
        shrink = tl.exp2(highest - higher)
        total = total * shrink + tl.sum(powers, axis=1)
        values = load_tile(value_start, key_row, column, seq, pitch, DIM, WIDTH, True)
        result = tl.dot(powers.to(tl.float16), values, result * shrink[:, None])
        highest = higher
        key_start += step
        value_start += step

    # The blocks on the diagonal: each query sees the keys up to itself.
    for start in range(0, tl.minimum(QUERIES, left), KEYS):
        keys = load_tile(key_start, key_row, column, left - start, pitch, DIM, WIDTH, False)
        scores = tl.dot(queries, tl.trans(keys)) * factor
        scores = tl.where(start + key_row[None, :] <= query_row[:, None], scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        powers = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(highest - higher)
        total = total * shrink + tl.sum(powers, axis=1)
        values = load_tile(value_start, key_row, column, left - start, pitch, DIM, WIDTH, False)
        result = tl.dot(powers.to(tl.float16), values, result * shrink[:, None])
        highest = higher
        key_start += step
        value_start += step

    result = result / total[:, None]
    to = mixed + (sequence * seq + first) * columns + head * DIM
    tl.store(
        to + query_row[:, None] * columns + column[None, :],
        result.to(tl.float16),
        mask=(query_row[:, None] < left) & (column[None, :] < DIM),
    )


def norm(x, gamma, out, eps, rows, cols):
    block = min(triton.next_power_of_2(cols), ONE_BLOCK)
    # Sixteen elements a thread: two 16-byte loads on their way at once.
    warps = min(max(block // 512, 1), 16)
    norm_kernel[(rows,)](x, gamma, out, eps, cols, BLOCK=block, ONE=cols <= block, num_warps=warps)


def tiling(m, n, device):
    """Block sizes, warps and stages, chosen by size: no search at run time, the same choice every time."""
    # 144 KiB of shared memory for three stages of the largest tiles, which GPUs of the Ampere and Hopper generations
    # for data centres have (compute capability 8.0 and 9.0).
    capable = device.type == "cuda" and torch.cuda.get_device_capability(device) in ((8, 0), (9, 0))
    if capable and m * n >= 132 * 128 * 256:
        return {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3}
    if m * n >= 512 * 512:
        return {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 4}
    return {"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 64, "num_warps": 4, "num_stages": 3}


def product(a, b, out, m, n, k, end=PLAIN, added=None):
    config = tiling(m, n, out.device)
    block_m, block_n, block_k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    whole = m % block_m == 0 and n % block_n == 0 and k % block_k == 0
    tiles = triton.cdiv(m, block_m) * triton.cdiv(n, block_n)
    product_kernel[(tiles,)](
        a, b, out if added is None else added, out, m, n, k, END=end, GROUP=GROUP, WHOLE_TILES=whole, **config
    )


def attention(qkv, mixed, batch, seq, heads, dim):
    # Tensor cores multiply tiles of 16 at least, and powers of 2: narrower heads are filled up with zeros.
    width = max(triton.next_power_of_2(dim), 16)
    queries, keys = (128, 64) if seq > 64 else (32, 32)
    attention_kernel[(triton.cdiv(seq, queries) * batch * heads,)](
        qkv,
        mixed,
        dim**-0.5 * LOG2_E,
        seq,
        heads,
        DIM=dim,
        WIDTH=width,
        QUERIES=queries,
        KEYS=keys,
        num_warps=8 if queries == 128 else 4,
        num_stages=3,
    )


def solve(
    x, gamma_1, w_qkv, w_out, gamma_2, w_up, w_down,
    out, normed, qkv, mixed, middle, raised, eps, batch, seq, heads, dim, hidden,
):  # fmt: skip
    rows, cols = batch * seq, heads * dim
    if rows == 0 or cols == 0:
        return  # out is empty
    norm(x, gamma_1, normed, eps, rows, cols)
    product(normed, w_qkv, qkv, rows, 3 * cols, cols)
    attention(qkv, mixed, batch, seq, heads, dim)
    product(mixed, w_out, middle, rows, cols, cols, ADD, x)
    norm(middle, gamma_2, normed, eps, rows, cols)
    if hidden > 0:
        product(normed, w_up, raised, rows, hidden, cols, GELU)
    # Without hidden columns the sum is empty, and out is middle.
    product(raised, w_down, out, rows, cols, hidden, ADD, middle)
