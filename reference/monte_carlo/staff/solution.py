"""Option prices by Monte Carlo in Triton: a program simulates a part of the paths of one row, or several short rows."""

import torch
import triton
import triton.language as tl

TILE = 1024  # counters at once, of all rows of a program: four paths each
MOST_STEPS = 16  # of a program
ENOUGH_PROGRAMS = 4096
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def normals(size, angle):
    # The bits plus 1: u is in (0, 1], so its logarithm is finite. 24 bits, which float32 holds exactly.
    u = ((size >> 8) + 1).to(tl.float32) * (1 / 16777216)
    radius = tl.sqrt(-2.0 * tl.log(u))
    turn = (angle >> 8).to(tl.float32) * (6.283185307179586 / 16777216)
    return radius * tl.cos(turn), radius * tl.sin(turn)


@triton.jit
def payoff(spot, strike, exponent, inside):
    gain = spot * tl.exp2(exponent) - strike
    # Not a maximum, which would take 0 of NaN and 0.
    return tl.where(inside & ~(gain < 0.0), gain, 0.0)


@triton.jit
def simulate(
    spot,
    strike,
    volatility,
    time,
    sums,
    rate,
    seed,
    rows,
    paths,
    parts,
    steps,
    ROWS: tl.constexpr,
    COUNTERS: tl.constexpr,
):
    row = (tl.program_id(0) // parts).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    part = tl.program_id(0) % parts
    inside = row < rows
    start = tl.load(spot + row, mask=inside, other=0.0)[:, None]
    end = tl.load(strike + row, mask=inside, other=0.0)[:, None]
    percent, years = (
        tl.load(volatility + row, mask=inside, other=0.0),
        tl.load(time + row, mask=inside, other=0.0),
    )
    sigma = percent * 0.01
    drift = ((rate - sigma * sigma * 0.5) * years * LOG2E)[:, None]
    spread = (sigma * tl.sqrt(years) * LOG2E)[:, None]

    zero = tl.zeros((ROWS, COUNTERS), dtype=tl.uint32)
    total = tl.zeros((ROWS, COUNTERS), dtype=tl.float32)
    for step in range(steps):
        group = (part * steps + step) * COUNTERS + tl.arange(0, COUNTERS)[None, :]
        w0, w1, w2, w3 = tl.philox(
            seed, zero + group.to(tl.uint32), zero + row.to(tl.uint32)[:, None], zero, zero
        )
        z0, z1 = normals(w0, w1)
        z2, z3 = normals(w2, w3)
        left = paths - 4 * group
        total += payoff(start, end, drift + spread * z0, left > 0)
        total += payoff(start, end, drift + spread * z1, left > 1)
        total += payoff(start, end, drift + spread * z2, left > 2)
        total += payoff(start, end, drift + spread * z3, left > 3)
    # float64 for the sum of lanes: one number each, not one for each path.
    tl.store(sums + row * parts + part, tl.sum(total.to(tl.float64), axis=1), mask=inside)


@triton.jit
def together(sums, time, out, rate, rows, paths, parts, ROWS: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    total = tl.zeros((ROWS, PARTS), dtype=tl.float64)
    for first in range(0, parts, PARTS):
        part = first + tl.arange(0, PARTS)[None, :]
        total += tl.load(sums + row[:, None] * parts + part, mask=inside[:, None] & (part < parts), other=0.0)
    mean = tl.sum(total, axis=1).to(tl.float32) / paths  # without paths 0 / 0, which is NaN
    tl.store(out + row, tl.exp(-rate * tl.load(time + row, mask=inside, other=0.0)) * mean, mask=inside)


def solve(spot, strike, volatility, time, out, rate, seed, rows, paths):
    if rows == 0:
        return  # there is nothing to launch
    # Rows with few paths share a program.
    groups = max(1, triton.cdiv(paths, 4))
    counters = min(TILE, triton.next_power_of_2(groups))
    high = TILE // counters
    bands, blocks = triton.cdiv(rows, high), triton.cdiv(groups, counters)
    steps = max(1, min(MOST_STEPS, blocks * bands // ENOUGH_PROGRAMS))
    parts = triton.cdiv(blocks, steps)
    sums = torch.empty(rows * parts, dtype=torch.float64, device=out.device)
    sizes = {"ROWS": high, "COUNTERS": counters, "num_warps": 8}
    simulate[(bands * parts,)](
        spot, strike, volatility, time, sums, rate, seed, rows, paths, parts, steps, **sizes
    )
    wide = min(64, triton.next_power_of_2(parts))
    high = 256 // wide
    together[(triton.cdiv(rows, high),)](sums, time, out, rate, rows, paths, parts, ROWS=high, PARTS=wide)
