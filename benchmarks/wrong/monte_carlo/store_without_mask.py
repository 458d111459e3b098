# Mistake: the store has no mask.
# Says: (mask|outside|beyond|past)
import triton
import triton.language as tl

TILE = 1024


@triton.jit
def normals(size, angle):
    u = ((size >> 8) + 1).to(tl.float32) * (1 / 16777216)
    radius = tl.sqrt(-2.0 * tl.log(u))
    turn = (angle >> 8).to(tl.float32) * (6.283185307179586 / 16777216)
    return radius * tl.cos(turn), radius * tl.sin(turn)


@triton.jit
def payoff(spot, strike, exponent, inside):
    gain = spot * tl.exp(exponent) - strike
    return tl.where(inside & ~(gain < 0.0), gain, 0.0)


@triton.jit
def simulate(
    spot, strike, volatility, time, out, rate, seed, rows, paths, ROWS: tl.constexpr, COUNTERS: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    start = tl.load(spot + row, mask=inside, other=0.0)[:, None]
    end = tl.load(strike + row, mask=inside, other=0.0)[:, None]
    percent, years = (
        tl.load(volatility + row, mask=inside, other=0.0),
        tl.load(time + row, mask=inside, other=0.0),
    )
    sigma = percent * 0.01
    drift = ((rate - sigma * sigma * 0.5) * years)[:, None]
    spread = (sigma * tl.sqrt(years))[:, None]
    zero = tl.zeros((ROWS, COUNTERS), dtype=tl.uint32)
    total = tl.zeros((ROWS, COUNTERS), dtype=tl.float64)
    for first in range(0, tl.cdiv(paths, 4), COUNTERS):
        group = first + tl.arange(0, COUNTERS)[None, :]
        c0, c1 = zero + group.to(tl.uint32), zero + row.to(tl.uint32)[:, None]
        w0, w1, w2, w3 = tl.philox(seed, c0, c1, zero, zero)
        z0, z1 = normals(w0, w1)
        z2, z3 = normals(w2, w3)
        left = paths - 4 * group
        total += payoff(start, end, drift + spread * z0, left > 0)
        total += payoff(start, end, drift + spread * z1, left > 1)
        total += payoff(start, end, drift + spread * z2, left > 2)
        total += payoff(start, end, drift + spread * z3, left > 3)
    mean = tl.sum(total, axis=1).to(tl.float32) / paths
    tl.store(out + row, tl.exp(-rate * years) * mean)  # HERE


def solve(spot, strike, volatility, time, out, rate, seed, rows, paths):
    if rows == 0:
        return
    counters = min(TILE, triton.next_power_of_2(max(1, triton.cdiv(paths, 4))))
    high = TILE // counters
    grid = (triton.cdiv(rows, high),)
    simulate[grid](spot, strike, volatility, time, out, rate, seed, rows, paths, ROWS=high, COUNTERS=counters)
