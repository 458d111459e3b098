"""The edge-case suite of a new challenge."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.authoring.categories import other_value
from grader.challenge import cases as recipes
from grader.challenge.draw import strict_bounds
from grader.challenge.dtypes import DType
from grader.challenge.expression import parse, parse_condition
from grader.challenge.model import Argument, Manifest, check_sizes

Sizes = Mapping[str, int]
_BASIC = {1: (1000,), 2: (24, 40), 3: (12, 10, 14)}
_ODD = {1: (777,), 2: (33, 21), 3: (11, 9, 13)}
_PRIME = {1: (1009,), 2: (31, 37), 3: (11, 7, 13)}
_LARGE = {1: (50_003,), 2: (211, 239), 3: (37, 41, 35)}
# Sizes if all buffers have one dimension.
_LONG = {1: (50_003,), 2: (20_011, 10_007), 3: (20_011, 10_007, 5003)}
_LARGE_ELEMENTS = 1000
# Triton's interpreter takes ten seconds.
MOST_ELEMENTS = 1 << 20
_WHOLE = 128
_ALIGNED = {1: (16_384,), 2: (128, 256)}
_VALUES = {1: (300,), 2: (20, 17), 3: (8, 7, 6)}
_MORE = 5
# Next to usual block sizes.
_EDGES = (31, 32, 33, 127, 129, 255, 257, 1023, 1025)
_BESIDE = 3
_TILE = 16
# Replacements for sizes that break a constraint.
_NEAR = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048)
_UNREAD = "Nothing may be read or written there: a grid of 0 blocks is a launch error in CUDA."
_WRITTEN = "There is nothing to read, but the result has elements, and they have to be written."
_FAR = 1024
# The formatter's line length.
LINE, _INDENT = 110, " " * 12
_PLAIN = {
    "zeros": ("zeros", "Constant(0)"),
    "ones": ("ones", "Constant(1)"),
    "nan": ("nan", "Sprinkle(NAN)"),
    "all_nan": ("nan", "Constant(NAN)"),
    "pos_inf": ("pos_inf", "Sprinkle(INF, 0.2)"),
    "neg_inf": ("neg_inf", "Sprinkle(-INF, 0.2)"),
}


@dataclass(frozen=True)
class Planned:
    name: str
    category: str
    sizes: Sizes
    inputs: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    without: Sequence[str] = ()
    scalars: Mapping[str, float] = field(default_factory=dict)
    on: str = ""

    def case(self, names: Mapping[str, object] | None = None) -> recipes.Case:
        """Names for recipes, besides ``grader.challenge.cases``."""
        known = {**vars(recipes), **(names or {})}
        inputs = {name: eval(text, known) for name, text in self.inputs.items()}  # noqa: S307 - our own text
        return recipes.Case(
            self.name, recipes.Category(self.category), dict(self.sizes), inputs, dict(self.scalars)
        )

    def line(self) -> str:
        words = [f'"{self.name}"', f'"{self.category}"']
        words += [f"{name}={value}" for name, value in self.sizes.items()]
        if self.inputs:
            words.append(_dictionary("inputs", self.inputs))
        if self.scalars:
            scalars = ", ".join(f'"{name}": {value}' for name, value in self.scalars.items())
            words.append(f"scalars={{{scalars}}}")
        if self.without:
            words.append(f"without={list(self.without)}".replace("'", '"'))
        if self.on:
            words.append(f'on="{self.on}"')
        if self.note:
            words.append(f'note="{self.note}"')
        line = f"        case({', '.join(words)}),"
        if len(line) <= LINE:
            return line
        return "\n".join(["        case(", *[f"{_INDENT}{word}," for word in words], "        ),"])


def _dictionary(name: str, values: Mapping[str, str]) -> str:
    entries = [f'"{key}": {text}' for key, text in values.items()]
    line = f"{name}={{{', '.join(entries)}}}"
    if len(f"{_INDENT}{line},") <= LINE:
        return line
    return "\n".join([f"{name}={{", *[_entry(entry) for entry in entries], f"{_INDENT}}}"])


def _entry(text: str) -> str:
    inner, recipe = f"{_INDENT}    ", text.partition(": ")[2]
    line = f"{inner}{text},"
    call = ast.parse(recipe, mode="eval").body
    if len(line) <= LINE or not isinstance(call, ast.Call):
        return line
    head = text[: text.index("(") + 1]
    arguments = [ast.unparse(part) for part in [*call.args, *call.keywords]]
    return "\n".join([f"{inner}{head}", *[f"{inner}    {each}," for each in arguments], f"{inner}),"])


def public_cases(manifest: Manifest) -> list[Planned]:
    return _bounded_in_size(
        manifest, [*_shapes(manifest), *_values(manifest), *_scalars(manifest), *_left_out(manifest)]
    )


def large_case(manifest: Manifest) -> Planned | None:
    """Just below the largest workload's sizes, for a GPU; None if the constraints forbid them."""
    largest = manifest.workloads[-1].sizes
    sizes = {name: size - 1 if size > _WHOLE else size for name, size in largest.items()}
    return Planned("almost_timed", "large", sizes, on="gpu") if is_possible(manifest, sizes) else None


