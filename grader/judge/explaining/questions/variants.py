"""What a kernel may do instead of one step. Words follow ``The result is what you get``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

# Takes arguments and right result. Its result may have fewer dimensions.
Change = Callable[[Sequence[Any], Mapping[str, Any], torch.Tensor], torch.Tensor]
Variant = tuple[str, Change]

_TILES = (32, 64, 128, 256, 16, 8, 512, 1024)
_ROWS = (2, 4, 8, 16, 32)
_SAME = 1e-4
_WITHOUT = "without "
# For values with long formulas.
UNCLEAR = "a value "
_COMPARED = {"gt": (">", ">=", "<"), "ge": (">=", ">", "<="), "lt": ("<", "<=", ">"), "le": ("<=", "<", ">=")}
_COMPARISONS: Mapping[str, Callable[[Any, Any], torch.Tensor]] = {
    ">": torch.gt,
    ">=": torch.ge,
    "<": torch.lt,
    "<=": torch.le,
}
_REDUCTIONS = ("sum", "mean", "amax", "amin")
_PRODUCTS = ("mm", "bmm", "mv")
_MOST_TERMS = 512
_MOST_ROUNDED = 1 << 21


@dataclass(frozen=True)
class Step:
    op: str
    operands: tuple[str, ...]
    text: str
    shape: tuple[int, ...]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    inputs: frozenset[str]
    parents: tuple[Step | None, ...]
    floating: bool
    part: str = ""
    whole: bool = False
    names: Mapping[float, str] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """False for constants, such as masks."""
        return bool(self.inputs) or self.op in _COMPARED


def inner(text: str) -> str:
    return f"({text})" if " " in text else text


def omissions(step: Step) -> Iterator[Variant]:
    """The simplest mistakes: they come first."""
    if step.op != "mul":
        yield from (variant for variant in _all(step) if variant[0].startswith(_WITHOUT))


def factors_omitted(step: Step) -> Iterator[Variant]:
    """Omissions to try after simpler ones."""
    if step.op == "mul":
        yield from (variant for variant in _all(step) if variant[0].startswith(_WITHOUT))


def variants(step: Step) -> Iterator[Variant]:
    yield from (variant for variant in _all(step) if not variant[0].startswith(_WITHOUT))


def _all(step: Step) -> Iterator[Variant]:
    if step.op in _UNARY:
        yield from _unary(step)
    if step.op in ("sqrt", "rsqrt", "add"):
        yield from _rooted(step)
    if step.op in ("add", "sub", "mul", "div"):
        yield from _binary(step)
        yield from _regrouped(step)
    if step.op in ("pow", "square"):
        a = step.operands[0]
        yield f"without squaring {a}", lambda args, _, made: args[0]
        yield f"with the absolute value of {a} in place of its square", lambda args, _, made: args[0].abs()
    if step.op in _COMPARED:
        yield from _compared(step)
    if step.op in ("where", "masked_fill"):
        yield from _chosen(step)
    if step.op in _REDUCTIONS:
        yield from _reduced(step)
    if step.op == "mean":
        yield from _of_one_less(step)
    if step.op == "cumsum":
        yield from _running(step)
    if step.op in _PRODUCTS:
        yield from _product(step)
    if step.op == "_softmax":
        yield from _softmax_of(step)


def partial_variants(step: Step) -> Iterator[Variant]:
    """On parts, for several rows, or rounded on the way."""
    if step.part == "softmax":
        yield from _online(step)
    if step.op in _REDUCTIONS:
        yield from _reduced_in_part(step)
    if step.op in ("sub", "mul", "div", "add"):
        yield from _of_other_rows(step)
    if step.op in _PRODUCTS:
        yield from _product_in_part(step)


def _softmax_of(step: Step) -> Iterator[Variant]:
    given, dim = step.args[:2]
    for axis in range(given.dim()):
        if axis != dim % given.dim() and given.shape[axis] > 1:
            line = {given.dim() - 1: "row", given.dim() - 2: "column"}.get(axis, f"line along index {axis}")
            yield (
                f"if {step.text} is along the other axis: each {line} adds up to 1",
                _with(lambda args, made, axis: torch.softmax(args[0], axis), axis),
            )
    yield (
        f"if the sum of {step.text} is over all elements, not over one row",
        lambda args, _, made: torch.softmax(args[0].reshape(-1), 0).reshape(made.shape),
    )


_UNARY: Mapping[str, tuple[tuple[str, Callable[[torch.Tensor], torch.Tensor]], ...]] = {
    "exp": (("exp2({})", torch.exp2), ("exp(-{})", lambda x: torch.exp(-x))),
    "log": (("log2({})", torch.log2), ("log10({})", torch.log10)),
    "sqrt": (("1 / sqrt({})", torch.rsqrt), ("{} squared", torch.square)),
    "rsqrt": (
        ("sqrt({})", torch.sqrt),
        ("1 / {}", torch.reciprocal),
        ("1 / {} squared", lambda x: 1 / (x * x)),
    ),
    "reciprocal": (("1 / sqrt({})", torch.rsqrt),),
    "erf": (("erfc({})", torch.erfc), ("tanh({})", torch.tanh)),
    "tanh": (("erf({})", torch.erf), ("sigmoid({})", torch.sigmoid)),
    "sigmoid": (("tanh({})", torch.tanh), ("sigmoid(-{})", lambda x: torch.sigmoid(-x))),
    "relu": (("abs({})", torch.abs), ("min({}, 0)", lambda x: x.clamp(max=0))),
    "abs": (("{} squared", torch.square),),
    "neg": (),
    "sin": (("cos({})", torch.cos),),
    "cos": (("sin({})", torch.sin),),
}


def _with(function: Callable[[Sequence[Any], torch.Tensor, Any], torch.Tensor], value: Any) -> Change:
    return lambda args, kwargs, made: function(args, made, value)


def _at(
    function: Callable[[torch.Tensor, int], torch.Tensor], value: int
) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda places: function(places, value)


def _unary(step: Step) -> Iterator[Variant]:
    a = step.operands[0]
    words = f"with the other sign of {a}" if step.op == "neg" else f"with {a} in place of {step.text}"
    yield words, lambda args, _, made: args[0]
    for words, function in _UNARY[step.op]:
        shown = words.format(a if "({})" in words else inner(a))
        yield f"with {shown} in place of {step.text}", _of_first(function)


def _of_first(function: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    return lambda args, kwargs, made: function(args[0])


def _of_both(function: Callable[[Any, Any], Any]) -> Change:
    def change(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(function(*(torch.as_tensor(each, dtype=made.dtype) for each in args[:2])))

    return change


def _binary(step: Step) -> Iterator[Variant]:
    if len(step.operands) < 2:
        return
    a, b = step.operands[:2]
    x, y = inner(a), inner(b)
    first, second = _of_both(lambda a, b: a), _of_both(lambda a, b: b)
    if step.op == "add":
        yield _left_out(b, a), first
        yield _left_out(a, b), second
        yield f"if {b} is subtracted from {a}, not added", _of_both(torch.sub)
        yield f"if {a} is subtracted from {b}, not added", _of_both(lambda a, b: b - a)
        yield f"if {a} is multiplied by {b}, not added to it", _of_both(torch.mul)
        yield f"with the larger of {a} and {b} in place of their sum", _of_both(torch.maximum)
    elif step.op == "sub":
        yield f"without subtracting {b} from {a}", first
        yield f"if {b} is added to {a}, not subtracted", _of_both(torch.add)
        yield f"with {y} - {x} in place of {x} - {y}", _of_both(lambda a, b: b - a)
    elif step.op == "mul" and a == b:
        yield f"without squaring {a}", first
        yield f"with the absolute value of {a} in place of its square", _of_both(lambda a, b: a.abs())
    elif step.op == "mul":
        yield f"without multiplying {a} by {b}", first
        yield f"without multiplying {b} by {a}", second
        yield f"if {a} is divided by {b}, not multiplied", _of_both(torch.div)
        yield f"if {b} is divided by {a}, not multiplied", _of_both(lambda a, b: b / a)
        yield f"if {b} is added to {a}, not multiplied", _of_both(torch.add)
    else:
        yield f"without dividing {a} by {b}", first
        yield f"if {a} is multiplied by {b}, not divided", _of_both(torch.mul)
        yield f"with {y} / {x} in place of {x} / {y}", _of_both(lambda a, b: b / a)
        yield f"if {a} is divided by the root of {b}", _of_both(lambda a, b: a / b.sqrt())
        yield f"if {a} is divided by the square of {b}", _of_both(lambda a, b: a / (b * b))


def _left_out(term: str, other: str) -> str:
    if term.startswith(UNCLEAR):
        return f"without one of the terms that are added: the one {term.removeprefix(UNCLEAR)}"
    return f"without adding {term}" + ("" if other.startswith(UNCLEAR) else f" to {other}")


def _regrouped(step: Step) -> Iterator[Variant]:
    if len(step.parents) < 2 or len(step.operands) < 2:
        return
    for at in (0, 1):
        parent, other = step.parents[at], step.operands[1 - at]
        if parent is None or len(parent.args) < 2 or len(parent.operands) < 2:
            continue
        for within in (0, 1):
            (p, q), value = (parent.operands[within], parent.operands[1 - within]), parent.args[within]
            given = f"{inner(other)} {'*' if step.op == 'mul' else '/'}"
            if step.op == "add" and parent.op == "mul":
                more = inner(other)
                yield (
                    f"with ({inner(q)} + {more}) * {inner(p)} in place of {inner(parent.text)} + {more}",
                    _grouped(at, value, lambda mine, rest, value: mine + rest * value),
                )
            elif step.op == "mul" and parent.op == "add":
                yield (
                    f"with {given} {inner(p)} + {inner(q)} in place of {given} ({inner(p)} + {inner(q)}): is a "
                    "parenthesis missing?",
                    _grouped(at, value, lambda mine, rest, value: rest * value + (mine - value)),
                )
            elif step.op == "div" and parent.op == "add" and at == 1:
                yield (
                    f"with {given} {inner(p)} + {inner(q)} in place of {given} ({inner(p)} + {inner(q)}): is a "
                    "parenthesis missing?",
                    _grouped(at, value, lambda mine, rest, value: rest / value + (mine - value)),
                )


def _grouped(at: int, value: Any, function: Callable[[Any, Any, Any], Any]) -> Change:
    return lambda args, kwargs, made: torch.as_tensor(function(args[at], args[1 - at], value))


def _rooted(step: Step) -> Iterator[Variant]:
    """A small number that is added under the root, or after it."""
    if step.op == "add":
        for at in (0, 1):
            parent = step.parents[at] if len(step.parents) > at else None
            if parent is not None and parent.op == "sqrt" and not isinstance(step.args[1 - at], torch.Tensor):
                yield (
                    f"with sqrt({parent.operands[0]} + {step.operands[1 - at]}) in place of {step.text}",
                    _with(lambda args, made, at: (args[at] * args[at] + args[1 - at]).sqrt(), at),
                )
        return
    parent = step.parents[0]
    if parent is None or parent.op != "add" or len(parent.operands) < 2:
        return
    (under, small), value = parent.operands[:2], parent.args[1]
    if isinstance(value, torch.Tensor):
        return
    root = f"sqrt({under}) + {small}"
    yield (
        f"with {root if step.op == 'sqrt' else f'1 / ({root})'} in place of {step.text}",
        _with(
            lambda args, made, small: (
                (args[0] - small).sqrt() + small
                if step.op == "sqrt"
                else 1 / ((args[0] - small).sqrt() + small)
            ),
            value,
        ),
    )


def _compared(step: Step) -> Iterator[Variant]:
    own, *others = _COMPARED[step.op]
    a, b = (*step.operands, "", "")[:2]
    indices = not step.inputs
    shown = "" if indices else f" in {inner(a)} {own} {inner(b)}"
    for sign in others:
        compare = _COMPARISONS[sign]
        words = f"with {sign} in place of {own}{shown}" + (" where indices are compared" if indices else "")
        yield words, _with(lambda args, made, compare: compare(args[0], args[1]), compare)
    where = "where indices are compared" if indices else f"{inner(a)} {own} {inner(b)}"
    yield (
        f"without the comparison {where}, as if it were never true",
        lambda a, k, made: torch.zeros_like(made),
    )
    yield (
        f"without the comparison {where}, as if it were always true",
        lambda a, k, made: torch.ones_like(made),
    )


def _chosen(step: Step) -> Iterator[Variant]:
    if step.op == "masked_fill":
        fill = step.operands[2] if len(step.operands) > 2 else "its value"
        for value in (0.0, -math.inf, 1.0):
            if step.args[2] != value:
                yield (
                    f"if masked elements of {step.operands[0]} are {value:g}, not {fill}",
                    _with(lambda args, made, value: args[0].masked_fill(args[1], value), value),
                )
        yield f"without the mask of {step.operands[0]}", lambda args, _, made: args[0]
        yield (
            f"if the mask of {step.operands[0]} is inverted",
            lambda args, _, made: args[0].masked_fill(~args[1], args[2]),
        )
        return
    if len(step.operands) < 3:
        return
    yes, no = step.operands[1:3]
    yield f"without the mask: {yes} everywhere", lambda args, _, made: torch.as_tensor(args[1])
    yield f"without the mask: {no} everywhere", lambda args, _, made: torch.as_tensor(args[2])
    yield (
        f"if {yes} and {no} are exchanged by the mask",
        lambda args, _, made: torch.where(args[0], args[2], args[1]),
    )


def _axes(step: Step) -> tuple[int, int] | None:
    given = step.args[0]
    axes = step.args[1] if len(step.args) > 1 else step.kwargs.get("dim")
    if isinstance(axes, int):
        axes = [axes]
    if not axes:
        axes = list(range(given.dim()))
    if len(axes) != 1 or not given.dim():
        return None
    return axes[0] % given.dim(), given.shape[axes[0]]


def _again(step: Step, given: torch.Tensor, axis: int, made: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = getattr(torch, step.op)(given, axis)
    return found.reshape(made.shape)


def _masks(extent: int) -> Iterator[tuple[str, Callable[[torch.Tensor], torch.Tensor]]]:
    yield "the last element does not count in {}", lambda i: i < extent - 1
    yield "the first element does not count in {}", lambda i: i > 0
    for tile in _TILES:
        if tile >= extent:
            continue
        whole, last = extent // tile * tile, (extent - 1) // tile * tile
        if whole < extent:
            yield (
                f"only the first {whole:,} of {extent:,} elements count in {{}}, without the partial tile of {tile}",
                _at(lambda i, whole: i < whole, whole),
            )
        yield (
            f"only the first {tile} of {extent:,} elements count in {{}}",
            _at(lambda i, tile: i < tile, tile),
        )
        yield (
            f"only the elements from {last:,} on, of the last tile of {tile}, count in {{}}",
            _at(lambda i, last: i >= last, last),
        )
        yield (
            f"only every second tile of {tile} elements counts in {{}}",
            _at(lambda i, tile: i // tile % 2 == 0, tile),
        )
        yield (
            f"in {{}} only the elements count whose number modulo {tile} is 0: one lane's of {tile}",
            _at(lambda i, tile: i % tile == 0, tile),
        )
        yield (
            f"in {{}} only the elements count whose number modulo {tile} is below {tile // 2}: half of the lanes",
            _at(lambda i, tile: i % tile < tile // 2, tile),
        )
        yield (
            f"in {{}} only the elements count whose number modulo {tile} is below 32: the first warp's",
            _at(lambda i, tile: i % tile < 32, tile),
        )
        yield (
            f"in {{}} only the elements count whose number modulo {tile} is {tile - 1}: the last lane's",
            _at(lambda i, tile: i % tile == tile - 1, tile),
        )


def _reduced(step: Step) -> Iterator[Variant]:
    found = _axes(step)
    of = step.operands[0]
    if found is None:
        return
    axis, extent = found
    others = {
        "sum": (("the mean", torch.mean), ("the maximum", torch.amax)),
        "mean": (("the sum", torch.sum), ("the maximum", torch.amax)),
        "amax": (("the minimum", torch.amin), ("the sum", torch.sum)),
        "amin": (("the maximum", torch.amax),),
    }
    count = step.names.get(float(extent), f"{extent:,}")
    more = {"sum": f": it is divided by {count}", "mean": f": it is not divided by {count}"}
    for words, function in others[step.op]:
        why = more.get(step.op, "") if {words, step.op} == {"the mean", "sum"} or words == "the sum" else ""
        yield (
            f"with {words} of {inner(of)} in place of {step.text}{why}",
            _with(lambda args, made, function: function(args[0], axis).reshape(made.shape), function),
        )
    if step.op == "amax":
        yield f"if {step.text} is never below 0: it begins at 0", lambda args, _, made: made.clamp(min=0)
        yield (
            f"with the largest absolute value of {inner(of)} in place of {step.text}",
            lambda args, _, made: _again(step, args[0].abs(), axis, made),
        )
    if step.op == "sum":
        yield f"if {step.text} begins at 1, not at 0", lambda args, _, made: made + 1
    if step.op in ("sum", "mean"):
        yield (
            f"with absolute values in {step.text}",
            lambda args, _, made: _again(step, args[0].abs(), axis, made),
        )


def _reduced_in_part(step: Step) -> Iterator[Variant]:
    found = _axes(step)
    if found is None:
        return
    axis, extent = found
    neutral = {"amax": -math.inf, "amin": math.inf}.get(step.op, 0.0)
    yield from _shared(step)
    for words, kept in _masks(extent):
        yield "if " + words.format(step.text), _masked(step, axis, neutral, kept)


def _masked(step: Step, axis: int, neutral: float, kept: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    def change(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
        given = args[0]
        shape = [1] * given.dim()
        shape[axis] = given.shape[axis]
        mask = kept(torch.arange(given.shape[axis], device=given.device)).reshape(shape)
        return _again(step, torch.where(mask, given, neutral), axis, made)

    return change


def _shared(step: Step) -> Iterator[Variant]:
    rows = math.prod(step.shape)
    if rows < 2:
        return
    text = step.text
    for size in (*_ROWS, rows):
        if size > rows or (size == rows and rows in _ROWS):
            continue
        which = "all rows share" if size == rows else f"every {size} neighbouring rows share"
        added = {"amax": "the largest of theirs", "amin": "the smallest of theirs"}.get(
            step.op, "theirs are added up"
        )
        yield f"if {which} {text}: {added}", _over_groups(step, size)
        which = "every row takes" if size == rows else f"each of {size} neighbouring rows takes"
        yield (
            f"if {which} {text} of the first of them",
            _from_row(_at(lambda i, size: i // size * size, size)),
        )
        yield (
            f"if {which} {text} of the last of them",
            _from_row(_at(lambda i, size: (i // size * size + size - 1).clamp(max=len(i) - 1), size)),
        )
    yield f"if each row takes {text} of the row before it", _from_row(lambda i: (i - 1).clamp(min=0))
    yield f"if each row takes {text} of the row after it", _from_row(lambda i: (i + 1).clamp(max=len(i) - 1))


def _of_other_rows(step: Step) -> Iterator[Variant]:
    for at, value in enumerate(step.args[:2]):
        if not isinstance(value, torch.Tensor) or not value.dim() or value.numel() < 2:
            continue
        if len(step.shape) < 2 or value.shape[-1] != 1 or value.numel() != math.prod(step.shape[:-1]):
            continue
        text, result = step.operands[at], step.text
        for words, place in (
            ("every row takes {} of row 0", lambda i: i * 0),
            ("each row takes {} of the row before it", lambda i: (i - 1).clamp(min=0)),
            ("each row takes {} of the row after it", lambda i: (i + 1).clamp(max=len(i) - 1)),
        ):
            yield f"if {words.format(text)} in {result}", _with_operand(step.op, at, _from_row(place))


def _with_operand(op: str, at: int, change: Change) -> Change:
    function: Callable[[Any, Any], torch.Tensor] = getattr(torch, op)

    def changed(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
        own = list(args[:2])
        own[at] = change((), {}, own[at])
        return function(*own)

    return changed


def _over_groups(step: Step, size: int) -> Change:
    def change(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
        flat = made.reshape(-1)
        total = -(-flat.numel() // size)
        neutral = {"amax": -math.inf, "amin": math.inf}.get(step.op, 0.0)
        room = flat.new_full((total * size,), neutral)
        room[: flat.numel()] = flat
        groups = room.reshape(total, size)
        one = {"amax": torch.amax, "amin": torch.amin}.get(step.op, torch.sum)(groups, 1)
        return one.repeat_interleave(size)[: flat.numel()].reshape(made.shape)

    return change


def _from_row(place: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    def change(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
        flat = made.reshape(-1)
        return flat[place(torch.arange(flat.numel(), device=flat.device))].reshape(made.shape)

    return change


def _running(step: Step) -> Iterator[Variant]:
    found = _axes(step)
    if found is None:
        return
    axis, extent = found
    yield f"if {step.text} leaves out the element itself", lambda args, _, made: made - args[0]
    yield (
        f"if {step.text} runs from the end",
        lambda args, _, made: torch.cumsum(args[0].flip(axis), axis).flip(axis),
    )
    for tile in _TILES:
        if tile >= extent:
            continue
        yield (
            f"if each group of {tile} elements adds its own total, too, not only those of the groups before it",
            _own_total(axis, tile, first=False),
        )
        yield (
            f"if each group of {tile} elements, the first one, too, adds its own total",
            _own_total(axis, tile, first=True),
        )


def _own_total(axis: int, tile: int, *, first: bool) -> Change:
    def change(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
        given = args[0].movedim(axis, 0)
        total = -(-given.shape[0] // tile)
        room = given.new_zeros((total * tile, *given.shape[1:]))
        room[: given.shape[0]] = given
        own = room.reshape(total, tile, *given.shape[1:]).sum(1)
        if not first:
            own[0] = 0
        more = own.repeat_interleave(tile, 0)[: given.shape[0]]
        found: torch.Tensor = made + more.movedim(0, axis)
        return found

    return change


def _product(step: Step) -> Iterator[Variant]:
    a, b = step.args[:2]
    x, y = step.operands[:2]
    yield (
        f"if elements of {x} and {y} are added, not multiplied",
        lambda args, _, made: _sums_of_both(args[0], args[1], made),
    )
    if step.op == "mv":
        return
    if b.shape[-1] == b.shape[-2]:
        yield (
            f"with {y} transposed in {step.text}",
            lambda args, _, made: torch.matmul(args[0], args[1].transpose(-1, -2)),
        )
    if a.shape[-1] == a.shape[-2]:
        yield (
            f"with {x} transposed in {step.text}",
            lambda args, _, made: torch.matmul(args[0].transpose(-1, -2), args[1]),
        )


def _product_in_part(step: Step) -> Iterator[Variant]:
    extent = step.args[0].shape[-1]
    for words, kept in _masks(extent):
        yield "if " + words.format(f"each sum of {step.text}"), _fewer_terms(kept)
    terms = extent * math.prod(step.shape)
    if step.op == "mm" and extent <= _MOST_TERMS and terms <= _MOST_ROUNDED:
        for kind, words in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16 (half)")):
            yield f"if each sum of {step.text} is rounded to {words} after every term", _rounded_sums(kind, 1)
            for tile in (16, 32, 64, 128):
                if tile < extent:
                    yield (
                        f"if each sum of {step.text} is rounded to {words} after every {tile} terms",
                        _rounded_sums(kind, tile),
                    )


def _sums_of_both(a: torch.Tensor, b: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
    if b.dim() == 1:
        return a.sum(-1) + b.sum()
    return a.sum(-1, keepdim=True) + b.sum(-2, keepdim=True)


def _fewer_terms(kept: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    def change(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
        mask = kept(torch.arange(args[0].shape[-1], device=args[0].device))
        return torch.matmul(torch.where(mask, args[0], 0.0), args[1])

    return change


def _rounded_sums(kind: torch.dtype, tile: int) -> Change:
    def change(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
        a, b = args[:2]
        total = torch.zeros_like(made)
        for start in range(0, a.shape[1], tile):
            total += a[:, start : start + tile] @ b[start : start + tile]
            total = total.to(kind).to(made.dtype)
        return total

    return change


def _online(step: Step) -> Iterator[Variant]:
    """The running softmax does not rescale earlier tiles."""
    if step.op not in ("exp", "sum", "div"):
        return
    what = {"exp": "neither the sum nor the result", "sum": "the sum", "div": "the result"}[step.op]
    verb = "is" if step.op == "exp" else "is not"
    for tile in (16, 32, 64, 128, 8, 1):
        unit = f"tiles of {tile}" if tile > 1 else "elements"
        yield (
            f"if {what} of the {unit} so far {verb} multiplied by exp(old maximum - new maximum) when the running "
            "maximum grows",
            _not_rescaled(step.op, tile),
        )


def _not_rescaled(op: str, tile: int) -> Change:
    def change(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
        weights = made if op == "exp" else args[0]
        extent = weights.shape[-1]
        count = -(-extent // tile)
        room = weights.new_zeros((*weights.shape[:-1], count * tile))
        room[..., :extent] = weights
        largest = torch.cummax(room.reshape(*weights.shape[:-1], count, tile).amax(-1), -1).values
        other = weights / largest.repeat_interleave(tile, -1)[..., :extent]
        if op == "exp":
            return other
        found: torch.Tensor = other.sum(-1).reshape(made.shape) if op == "sum" else other / args[1]
        return found

    return change


def _of_one_less(step: Step) -> Iterator[Variant]:
    if (count := _count(step)) > 2:
        name = _with_count(step, step.names)[count]
        yield (
            f"if {step.text} is divided by {name} - 1, not by {name}",
            _with(lambda args, made, count: made * (count / (count - 1)), count),
        )


def _count(step: Step) -> float:
    """The number of elements that a mean is of."""
    elements: int = step.args[0].numel()
    return elements / max(math.prod(step.shape), 1)


def _with_count(step: Step, names: Mapping[float, str]) -> Mapping[float, str]:
    count = _count(step)
    if count in names or count <= 2:
        return names
    pairs = itertools.combinations(names.items(), 2)
    name = next((f"{a} * {b}" for (x, a), (y, b) in pairs if x * y == count), f"{count:,.0f}")
    return {count: name, **names}


def named_factor(step: Step, factor: float, names: Mapping[float, str]) -> str:
    """Empty if the factor has no meaning."""
    text = step.text
    if abs(factor + 1) < _SAME:
        return f"if {text} has the other sign"
    if step.op == "mean":
        names = _with_count(step, names)
    if factor <= 0 or abs(factor - 1) < 10 * _SAME:
        return ""
    for value, name in names.items():
        for meant, words in (
            (value, f"is multiplied by {name}, too"),
            (1 / value, f"is divided by {name}, too"),
            (math.sqrt(abs(value)), f"is multiplied by sqrt({name}), too"),
            (1 / math.sqrt(abs(value)), f"is divided by sqrt({name}), too"),
            (value * value, f"is multiplied by the square of {name}, too"),
            (1 / (value * value), f"is divided by the square of {name}, too"),
        ):
            if abs(factor / meant - 1) < _SAME:
                return f"if {text} {words}"
        if step.op == "mean" and value == int(value) and value > 2:
            for other in {
                1 << (int(value) - 1).bit_length(),
                *(-(-int(value) // tile) * tile for tile in _TILES),
            }:
                if other > value and abs(factor * other / value - 1) < _SAME:
                    return f"if {text} is divided by {other:,}, not by {name} = {value:,.0f}"
    for value, name in (
        (math.log(2), "ln(2)"),
        (1 / math.log(2), "1 / ln(2)"),
        (math.sqrt(2), "sqrt(2)"),
        (math.sqrt(0.5), "1 / sqrt(2)"),
        (math.pi, "pi"),
    ):
        if abs(factor / value - 1) < _SAME:
            return f"if {text} is multiplied by {name}, too"
    for times, verb in ((factor, "multiplied"), (1 / factor, "divided")):
        whole = round(times)
        if 2 <= whole <= 1024 and abs(times / whole - 1) < _SAME:
            return f"if {text} is {verb} by {whole}"
    return ""
