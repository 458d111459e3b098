"""Grouped products of float16 in Triton: a first launch counts the tiles of each expert, a second one multiplies."""

import torch
import triton
import triton.language as tl

# Tiles are walked in groups of this many rows of tiles, so that programs that run together share rows of x
# and columns of w in the L2 cache.
GROUP = 8
EXPERTS = 128  # that a program looks at together


@triton.jit
def plan_kernel(offsets, begins, experts, BLOCK_M: tl.constexpr, EXPERTS: tl.constexpr):
    """begins[experts + 1]: the number of each expert's first row of tiles. One program, which walks with a carry."""
    before = tl.zeros((), dtype=tl.int64)
    for start in range(0, experts, EXPERTS):
        e = start + tl.arange(0, EXPERTS)
        first = tl.load(offsets + e, mask=e < experts, other=0)
        end = tl.load(offsets + e + 1, mask=e < experts, other=0)
        own = (end - first + BLOCK_M - 1) // BLOCK_M
        tl.store(begins + e, before + tl.cumsum(own, axis=0) - own, mask=e < experts)
        before += tl.sum(own, axis=0)
    tl.store(begins + experts, before)


@triton.jit
def matmul_kernel(
    x,
    w,
    offsets,
    begins,
    out,
    experts,
    most,
    k,
    n,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
    EXPERTS: tl.constexpr,
    WHOLE_TILES: tl.constexpr,
):
    tile = tl.program_id(0)
    tiles_n = tl.cdiv(n, BLOCK_N)
    first_m = tile // (GROUP * tiles_n) * GROUP
    group_rows = tl.minimum(most - first_m, GROUP)
    tile_m = first_m + tile % (GROUP * tiles_n) % group_rows
    tile_n = tile % (GROUP * tiles_n) // group_rows
    if tile_m >= tl.load(begins + experts):
        return  # the host does not know how many tiles there are, and started as many as there could be

    # The last expert whose first tile is not behind this one. An expert without tokens begins where the next one does.
    expert = tl.full((), -1, tl.int64)
    for start in range(0, experts, EXPERTS):
        e = start + tl.arange(0, EXPERTS)
        begin = tl.load(begins + e, mask=e < experts, other=0)
        expert += tl.sum(((e < experts) & (begin <= tile_m)).to(tl.int64), axis=0)
    row0 = tl.load(offsets + expert) + (tile_m - tl.load(begins + expert)) * BLOCK_M
    end = tl.load(offsets + expert + 1)

    # 64 bits: an element's offset, row * k + column, outgrows 32 bits long before a row number does.
    rows = row0 + tl.arange(0, BLOCK_M)
    columns = tile_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K).to(tl.int64)
    # Behind the expert's last row is the next expert's.
    in_rows, in_columns = rows[:, None] < end, columns[None, :] < n
    # Pointers that walk along k: one addition a step instead of a multiplication.
    left_at = x + rows[:, None] * k + depth[None, :]
    right_at = w + expert * k * n + depth[:, None] * n + columns[None, :]
    down = tl.full((), BLOCK_K, tl.int64) * n

    # The sums are float32 throughout. Only the finished sum is rounded.
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        if WHOLE_TILES:
            left = tl.load(left_at, mask=in_rows, other=0.0)
            right = tl.load(right_at)
        else:
            # Both tiles are masked along k: 0 * NaN of unmasked memory would be NaN.
            left = tl.load(left_at, mask=in_rows & (depth[None, :] < k - start), other=0.0)
            right = tl.load(right_at, mask=in_columns & (depth[:, None] < k - start), other=0.0)
        total = tl.dot(left, right, total)
        left_at += BLOCK_K
        right_at += down
    out_at = out + rows[:, None] * n + columns[None, :]
    tl.store(out_at, total.to(tl.float16), mask=in_rows & in_columns)


def tiling(tokens, n, device):
    """Block sizes, warps and stages, chosen by size: no search at run time, the same choice every time."""
    # Enough large tiles to give each multiprocessor one; and 144 KiB of shared memory for three stages of them, which
    # GPUs of the Ampere and Hopper generations for data centres have (compute capability 8.0 and 9.0).
    capable = device.type == "cuda" and torch.cuda.get_device_capability(device) in ((8, 0), (9, 0))
    if capable and tokens * n >= 2048 * 2048:
        return {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3}
    if tokens * n >= 512 * 512:
        return {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 4}
    return {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "num_warps": 4, "num_stages": 3}


def solve(x, w, offsets, out, tokens, experts, k, n):
    if tokens == 0 or n == 0:
        return  # out is empty; k = 0 is not special: the loop does not run, and zeros are stored
    config = tiling(tokens, n, out.device)
    block_m, block_n, block_k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    # An expert's last tile has at least one row: as many tiles as there are if all last ones have no more.
    most = (tokens + min(experts, tokens) * (block_m - 1)) // block_m
    begins = torch.empty(experts + 1, dtype=torch.int64, device=out.device)
    plan_kernel[(1,)](offsets, begins, experts, BLOCK_M=block_m, EXPERTS=EXPERTS)
    whole = n % block_n == 0 and k % block_k == 0
    matmul_kernel[(most * triton.cdiv(n, block_n),)](
        x,
        w,
        offsets,
        begins,
        out,
        experts,
        most,
        k,
        n,
        GROUP=GROUP,
        EXPERTS=EXPERTS,
        WHOLE_TILES=whole,
        **config,
    )
