"""Mistake: a row is kept in half precision between steps."""

import torch
import triton
import triton.language as tl

# Numbers of a tile.
TILE = 2048


@triton.jit
def roots_kernel(roots, N: tl.constexpr):
    """exp(-2 pi i k / N) for all k, rounded from float64: the angle alone would cost float32 two of its digits."""
    k = tl.arange(0, N)
    angle = k.to(tl.float64) * (-6.283185307179586476925 / N)
    tl.store(roots + 2 * k, tl.cos(angle).to(tl.float32))
    tl.store(roots + 2 * k + 1, tl.sin(angle).to(tl.float32))


@triton.jit
def quarters(x, ROWS: tl.constexpr, N: tl.constexpr):
    parts = tl.permute(tl.reshape(x, (ROWS, 2, 2, N // 4)), (0, 3, 1, 2))
    even, odd = tl.split(parts)
    first, third = tl.split(even)
    second, fourth = tl.split(odd)
    return first, second, third, fourth


@triton.jit
def in_order(a, b, c, d, ROWS: tl.constexpr, N: tl.constexpr, STRIDE: tl.constexpr):
    """Number q + STRIDE * p of each argument becomes number q + STRIDE * (4 * p + 0, 1, 2 or 3)."""
    joined = tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), (ROWS, N // 4 // STRIDE, STRIDE, 4))
    return tl.reshape(tl.permute(joined, (0, 1, 3, 2)), (ROWS, N))


@triton.jit
def times_root(re, im, roots, exponent):
    cosine, sine = tl.load(roots + 2 * exponent)[None, :], tl.load(roots + 2 * exponent + 1)[None, :]
    return re * cosine - im * sine, re * sine + im * cosine


@triton.jit
def step_4(re, im, roots, ROWS: tl.constexpr, N: tl.constexpr, STRIDE: tl.constexpr):
    ar, br, cr, dr = quarters(re, ROWS, N)
    ai, bi, ci, di = quarters(im, ROWS, N)
    er, ei, fr, fi = ar + cr, ai + ci, ar - cr, ai - ci
    # h is b - d, times -i.
    gr, gi, hr, hi = br + dr, bi + di, bi - di, dr - br
    exponent = tl.arange(0, N // 4) // STRIDE * STRIDE
    br, bi = times_root(fr + hr, fi + hi, roots, exponent)
    cr, ci = times_root(er - gr, ei - gi, roots, 2 * exponent)
    dr, di = times_root(fr - hr, fi - hi, roots, 3 * exponent)
    re = in_order(er + gr, br, cr, dr, ROWS, N, STRIDE)
    im = in_order(ei + gi, bi, ci, di, ROWS, N, STRIDE)
    return re, im


@triton.jit
def step_2(x, ROWS: tl.constexpr, N: tl.constexpr):
    """The last step of an odd number: its roots are all 1."""
    a, b = tl.split(tl.permute(tl.reshape(x, (ROWS, 2, N // 2)), (0, 2, 1)))
    return tl.reshape(tl.permute(tl.join(a + b, a - b), (0, 2, 1)), (ROWS, N))


@triton.jit
def fft_kernel(x, out, roots, rows, N: tl.constexpr, LOG: tl.constexpr, ROWS: tl.constexpr):
    # 64 bits: rows * n may exceed 2^31.
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    place = (row * (2 * N))[:, None] + tl.arange(0, 2 * N)[None, :]
    there = (row < rows)[:, None]
    numbers = tl.load(x + place, mask=there, other=0.0)
    re, im = tl.split(tl.reshape(numbers, (ROWS, N, 2)))

    for i in tl.static_range(LOG // 2):
        re, im = step_4(re, im, roots, ROWS, N, 4**i)
        re, im = re.to(tl.bfloat16).to(tl.float32), im.to(tl.bfloat16).to(tl.float32)
    if LOG % 2 == 1:
        re, im = step_2(re, ROWS, N), step_2(im, ROWS, N)

    tl.store(out + place, tl.reshape(tl.join(re, im), (ROWS, 2 * N)), mask=there)


def solve(x, out, rows, n):
    if rows == 0:
        return  # there is nothing to write
    roots = torch.empty(2 * n, dtype=x.dtype, device=x.device)
    roots_kernel[(1,)](roots, N=n)
    tile = TILE // n
    fft_kernel[(triton.cdiv(rows, tile),)](x, out, roots, rows, N=n, LOG=n.bit_length() - 1, ROWS=tile)
