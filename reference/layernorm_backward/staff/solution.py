"""Layer normalisation, backward, in Triton: each matrix is read once, and the column sums are made along the way.

A program walks through many rows. It keeps its own sums for dgamma and dbeta in registers and writes them at the end;
a second kernel adds up what the programs wrote. No atomics: the result is the same every time.
"""

import torch
import triton
import triton.language as tl

# Rows of up to this many elements fit into the registers of one program.
ONE_BLOCK = 8192
# Elements that a program works on at once: several short rows, or one long one.
TILE = 2048
# Enough to fill a GPU a few times over; each program more leaves one row more of sums to add up.
PROGRAMS = 528
# Blocks of the kernels that walk through long rows, and of the one that adds up.
LONG_BLOCK = 4096
SUM_ROWS, SUM_COLS = 64, 64
# Long rows come with many blocks of columns: this many programs for each fill a GPU.
LONG_PARTS = 16


@triton.jit
def whole_rows(
    dy,
    x,
    gamma,
    mean,
    rstd,
    dx,
    sums,
    rows,
    cols,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    STAGES: tl.constexpr,
):
    program, programs = tl.program_id(0), tl.num_programs(0)
    column = tl.arange(0, BLOCK)
    in_row = column < cols
    weight = tl.load(gamma + column, mask=in_row, other=0.0)[None, :]
    # Column sums stay two-dimensional until the end: adding tiles costs no exchange between threads.
    own_dgamma = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    own_dbeta = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    # Where the rows begin takes 64 bits, as rows * cols may exceed 2^31; within them 32 are enough, and save registers.
    start = program.to(tl.int64) * ROWS * cols
    places = tl.arange(0, ROWS)[:, None] * cols + column[None, :]
    # With stages, the compiler fetches the next rows while these are worked on.
    for first in tl.range(program * ROWS, rows, programs * ROWS, num_stages=STAGES):
        row = first + tl.arange(0, ROWS)
        in_rows = row < rows
        inside = in_rows[:, None] & in_row[None, :]
        gradient = tl.load(dy + start + places, mask=inside, other=0.0)
        value = tl.load(x + start + places, mask=inside, other=0.0)
        centre = tl.load(mean + row, mask=in_rows, other=0.0)
        factor = tl.load(rstd + row, mask=in_rows, other=0.0)
        # First the difference, then the factor: x * rstd - mean * rstd would cancel where the mean is large.
        normal = (value - centre[:, None]) * factor[:, None]
        # Lanes beyond the row hold 0 - mean, or NaN: they must add nothing.
        normal = tl.where(inside, normal, 0.0)
        weighted = gradient * weight
        # dx = rstd * (w - mean of w - normal * mean of (w * normal)): two sums over the row.
        first_moment = tl.sum(weighted, axis=1) / cols
        second_moment = tl.sum(weighted * normal, axis=1) / cols
        result = factor[:, None] * (weighted - first_moment[:, None] - normal * second_moment[:, None])
        tl.store(dx + start + places, result, mask=inside)
        own_dgamma += gradient * normal
        own_dbeta += gradient
        start += programs.to(tl.int64) * ROWS * cols
    # sums is [2, programs, cols].
    place = sums + program.to(tl.int64) * cols + column
    tl.store(place, tl.sum(own_dgamma, axis=0), mask=in_row)
    tl.store(place + programs.to(tl.int64) * cols, tl.sum(own_dbeta, axis=0), mask=in_row)


