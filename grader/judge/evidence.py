"""How a wrong result differs from the right one: where its elements went, and of which other question it is the answer.

Each pattern is checked against every element; what fits only some of them is not said.
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
_FEWEST = 8
# Of inputs with fewer elements, several questions may have the same answer.
_TELLING = 32
_TILES = (128, 64, 32, 16, 8)
# A constant factor is one to this relative precision.
_SAME_FACTOR = 2e-3
# Errors of rounding: of half's 11 bits in a few terms, and in sums of many.
_ROUNDING = 2.0**-5
_ROUNDING_ALONE = 2.0**-9
# Rounded inputs explain errors if against them the error is so many times smaller.
_EXPLAINED = 8.0
_ROUNDED_TO = ("tf32", "float16", "bfloat16")


@dataclass(frozen=True)
class Wrong:
    """One result that differs, flat. ``poisoned``: where nothing was written; ``magnitude``: what errors are measured
    against, none where that is the right value itself."""

    argument: Argument
    shape: tuple[int, ...]
    got: torch.Tensor
    want: torch.Tensor
    wrong: torch.Tensor
    poisoned: torch.Tensor | None
    magnitude: torch.Tensor | None
    tolerance: Tolerance

    def agrees(self, got: torch.Tensor, want: torch.Tensor) -> bool:
        """Whether every element of ``got`` passes for ``want``."""
        import torch

        scale = None
        if self.magnitude is not None:
            finite = self.magnitude[torch.isfinite(self.magnitude)]
            scale = finite.double().max().expand(got.numel()) if finite.numel() else None
        return not bool(wrong_elements(got.reshape(-1), want.reshape(-1), self.tolerance, scale).any())


@dataclass(frozen=True)
class Pattern:
    """``kind``: what rules ask for; ``text``: a sentence about the numbers, which is true without any source.
    ``number`` and ``names`` are of the kind."""

    kind: str
    text: str
    number: float = 0
    names: tuple[str, ...] = ()


def pattern_of(it: Wrong) -> Pattern | None:
    """The first that fits."""
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
        if (found := find(it)) is not None:
            return found
    return None


def _unwritten(it: Wrong) -> Pattern | None:
    import torch

    if it.poisoned is None or not bool(it.poisoned.any()):
        return None
    name = it.argument.name
    if bool(it.poisoned.all()):
        return Pattern("unwritten_all", f"Nothing of {name} was written.")
    places = torch.nonzero(it.poisoned).reshape(-1)
    first, count = int(places[0]), places.numel()
    total = it.poisoned.numel()
    if count == total - first:
        place = ", ".join(map(str, index_of(first, it.shape)))
        return Pattern(
            "unwritten_tail", f"{name} is written up to its element [{place}], and not from there on.", first
        )
    if len(it.shape) == 2 and total == math.prod(it.shape):
        empty = it.poisoned.reshape(it.shape)
        for axis, word in ((0, "column"), (1, "row")):
            lost = empty.all(dim=axis)
            if bool(lost.any()) and int(lost.sum()) * it.shape[axis] == count:
                begin = int(torch.nonzero(lost)[0])
                if bool(lost[begin:].all()):
                    return Pattern(
                        f"unwritten_{word}s",
                        f"Of {name}, every {word} from {begin} on was never written.",
                        begin,
                    )
    written = torch.nonzero(~it.poisoned).reshape(-1)
    if written.numel() >= 2 and int(written[0]) == 0:
        steps = written.diff()
        if int(steps.min()) == int(steps.max()) > 1:
            step = int(steps[0])
            return Pattern(
                "unwritten_steps", f"Only each {step}th element of {name} was written, from 0 on.", step
            )
    return Pattern("unwritten", f"{count:,} of {total:,} elements of {name} were never written.")


def _zeros(it: Wrong) -> Pattern | None:
    if int(it.wrong.sum()) < _FEWEST or not bool((it.got == 0).all()):
        return None
    return Pattern("zeros", f"All of {it.argument.name} is 0.")


def _matrix(it: Wrong, values: torch.Tensor) -> torch.Tensor | None:
    """As rows and columns, of the last two dimensions."""
    if len(it.shape) < 2 or values.numel() != math.prod(it.shape) or min(it.shape[-2:]) < 2:
        return None
    return values.reshape(-1, *it.shape[-2:])


def _turned(it: Wrong) -> Pattern | None:
    want = _matrix(it, it.want)
    if want is None or int(it.wrong.sum()) < _FEWEST:
        return None
    if it.agrees(it.got, want.transpose(1, 2)):
        name = it.argument.name
        return Pattern(
            "turned", f"{name} holds the right values with rows and columns exchanged: it is transposed."
        )
    return None


def _turned_tiles(it: Wrong) -> Pattern | None:
    got, want = _matrix(it, it.got), _matrix(it, it.want)
    if got is None or want is None:
        return None
    rows, columns = it.shape[-2:]
    for size in _TILES:
        if rows < size or columns < size:
            continue
        whole = slice(0, rows // size * size), slice(0, columns // size * size)
        tiles = want[:, whole[0], whole[1]].reshape(want.shape[0], rows // size, size, columns // size, size)
        turned = tiles.transpose(2, 4).reshape(want.shape[0], whole[0].stop, whole[1].stop)
        part, right = got[:, whole[0], whole[1]], want[:, whole[0], whole[1]]
        if it.agrees(part, turned) and not it.agrees(part, right):
            return Pattern(
                "turned_tiles",
                f"Each tile of {size} x {size} of {it.argument.name} is transposed within itself: the tiles are in "
                "their "
                "places, and in each of them rows and columns are exchanged.",
                size,
            )
    return None


def _repeated(it: Wrong) -> Pattern | None:
    got, want = _matrix(it, it.got), _matrix(it, it.want)
    if got is None or want is None or int(it.wrong.sum()) < _FEWEST:
        return None
    name = it.argument.name
    if got.is_floating_point() and not bool(got.isfinite().all()):
        return None
    if it.agrees(got, got[:, :1].expand_as(got)) and not it.agrees(want, want[:, :1].expand_as(want)):
        return Pattern(
            "rows_repeated", f"Every row of {name} is the same: the row's number does not reach it."
        )
    if it.agrees(got, got[:, :, :1].expand_as(got)) and not it.agrees(want, want[:, :, :1].expand_as(want)):
        return Pattern(
            "columns_repeated", f"Every column of {name} is the same: the column's number does not reach it."
        )
    return None


def _shifted(it: Wrong) -> Pattern | None:
    """By a place, or a row."""
    total = it.got.numel()
    row = it.shape[-1] if len(it.shape) > 1 else 0
    for by in dict.fromkeys((1, -1, 2, -2, row, -row)):
        if not by or total - abs(by) < 2 * _FEWEST or int(it.wrong.sum()) < _FEWEST:
            continue
        moved = it.want[by:] if by > 0 else it.want[:by]
        kept = it.got[:-by] if by > 0 else it.got[-by:]
        if it.agrees(kept, moved):
            places = "1 place" if abs(by) == 1 else f"{abs(by)} places" if abs(by) != row else "1 row"
            side = "early" if by > 0 else "late"
            return Pattern(
                "shifted", f"The values of {it.argument.name} are right and {places} too {side}.", by
            )
    return None


def _factor(it: Wrong) -> Pattern | None:
    import torch

    if not it.want.is_floating_point() or int(it.wrong.sum()) < _FEWEST:
        return None
    got, want = it.got.double(), it.want.double()
    finite = torch.isfinite(got) & torch.isfinite(want)
    large = finite & (want.abs() > 1e-3 * want[finite].abs().max() if bool(finite.any()) else finite)
    if int(large.sum()) < _FEWEST:
        return None
    ratio = got[large] / want[large]
    factor = float(ratio.median())
    if factor == 0 or abs(factor - 1) < 10 * _SAME_FACTOR:
        return None
    if float((ratio / factor - 1).abs().max()) > _SAME_FACTOR:
        return None
    if factor == -1 or abs(factor + 1) < _SAME_FACTOR:
        return Pattern("factor", f"Every element of {it.argument.name} has the wrong sign.", -1)
    return Pattern(
        "factor", f"Every element of {it.argument.name} is {factor:.4g} times what is right.", factor
    )


def _offset(it: Wrong) -> Pattern | None:
    import torch

    if int(it.wrong.sum()) < _FEWEST:
        return None
    off = it.got.double() - it.want.double()
    if not bool(torch.isfinite(off).all()):
        return None
    by, scale = float(off.median()), float(it.want.double().abs().max())
    if by == 0 or abs(by) < 1e-4 * scale or float((off - by).abs().max()) > _SAME_FACTOR * abs(by):
        return None
    words = "greater" if by > 0 else "less"
    return Pattern(
        "offset", f"Every element of {it.argument.name} is {abs(by):.4g} {words} than what is right.", by
    )


def _rounding(it: Wrong) -> Pattern | None:
    """Errors that are small beside what they are measured against."""
    import torch

    if not it.want.is_floating_point():
        return None
    got, want = it.got.double(), it.want.double()
    if bool((got == 0).all()):
        return None
    if not bool((torch.isfinite(got) | ~it.wrong).all()) or not bool(torch.isfinite(want[it.wrong]).all()):
        return None
    own, few = want.abs(), it.want.numel() < _FEWEST
    # An element near 0 may be the sum of terms that are not.
    least = 0.0 if few else float(_typical(own))
    scale = (own if few or it.magnitude is None else it.magnitude.double().abs()).clamp(min=least)
    errors, scales = (got - want).abs()[it.wrong], scale[it.wrong]
    if float((errors / scales.clamp(min=1e-300)).max()) > (_ROUNDING_ALONE if few else _ROUNDING):
        return None
    times = float(
        (errors / allowed_error(it.want, it.tolerance, it.magnitude)[it.wrong].clamp(min=1e-300)).max()
    )
    return Pattern(
        "rounding",
        f"The values are nearly right: the largest error is {times:.3g} times what is allowed.",
        times,
    )


def _typical(values: torch.Tensor) -> torch.Tensor:
    import torch

    finite = values[torch.isfinite(values)]
    return finite.median() if finite.numel() else values.new_tensor(0.0)


def _tail(it: Wrong) -> Pattern | None:
    """Right up to an element, and wrong from there on."""
    import torch

    places = torch.nonzero(it.wrong).reshape(-1)
    first, total = int(places[0]), it.wrong.numel()
    if first < _FEWEST or places.numel() < 0.5 * (total - first):
        return None
    place = ", ".join(map(str, index_of(first, it.shape)))
    return Pattern(
        "tail", f"{it.argument.name} is right up to its element [{place}], and wrong from there on.", first
    )


# Other questions


def answers_another(
    it: Wrong, challenge: Challenge, case: Case, inputs: Mapping[str, torch.Tensor], *, rounding: bool
) -> Pattern | None:
    """The question that the result answers instead. ``rounding``: the errors are small, so only inputs in lower
    precision are tried; else other uses of the arguments."""
    if max((given.numel() for given in inputs.values()), default=0) < _TELLING:
        return None
    if not it.want.is_floating_point() and it.want.numel() < _FEWEST:
        return None  # an integer may be the same by chance
    tries = _rounded_inputs(case, inputs) if rounding else _other_uses(challenge, case, inputs)
    for pattern, asked, given in itertools.islice(tries, limits.OTHER_QUESTIONS):
        try:
            answer = right_answers(challenge, asked, given)[it.argument.name]
            if pattern.kind == "other_axis":
                answer = answer.transpose(-1, -2)
            answer = answer.reshape(-1)[: it.got.numel()]
        except (GraderError, RuntimeError):  # the reference may refuse arguments that no case has
            continue
        if rounding:
            own, other = ((it.got.double() - other.double()).abs().max() for other in (it.want, answer))
            if float(other) * _EXPLAINED < float(own):
                return pattern
        elif it.agrees(it.got, answer) and not it.agrees(it.want, answer):
            return pattern
    return None


Try = tuple[Pattern, Case, Mapping[str, "torch.Tensor"]]


def _rounded_inputs(case: Case, inputs: Mapping[str, torch.Tensor]) -> Iterator[Try]:
    import torch

    floats = {name: it for name, it in inputs.items() if it.dtype is torch.float32}
    if not floats:
        return
    for kind in _ROUNDED_TO:
        given = {**inputs, **{name: _rounded(it, kind) for name, it in floats.items()}}
        words = {"tf32": "TF32 (10 bits after the point)"}.get(kind, kind)
        yield (
            Pattern(
                "rounded_inputs",
                f"The result is that of inputs which are rounded to {words} first.",
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
                text = f"The result is right if all of {arg.name} is {value:g}: its values do not count."
                given = {**inputs, arg.name: inputs[arg.name].new_full(inputs[arg.name].shape, value)}
                yield Pattern("ignored", text, value, (arg.name,)), case, given
    for one, other in itertools.combinations(read, 2):
        a, b = inputs[one.name], inputs[other.name]
        if a.shape == b.shape and a.dtype is b.dtype:
            text = f"The result is right if {one.name} and {other.name} change places."
            yield (
                Pattern("exchanged", text, names=(one.name, other.name)),
                case,
                {**inputs, one.name: b, other.name: a},
            )
    for first, second in itertools.combinations(manifest.scalars, 2):
        one_value, other_value = scalars[first.name], scalars[second.name]
        text = f"The result is right if {first.name} and {second.name} change places."
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
                f"[i, j] is at i * {arg.shape[-1]} + j, and was read at j * {arg.shape[-2]} + i."
            )
            yield Pattern("read_turned", text, names=(arg.name,)), case, {**inputs, arg.name: turned}


def _other_axis(challenge: Challenge, case: Case, inputs: Mapping[str, torch.Tensor]) -> Iterator[Try]:
    """Rows and columns change places in all that is read and written, where all of that are matrices of one shape."""
    manifest = challenge.manifest
    shapes = {tuple(arg.shape) for arg in manifest.buffers}
    if len(shapes) != 1 or len(manifest.sizes) != 2 or tuple(manifest.sizes) not in shapes:
        return
    rows, columns = manifest.sizes
    asked = replace(case, sizes={rows: case.sizes[columns], columns: case.sizes[rows]})
    given = {name: values.transpose(0, 1).contiguous() for name, values in inputs.items()}
    text = f"The result is right if it is made column by column: {rows} and {columns} change their roles."
    yield Pattern("other_axis", text), asked, given
