"""Finds other inputs that explain a wrong result, by the challenge's reference."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.cases import Case
from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind
from grader.challenge.scalars import checked
from grader.errors import GraderError
from grader.judge.explaining.questions.addresses import misread
from grader.judge.explaining.questions.budget import Budget
from grader.judge.explaining.questions.fitting import EXPLAINED, EXPLAINED_FEW, fits
from grader.judge.explaining.questions.rows import Rows
from grader.judge.explaining.wrong import FEWEST, Pattern, Wrong
from grader.judge.oracle import right_answers, scalar_values

if TYPE_CHECKING:
    import torch

# Fewer elements fit several questions.
_TELLING = 32
_ROUNDED_TO = ("tf32", "float16", "bfloat16")
_DIGITS = {
    "tf32": "TF32 (10 bits of mantissa)",
    "float16": "float16 (half)",
    "bfloat16": "bfloat16 (7 bits of mantissa)",
}
_GROUPS = (1024, 512, 256, 128, 64, 32)
_WARP = 32
_TILES = (1024, 512, 256, 128, 64, 32, 16, 8)
# Each row costs a reference call.
_MOST_ROWS = 12
# Elements of rows with ties.
_COMPARED = 1 << 24

Ask = Callable[[], "torch.Tensor | None"]
Try = tuple[Pattern, Ask]


def answers_another(
    result: Wrong, challenge: Challenge, case: Case, inputs: Mapping[str, torch.Tensor], *, rounding: bool
) -> Pattern | None:
    """``rounding``: small errors, so try lower precision first."""
    if max((given.numel() for given in inputs.values()), default=0) < _TELLING:
        return None
    # On a GPU, an index outside an array would end the judge's context.
    result, inputs = result.on_host, {name: values.cpu() for name, values in inputs.items()}
    if any(arg.dtype.complex for arg in challenge.manifest.buffers):
        return None
    if not bool(result.got[result.wrong].any()):
        return None  # many questions have the answer 0
    if not result.want.is_floating_point():
        if (found := _other_of_equals(result, inputs)) is not None:
            return found
        if result.want.numel() < FEWEST:
            return None  # few integers may be equal by chance
    tries = _Tries(challenge, case, inputs, result)
    budget = Budget(limits.OTHER_QUESTIONS_SECONDS)
    if (found := Rows(challenge, case, inputs, result).counted()) is not None:
        return found
    if rounding:
        fitting = [pattern for pattern, ask in tries.rounded() if _explains_rounding(result, ask())]
        if fitting:
            # In its range, float16 has the digits of TF32.
            kinds = " or ".join(_DIGITS[pattern.names[0]] for pattern in fitting)
            text = f"The result fits inputs that are rounded to {kinds} first."
            return replace(fitting[0], text=text)
    for pattern, ask in itertools.islice(tries.every(), limits.OTHER_QUESTIONS):
        if budget.spent:
            break
        answer = ask()
        if answer is not None and fits(result, answer):
            return pattern
    return None


def _holds(dtype: DType, value: float) -> bool:
    try:
        checked(dtype, value)
    except ValueError:
        return False
    return True


def _explains_rounding(result: Wrong, answer: torch.Tensor | None) -> bool:
    if answer is None or answer.numel() != result.got.numel():
        return False
    own, other = ((result.got.double() - right.double()).abs().max() for right in (result.want, answer))
    # By chance, one of a few elements may be near.
    few = int(result.wrong.sum()) < FEWEST
    return float(other) * (EXPLAINED_FEW if few else EXPLAINED) < float(own)


def _other_of_equals(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
    """Indices of equal elements: one for each row, or several."""
    import torch

    if len(result.shape) not in (1, 2) or int(result.wrong.sum()) < 3:
        return None
    places = torch.nonzero(result.wrong).reshape(-1)
    rows, got, want = (
        places // math.prod(result.shape[1:]),
        result.got[places].long(),
        result.want[places].long(),
    )
    for name, values in inputs.items():
        if values.dim() != 2 or values.shape[0] != result.shape[0] or not values.is_floating_point():
            continue
        width = values.shape[1]
        if bool(((got < 0) | (got >= width) | (want < 0) | (want >= width)).any()):
            continue
        if not torch.equal(values[rows, got], values[rows, want]):
            continue
        some = slice(max(1, _COMPARED // width))
        column, row, found, right = torch.arange(width), rows[some], got[some], want[some]
        equal = values[row] == values[row, right][:, None]
        before = (equal & (column < right[:, None])).sum(dim=1)
        after = (equal & (column > found[:, None])).sum(dim=1)
        text = (
            f"Where {result.argument.name} is wrong, {name} has equal elements at the index found and at the right "
            "one: a tie."
        )
        # A row's first wrong place: later ones of a tie are last in one order and first in the other.
        first = (before == 0) & (row.diff(prepend=row.new_full((1,), -1)) != 0)
        if bool(first.any()) and bool((right < found)[first].all()):
            if torch.equal(before, after):
                text += " It takes the last of equal elements."
            text += " The first of them is wanted."
        return Pattern("ties", text)
    return None


def _rounded(values: torch.Tensor, kind: str) -> torch.Tensor:
    import torch

    if kind != "tf32":
        return values.to(getattr(torch, kind)).to(values.dtype)
    bits = values.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32).where(torch.isfinite(values), values)


@dataclass(frozen=True)
class _Tries:
    challenge: Challenge
    case: Case
    inputs: Mapping[str, torch.Tensor]
    result: Wrong

    @property
    def read(self) -> list[Argument]:
        return [arg for arg in self.challenge.manifest.given if arg.name in self.inputs]

    def _asks(self, changed: Mapping[str, torch.Tensor] | None = None, case: Case | None = None) -> Ask:
        given, asked = {**self.inputs, **(changed or {})}, case or self.case
        name, count = self.result.argument.name, self.result.got.numel()

        def ask() -> torch.Tensor | None:
            try:
                return right_answers(self.challenge, asked, given)[name].reshape(-1)[:count]
            except (GraderError, RuntimeError):  # the reference may refuse arguments that no case has
                return None

        return ask

    def every(self) -> Iterator[Try]:
        """More usual mistakes first."""
        yield from self.inverted()
        yield from self.nan_ignored()
        yield from self.clamped()
        yield from self.ignored()
        yield from self.exchanged()
        yield from self.changed()
        yield from self.other_axis()
        yield from self.read_turned()
        yield from self.in_reverse()
        yield from self.left_out()
        yield from self.fewer()
        yield from self.some_lanes()
        yield from self.by_row()
        yield from self.twice()
        yield from self.first_for_all()
        yield from self.cut_to_integers()
        yield from self.squared()
        yield from self.two_ignored()
        yield from self.by_scalars()
        yield from self.scaled_within()
        yield from self.misread()

    def misread(self) -> Iterator[Try]:
        for pattern, changed, asked in misread(self.challenge, self.case, self.inputs, self.result):
            yield (
                pattern,
                self._asks(changed, asked) if asked is self.case else self._narrowed(changed, asked),
            )

    def _narrowed(self, changed: Mapping[str, torch.Tensor], asked: Case) -> Ask:
        name, shape = self.result.argument.name, self.result.shape

        def ask() -> torch.Tensor | None:
            try:
                whole = right_answers(self.challenge, asked, {**self.inputs, **changed})[name]
            except (GraderError, RuntimeError):
                return None
            if whole.dim() != len(shape):
                return None
            return whole[tuple(slice(0, size) for size in shape)].reshape(-1)

        return ask

    def two_ignored(self) -> Iterator[Try]:
        """Such as a mean and a deviation."""
        floats = [arg for arg in self.read if arg.dtype.floating and arg.kind is Kind.INPUT]
        for one, other in itertools.combinations(floats, 2):
            for first, second in itertools.product((0.0, 1.0), repeat=2):
                changed = {
                    arg.name: self.inputs[arg.name].new_full(self.inputs[arg.name].shape, value)
                    for arg, value in ((one, first), (other, second))
                }
                text = (
                    f"The result is right if all of {one.name} is {first:g} and all of {other.name} is {second:g}: "
                    f"their values have no effect on {self.result.argument.name}."
                )
                yield Pattern("ignored", text, first, (one.name, other.name)), self._asks(changed)

    def rounded(self) -> Iterator[Try]:
        import torch

        floats = {name: tensor for name, tensor in self.inputs.items() if tensor.dtype is torch.float32}
        for kind in _ROUNDED_TO if floats else ():
            changed = {name: _rounded(tensor, kind) for name, tensor in floats.items()}
            yield Pattern("rounded_inputs", "", names=(kind,)), self._asks(changed)

    def inverted(self) -> Iterator[Try]:
        """Masks: integers that are 0 or 1."""
        import torch

        for arg in self.read:
            values = self.inputs[arg.name]
            if arg.dtype.floating or arg.kind is not Kind.INPUT or not values.numel():
                continue
            if not torch.equal(torch.unique(values).long().cpu(), torch.tensor([0, 1])):
                continue
            for changed, words in (
                (1 - values, f"{arg.name} is inverted, 0 for 1 and 1 for 0"),
                (torch.ones_like(values), f"all of {arg.name} is 1: its values have no effect"),
                (torch.zeros_like(values), f"all of {arg.name} is 0: its values have no effect"),
            ):
                text = f"The result is right if {words}."
                yield Pattern("inverted", text, names=(arg.name,)), self._asks({arg.name: changed})

    def ignored(self) -> Iterator[Try]:
        manifest = self.challenge.manifest
        scalars = scalar_values(manifest, self.case)
        for arg in manifest.scalars:
            for value in (0.0, 1.0):
                if scalars[arg.name] != value:
                    text = f"The result is right for {arg.name} = {value:g}, whatever {arg.name} is."
                    asked = replace(self.case, scalars={**self.case.scalars, arg.name: value})
                    yield Pattern("ignored", text, value, (arg.name,)), self._asks(case=asked)
        for arg in self.read:
            if arg.dtype.floating:
                values = self.inputs[arg.name]
                for value in (0.0, 1.0) if arg.kind is Kind.INPUT else (0.0,):
                    text = (
                        f"The result is right if all of {arg.name} is {value:g}: its values have no effect."
                    )
                    changed = {arg.name: values.new_full(values.shape, value)}
                    yield Pattern("ignored", text, value, (arg.name,)), self._asks(changed)

    def exchanged(self) -> Iterator[Try]:
        manifest = self.challenge.manifest
        for one, other in itertools.combinations(self.read, 2):
            a, b = self.inputs[one.name], self.inputs[other.name]
            if a.shape == b.shape and a.dtype is b.dtype:
                text = f"The result is right if {one.name} and {other.name} are exchanged."
                pattern = Pattern("exchanged", text, names=(one.name, other.name))
                yield pattern, self._asks({one.name: b, other.name: a})
        scalars = scalar_values(manifest, self.case)
        for first, second in itertools.combinations(manifest.scalars, 2):
            if first.dtype is not second.dtype and not (first.dtype.floating and second.dtype.floating):
                continue
            swapped = {first.name: scalars[second.name], second.name: scalars[first.name]}
            text = f"The result is right if {first.name} and {second.name} are exchanged."
            asked = replace(self.case, scalars={**self.case.scalars, **swapped})
            yield Pattern("exchanged", text, names=(first.name, second.name)), self._asks(case=asked)

    def changed(self) -> Iterator[Try]:
        floats = [arg for arg in self.read if arg.dtype.floating]
        for arg in floats:
            values = self.inputs[arg.name]
            for other in self.read:
                if (
                    other is not arg
                    and self.inputs[other.name].shape == values.shape
                    and other.dtype is arg.dtype
                ):
                    text = f"The result is right if {arg.name} is {other.name}: {other.name} is used in its place."
                    pattern = Pattern("replaced", text, names=(arg.name, other.name))
                    yield pattern, self._asks({arg.name: self.inputs[other.name]})
        for arg in floats:
            values = self.inputs[arg.name]
            text = (
                f"The result is right if {arg.name} has the other sign: is it subtracted, or is a minimum taken for a "
                "maximum?"
            )
            yield Pattern("negated", text, names=(arg.name,)), self._asks({arg.name: -values})
        for arg in floats:
            values = self.inputs[arg.name]
            if arg.kind is Kind.INPUT and bool((values != 0).all()):
                text = (
                    f"The result is right if {arg.name} is 1 / {arg.name}: is it divided by, not multiplied?"
                )
                yield Pattern("inverse", text, names=(arg.name,)), self._asks({arg.name: 1 / values})

    def squared(self) -> Iterator[Try]:
        for arg in self.read:
            if not arg.dtype.floating:
                continue
            values = self.inputs[arg.name]
            for words, other in (
                (f"{arg.name} is replaced by its absolute value", values.abs()),
                (f"{arg.name} is squared", values * values),
                (f"{arg.name} is multiplied by ln(2): is exp2 used for exp?", values * math.log(2)),
                (f"{arg.name} is doubled", values * 2),
                (f"{arg.name} is halved", values / 2),
            ):
                text = f"The result is right if {words}{'' if words.endswith('?') else '.'}"
                yield Pattern("scaled_input", text, names=(arg.name,)), self._asks({arg.name: other})

    def by_scalars(self) -> Iterator[Try]:
        for scalar in self.challenge.manifest.scalars:
            value = float(scalar_values(self.challenge.manifest, self.case)[scalar.name])
            if not math.isfinite(value) or value in (0.0, 1.0):
                continue
            for arg in self.read:
                if not arg.dtype.floating:
                    continue
                values = self.inputs[arg.name]
                for verb, other in (("multiplied", values * value), ("divided", values / value)):
                    text = f"The result is right if {arg.name} is {verb} by {scalar.name}, too."
                    yield Pattern("scaled_input", text, value, (arg.name,)), self._asks({arg.name: other})

    def scaled_within(self) -> Iterator[Try]:
        """x f(x) with f(c x) for f(x) is f'(c x) / c."""
        for arg in self.read:
            values = self.inputs[arg.name]
            if not arg.dtype.floating or values.numel() != self.result.got.numel():
                continue
            for factor, words in (
                (math.sqrt(2), "sqrt(2)"),
                (math.sqrt(0.5), "1 / sqrt(2)"),
                (2.0, "2"),
                (0.5, "0.5"),
                (math.log(2), "ln(2)"),
                (1 / math.log(2), "1 / ln(2)"),
            ):
                text = (
                    f"The result is right if {arg.name} is {words} times as large, and the result is divided by that "
                    f"again: within a function such as exp or erf, a factor of {words} is wrong or missing."
                )
                ask = self._asks({arg.name: values * factor})

                def answer(ask: Ask = ask, factor: float = factor) -> torch.Tensor | None:
                    found = ask()
                    return found / factor if found is not None else None

                yield Pattern("scaled_input", text, factor, (arg.name,)), answer

    def nan_ignored(self) -> Iterator[Try]:
        import torch

        for arg in self.read:
            values = self.inputs[arg.name]
            if arg.dtype.floating and bool(values.isnan().any()):
                for value, words in ((-math.inf, "-inf"), (0.0, "0"), (math.inf, "inf")):
                    text = f"The result is right if NaN in {arg.name} is {words}: a comparison with NaN is false."
                    changed = torch.where(values.isnan(), values.new_tensor(value), values)
                    yield Pattern("nan_ignored", text, names=(arg.name,)), self._asks({arg.name: changed})

    def clamped(self) -> Iterator[Try]:
        for arg in self.read:
            if arg.dtype.floating or arg.values.dist != "integers" or not self.inputs[arg.name].numel():
                continue
            low, high = (
                parse(bound).integer(self.case.sizes) if isinstance(bound, str) else int(bound)
                for bound in (arg.values.low, arg.values.high)
            )
            values = self.inputs[arg.name]
            if high > low and bool(((values < low) | (values >= high)).any()):
                text = (
                    f"The result is right if {arg.name} is clamped to {low:,} .. {high - 1:,}: values outside count "
                    "for the first or the last."
                )
                changed = {arg.name: values.clamp(low, high - 1)}
                yield Pattern("clamped", text, names=(arg.name,)), self._asks(changed)

    def fewer(self) -> Iterator[Try]:
        manifest = self.challenge.manifest
        of_results = {name for arg in manifest.results for text in arg.shape for name in parse(text).names}
        for size in manifest.sizes:
            if size in of_results or not all(
                text == size for arg in self.read for text in arg.shape if size in parse(text).names
            ):
                continue
            extent = self.case.sizes[size]
            for kept in (tile for tile in _TILES if _WARP <= tile < extent):
                text = (
                    f"The result is right if only the first {kept:,} of {size} = {extent:,} elements count."
                )
                asked = replace(self.case, sizes={**self.case.sizes, size: kept})
                changed = {
                    arg.name: self.inputs[arg.name].narrow(arg.shape.index(size), 0, kept).contiguous()
                    for arg in self.read
                    if size in arg.shape
                }
                yield Pattern("fewer", text, kept, (size,)), self._asks(changed, asked)

    def other_axis(self) -> Iterator[Try]:
        manifest, sizes = self.challenge.manifest, self.case.sizes
        shapes = {tuple(arg.shape) for arg in manifest.buffers}
        if len(shapes) != 1 or len(manifest.sizes) != 2 or tuple(manifest.sizes) not in shapes:
            return
        rows, columns = manifest.sizes
        asked = replace(self.case, sizes={rows: sizes[columns], columns: sizes[rows]})
        turned = {name: values.transpose(0, 1).contiguous() for name, values in self.inputs.items()}
        ask = self._asks(turned, asked)

        def answer() -> torch.Tensor | None:
            found = ask()
            if found is None or found.numel() != sizes[rows] * sizes[columns]:
                return None
            return found.reshape(sizes[columns], sizes[rows]).transpose(0, 1).reshape(-1)

        text = f"The result is right if it is computed column by column: {rows} and {columns} are exchanged."
        yield Pattern("other_axis", text), answer

    def read_turned(self) -> Iterator[Try]:
        for arg in self.read:
            values = self.inputs[arg.name]
            if values.dim() >= 2 and min(values.shape[-2:]) > 1:
                *outer, rows, columns = values.shape
                turned = values.reshape(*outer, columns, rows).transpose(-1, -2).contiguous()
                text = (
                    f"The result is right if {arg.name} is read with rows and columns exchanged: its element "
                    f"[i, j] is at i * {arg.shape[-1]} + j, but was read at j * {arg.shape[-2]} + i."
                )
                yield Pattern("read_turned", text, names=(arg.name,)), self._asks({arg.name: turned})

    def in_reverse(self) -> Iterator[Try]:
        for arg in self.read:
            values = self.inputs[arg.name]
            axes = [axis for axis in range(values.dim()) if values.shape[axis] > 1]
            for way in [(axis,) for axis in axes] + ([tuple(axes)] if len(axes) > 1 else []):
                along = f" along {' and '.join(arg.shape[axis] for axis in way)}" if values.dim() > 1 else ""
                text = f"The result is right if {arg.name} is read in reverse order{along}, from its end."
                yield Pattern("reversed", text, names=(arg.name,)), self._asks({arg.name: values.flip(way)})
        if len(self.result.shape) == 1 and len(self.read) == 1 and self.inputs[self.read[0].name].dim() == 1:
            name = self.read[0].name
            ask = self._asks({name: self.inputs[name].flip(0)})

            def answer() -> torch.Tensor | None:
                found = ask()
                return found.flip(0) if found is not None else None

            written = self.result.argument.name
            text = f"The result is right if {name} is read, and {written} written, from the end."
            yield Pattern("reversed", text, names=(name,)), answer

    def left_out(self) -> Iterator[Try]:
        """The sum is along a size that the result does not have."""
        of_results = set(self.result.argument.shape)
        summed: dict[str, list[Argument]] = {}
        for arg in self.read:
            for size in dict.fromkeys(arg.shape) if arg.dtype.floating and arg.kind is Kind.INPUT else ():
                if size not in of_results and self.case.sizes.get(size, 0) > 1:
                    summed.setdefault(size, []).append(arg)
        for size, given in summed.items():
            for begin, end, text in _parts(
                size, self.case.sizes[size], " and ".join(arg.name for arg in given)
            ):
                changed = {
                    arg.name: _kept(self.inputs[arg.name], arg.shape.index(size), begin, end) for arg in given
                }
                yield Pattern("left_out", text, begin or end, (size,)), self._asks(changed)

    def some_lanes(self) -> Iterator[Try]:
        vectors = [
            arg for arg in self.read if len(arg.shape) == 1 and arg.dtype.floating and arg.kind is Kind.INPUT
        ]
        if not vectors or self.result.got.numel() != 1 or len({arg.shape[0] for arg in vectors}) > 1:
            return
        for group in reversed(_GROUPS):
            for kept in dict.fromkeys((group // 2, 1, _WARP)):
                if kept >= group:
                    continue
                changed = {arg.name: _of_lanes(self.inputs[arg.name], group, kept) for arg in vectors}
                which = f"is below {kept}" if kept > 1 else "is 0"
                why = (
                    f"of each {group} threads only the first warp's sum is added"
                    if kept == _WARP and group > 2 * _WARP
                    else "a reduction leaves the other threads out, or begins with too small a step"
                )
                text = (
                    f"The result is right if only elements count whose index modulo {group} {which}: {why}."
                )
                yield Pattern("some_lanes", text, kept), self._asks(changed)

    def twice(self) -> Iterator[Try]:
        """An in-out computed twice; a scalar with a factor."""
        arg = self.result.argument
        if arg.kind is Kind.INOUT:
            ask = self._asks()

            def answer() -> torch.Tensor | None:
                once = ask()
                given = self.inputs[arg.name]
                if once is None or once.numel() != given.numel():
                    return None
                return self._asks({arg.name: once.reshape(given.shape)})()

            text = f"The result is right if it is computed twice, the second time from the {arg.name} of the first."
            yield Pattern("twice", text), answer
        scalars = scalar_values(self.challenge.manifest, self.case)
        for scalar in self.challenge.manifest.scalars:
            own, name = scalars[scalar.name], scalar.name
            others = [
                (2 * own, f"2 * {name}"),
                (-own, f"-{name}"),
                (0.5 * own, f"0.5 * {name}"),
                (own * own, f"{name} * {name}: it is applied twice"),
            ]
            if own > 0:
                others += [(own**0.5, f"sqrt({name})"), (1 / own, f"1 / {name}")]
            for value, words in others:
                factor = value / own if own else 1.0
                if not _holds(scalar.dtype, value) or value == own:
                    continue
                text = f"The result is right if {scalar.name} is {words}."
                asked = replace(self.case, scalars={**self.case.scalars, scalar.name: value})
                yield Pattern("scaled", text, factor, (scalar.name,)), self._asks(case=asked)

    def by_row(self) -> Iterator[Try]:
        shape = self.result.shape
        if (
            len(shape) != 2
            or not 1 < shape[0] <= _MOST_ROWS
            or self.result.got.numel() != shape[0] * shape[1]
        ):
            return
        columns = self.result.argument.shape[1]
        vectors = [
            arg
            for arg in self.read
            if arg.shape == [columns] and self.inputs[arg.name].numel() >= shape[0] and arg.kind is Kind.INPUT
        ]
        for chosen in [*([vectors] if len(vectors) > 1 else []), *([arg] for arg in vectors)]:
            names = tuple(arg.name for arg in chosen)
            verb = "are" if len(names) > 1 else "is"
            text = (
                f"The result is right if {' and '.join(names)} {verb} indexed by the row, not by the column."
            )
            yield Pattern("by_row", text, names=names), self._row_by_row(names)

    def _row_by_row(self, names: tuple[str, ...]) -> Ask:
        import torch

        rows, columns = self.result.shape

        def answer() -> torch.Tensor | None:
            found = []
            for row in range(rows):
                changed = {
                    name: torch.full_like(self.inputs[name], self.inputs[name][row].item()) for name in names
                }
                whole = self._asks(changed)()
                if whole is None:
                    return None
                found.append(whole[row * columns : (row + 1) * columns])
            return torch.cat(found)

        return answer

    def first_for_all(self) -> Iterator[Try]:
        for arg in self.read:
            values = self.inputs[arg.name]
            if values.dim() >= 2 and values.shape[0] > 1 and arg.dtype.floating:
                same = values[:1].expand(values.shape).contiguous()
                text = (
                    f"The result is right if every {arg.name}[i] is {arg.name}[0]: the index along {arg.shape[0]} has "
                    "no effect."
                )
                yield Pattern("first_for_all", text, names=(arg.name,)), self._asks({arg.name: same})

    def cut_to_integers(self) -> Iterator[Try]:
        for arg in self.read:
            if arg.dtype.floating:
                text = f"The result is right if the fractions of {arg.name} are cut off, as in an integer."
                changed = {arg.name: self.inputs[arg.name].trunc()}
                yield Pattern("whole", text, names=(arg.name,)), self._asks(changed)


def _parts(size: str, extent: int, of: str) -> Iterator[tuple[int, int, str]]:
    """First and end, and a sentence."""
    right = "The result is right if"
    yield (
        0,
        extent - 1,
        f"{right} the last element of {of} along {size} is left out: does a loop over {size} end one too early?",
    )
    yield (
        1,
        extent,
        f"{right} the first element of {of} along {size} is left out: does a loop over {size} begin one too late?",
    )
    for whole in dict.fromkeys(extent // tile * tile for tile in _TILES):
        if 0 < whole < extent - 1:
            yield (
                0,
                whole,
                f"{right} only the first {whole:,} of {size} = {extent:,} are used: the last, partial tile of {of} is "
                f"left out. Is {size} divided by a tile's size and rounded down?",
            )
    if extent > 1:
        yield (
            extent - 1,
            extent,
            f"{right} only the last of {size} = {extent:,} counts: is each term of the sum assigned, not added to the "
            "earlier ones?",
        )
    if extent > 2:
        yield (
            0,
            1,
            f"{right} only the first of {size} = {extent:,} is used: does a loop over {size} run only once?",
        )
    for tile in _TILES:
        last = (extent - 1) // tile * tile
        if 1 < last < extent:
            yield (
                last,
                extent,
                f"{right} only the last tile along {size} counts, from {last:,} on: is the sum of each tile assigned, "
                "not added to the earlier ones?",
            )
        if 1 < tile < extent:
            yield (
                0,
                tile,
                f"{right} only the first {tile:,} of {size} = {extent:,} are used: does a loop over tiles run only "
                "once?",
            )


def _of_lanes(values: torch.Tensor, group: int, kept: int) -> torch.Tensor:
    import torch

    places = torch.arange(values.numel(), device=values.device)
    return torch.where(places % group < kept, values, torch.zeros_like(values))


def _kept(values: torch.Tensor, axis: int, begin: int, end: int) -> torch.Tensor:
    """Zeros outside ``begin`` to ``end``."""
    found = values.new_zeros(values.shape)
    found.narrow(axis, begin, end - begin).copy_(values.narrow(axis, begin, end - begin))
    return found
