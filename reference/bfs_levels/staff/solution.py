"""Breadth-first search in Triton, with two launches for each level and without atomics on vertices.

expand marks the vertices that an edge of the present level's vertices leads to. All who mark a vertex store the same
number, and nobody reads marks in this launch. settle looks for marks of vertices without a level, gives them theirs,
and collects them in the next queue.
"""

import torch
import triton
import triton.language as tl

# Vertices of a program, and edges of each that it follows at once.
VERTICES = 64
EDGES = 16
BLOCK = 1024
MOST_PROGRAMS = 2112


@triton.jit(do_not_specialize=["n", "source", "depth"])
def start(level, seen, marks, queue, sizes, n, source, depth, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    is_source = i == source
    tl.store(level + i, tl.where(is_source, 0, -1), mask=i < n)
    tl.store(seen + i, is_source.to(tl.int8), mask=i < n)
    tl.store(marks + i, tl.zeros((BLOCK,), dtype=tl.int8), mask=i < n)
    # The queue of level 0 is the source; all others are empty.
    tl.store(sizes + i, (i == 0).to(tl.int32), mask=i <= depth)
    tl.store(queue + i, tl.zeros((BLOCK,), dtype=tl.int32) + source, mask=i == 0)


@triton.jit(do_not_specialize=["present"])
def expand(row_ptr, col, seen, marks, queue, sizes, present, VERTICES: tl.constexpr, EDGES: tl.constexpr):
    # Nobody on the host knows how many vertices there are: each program takes its share.
    count = tl.load(sizes + present - 1)
    for first in range(tl.program_id(0) * VERTICES, count, tl.num_programs(0) * VERTICES):
        place = first + tl.arange(0, VERTICES)
        vertex = tl.load(queue + place, mask=place < count, other=0).to(tl.int64)
        # Behind the end of the queue vertices have no edges. 64 bits: a step may go beyond 2^31.
        begin = tl.load(row_ptr + vertex, mask=place < count, other=0).to(tl.int64)
        end = tl.load(row_ptr + vertex + 1, mask=place < count, other=0).to(tl.int64)
        # All vertices step together until the one with the most edges ends.
        longest = tl.max(end - begin, axis=0)
        for step in range(0, longest, EDGES):
            edge = begin[:, None] + step + tl.arange(0, EDGES)[None, :]
            within = edge < end[:, None]
            target = tl.load(col + edge, mask=within, other=0)
            # A byte for each vertex: 16 MiB for 2^24 vertices stay in the cache.
            known = tl.load(seen + target, mask=within, other=1)
            ones = tl.zeros((VERTICES, EDGES), dtype=tl.int8) + 1
            tl.store(marks + target, ones, mask=within & (known == 0))


@triton.jit(do_not_specialize=["n", "present"])
def settle(level, seen, marks, queue, sizes, n, present, BLOCK: tl.constexpr):
    if tl.load(sizes + present - 1) > 0:
        vertex = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        known = tl.load(seen + vertex, mask=vertex < n, other=1)
        marked = tl.load(marks + vertex, mask=vertex < n, other=0)
        fresh = (known == 0) & (marked != 0)
        tl.store(level + vertex, tl.zeros((BLOCK,), dtype=tl.int32) + present, mask=fresh)
        tl.store(seen + vertex, tl.zeros((BLOCK,), dtype=tl.int8) + 1, mask=fresh)
        one = fresh.to(tl.int32)
        total = tl.sum(one, axis=0)
        if total > 0:
            place = tl.atomic_add(sizes + present, total, sem="relaxed") + tl.cumsum(one, axis=0) - one
            tl.store(queue + place, vertex.to(tl.int32), mask=fresh)


def solve(row_ptr, col, level, n, m, source, depth):
    seen = torch.empty(n, dtype=torch.int8, device=level.device)
    marks = torch.empty(n, dtype=torch.int8, device=level.device)
    queue = torch.empty(n, dtype=torch.int32, device=level.device)
    sizes = torch.empty(depth + 1, dtype=torch.int32, device=level.device)
    blocks = triton.cdiv(max(n, depth + 1), BLOCK)
    start[(blocks,)](level, seen, marks, queue, sizes, n, source, depth, BLOCK=BLOCK)
    if m == 0:
        return  # nobody has an edge
    programs = min(triton.cdiv(n, VERTICES), MOST_PROGRAMS)
    for present in range(1, depth + 1):
        expand[(programs,)](row_ptr, col, seen, marks, queue, sizes, present, VERTICES=VERTICES, EDGES=EDGES)
        settle[(triton.cdiv(n, BLOCK),)](level, seen, marks, queue, sizes, n, present, BLOCK=BLOCK)
