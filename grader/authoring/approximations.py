"""Nearly right answers: kernels that skip work, read less, or use fewer digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.challenge.cases import Case, Derived
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Workload
from grader.judge.oracle import Question, right_answers

if TYPE_CHECKING:
    import torch

BLOCK = 1024
SHARES = {"1%": 0.01, "0.1%": 0.001}
# Fewer unread elements save no time; a row leaves at least one unread.
_WORTH_IT, _SOME_OF_ONE = 100, 0.5
# Bits of the significand with the hidden one. bf16x2: a sum of two bfloat16.
_FORMATS = {"bf16x2": 16, "tf32": 11, "fp16": 11, "bf16": 8, "int8": 8, "e4m3": 4, "e5m2": 3}
_LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}
_NARROW = {"int16": 2, "int8": 1}
_INT8_STEPS = 127
_TILES_SEED = 7

Tensors = dict[str, "torch.Tensor"]


@dataclass(frozen=True)
class Draw:
    challenge: Challenge
    case: Case
    question: Question
    previous: Question
    # Per element, float64, over ordinary rounds.
    expected: Mapping[str, torch.Tensor]
    # Per input, float64, over all elements.
    means: Mapping[str, float]

    def of_inputs(self, changed: Mapping[str, torch.Tensor]) -> Tensors:
        return right_answers(self.challenge, self.case, {**self.question.inputs, **changed})


@dataclass(frozen=True)
class Approximation:
    name: str
    words: str
    answer: Callable[[Draw], Tensors]
    # If a sum has ``s`` times as many terms, its error falls at most by ``s ** -relief``, relative to the
    # tolerance.
    relief: float = 0.5
    # Right by chance on many inputs.
    lucky: bool = False


def approximations(
    challenge: Challenge, workload: Workload, tried: Workload | None = None
) -> list[Approximation]:
    manifest = challenge.manifest
    read = [arg for arg in manifest.given if arg.name not in workload.without]
    made = [*_constants(), *_blocks(), *_digits(challenge, read), *_specials(read)]
    for arg in read:
        whole = math.prod(manifest.shape(arg, workload.sizes))
        made += _left_out(challenge, arg, whole, manifest.shape(arg, (tried or workload).sizes)[-1])
    return made


def _constants() -> Iterator[Approximation]:
    yield Approximation("zeros", "0 everywhere", lambda draw: _each(draw, lambda want: want.mul(0)))
    yield Approximation("mean", "one number everywhere: the mean of the right answer", _mean)
    yield Approximation(
        "expectation",
        "for each element its mean over rounds",
        lambda draw: {name: _as(draw.expected[name], want) for name, want in draw.question.outputs.items()},
    )
    yield Approximation(
        "previous", "the right answer of an earlier round", lambda draw: dict(draw.previous.outputs)
    )


def _mean(draw: Draw) -> Tensors:
    def filled(name: str, want: torch.Tensor) -> torch.Tensor:
        expected = draw.expected[name]
        mean = float(expected.mean()) if expected.numel() else 0.0
        return _as(expected.new_full(want.shape, mean), want)

    return {name: filled(name, want) for name, want in draw.question.outputs.items()}


def _blocks() -> Iterator[Approximation]:
    yield Approximation(
        "one_in_1024",
        f"one element of each {BLOCK} is computed and copied",
        lambda draw: _each(draw, lambda want: _copied(want, 0)),
        relief=1.0,
    )
    yield Approximation(
        "one_in_1024:last_7/8",
        f"the first eighth is right, then one element of each {BLOCK} is computed and copied",
        lambda draw: _each(draw, lambda want: _copied(want, want.numel() // (8 * BLOCK))),
        relief=1.0,
    )


def _copied(want: torch.Tensor, first: int) -> torch.Tensor:
    flat = want.reshape(-1).clone()
    start = first * BLOCK
    whole = (flat.numel() - start) // BLOCK * BLOCK
    blocks = flat[start : start + whole].view(-1, BLOCK)
    blocks.copy_(blocks[:, :1].expand(-1, BLOCK).clone())
    if start + whole < flat.numel():
        flat[start + whole :] = flat[start + whole].clone()
    return flat.view(want.shape)


def _left_out(challenge: Challenge, arg: Argument, whole: int, columns: int) -> Iterator[Approximation]:
    """``whole``: the elements of ``arg``; ``columns``: its last dimension when tried. Indices that belong
    together are replaced as a whole: mixed, they are no valid input.
    """
    yield Approximation(
        f"previous:{arg.name}",
        f"{arg.name} of an earlier round is used again",
        lambda draw: draw.of_inputs({arg.name: draw.previous.inputs[arg.name]}),
    )
    if not arg.dtype.floating and isinstance(challenge.inputs.get(arg.name), Derived):
        return
    fillers = {"zeros": "0 is used", "mean": "the mean is used"}
    if arg.dtype.floating and not any(arg.dtype.floating for arg in challenge.manifest.results):
        fillers["least"] = "-inf is used"  # loses every comparison
    for filler, told in fillers.items():
        yield Approximation(
            f"ignored:{arg.name}:{filler}", f"{arg.name} is not read, {told}", _ignored(arg, filler)
        )
        for text, share in SHARES.items():
            for place, words in _PLACES.items():
                if place == "columns" and (len(arg.shape) == 1 or columns * share < _SOME_OF_ONE):
                    continue
                if whole * share < _WORTH_IT:
                    continue
                yield Approximation(
                    f"unread:{arg.name}:{text}:{place}:{filler}",
                    f"{words} {text} of {arg.name} are not read, {told}",
                    _unread(arg, share, place, filler),
                    lucky=True,
                )


_PLACES = {
    "head": "the first",
    "tail": "the last",
    "tiles": f"tiles of {BLOCK} elements that are",
    "columns": "of each row the last",
}


def _ignored(arg: Argument, filler: str) -> Callable[[Draw], Tensors]:
    def answer(draw: Draw) -> Tensors:
        values = draw.question.inputs[arg.name]
        return draw.of_inputs({arg.name: values.new_full(values.shape, _fill(draw, arg, filler))})

    return answer


def _unread(arg: Argument, share: float, place: str, filler: str) -> Callable[[Draw], Tensors]:
    def answer(draw: Draw) -> Tensors:
        values = draw.question.inputs[arg.name].clone()
        if values.numel():
            _leave_out(values, share, place, _fill(draw, arg, filler))
        return draw.of_inputs({arg.name: values})

    return answer


def _fill(draw: Draw, arg: Argument, filler: str) -> float:
    if filler == "least":
        return -float("inf")
    mean = draw.means[arg.name] if filler == "mean" else 0.0
    return mean if arg.dtype.floating else round(mean)


def _leave_out(values: torch.Tensor, share: float, place: str, value: float) -> None:
    import torch

    flat = values.view(-1)
    count = max(1, int(flat.numel() * share))
    if place == "head":
        flat[:count] = value
    elif place == "tail":
        flat[-count:] = value
    elif place == "columns":
        values[..., -max(1, int(values.shape[-1] * share)) :] = value
    else:
        tiles = max(1, round(count / BLOCK))
        size = min(BLOCK, count)
        # A kernel would choose the same tiles in every round.
        generator = torch.Generator().manual_seed(_TILES_SEED)
        for start in torch.randint(max(1, flat.numel() - size + 1), (tiles,), generator=generator).tolist():
            flat[start : start + size] = value


def _digits(challenge: Challenge, read: list[Argument]) -> Iterator[Approximation]:
    floats = [arg for arg in read if arg.dtype.floating]
    results = challenge.manifest.results
    for form, digits in _FORMATS.items():
        narrowed = [arg for arg in floats if digits < arg.dtype.as_float.digits]
        groups = [(f"inputs:{form}", "inputs", narrowed)] if narrowed else []
        if len(floats) > 1:
            groups += [(f"inputs:{form}:{arg.name}", arg.name, [arg]) for arg in narrowed]
        for name, told, chosen in groups:
            yield Approximation(name, f"{told} rounded to {form}", _rounded_inputs(chosen, form))
        if form != "bf16x2" and any(
            arg.dtype.floating and digits < arg.dtype.as_float.digits for arg in challenge.manifest.results
        ):
            yield Approximation(
                f"outputs:{form}", f"results rounded to {form}", _rounded_outputs(challenge, form), 0.0
            )
    for form, size in _NARROW.items():
        whole = [arg for arg in read if not arg.dtype.floating and arg.dtype.itemsize > size]
        whole = [arg for arg in whole if not isinstance(challenge.inputs.get(arg.name), Derived)]
        if whole:
            yield Approximation(f"inputs:{form}", f"inputs cut to {form}", _cut_inputs(whole, form), 0.0)
        if any(not arg.dtype.floating and arg.dtype.itemsize > size for arg in results):
            yield Approximation(
                f"outputs:{form}",
                f"results cut to {form}",
                _cut_outputs(form),
                0.0,
            )


def _rounded_inputs(chosen: list[Argument], form: str) -> Callable[[Draw], Tensors]:
    return lambda draw: draw.of_inputs(
        {arg.name: rounded(draw.question.inputs[arg.name], form) for arg in chosen}
    )


def _rounded_outputs(challenge: Challenge, form: str) -> Callable[[Draw], Tensors]:
    narrowed = {
        arg.name
        for arg in challenge.manifest.results
        if arg.dtype.floating and _FORMATS[form] < arg.dtype.as_float.digits
    }
    return lambda draw: {
        name: rounded(want, form) if name in narrowed else want
        for name, want in draw.question.outputs.items()
    }


def _cut_inputs(chosen: list[Argument], form: str) -> Callable[[Draw], Tensors]:
    return lambda draw: draw.of_inputs(
        {arg.name: cut_in_range(draw.question.inputs[arg.name], form) for arg in chosen}
    )


def cut_in_range(values: torch.Tensor, form: str) -> torch.Tensor:
    """An index beyond the values of the input would end the process on a GPU."""
    if not values.numel():
        return values
    import torch

    wide = values.long()  # torch has no min() of uint16
    least, marks = wide.min(), wide < 0
    if marks.any() and not marks.all() and (wide[marks] == least).all():
        # The only negative value marks what is left out, such as -100 among labels.
        cut = _cut(form)(wide).clamp(wide[~marks].min(), wide.max())
        return torch.where(marks, wide, cut).to(values.dtype)
    return _cut(form)(wide).clamp(least, wide.max()).to(values.dtype)


def _cut_outputs(form: str) -> Callable[[Draw], Tensors]:
    return lambda draw: _each(draw, _cut(form))


def _cut(form: str) -> Callable[[torch.Tensor], torch.Tensor]:
    import torch

    narrow = getattr(torch, form)
    return lambda values: values if values.is_floating_point() else values.to(narrow).to(values.dtype)


def rounded(values: torch.Tensor, form: str) -> torch.Tensor:
    """In the dtype of ``values``; NaN and infinities stay. Overflow gives infinity in fp16 and the largest
    number in 8 bits. int8: 127 steps up to the largest finite value.
    """
    import torch

    finite = values.isfinite()
    wide = torch.where(finite, values, 0).float()
    if form == "int8":
        if wide.numel() <= _INT8_STEPS:
            return values
        step = wide.abs().max() / _INT8_STEPS if wide.numel() else wide.sum()
        near = torch.where(step > 0, (wide / step).round() * step, wide)
    elif form == "tf32":
        bits = wide.view(torch.int32)
        # To nearest, ties to even: drops 13 bits.
        near = ((bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF).view(torch.float32)
    elif form == "bf16x2":
        high = wide.bfloat16().float()
        near = high + (wide - high).bfloat16().float()
    elif form in _LARGEST:
        kind = torch.float8_e4m3fn if form == "e4m3" else torch.float8_e5m2
        near = wide.clamp(-_LARGEST[form], _LARGEST[form]).to(kind).float()
    else:
        near = wide.to(torch.float16 if form == "fp16" else torch.bfloat16).float()
    return torch.where(finite, near.to(values.dtype), values)


def _specials(read: list[Argument]) -> Iterator[Approximation]:
    floats = [arg.name for arg in read if arg.dtype.floating]
    if not floats:
        return
    infinity = float("inf")
    for name, words, nan, high, low in (
        ("nan_as_0", "NaN in inputs is read as 0", 0.0, infinity, -infinity),
        ("inf_as_largest", "an infinite input is read as the largest number", None, None, None),
        ("specials_as_0", "NaN and infinities in inputs are read as 0", 0.0, 0.0, 0.0),
    ):
        yield Approximation(name, words, _replaced(floats, nan, high, low))
    yield Approximation(
        "nan_dropped",
        "0 where NaN is right",
        lambda draw: _each(draw, lambda want: want.nan_to_num(0.0, float("inf"), -float("inf"))),
    )


def _replaced(
    names: list[str], nan: float | None, high: float | None, low: float | None
) -> Callable[[Draw], Tensors]:
    def answer(draw: Draw) -> Tensors:
        given = {name: draw.question.inputs[name] for name in names}
        if all(bool(values.isfinite().all()) for values in given.values()):
            return draw.question.outputs
        kept = float("nan") if nan is None else nan
        return draw.of_inputs({name: values.nan_to_num(kept, high, low) for name, values in given.items()})

    return answer


def _each(draw: Draw, change: Callable[[torch.Tensor], torch.Tensor]) -> Tensors:
    return {name: change(want) for name, want in draw.question.outputs.items()}


def _as(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return (values if like.is_floating_point() else values.nan_to_num().round()).to(like.dtype)
