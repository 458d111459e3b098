"""Wrong results that are a simple function of an input at every element."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from grader.judge.explaining.wrong import FEWEST, Pattern, Wrong

if TYPE_CHECKING:
    import torch

_SAME = 1e-4
# Counts of fewer elements may be equal by chance.
_MANY = 32
# Float32 rounding, relative to the sum of absolute values.
_SAME_SUM = 1e-6
_PARTS = (1024, 512, 256, 128, 64, 32, 2048, 4096)
_FUNCTIONS: tuple[tuple[str, Callable[[torch.Tensor], torch.Tensor]], ...] = (
    ("the absolute value of {}", lambda values: values.abs()),
    ("{} with the other sign", lambda values: -values),
    ("the square of {}", lambda values: values * values),
    ("{}, and 0 where {} is negative", lambda values: values.clamp(min=0)),
    ("{}, and 0 where {} is positive", lambda values: values.clamp(max=0)),
)
_COUNTED: tuple[tuple[str, Callable[[torch.Tensor], torch.Tensor]], ...] = (
    ("above 0", lambda values: values > 0),
    ("0 or above", lambda values: values >= 0),
    ("not 0", lambda values: values != 0),
    ("below 0", lambda values: values < 0),
    ("0 or below", lambda values: values <= 0),
    ("there at all", lambda values: values == values),
)


def related(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    for find in (
        _copied,
        _function,
        _part_of_input,
        _value_at_index,
        _place_in_array,
        _counted,
        _largest_part,
    ):
        if (found := find(result, inputs)) is not None:
            return found
    return None


def loosely_related(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    """These say less than other questions."""
    for find in (_with_right, _vector_times_row, _factor_beside, _error_by_row):
        if (found := find(result, inputs)) is not None:
            return found
    return None


def _rows_and_vectors(
    result: Wrong, inputs: Mapping[str, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor, list[tuple[str, torch.Tensor]]] | None:
    """Got and want as matrices, and inputs with an element per column."""
    import torch

    shape = result.shape
    if len(shape) != 2 or shape[1] < FEWEST or not result.want.is_floating_point():
        return None
    if int(result.wrong.sum()) < FEWEST or result.got.numel() != shape[0] * shape[1]:
        return None
    got, want = (values.double().reshape(shape) for values in (result.got, result.want))
    if not bool(torch.isfinite(got).all() and torch.isfinite(want).all()):
        return None
    vectors = [
        (name, values.double())
        for name, values in inputs.items()
        if tuple(values.shape) == (shape[1],)
        and values.is_floating_point()
        and bool(torch.isfinite(values).all())
        and torch.unique(values).numel() >= FEWEST
    ]
    return got, want, vectors


def _vector_times_row(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    found = _rows_and_vectors(result, inputs)
    if found is None:
        return None
    got, want, vectors = found
    off = got - want
    if float(off.abs().max()) < 1e-3 * float(want.abs().max()):
        return None
    for name, vector in vectors:
        of_row = (off * vector).sum(dim=1, keepdim=True) / vector.square().sum()
        if float((off - of_row * vector).abs().max()) > 1e-3 * float(off.abs().max()):
            continue
        text = (
            f"In each row, the error of {result.argument.name} is {name} times one number, from "
            f"{float(of_row.min()):.4g} to {float(of_row.max()):.4g}: before {name} multiplies them, all elements of "
            "the row are off by one amount, such as a mean that is wrong or not subtracted."
        )
        return Pattern("line_offset", text, names=(name,))
    return None


def _factor_beside(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    """Each row has a factor on what remains without an added input."""
    found = _rows_and_vectors(result, inputs)
    if found is None:
        return None
    got, want, vectors = found
    off = got - want
    for name, vector in vectors:
        own, right = got - vector, want - vector
        of_row = (own * right).sum(dim=1, keepdim=True) / right.square().sum(dim=1, keepdim=True)
        left = float((own - of_row * right).abs().max())
        if not left <= 1e-3 * float(off.abs().max()):
            continue
        text = (
            f"Without {name}, which is added, all elements of each row of {result.argument.name} are wrong by one "
            f"factor, from {float(of_row.min()):.4g} to {float(of_row.max()):.4g}: something of the whole row, such as "
            "its variance, deviation or norm, is wrong."
        )
        return Pattern("row_factor", text, float(of_row.max()), (name,))
    return None


def _alike(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> list[tuple[str, torch.Tensor]]:
    """Flat inputs of the same size and type, with several values at wrong places."""
    import torch

    if int(result.wrong.sum()) < FEWEST:
        return []
    return [
        (name, values.reshape(-1))
        for name, values in inputs.items()
        if values.numel() == result.got.numel()
        and values.dtype is result.got.dtype
        and torch.unique(values.reshape(-1)[result.wrong]).numel() >= FEWEST
    ]


def _copied(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    import torch

    for name, values in _alike(result, inputs):
        if name != result.argument.name and torch.equal(result.got, values):
            return Pattern(
                "copied",
                f"{result.argument.name} is a copy of {name}, element by element in the same order.",
                names=(name,),
            )
    return None


def _function(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    if not result.want.is_floating_point():
        return None
    for name, values in _alike(result, inputs):
        for words, function in _FUNCTIONS:
            other = function(values)
            if _equal(result.got, other) and not result.agrees(result.want, other):
                text = f"Every element of {result.argument.name} is {words.replace('{}', name)}."
                return Pattern("related", text, names=(name,))
    return None


def _with_right(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    import torch

    if not result.want.is_floating_point():
        return None
    got, want, name = result.got.double(), result.want.double(), result.argument.name
    for own, values in _alike(result, inputs):
        given = values.double()
        for words, other in (
            (f"{own} minus the right value", given - want),
            (f"{own} plus the right value", given + want),
            (f"the right value minus {own}", want - given),
            (f"{own} times the right value", given * want),
            (f"the right value divided by {own}", want / given),
        ):
            near = torch.isfinite(other) & torch.isfinite(got)
            scale = (given.abs() + want.abs())[near]
            if int(near.sum()) < max(FEWEST, got.numel() // 2) or not bool(
                (near | ~torch.isfinite(other)).all()
            ):
                continue
            if bool(
                ((got - other).abs()[near] <= 1e-5 * scale.clamp(max=float(got[near].abs().max()))).all()
            ):
                return Pattern("related", f"Every element of {name} is {words}.", names=(own,))
    return None


def _error_by_row(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    import torch

    shape = result.shape
    if len(shape) != 2 or shape[1] < 2 * FEWEST or not result.want.is_floating_point():
        return None
    if int(result.wrong.sum()) < FEWEST or result.got.numel() != shape[0] * shape[1]:
        return None
    off = (result.got.double() - result.want.double()).reshape(shape)
    if not bool(torch.isfinite(off).all()) or float(off.abs().max()) < 1e-3 * float(result.want.abs().max()):
        return None
    own = off - off.mean(dim=1, keepdim=True)
    for name, flat in _alike(result, inputs):
        values = flat.double().reshape(shape)
        centred = values - values.mean(dim=1, keepdim=True)
        if not bool(torch.isfinite(values).all()) or not bool((centred.abs().amax(dim=1) > 0).all()):
            continue
        slope = (own * centred).sum(dim=1, keepdim=True) / centred.square().sum(dim=1, keepdim=True)
        if float((own - slope * centred).abs().max()) > 1e-3 * float(own.abs().max()):
            continue
        if float(slope.abs().min()) == 0 or not result.wrong.any():
            continue
        text = (
            f"In each row, the error of {result.argument.name} is a multiple of {name}, from {float(slope.min()):.3g} "
            f"to {float(slope.max()):.3g} times {name}, plus a constant: a term with {name} and a factor for each row "
            "is missing or wrong."
        )
        return Pattern("related", text, names=(name,))
    return None


def _part_of_input(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    """Wrong elements, and no others, are a multiple of an input."""
    import torch

    if not result.want.is_floating_point() or bool(result.wrong.all()):
        return None
    got = result.got[result.wrong].double()
    for name, values in _alike(result, inputs):
        own = values[result.wrong].double()
        if name == result.argument.name or not bool((own.isfinite() & (own != 0)).all()):
            continue
        ratio = got / own
        factor = float(ratio.median())
        if not factor or not torch.allclose(ratio, ratio.median().expand_as(ratio), rtol=_SAME, atol=0.0):
            continue
        times = name if abs(factor - 1) < _SAME else f"{factor:.4g} times {name}"
        side = " (which is negative there)" if bool((own < 0).all()) else ""
        text = f"Where {result.argument.name} is wrong, it is {times}{side}."
        return Pattern("related", text, factor, (name,))
    return None


def _equal(got: torch.Tensor, other: torch.Tensor) -> bool:
    """The tolerance may be too wide."""
    import torch

    return torch.allclose(got, other, rtol=_SAME, atol=0.0, equal_nan=True)


def _value_at_index(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    import torch

    got, want = result.got, result.want
    if want.is_floating_point() or len(result.shape) != 1 or want.dtype.itemsize < 4:
        return None
    for name, values in inputs.items():
        if values.dim() != 2 or values.shape[0] != want.numel() or not values.is_floating_point():
            continue
        index = want.long()
        if not index.numel() or bool(((index < 0) | (index >= values.shape[1])).any()):
            continue
        chosen = values.gather(1, index[:, None]).reshape(-1)
        if not bool(torch.isfinite(chosen).all()) or torch.unique(chosen.trunc()).numel() < 3:
            continue
        if torch.equal(got.long(), chosen.trunc().long()):
            text = (
                f"{result.argument.name} holds the value of {name} at the right index, cut to an integer, instead of "
                "the index."
            )
            return Pattern("related", text, names=(name,))
    return None


def _place_in_array(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    import torch

    if result.want.is_floating_point() or len(result.shape) != 1 or result.got.numel() < 3:
        return None
    for name, values in inputs.items():
        if values.dim() != 2 or values.shape[0] != result.got.numel():
            continue
        begins = torch.arange(values.shape[0], device=values.device) * values.shape[1]
        if torch.equal(result.got.long(), result.want.long() + begins):
            text = (
                f"Every {result.argument.name}[i] is the right index plus i * {values.shape[1]}: it counts from the "
                f"beginning of {name}, not of row i."
            )
            return Pattern("related", text, names=(name,))
    return None


def _largest_part(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    if result.got.numel() != 1 or not result.want.is_floating_point():
        return None
    got, want = float(result.got[0]), float(result.want[0])
    alike = [values.double().reshape(-1) for values in inputs.values() if values.is_floating_point()]
    if not alike or len(alike) > 2 or any(values.numel() != alike[0].numel() for values in alike):
        return None
    terms = alike[0] if len(alike) == 1 else alike[0] * alike[1]
    near = _SAME_SUM * float(terms.abs().sum())
    if abs(float(terms.sum()) - want) > near or abs(got - want) <= 100 * near:
        return None
    for size in _PARTS:
        if 4 * size > terms.numel() * 2:
            continue
        room = terms.new_zeros(-(-terms.numel() // size) * size)
        room[: terms.numel()] = terms
        parts = room.reshape(-1, size).sum(1)
        for word, value in (("largest", float(parts.max())), ("smallest", float(parts.min()))):
            if abs(value - got) <= near:
                text = (
                    f"{result.argument.name} is the {word} of the sums of {size} elements each: these must be added, "
                    "not compared."
                )
                return Pattern("related", text, size)
    return None


def _counted(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    if result.got.numel() != 1 or result.want.is_floating_point():
        return None
    got, want = int(result.got[0]), int(result.want[0])
    for name, values in inputs.items():
        if not values.is_floating_point() or values.numel() < _MANY:
            continue
        counts = [(words, int(counted(values).sum())) for words, counted in _COUNTED]
        wanted = next((words for words, count in counts if count == want), None)
        taken = [words for words, count in counts if count == got]
        if wanted is not None and taken and want != got:
            text = (
                f"{result.argument.name} is how many elements of {name} are {taken[0]}, but those {wanted} are to be "
                "counted."
            )
            return Pattern("related", text, names=(name,))
    return None
