"""Finds an expression for a dimension, from its value at several sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.challenge.expression import ExpressionError, parse


@dataclass(frozen=True)
class Seen:
    sizes: Mapping[str, int]
    value: int


def expression_of(seen: Sequence[Seen]) -> str | None:
    """The simplest that fits all, or None."""
    return next((text for text in _candidates(seen) if _fits(text, seen)), None)


def _fits(text: str, seen: Sequence[Seen]) -> bool:
    try:
        return all(parse(text)(one.sizes) == one.value for one in seen)
    except ExpressionError:
        return False


def _candidates(seen: Sequence[Seen]) -> Iterator[str]:
    names = list(seen[0].sizes)
    yield from names
    if len({one.value for one in seen}) == 1:
        yield str(seen[0].value)
    pairs = [(one, other) for one in names for other in names if one != other]
    for one, other in pairs:
        if names.index(one) < names.index(other):
            yield f"{one} * {other}"
            yield f"{one} + {other}"
        yield f"{one} - {other} + 1"
        yield f"{one} // {other}"
        yield f"cdiv({one}, {other})"
    for name in names:
        for first in seen:
            yield from _scaled(name, [first, *seen])
    if (linear := _linear(seen)) is not None:
        yield linear
    for one, other in pairs:
        for third in names:
            if names.index(one) < names.index(other) and third not in (one, other):
                yield f"{one} * {other} * {third}"
    yield from _windows(names)


def _windows(names: Sequence[str]) -> Iterator[str]:
    """A pooling's or convolution's, with stride, padding and dilation."""
    for size, window, stride in itertools.permutations(names, 3):
        yield f"({size} - {window}) // {stride} + 1"
        others = [name for name in names if name not in (size, window, stride)]
        yield from (f"({size} + 2 * {padding} - {window}) // {stride} + 1" for padding in others)
        for padding, dilation in itertools.permutations(others, 2):
            yield f"({size} + 2 * {padding} - {dilation} * ({window} - 1) - 1) // {stride} + 1"


def _linear(seen: Sequence[Seen]) -> str | None:
    """A sum of whole multiples, if each size changes alone somewhere."""
    first = seen[0]
    terms: list[str] = []
    rest = first.value
    for name, size in first.sizes.items():
        alone = [
            one
            for one in seen
            if one.sizes[name] != size
            and all(one.sizes[other] == first.sizes[other] for other in first.sizes if other != name)
        ]
        slopes = {(one.value - first.value) / (one.sizes[name] - size) for one in alone}
        if len(slopes) != 1 or (slope := slopes.pop()) != int(slope):
            return None
        rest -= int(slope) * size
        if slope:
            text = name if abs(slope) == 1 else f"{abs(int(slope))} * {name}"
            terms.append(f"{'-' if slope < 0 else '+'} {text}")
    if not terms:
        return None
    terms.sort(key=lambda term: term.startswith("-"))
    if rest:
        terms.append(f"{'-' if rest < 0 else '+'} {abs(rest)}")
    return " ".join(terms).removeprefix("+ ")


def _scaled(name: str, seen: Sequence[Seen]) -> Iterator[str]:
    size, value = seen[0].sizes[name], seen[0].value
    if value > size:
        yield f"{name} + {value - size}"
        if size and value % size == 0:
            yield f"{value // size} * {name}"
    else:
        yield f"{name} - {size - value}"
        if value:
            yield f"{name} // {size // value}"
            yield f"cdiv({name}, {size // value})"
    slopes = {
        (other.value - value) / (other.sizes[name] - size) for other in seen if other.sizes[name] != size
    }
    if len(slopes) == 1 and (slope := slopes.pop()) > 0 and slope == int(slope):
        rest = value - int(slope) * size
        yield f"{int(slope)} * {name} {'+' if rest >= 0 else '-'} {abs(rest)}"
