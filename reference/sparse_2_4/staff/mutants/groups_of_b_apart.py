"""Mistake: takes row 4 * g + p of b to be row p * groups + g."""

import triton
import triton.language as tl


@triton.jit
def multiply(values, places, b, out, m, n, words, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    in_rows, in_columns = rows[:, None] < m, columns[None, :] < n
    groups = 8 * words
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, groups, 16):
        group = start + tl.arange(0, 16)
        there = in_rows & (group[None, :] < groups)
        number = rows[:, None] * groups + group[None, :]
        byte = tl.load(places + number // 2, mask=there, other=0x44).to(tl.int32)
        bits = byte >> (group % 2 * 4)[None, :]
        lower, higher = bits & 3, bits >> 2 & 3
        first = tl.load(values + 2 * number, mask=there, other=0.0)
        second = tl.load(values + 2 * number + 1, mask=there, other=0.0)
        for place in tl.static_range(4):
            kept = tl.where(lower == place, first, tl.where(higher == place, second, 0.0))
            right_at = b + (group[:, None].to(tl.int64) + place * groups) * n + columns[None, :]
            right = tl.load(right_at, mask=in_columns & (group[:, None] < groups), other=0.0)
            total = tl.dot(kept.to(tl.float16), right, total)
    tl.store(out + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=in_rows & in_columns)


def solve(values, places, b, out, m, n, words):
    if m and n:
        grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
        multiply[grid](values, places, b, out, m, n, words, ROWS=32, COLUMNS=32)