def _scalars(manifest: Manifest) -> Iterator[Planned]:
    """A kernel with a hard-coded scalar fails."""
    others = {arg.name: other_value(arg) for arg in manifest.scalars}
    if others:
        whole = {arg.name for arg in manifest.scalars if not arg.dtype.floating}
        given = {name: int(value) if name in whole else value for name, value in others.items()}
        yield Planned("other_scalars", "basic", _sizes(manifest, _VALUES), scalars=given)


def _left_out(manifest: Manifest) -> Iterator[Planned]:
    sizes, names = _sizes(manifest, _VALUES), manifest.optional
    for name in names:
        yield Planned(f"no_{name}", "basic", sizes, without=[name])
    if len(names) > 1:
        yield Planned("no_optional_input", "basic", sizes, without=names)


def hidden_cases(manifest: Manifest) -> list[Planned]:
    """Other sizes and values than in the public suite."""
    sizes = _sizes(manifest, {1: (8191,), 2: (67, 43), 3: (17, 19, 7)})
    cases = [Planned("hidden_prime", "prime", sizes)] if sizes else []
    if floats := {name: dtype for name, dtype in _floats(manifest).items() if dtype.as_float.nan}:
        small = _sizes(manifest, {1: (515,), 2: (13, 29), 3: (7, 5, 9)})
        recipes = {arg: _on("Sprinkle(NAN, 0.1)", _named(manifest, arg)) for arg in floats}
        cases += [Planned("hidden_nan", "nan", small, recipes)]
    return _bounded_in_size(manifest, cases)


def _shapes(manifest: Manifest) -> list[Planned]:
    return [
        Planned("basic", "basic", _sizes(manifest, _BASIC)),
        *_empty(manifest),
        Planned("one_element", "one_element", _mended(manifest, dict.fromkeys(manifest.sizes, 1))),
        Planned("odd", "odd", _sizes(manifest, _ODD)),
        Planned("prime", "prime", _sizes(manifest, _PRIME)),
        *_edges(manifest),
        Planned("aligned", "aligned", _aligned(manifest)),
        Planned("large", "large", _large(manifest)),
    ]


def _bounded_in_size(manifest: Manifest, cases: Sequence[Planned]) -> list[Planned]:
    """Those possible. If arrays are too large together, cuts the largest size within the category."""
    cut = [_cut(manifest, case) for case in cases]
    return [case for case in cut if case is not None and is_possible(manifest, case.sizes)]


def _cut(manifest: Manifest, case: Planned) -> Planned | None:
    sizes = dict(case.sizes)
    most = MOST_ELEMENTS * (4 if case.category == "aligned" else 1)
    while is_possible(manifest, sizes) and sum(_counts(manifest, sizes)) > most:
        largest = max(sizes, key=lambda name: sizes[name])
        smaller = _smaller(sizes[largest], case.category)
        if smaller is None:
            return None
        sizes[largest] = smaller
    return replace(case, sizes=sizes)


def _smaller(size: int, category: str) -> int | None:
    """About half; None if none has this category."""
    half = size // 2
    if category == "block_edge" or half < (_WHOLE if category == "aligned" else 2):
        return None
    if category == "prime":
        return next(
            number for number in range(half, 1, -1) if all(number % divisor for divisor in range(2, number))
        )
    return half | 1 if size % 2 else half


