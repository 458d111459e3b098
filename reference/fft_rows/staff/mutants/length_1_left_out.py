"""Mistake: rows of one number are left out."""

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
def short_kernel(x, out, rows, N: tl.constexpr, ROWS: tl.constexpr):
    """Rows of one number or of two."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    part = tl.arange(0, 2)[None, :]
    first = tl.load(x + row * (2 * N) + part, mask=row < rows)
    if N == 1:
        tl.store(out + row * 2 + part, first, mask=row < rows)
    else:
        second = tl.load(x + row * 4 + 2 + part, mask=row < rows)
        tl.store(out + row * 4 + part, first + second, mask=row < rows)
        tl.store(out + row * 4 + 2 + part, first - second, mask=row < rows)


@triton.jit
def times_root(re, im, roots, exponent):
    cosine, sine = tl.load(roots + 2 * exponent)[None, :], tl.load(roots + 2 * exponent + 1)[None, :]
    return re * cosine - im * sine, re * sine + im * cosine


@triton.jit
def step_4(ar, ai, br, bi, cr, ci, dr, di, roots, exponent):
    er, ei, fr, fi = ar + cr, ai + ci, ar - cr, ai - ci
    # h is b - d, times -i.
    gr, gi, hr, hi = br + dr, bi + di, bi - di, dr - br
    br, bi = times_root(fr + hr, fi + hi, roots, exponent)
    cr, ci = times_root(er - gr, ei - gi, roots, 2 * exponent)
    dr, di = times_root(fr - hr, fi - hi, roots, 3 * exponent)
    return er + gr, ei + gi, br, bi, cr, ci, dr, di


@triton.jit
def exchange(a, b, c, d, ROWS: tl.constexpr, N: tl.constexpr, STRIDE: tl.constexpr):
    """Number q + STRIDE * p of each argument goes to place q + STRIDE * (4 * p + 0, 1, 2 or 3) of the row, of which the
    quarters are returned."""
    row = tl.permute(tl.join(tl.join(a, c), tl.join(b, d)), (0, 2, 3, 1))
    row = tl.permute(tl.reshape(row, (ROWS, 4, N // 4 // STRIDE, STRIDE)), (0, 2, 1, 3))
    even, odd = tl.split(tl.permute(tl.reshape(row, (ROWS, 2, 2, N // 4)), (0, 3, 1, 2)))
    a, c = tl.split(even)
    b, d = tl.split(odd)
    return a, b, c, d


@triton.jit
def fft_kernel(x, out, roots, rows, N: tl.constexpr, LOG: tl.constexpr, ROWS: tl.constexpr):
    # 64 bits: rows * n may exceed 2^31.
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None, None]
    column = tl.arange(0, N // 4)
    place = row * (2 * N) + 2 * column[None, :, None] + tl.arange(0, 2)[None, None, :]
    there = row < rows
    ar, ai = tl.split(tl.load(x + place, mask=there))
    br, bi = tl.split(tl.load(x + place + N // 2, mask=there))
    cr, ci = tl.split(tl.load(x + place + N, mask=there))
    dr, di = tl.split(tl.load(x + place + N // 2 * 3, mask=there))

    for i in tl.static_range(LOG // 2):
        exponent = column // 4**i * 4**i
        ar, ai, br, bi, cr, ci, dr, di = step_4(ar, ai, br, bi, cr, ci, dr, di, roots, exponent)
        if 2 * i + 2 < LOG:
            ar, br, cr, dr = exchange(ar, br, cr, dr, ROWS, N, 4**i)
            ai, bi, ci, di = exchange(ai, bi, ci, di, ROWS, N, 4**i)
    if LOG % 2 == 1:  # a last step by radix 2, whose roots are all 1
        ar, ai, cr, ci = ar + cr, ai + ci, ar - cr, ai - ci
        br, bi, dr, di = br + dr, bi + di, br - dr, bi - di

    tl.store(out + place, tl.join(ar, ai), mask=there)
    tl.store(out + place + N // 2, tl.join(br, bi), mask=there)
    tl.store(out + place + N, tl.join(cr, ci), mask=there)
    tl.store(out + place + N // 2 * 3, tl.join(dr, di), mask=there)


def solve(x, out, rows, n):
    if rows == 0 or n == 1:
        return  # there is nothing to write
    tile = TILE // n
    tiles = triton.cdiv(rows, tile)
    if n < 4:
        short_kernel[(tiles,)](x, out, rows, N=n, ROWS=tile)
        return
    roots = torch.empty(2 * n, dtype=x.dtype, device=x.device)
    roots_kernel[(1,)](roots, N=n)
    fft_kernel[(tiles,)](x, out, roots, rows, N=n, LOG=n.bit_length() - 1, ROWS=tile)
