"""Patterns of wrong elements' places: they say less than ``patterns``, so they come last."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from grader.judge.explaining.wrong import FEWEST, TILES, Pattern, Wrong, matrix_of

if TYPE_CHECKING:
    import torch

_STEPS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_CHUNKS = (1024, 512, 256, 128, 64, 32)
_LAST_TILES = (256, 128, 64, 32, 16, 8)
_MOST_CHUNKS = 256


def line_pattern(result: Wrong) -> Pattern | None:
    for find in (_old_values, _right_alone, _block_order, _reordered, _periodic, _last_tile, _few_lines):
        if (found := find(result)) is not None:
            return found
    return None


def _old_values(result: Wrong) -> Pattern | None:
    import torch

    places = torch.nonzero(result.wrong).reshape(-1)
    if places.numel() < FEWEST:
        return None
    got, name = result.got[places], result.argument.name
    for values, kind, text in (
        (
            result.given,
            "untouched",
            f"Where {name} is wrong, it still holds its values from before the call.",
        ),
        (
            result.before,
            "stale",
            f"Where {name} is wrong, it holds the right values of the case before: an earlier call's were kept.",
        ),
    ):
        if values is None or int(places[-1]) >= values.numel() or torch.unique(got).numel() < 2:
            continue
        if result.explains(got, values.reshape(-1)[places], result.want[places]):
            return Pattern(kind, text)
    return None


def _right_alone(result: Wrong) -> Pattern | None:
    import torch

    shape, total = result.shape, result.wrong.numel()
    if not shape or total != math.prod(shape) or int(result.wrong.sum()) < 4 * FEWEST:
        return None
    width = shape[-1]
    if width < 2 * FEWEST or bool((result.want.reshape(-1, width)[:, 0] == 0).all()):
        return None
    right = ~result.wrong.reshape(-1, width)
    always = torch.nonzero(right.all(dim=0)).reshape(-1)
    if not always.numel() or int(always[0]) != 0 or always.numel() * FEWEST > width:
        return None
    if float(right.double().mean()) > 2.0 * always.numel() / width:
        return None
    word = "column" if len(shape) > 1 else "element"
    if always.numel() == 1 and right.shape[0] < 4:
        return None  # one element may be right for many reasons
    if always.numel() == 1:
        which, period = f"{word} 0", width
    else:
        steps = always.diff()
        period = int(steps[0])
        if not bool((steps == period).all()) or period < FEWEST:
            return None
        which = f"every {_ordinal(period)} {word}, from {word} 0 on,"
    return Pattern(
        "right_alone",
        f"Only {which} of {result.argument.name} is right: what thread 0 writes. What it has computed does not reach "
        "the other threads: it must go through shared memory, or through a shuffle that gives it to all.",
        period,
    )


def spread(result: Wrong) -> Pattern | None:
    import torch

    if not result.want.is_floating_point() or int(result.wrong.sum()) < FEWEST:
        return None
    if result.poisoned is not None and bool(result.poisoned.any()):
        return None
    lost = torch.isnan(result.got)
    what = "NaN" if bool(lost[result.wrong].all()) else "NaN or infinite"
    lost |= torch.isinf(result.got)
    if not bool(lost[result.wrong].all()):
        return None
    name = result.argument.name
    if bool(lost.all()):
        return Pattern("spread", f"All of {name} is {what}.")
    matrix = matrix_of(result, lost)
    if matrix is None:
        return None
    for across, word in ((2, "row"), (1, "column")):
        lines = matrix.all(dim=across)
        if torch.equal(lines, matrix.any(dim=across)):
            places = torch.nonzero(lines.reshape(-1)).reshape(-1)
            first, count = int(places[0]) % lines.shape[1], places.numel()
            which = f"{word} {first}" if count == 1 else f"{count:,} {word}s, the first of which is {first}"
            return Pattern(
                "spread",
                f"In {name} everything is {what} in {which}, and nothing else is wrong: one such value spreads along "
                f"its {word}.",
                first,
            )
    return None


def _block_order(result: Wrong) -> Pattern | None:
    if int(result.wrong.sum()) < FEWEST:
        return None
    name, total = result.argument.name, result.got.numel()
    for size in _CHUNKS:
        whole = total // size * size
        if not result.agrees(result.got[whole:], result.want[whole:]):
            continue
        order = _order(result, result.got[:whole].reshape(-1, size), result.want[:whole].reshape(-1, size))
        if order is not None:
            first = next(place for place, source in enumerate(order) if place != source)
            how = "reverse" if order == list(range(len(order)))[::-1] else "another"
            return Pattern(
                "block_order",
                f"The values of {name} are right, but groups of {size} elements are in {how} order: group {first} "
                f"holds the values of group {order[first]}.",
                size,
            )
    got, want = matrix_of(result, result.got), matrix_of(result, result.want)
    if got is None or want is None or got.shape[0] != 1:
        return None
    rows, columns = result.shape[-2:]
    for size in TILES:
        if rows % size or columns % size:
            continue
        order = _order(result, *(_tiles(values[0], size) for values in (got, want)))
        if order is not None:
            first = next(place for place, source in enumerate(order) if place != source)
            tile, source = (divmod(place, columns // size) for place in (first, order[first]))
            return Pattern(
                "block_order",
                f"The values of {name} are right, but tiles of {size} x {size} are at each other's places: tile "
                f"{list(tile)} holds the values of tile {list(source)}.",
                size,
            )
    return None


def _reordered(result: Wrong) -> Pattern | None:
    import torch

    if int(result.wrong.sum()) < FEWEST or torch.unique(result.want[result.wrong]).numel() < FEWEST:
        return None
    got, want = torch.sort(result.got).values, torch.sort(result.want).values
    if not torch.equal(got, want):
        return None
    return Pattern(
        "reordered",
        f"{result.argument.name} holds exactly the right values, each once, but in another order.",
    )


def _tiles(matrix: torch.Tensor, size: int) -> torch.Tensor:
    rows, columns = matrix.shape
    tiles = matrix.reshape(rows // size, size, columns // size, size).transpose(1, 2)
    return tiles.reshape(-1, size * size)


def _order(result: Wrong, got: torch.Tensor, want: torch.Tensor) -> list[int] | None:
    """The row of ``want`` for each row of ``got``; None unless each occurs once, and not all in place."""
    import torch

    count, size = got.shape
    if not 2 <= count <= _MOST_CHUNKS or not bool(torch.isfinite(got.double()).all()):
        return None
    few = torch.linspace(0, size - 1, min(size, FEWEST)).long().to(got.device)
    apart = (got[:, None, few].double() - want[None, :, few].double()).abs().amax(dim=2)
    order = apart.argmin(dim=1)
    if torch.unique(order).numel() < count or torch.equal(order, torch.arange(count, device=order.device)):
        return None
    return order.tolist() if result.agrees(got, want[order]) else None


def _last_tile(result: Wrong) -> Pattern | None:
    import torch

    if int(result.wrong.sum()) < FEWEST:
        return None
    for places, size, word in _lines(result):
        first, other = int(places.min()), result.wrong.numel() // size
        for tile in _LAST_TILES:
            if tile >= size or (size - 1) // tile * tile != first:
                continue
            left = size - first
            if places.numel() < 0.5 * left * other or torch.unique(places).numel() < 0.5 * left:
                continue
            has = f", which has only {left} of them" if left < tile else ""
            return Pattern(
                "last_tile",
                f"All wrong elements of {result.argument.name} are from {word} {first} on: in the last tile of {tile} "
                f"{word}s{has}.",
                tile,
            )
    return None


def _periodic(result: Wrong) -> Pattern | None:
    import torch

    if int(result.wrong.sum()) < FEWEST:
        return None
    for places, size, word in _lines(result):
        for step in _STEPS:
            within = torch.unique(places % step)
            if within.numel() != 1:
                continue
            first = int(within[0])
            expected = torch.arange(first, size, step, device=places.device)
            if expected.numel() > 1 and torch.equal(torch.unique(places), expected):
                every = f"Exactly every {_ordinal(step)} {word} of {result.argument.name}"
                return Pattern("periodic", f"{every} is wrong, from {word} {first} on.", step)
    return None


def _few_lines(result: Wrong) -> Pattern | None:
    import torch

    if int(result.wrong.sum()) < FEWEST:
        return None
    for places, size, word in _lines(result):
        if word == "element":
            continue
        lines, counts = torch.unique(places, return_counts=True)
        other = result.wrong.numel() // size
        if lines.numel() > min(size // 4, 4) or int(counts.min()) < 0.9 * other:
            continue
        named = [str(int(line)) for line in lines]
        words = (
            f"{word} {named[0]}" if len(named) == 1 else f"{word}s {', '.join(named[:-1])} and {named[-1]}"
        )
        return Pattern(
            "few_lines", f"All wrong elements of {result.argument.name} are in {words}.", int(lines[0])
        )
    return None


def _lines(result: Wrong) -> Iterator[tuple[torch.Tensor, int, str]]:
    """For each kind of line: wrong elements' lines, their number, and a word."""
    import torch

    flat = torch.nonzero(result.wrong).reshape(-1)
    if len(result.shape) < 2 or result.wrong.numel() != math.prod(result.shape):
        yield flat, result.wrong.numel(), "element"
        return
    rows, columns = result.shape[-2:]
    yield flat % columns, columns, "column"
    yield flat // columns % rows, rows, "row"


def _ordinal(number: int) -> str:
    return f"{number}{'nd' if number % 10 == 2 and number % 100 != 12 else 'th'}"
