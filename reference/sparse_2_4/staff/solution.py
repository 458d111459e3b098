"""2:4 sparse times dense in Triton, which has no instruction for sparse tensor cores: four dense products, one for each
place of a group. Nothing moves between lanes, and b is read in whole rows.
"""

import torch
import triton
import triton.language as tl

# Tiles are walked in groups of this many rows of tiles, so that programs that run together share rows of the values
# and columns of b in the L2 cache.
GROUP = 8


@triton.jit
def multiply(
    values,
    places,
    b,
    out,
    m,
    n,
    words,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    GROUPS: tl.constexpr,
    GROUP: tl.constexpr,
):
    tile = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, ROWS), tl.cdiv(n, COLUMNS)
    first_m = tile // (GROUP * tiles_n) * GROUP
    group_rows = tl.minimum(tiles_m - first_m, GROUP)
    tile_m = first_m + tile % (GROUP * tiles_n) % group_rows
    tile_n = tile % (GROUP * tiles_n) // group_rows

    # 64 bits: an element's offset, row * n + column, outgrows 32 bits long before a row number does.
    rows = tile_m.to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns = tile_n.to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    in_rows, in_columns = rows[:, None] < m, columns[None, :] < n
    groups = 8 * words
    of_tile = tl.arange(0, GROUPS)

    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, groups, GROUPS):
        group = start + of_tile
        there = in_rows & (group[None, :] < groups)
        number = rows[:, None] * groups + group[None, :]
        # A byte has two groups, and the first is in its lower half.
        byte = tl.load(places + number // 2, mask=there, other=0x44).to(tl.int32)
        bits = byte >> (group % 2 * 4)[None, :]
        lower, higher = bits & 3, bits >> 2 & 3
        first = tl.load(values + 2 * number, mask=there, other=0.0)
        second = tl.load(values + 2 * number + 1, mask=there, other=0.0)
        # Rows of b from 4 * groups on are 0, as what is multiplied by them.
        right_at = b + group.to(tl.int64)[:, None] * 4 * n + columns[None, :]
        in_right = in_columns & (group[:, None] < groups)
        for place in tl.static_range(4):
            kept = tl.where(lower == place, first, tl.where(higher == place, second, 0.0))
            right = tl.load(right_at + place * n, mask=in_right, other=0.0)
            total = tl.dot(kept.to(tl.float16), right, total)
    tl.store(out + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=in_rows & in_columns)


def tiling(m, n, device):
    """Block sizes, warps and stages, chosen by size: no search at run time, the same choice every time."""
    capable = device.type == "cuda" and torch.cuda.get_device_capability(device) in ((8, 0), (9, 0))
    if capable and m * n >= 2048 * 2048:
        return {"ROWS": 128, "COLUMNS": 128, "GROUPS": 32, "num_warps": 8, "num_stages": 3}
    if m * n >= 512 * 512:
        return {"ROWS": 128, "COLUMNS": 64, "GROUPS": 16, "num_warps": 4, "num_stages": 3}
    return {"ROWS": 64, "COLUMNS": 64, "GROUPS": 32, "num_warps": 4, "num_stages": 2}


def solve(values, places, b, out, m, n, words):
    if m == 0 or n == 0:
        return  # out is empty; words = 0 is not special: the loop does not run, and zeros are stored
    config = tiling(m, n, out.device)
    tiles = triton.cdiv(m, config["ROWS"]) * triton.cdiv(n, config["COLUMNS"])
    multiply[(tiles,)](values, places, b, out, m, n, words, GROUP=GROUP, **config)