def _empty(manifest: Manifest) -> Iterator[Planned]:
    for name in manifest.sizes:
        sizes = _mended(manifest, {**_sizes(manifest, {}), name: 0}, [name])
        yield Planned(
            f"{name}_0", "empty", sizes, note=_UNREAD if writes_nothing(manifest, name) else _WRITTEN
        )
    if len(manifest.sizes) > 1:
        yield Planned("all_0", "empty", dict.fromkeys(manifest.sizes, 0))


def writes_nothing(manifest: Manifest, name: str) -> bool:
    """Every result is empty at size 0, unlike that of a sum over it."""
    return all(any(name in parse(text).names for text in arg.shape) for arg in manifest.results)


def _edges(manifest: Manifest) -> Iterator[Planned]:
    """The others are small. Constraints' numbers are edges if blocks end there."""
    said = {int(number) for text in manifest.constraints for number in re.findall(r"\d+", text)}
    bounds = {edge for number in said for edge in (number - 1, number) if edge >= _TILE - 1}
    near = {edge for edge in bounds if min(edge % _TILE, -edge % _TILE) <= 1}
    for name in manifest.sizes:
        for edge in sorted({*_EDGES, *near}):
            sizes = {**dict.fromkeys(manifest.sizes, _BESIDE), name: edge}
            yield Planned(f"{name}_{edge}", "block_edge", _mended(manifest, sizes, [name]))


def _aligned(manifest: Manifest) -> dict[str, int]:
    """With three sizes or more, only the first is aligned; the others are the first workload's powers of two."""
    if len(manifest.sizes) in _ALIGNED:
        return _sizes(manifest, _ALIGNED)
    return _mended(manifest, {**manifest.workloads[0].sizes, manifest.sizes[0]: 128})


def _values(manifest: Manifest) -> list[Planned]:
    """Equal sizes, so a kernel that returns its last answer fails."""
    sizes = _sizes(manifest, _VALUES)
    floats, integers = _floats(manifest), _integers(manifest)
    bound = {} if floats else _bounded(manifest, sizes)
    found = []
    for name, (category, recipe) in _PLAIN.items():
        able = {
            arg: _on(recipe, _named(manifest, arg))
            for arg, dtype in (floats or integers).items()
            if _has(dtype, name)
        }
        if able:
            found.append(Planned(name, category, sizes, {**able, **_within(bound, name)}))
    for name in ("huge", "tiny", "denormal"):
        recipes = {
            arg: _uniform(getattr(dtype.as_float, name), _named(manifest, arg))
            for arg, dtype in floats.items()
            if _has(dtype, name)
        }
        if recipes:
            found.append(Planned(name, name, sizes, recipes))
    if integers:
        ends = {name: f"Choice(({low}, {high}))" for name, (low, high) in _bounded(manifest, sizes).items()}
        ranges = {name: ends.get(name) or _range(dtype) for name, dtype in integers.items()}
        found.append(Planned("extremes", "range", sizes, ranges))
    return found


def _bounded(manifest: Manifest, sizes: Sizes) -> dict[str, tuple[int, int]]:
    found = {arg.name: strict_bounds(arg, sizes) for arg in manifest.given}
    return {name: ends for name, ends in found.items() if ends is not None and name in _integers(manifest)}


def _within(bound: Mapping[str, tuple[int, int]], name: str) -> dict[str, str]:
    value = {"zeros": 0, "ones": 1}.get(name, 0)
    return {arg: f"Constant({min(max(value, low), high)})" for arg, (low, high) in bound.items()}


def _has(dtype: DType, name: str) -> bool:
    if not dtype.floating:
        return name in ("zeros", "ones")
    facts = dtype.as_float
    if "inf" in name:
        return facts.infinite
    return facts.nan if "nan" in name else facts.signed or name not in ("zeros", "denormal")


def _on(recipe: str, arg: Argument) -> str:
    """Within the numbers that the argument may hold."""
    base = ""
    if recipe.startswith("Sprinkle") and arg.dtype.floating:
        if not arg.dtype.as_float.signed:
            base = "PowersOfTwo(-3, 4)"
        elif arg.values.dist == "uniform" and not isinstance(arg.values.low, str):
            base = f"Uniform({arg.values.low}, {arg.values.high})"
    return f"{recipe[:-1]}, base={base})" if base else recipe


