"""How a wrong result differs from the right one: the place of its elements, or another question that it answers.

A pattern counts only if it fits every element.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind, Tolerance
from grader.errors import GraderError
from grader.judge.oracle import right_answers, scalar_values
from grader.judge.worst import allowed_error, index_of, wrong_elements

if TYPE_CHECKING:
    import torch

# Fewer wrong elements may fit a pattern by chance.
FEWEST = 8
# With fewer input elements, several questions may have the same answer.
_TELLING = 32
TILES = (128, 64, 32, 16, 8)
# Relative precision of a constant factor.
_SAME_FACTOR = 2e-3
# Largest relative errors of rounding to half's 11 bits: in sums of many terms, and of a few.
_ROUNDING = 2.0**-5
_ROUNDING_ALONE = 2.0**-9
# Rounded inputs explain errors if their answer is this many times closer.
_EXPLAINED = 8.0
_ROUNDED_TO = ("tf32", "float16", "bfloat16")


@dataclass(frozen=True)
class Wrong:
    argument: Argument
    shape: tuple[int, ...]
    got: torch.Tensor
    want: torch.Tensor
    #: True for each wrong element.
    wrong: torch.Tensor
    #: True for each element that was never written.
    poisoned: torch.Tensor | None
    #: The scale of the tolerance; None if that is ``want``.
    magnitude: torch.Tensor | None
    tolerance: Tolerance
    #: Of an in-out: its values before the call, flat.
    given: torch.Tensor | None = None
    #: The right values of the same result in the case before, flat; None if another process ran that.
    before: torch.Tensor | None = None

    def agrees(self, got: torch.Tensor, want: torch.Tensor) -> bool:
        import torch

        scale = None
        if self.magnitude is not None:
            finite = self.magnitude[torch.isfinite(self.magnitude)]
            scale = finite.double().max().expand(got.numel()) if finite.numel() else None
        return not bool(wrong_elements(got.reshape(-1), want.reshape(-1), self.tolerance, scale).any())


@dataclass(frozen=True)
class Pattern:
    #: The word that rules look for.
    kind: str
    #: A sentence about the numbers, which is true for any source.
    text: str
    #: The meaning of ``number`` and ``names`` depends on the kind.
    number: float = 0
    names: tuple[str, ...] = ()


def pattern_of(result: Wrong) -> Pattern | None:
    for find in (
        _unwritten,
        _zeros,
        _turned,
        _turned_tiles,
        _repeated,
        _shifted,
        _factor,
        _offset,
        _rounding,
        _tail,
    ):
        if (found := find(result)) is not None:
            return found
    return None


def _unwritten(result: Wrong) -> Pattern | None:
    import torch

    if result.poisoned is None or not bool(result.poisoned.any()):
        return None
    name = result.argument.name
    if bool(result.poisoned.all()):
        return Pattern("unwritten_all", f"Nothing of {name} was written.")
    places = torch.nonzero(result.poisoned).reshape(-1)
    first, count = int(places[0]), places.numel()
    total = result.poisoned.numel()
    if count == total - first:
        place = ", ".join(map(str, index_of(first, result.shape)))
        return Pattern(
            "unwritten_tail", f"{name} is written up to its element [{place}], but not from there on.", first
        )
    if len(result.shape) == 2 and total == math.prod(result.shape):
        empty = result.poisoned.reshape(result.shape)
        for axis, word in ((0, "column"), (1, "row")):
            lost = empty.all(dim=axis)
            if bool(lost.any()) and int(lost.sum()) * result.shape[axis] == count:
                begin = int(torch.nonzero(lost)[0])
                if bool(lost[begin:].all()):
                    return Pattern(
                        f"unwritten_{word}s",
                        f"Every {word} of {name} from {begin} on was never written.",
                        begin,
                    )
    written = torch.nonzero(~result.poisoned).reshape(-1)
    if written.numel() >= 2 and int(written[0]) == 0:
        steps = written.diff()
        if int(steps.min()) == int(steps.max()) > 1:
            step = int(steps[0])
            return Pattern(
                "unwritten_steps", f"Only every {step}th element of {name} was written, from 0 on.", step
            )
    return Pattern("unwritten", f"{count:,} of {total:,} elements of {name} were never written.")


def _zeros(result: Wrong) -> Pattern | None:
    if int(result.wrong.sum()) < FEWEST or not bool((result.got == 0).all()):
        return None
    return Pattern("zeros", f"All of {result.argument.name} is 0.")


def matrix_of(result: Wrong, values: torch.Tensor) -> torch.Tensor | None:
    if len(result.shape) < 2 or values.numel() != math.prod(result.shape) or min(result.shape[-2:]) < 2:
        return None
    return values.reshape(-1, *result.shape[-2:])


def _turned(result: Wrong) -> Pattern | None:
    want = matrix_of(result, result.want)
    if want is None or int(result.wrong.sum()) < FEWEST:
        return None
    if result.agrees(result.got, want.transpose(1, 2)):
        name = result.argument.name
        return Pattern(
            "turned", f"{name} holds the right values with rows and columns exchanged: it is transposed."
        )
    return None


def _turned_tiles(result: Wrong) -> Pattern | None:
    got, want = matrix_of(result, result.got), matrix_of(result, result.want)
    if got is None or want is None:
        return None
    rows, columns = result.shape[-2:]
    for size in TILES:
        if rows < size or columns < size:
            continue
        whole = slice(0, rows // size * size), slice(0, columns // size * size)
        tiles = want[:, whole[0], whole[1]].reshape(want.shape[0], rows // size, size, columns // size, size)
        turned = tiles.transpose(2, 4).reshape(want.shape[0], whole[0].stop, whole[1].stop)
        part, right = got[:, whole[0], whole[1]], want[:, whole[0], whole[1]]
        if result.agrees(part, turned) and not result.agrees(part, right):
            return Pattern(
                "turned_tiles",
                f"Each tile of {size} x {size} of {result.argument.name} is transposed within itself: the tiles are in "
                "the right places, but in each of them rows and columns are exchanged.",
                size,
            )
    return None


def _repeated(result: Wrong) -> Pattern | None:
    got, want = matrix_of(result, result.got), matrix_of(result, result.want)
    if got is None or want is None or int(result.wrong.sum()) < FEWEST:
        return None
    name = result.argument.name
    if got.is_floating_point() and not bool(got.isfinite().all()):
        return None
    if result.agrees(got, got[:, :1].expand_as(got)) and not result.agrees(want, want[:, :1].expand_as(want)):
        return Pattern("rows_repeated", f"Every row of {name} is the same: the row index has no effect.")
    if result.agrees(got, got[:, :, :1].expand_as(got)) and not result.agrees(
        want, want[:, :, :1].expand_as(want)
    ):
        return Pattern(
            "columns_repeated", f"Every column of {name} is the same: the column index has no effect."
        )
    return None


def _shifted(result: Wrong) -> Pattern | None:
    total = result.got.numel()
    row = result.shape[-1] if len(result.shape) > 1 else 0
    for by in dict.fromkeys((1, -1, 2, -2, row, -row)):
        if not by or total - abs(by) < 2 * FEWEST or int(result.wrong.sum()) < FEWEST:
            continue
        moved = result.want[by:] if by > 0 else result.want[:by]
        kept = result.got[:-by] if by > 0 else result.got[-by:]
        if result.agrees(kept, moved):
            places = "1 place" if abs(by) == 1 else f"{abs(by)} places" if abs(by) != row else "1 row"
            side = "early" if by > 0 else "late"
            return Pattern(
                "shifted", f"The values of {result.argument.name} are right, but {places} too {side}.", by
            )
    return None


def _factor(result: Wrong) -> Pattern | None:
    import torch

    if not result.want.is_floating_point() or int(result.wrong.sum()) < FEWEST:
        return None
    got, want = result.got.double(), result.want.double()
    finite = torch.isfinite(got) & torch.isfinite(want)
    large = finite & (want.abs() > 1e-3 * want[finite].abs().max() if bool(finite.any()) else finite)
    if int(large.sum()) < FEWEST:
        return None
    ratio = got[large] / want[large]
    factor = float(ratio.median())
    if factor == 0 or abs(factor - 1) < 10 * _SAME_FACTOR:
        return None
    if float((ratio / factor - 1).abs().max()) > _SAME_FACTOR:
        return None
    if factor == -1 or abs(factor + 1) < _SAME_FACTOR:
        return Pattern("factor", f"Every element of {result.argument.name} has the wrong sign.", -1)
    return Pattern(
        "factor", f"Every element of {result.argument.name} is {factor:.4g} times the right value.", factor
    )


def _offset(result: Wrong) -> Pattern | None:
    import torch

    if int(result.wrong.sum()) < FEWEST:
        return None
    off = result.got.double() - result.want.double()
    if not bool(torch.isfinite(off).all()):
        return None
    by, scale = float(off.median()), float(result.want.double().abs().max())
    if by == 0 or abs(by) < 1e-4 * scale or float((off - by).abs().max()) > _SAME_FACTOR * abs(by):
        return None
    words = "greater" if by > 0 else "less"
    return Pattern(
        "offset",
        f"Every element of {result.argument.name} is {abs(by):.4g} {words} than the right value.",
        by,
    )


def _rounding(result: Wrong) -> Pattern | None:
    import torch

    if not result.want.is_floating_point():
        return None
    got, want = result.got.double(), result.want.double()
    if bool((got == 0).all()):
        return None
    if not bool((torch.isfinite(got) | ~result.wrong).all()) or not bool(
        torch.isfinite(want[result.wrong]).all()
    ):
        return None
    own, few = want.abs(), result.want.numel() < FEWEST
    # An element near 0 may be the sum of terms that are not.
    least = 0.0 if few else float(_typical(own))
    scale = (own if few or result.magnitude is None else result.magnitude.double().abs()).clamp(min=least)
    errors, scales = (got - want).abs()[result.wrong], scale[result.wrong]
    if float((errors / scales.clamp(min=1e-300)).max()) > (_ROUNDING_ALONE if few else _ROUNDING):
        return None
    times = float(
        (
            errors
            / allowed_error(result.want, result.tolerance, result.magnitude)[result.wrong].clamp(min=1e-300)
        ).max()
    )
    return Pattern(
        "rounding",
        f"The values are nearly right: the largest error is {times:.3g} times the allowed one.",
        times,
    )


def _typical(values: torch.Tensor) -> torch.Tensor:
    import torch

    finite = values[torch.isfinite(values)]
    return finite.median() if finite.numel() else values.new_tensor(0.0)


def _tail(result: Wrong) -> Pattern | None:
    import torch

    places = torch.nonzero(result.wrong).reshape(-1)
    first, total = int(places[0]), result.wrong.numel()
    if first < FEWEST or places.numel() < 0.5 * (total - first):
        return None
    place = ", ".join(map(str, index_of(first, result.shape)))
    return Pattern(
        "tail", f"{result.argument.name} is right up to its element [{place}] and wrong from there on.", first
    )


# Other questions


def answers_another(
    result: Wrong, challenge: Challenge, case: Case, inputs: Mapping[str, torch.Tensor], *, rounding: bool
) -> Pattern | None:
    """The question that the result answers instead. ``rounding``: errors are small, so only inputs in lower precision
    are tried, else other uses of the arguments."""
    if max((given.numel() for given in inputs.values()), default=0) < _TELLING:
        return None
    if not result.want.is_floating_point() and result.want.numel() < FEWEST:
        return None  # few integers may be the same by chance
    tries = _rounded_inputs(case, inputs) if rounding else _other_uses(challenge, case, inputs)
    for pattern, asked, given in itertools.islice(tries, limits.OTHER_QUESTIONS):
        try:
            answer = right_answers(challenge, asked, given)[result.argument.name]
            if pattern.kind == "other_axis":
                answer = answer.transpose(-1, -2)
            answer = answer.reshape(-1)[: result.got.numel()]
        except (GraderError, RuntimeError):  # the reference may refuse arguments that no case has
            continue
        if rounding:
            own, other = (
                (result.got.double() - other.double()).abs().max() for other in (result.want, answer)
            )
            if float(other) * _EXPLAINED < float(own):
                return pattern
        elif result.agrees(result.got, answer) and not result.agrees(result.want, answer):
            return pattern
    return None


Try = tuple[Pattern, Case, Mapping[str, "torch.Tensor"]]


def _rounded_inputs(case: Case, inputs: Mapping[str, torch.Tensor]) -> Iterator[Try]:
    import torch

    floats = {name: tensor for name, tensor in inputs.items() if tensor.dtype is torch.float32}
    if not floats:
        return
    for kind in _ROUNDED_TO:
        given = {**inputs, **{name: _rounded(tensor, kind) for name, tensor in floats.items()}}
        words = {"tf32": "TF32 (10 bits of mantissa)"}.get(kind, kind)
        yield (
            Pattern(
                "rounded_inputs",
                f"The result fits inputs that are rounded to {words} first.",
                names=(kind,),
            ),
            case,
            given,
        )


def _rounded(values: torch.Tensor, kind: str) -> torch.Tensor:
    import torch

    if kind != "tf32":
        return values.to(getattr(torch, kind)).to(values.dtype)
    bits = values.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32).where(torch.isfinite(values), values)


def _other_uses(challenge: Challenge, case: Case, inputs: Mapping[str, torch.Tensor]) -> Iterator[Try]:
    manifest = challenge.manifest
    read = [arg for arg in manifest.buffers if arg.kind is not Kind.OUTPUT]
    scalars = scalar_values(manifest, case)
    for arg in manifest.scalars:
        for value in (0.0, 1.0):
            if scalars[arg.name] != value:
                text = f"The result is right for {arg.name} = {value:g}, whatever {arg.name} is."
                asked = replace(case, scalars={**case.scalars, arg.name: value})
                yield Pattern("ignored", text, value, (arg.name,)), asked, inputs
    for arg in read:
        if arg.dtype.floating and arg.kind is Kind.INPUT:
            for value in (0.0, 1.0):
                text = f"The result is right if all of {arg.name} is {value:g}: its values have no effect."
                given = {**inputs, arg.name: inputs[arg.name].new_full(inputs[arg.name].shape, value)}
                yield Pattern("ignored", text, value, (arg.name,)), case, given
    for one, other in itertools.combinations(read, 2):
        a, b = inputs[one.name], inputs[other.name]
        if a.shape == b.shape and a.dtype is b.dtype:
            text = f"The result is right if {one.name} and {other.name} are exchanged."
            yield (
                Pattern("exchanged", text, names=(one.name, other.name)),
                case,
                {**inputs, one.name: b, other.name: a},
            )
    for first, second in itertools.combinations(manifest.scalars, 2):
        one_value, other_value = scalars[first.name], scalars[second.name]
        text = f"The result is right if {first.name} and {second.name} are exchanged."
        asked = replace(case, scalars={**case.scalars, first.name: other_value, second.name: one_value})
        yield Pattern("exchanged", text, names=(first.name, second.name)), asked, inputs
    yield from _other_axis(challenge, case, inputs)
    for arg in read:
        values = inputs[arg.name]
        if values.dim() >= 2 and min(values.shape[-2:]) > 1:
            *outer, rows, columns = values.shape
            turned = values.reshape(*outer, columns, rows).transpose(-1, -2).contiguous()
            text = (
                f"The result is right if {arg.name} is read with rows and columns exchanged: its element "
                f"[i, j] is at i * {arg.shape[-1]} + j, but was read at j * {arg.shape[-2]} + i."
            )
            yield Pattern("read_turned", text, names=(arg.name,)), case, {**inputs, arg.name: turned}


def _other_axis(challenge: Challenge, case: Case, inputs: Mapping[str, torch.Tensor]) -> Iterator[Try]:
    """Rows and columns exchanged in all inputs and outputs, if these are matrices of one shape."""
    manifest = challenge.manifest
    shapes = {tuple(arg.shape) for arg in manifest.buffers}
    if len(shapes) != 1 or len(manifest.sizes) != 2 or tuple(manifest.sizes) not in shapes:
        return
    rows, columns = manifest.sizes
    asked = replace(case, sizes={rows: case.sizes[columns], columns: case.sizes[rows]})
    given = {name: values.transpose(0, 1).contiguous() for name, values in inputs.items()}
    text = f"The result is right if it is computed column by column: {rows} and {columns} are exchanged."
    yield Pattern("other_axis", text), asked, given