@triton.jit
def long_rows(dy, x, gamma, mean, rstd, dx, cols, BLOCK: tl.constexpr):
    """dx of one row that does not fit on chip: one pass for its two sums, one that writes."""
    row = tl.program_id(0).to(tl.int64)
    centre, factor = tl.load(mean + row), tl.load(rstd + row)
    first_parts = tl.zeros((BLOCK,), dtype=tl.float32)
    second_parts = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < cols
        weighted = tl.load(dy + row * cols + column, mask=inside, other=0.0) * tl.load(
            gamma + column, mask=inside, other=0.0
        )
        value = tl.load(x + row * cols + column, mask=inside, other=0.0)
        normal = tl.where(inside, (value - centre) * factor, 0.0)
        first_parts += weighted
        second_parts += weighted * normal
    first_moment = tl.sum(first_parts, axis=0) / cols
    second_moment = tl.sum(second_parts, axis=0) / cols
    for start in range(0, cols, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < cols
        weighted = tl.load(dy + row * cols + column, mask=inside) * tl.load(gamma + column, mask=inside)
        normal = (tl.load(x + row * cols + column, mask=inside) - centre) * factor
        result = factor * (weighted - first_moment - normal * second_moment)
        tl.store(dx + row * cols + column, result, mask=inside)


@triton.jit
def column_sums(dy, x, mean, rstd, sums, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    """For long rows: a program adds up the rows program, program + programs, ... of a block of columns."""
    program, programs = tl.program_id(1), tl.num_programs(1)
    column = tl.program_id(0).to(tl.int64) * COLS + tl.arange(0, COLS)
    own_dgamma = tl.zeros((ROWS, COLS), dtype=tl.float32)
    own_dbeta = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for first in range(program * ROWS, rows, programs * ROWS):
        row = first + tl.arange(0, ROWS).to(tl.int64)
        inside = (row < rows)[:, None] & (column < cols)[None, :]
        places = row[:, None] * cols + column[None, :]
        gradient = tl.load(dy + places, mask=inside, other=0.0)
        centre = tl.load(mean + row, mask=row < rows, other=0.0)
        factor = tl.load(rstd + row, mask=row < rows, other=0.0)
        normal = (tl.load(x + places, mask=inside, other=0.0) - centre[:, None]) * factor[:, None]
        own_dgamma += tl.where(inside, gradient * normal, 0.0)
        own_dbeta += gradient
    place = sums + program.to(tl.int64) * cols + column
    tl.store(place, tl.sum(own_dgamma, axis=0), mask=column < cols)
    tl.store(place + programs.to(tl.int64) * cols, tl.sum(own_dbeta, axis=0), mask=column < cols)


@triton.jit
def add_up(sums, dgamma, dbeta, parts, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    """The sum over ``parts`` rows of both halves of sums[2, parts, cols]; zeros where there are none."""
    column = tl.program_id(0).to(tl.int64) * COLS + tl.arange(0, COLS)
    total_dgamma = tl.zeros((ROWS, COLS), dtype=tl.float32)
    total_dbeta = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for first in range(0, parts, ROWS):
        part = first + tl.arange(0, ROWS).to(tl.int64)
        inside = (part < parts)[:, None] & (column < cols)[None, :]
        places = part[:, None] * cols + column[None, :]
        total_dgamma += tl.load(sums + places, mask=inside, other=0.0)
        # The second half lies parts rows further on; part, in 64 bits, keeps the product from overflowing.
        below = (parts + part)[:, None] * cols + column[None, :]
        total_dbeta += tl.load(sums + below, mask=inside, other=0.0)
    tl.store(dgamma + column, tl.sum(total_dgamma, axis=0), mask=column < cols)
    tl.store(dbeta + column, tl.sum(total_dbeta, axis=0), mask=column < cols)


def solve(dy, x, gamma, mean, rstd, dx, dgamma, dbeta, rows, cols):
    if cols == 0:
        return  # every output is empty; rows = 0 is not: dgamma and dbeta are zeros then
    if cols <= ONE_BLOCK:
        block = triton.next_power_of_2(cols)
        rows_at_once = max(TILE // block, 1)
        parts = min(triton.cdiv(rows, rows_at_once), PROGRAMS)
        sums = torch.empty((2, parts, cols), dtype=torch.float32, device=x.device)
        if rows:
            whole_rows[(parts,)](
                dy,
                x,
                gamma,
                mean,
                rstd,
                dx,
                sums,
                rows,
                cols,
                ROWS=rows_at_once,
                BLOCK=block,
                STAGES=3,
                num_warps=16 if block > 4096 else 8,
            )
    else:
        parts = min(triton.cdiv(rows, SUM_ROWS), LONG_PARTS)
        sums = torch.empty((2, parts, cols), dtype=torch.float32, device=x.device)
        if rows:
            long_rows[(rows,)](dy, x, gamma, mean, rstd, dx, cols, BLOCK=LONG_BLOCK, num_warps=8)
            column_sums[(triton.cdiv(cols, SUM_COLS), parts)](
                dy, x, mean, rstd, sums, rows, cols, ROWS=SUM_ROWS, COLS=SUM_COLS
            )
    add_up[(triton.cdiv(cols, SUM_COLS),)](sums, dgamma, dbeta, parts, cols, ROWS=SUM_ROWS, COLS=SUM_COLS)