def _uniform(bound: str, arg: Argument) -> str:
    if not arg.dtype.as_float.signed:
        return f"Uniform({float(bound) / 8:g}, {bound})"
    positive = arg.values.dist == "uniform" and not isinstance(arg.values.low, str) and arg.values.low >= 0
    return f"Uniform(0, {bound})" if positive else f"Uniform(-{bound}, {bound})"


def _range(dtype: DType) -> str:
    return f"Choice(({dtype.as_integer.low}, {dtype.as_integer.high}, 0, 1))"


def _floats(manifest: Manifest) -> dict[str, DType]:
    return {name: dtype for name, dtype in _readable(manifest).items() if dtype.floating}


def _integers(manifest: Manifest) -> dict[str, DType]:
    """Without sorted ones and offsets."""
    ordered = {arg.name for arg in manifest.given if arg.values.dist in ("sorted", "offsets")}
    return {
        name: dtype
        for name, dtype in _readable(manifest).items()
        if not dtype.floating and name not in ordered
    }


def _named(manifest: Manifest, name: str) -> Argument:
    return next(arg for arg in manifest.args if arg.name == name)


def _readable(manifest: Manifest) -> dict[str, DType]:
    return {arg.name: arg.dtype for arg in manifest.given}


def _sizes(manifest: Manifest, table: Mapping[int, Sequence[int]]) -> dict[str, int]:
    """Leaves no buffer empty if possible."""
    names = manifest.sizes
    values = [*table.get(min(len(names), 3), ()), *[_MORE] * len(names)][: len(names)]
    turns = [values, values[::-1], sorted(values), sorted(values, reverse=True)]
    tried = [dict(zip(names, turned, strict=True)) for turned in turns]
    possible = [sizes for sizes in tried if is_possible(manifest, sizes)] or [_mended(manifest, tried[0])]
    return next(
        (sizes for sizes in possible if all(_counts(manifest, sizes))), next(iter(possible), tried[0])
    )


def _large(manifest: Manifest) -> dict[str, int]:
    sizes = _sizes(manifest, _LARGE)
    enough = is_possible(manifest, sizes) and sum(_counts(manifest, sizes)) >= _LARGE_ELEMENTS
    return sizes if enough else _sizes(manifest, _LONG)


def _counts(manifest: Manifest, sizes: Sizes) -> list[int]:
    return [math.prod(manifest.shape(arg, sizes)) for arg in manifest.operands]


def is_possible(manifest: Manifest, sizes: Sizes) -> bool:
    try:
        check_sizes(manifest, dict(sizes), "")
    except ValueError:
        return False
    return True


def alone(manifest: Manifest, name: str, size: int) -> int:
    """By the constraints on ``name`` alone, preferably larger."""
    conditions = [
        condition for condition in map(parse_condition, manifest.constraints) if condition.names == {name}
    ]
    tried = itertools.islice(
        itertools.chain.from_iterable((size + step, size - step) for step in itertools.count()), _FAR
    )
    return next(
        (
            value
            for value in tried
            if value >= min(size, 1) and all(condition({name: value}) for condition in conditions)
        ),
        size,
    )


def _mended(manifest: Manifest, sizes: Sizes, kept: Sequence[str] = ()) -> dict[str, int]:
    """With ``kept`` unchanged and at most two changes; ``sizes`` if none is found."""
    if is_possible(manifest, sizes):
        return dict(sizes)
    sizes = {name: size if name in kept else alone(manifest, name, size) for name, size in sizes.items()}
    if is_possible(manifest, sizes):
        return sizes
    near = sorted(
        {*_NEAR, *(value + step for value in sizes.values() for step in (-1, 0, 1, 2) if value + step >= 0)}
    )
    free = [name for name in sizes if name not in kept]
    found: list[tuple[float, dict[str, int]]] = []
    for names in [*((name,) for name in free), *itertools.combinations(free, 2)]:
        for values in itertools.product(near, repeat=len(names)):
            tried = {**sizes, **dict(zip(names, values, strict=True))}
            if is_possible(manifest, tried):
                away = sum(abs(math.log((tried[name] + 1) / (sizes[name] + 1))) for name in names)
                found.append((away, tried))
        if found:
            break
    return min(found, key=lambda pair: pair[0])[1] if found else dict(sizes)
