"""The thread that would write an element, by the index that others use."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import pytest

from grader.sandbox.emulator.stepping.unwritten import Would, Wrote, asked, mapped

Index = tuple[int, int, int]


def would(
    place: int,
    of: Callable[[Index, Index], list[int]],
    grid: Index,
    threads: Index,
    shape: list[int],
    *,
    left_out: Callable[[int], bool] = lambda _: False,
    programs: bool = False,
) -> Would | None:
    every: dict[int, Wrote] = {}
    for block in product_of(grid):
        for thread in product_of(threads):
            for element in of(block, thread):
                if 0 <= element < prod(shape) and not left_out(element) and element != place:
                    every[element] = Wrote(0, block, thread)
    writers = {element: every[element] for element in asked(place, shape) if element in every}
    return mapped(place, writers, grid, threads, shape, programs=programs)


def product_of(sizes: Index) -> list[Index]:
    x, y, z = sizes
    return [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]


def line(block: Index, thread: Index) -> list[int]:
    return [256 * block[0] + thread[0]]


def four(block: Index, thread: Index) -> list[int]:
    return [4 * (64 * block[0] + thread[0]) + i for i in range(4)]


def strided(block: Index, thread: Index) -> list[int]:
    return [64 * block[0] + thread[0] + 512 * i for i in range(8)]


def backwards(block: Index, thread: Index) -> list[int]:
    return [999 - 256 * block[0] - thread[0]]


def tile(block: Index, thread: Index) -> list[int]:
    row, column = 8 * block[1] + thread[1], 16 * block[0] + thread[0]
    return [60 * row + column] if row < 40 and column < 60 else []


def shuffled(block: Index, thread: Index) -> list[int]:
    """As a compiler spreads a program's elements over its threads."""
    return [256 * block[0] + 128 * half + 2 * (thread[0] ^ 5) + i for half in range(2) for i in range(2)]


def overlapping(block: Index, thread: Index) -> list[int]:
    return [4 * block[0] + thread[0]]


def row(block: Index, thread: Index) -> list[int]:
    return [16 * block[0] + thread[0]]


def hashed(block: Index, thread: Index) -> list[int]:
    return [(256 * block[0] + thread[0]) * 7919 % 1009]


@pytest.mark.parametrize(
    ("place", "of", "grid", "threads", "shape", "expected"),
    [
        (999, line, (4, 1, 1), (256, 1, 1), [1000], ((3, 0, 0), (231, 0, 0))),
        (0, line, (1, 1, 1), (256, 1, 1), [200], ((0, 0, 0), (0, 0, 0))),
        (1023, four, (4, 1, 1), (64, 1, 1), [1024], ((3, 0, 0), (63, 0, 0))),
        (2000, strided, (8, 1, 1), (64, 1, 1), [4096], ((7, 0, 0), (16, 0, 0))),
        (0, backwards, (4, 1, 1), (256, 1, 1), [1000], ((3, 0, 0), (231, 0, 0))),
        (60 * 39 + 59, tile, (4, 5, 1), (16, 8, 1), [40, 60], ((3, 4, 0), (11, 7, 0))),
    ],
)
def test_the_thread_is_found(
    place: int,
    of: Callable[[Index, Index], list[int]],
    grid: Index,
    threads: Index,
    shape: list[int],
    expected: object,
) -> None:
    found = would(place, of, grid, threads, shape)
    assert found
    assert (found.block, found.thread) == expected


def test_a_block_that_is_not_in_the_grid() -> None:
    found = would(1792, line, (7, 1, 1), (256, 1, 1), [2000])
    assert found
    assert (found.block, found.thread) == ((7, 0, 0), (0, 0, 0))
    # A column of blocks is missing: rows go on after it.
    found = would(48, tile, (3, 5, 1), (16, 8, 1), [40, 60])
    assert found
    assert (found.block, found.thread) == ((3, 0, 0), (0, 0, 0))


def test_a_thread_that_is_not_in_the_only_block() -> None:
    found = would(256, line, (1, 1, 1), (256, 1, 1), [300])
    assert found
    assert (found.block, found.thread) == ((0, 0, 0), (256, 0, 0))
    found = would(300, shuffled, (1, 1, 1), (64, 1, 1), [600], programs=True)
    assert found is None


def test_programs_whose_threads_a_compiler_chose() -> None:
    found = would(700, shuffled, (3, 1, 1), (64, 1, 1), [768], left_out=lambda i: i >= 700, programs=True)
    assert found
    assert found.block == ((2, 0, 0))
    # Rows and columns of programs: the program of the same row is nearer.
    found = would(60 * 20 + 50, tile, (4, 5, 1), (16, 8, 1), [40, 60], programs=True)
    assert found
    assert found.block == (3, 2, 0)
    found = would(768, shuffled, (3, 1, 1), (64, 1, 1), [1000], programs=True)
    assert found
    assert found.block == ((3, 0, 0))


def test_nothing_is_claimed_without_an_index() -> None:
    assert would(500, hashed, (3, 1, 1), (256, 1, 1), [1009]) is None
    assert would(0, line, (1, 1, 1), (2, 1, 1), [4]) is None
    # Several threads write one element.
    assert would(268, overlapping, (4, 1, 1), (256, 1, 1), [1000]) is None


def test_an_index_along_a_row_does_not_go_on_in_the_next_one() -> None:
    """Only the first row is written, and the next block would begin the second one."""
    above = {"left_out": lambda element: element >= 400}
    for programs in (False, True):
        assert would(400, row, (25, 1, 1), (16, 1, 1), [2, 400], **above, programs=programs) is None
        # Here writers do go on, so rows do not matter.
        found = would(790, row, (50, 1, 1), (16, 1, 1), [2, 400], programs=programs)
        assert found
        assert found.block == (49, 0, 0)
