"""Names the mistake behind a wrong answer or an error: numbers and source must both fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from grader import limits
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.scalars import Number
from grader.judge.explaining.cuda.mistakes import CudaMistakes
from grader.judge.explaining.numbers.patterns import pattern_of
from grader.judge.explaining.numbers.places import line_pattern, spread
from grader.judge.explaining.numbers.relations import loosely_related, related
from grader.judge.explaining.questions.inputs import answers_another
from grader.judge.explaining.questions.terms import Terms
from grader.judge.explaining.records.unread import never_read
from grader.judge.explaining.triton.mistakes import TritonMistakes
from grader.judge.explaining.wrong import Pattern, Wrong
from grader.judge.messages import Failure
from grader.judge.oracle import scalar_values
from grader.languages import Language
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

    from grader.judge.explaining.questions.steps import Steps


_ROUNDED = (
    "Errors of this size come from rounding (sums in low precision, or sums of many terms one after the other), or "
    "from a few terms too many or too few."
)


# They say how numbers look, not why.
_VAGUE = (
    "rounding", "tail", "zeros", "alike", "factor", "offset", "row_factor",
    "unwritten", "unwritten_all", "unwritten_tail", "unwritten_rows",
    "unwritten_columns", "unwritten_steps",
)  # fmt: skip
_TELLING_PLACES = ("block_order", "reordered", "stale", "right_alone")
_ASKED_FURTHER = (
    "rounding", "tail", "alike", "factor", "offset", "row_factor", "line_offset", "rows_repeated", "columns_repeated",
)  # fmt: skip
# A factor is a size's within this share.
_SAME_SIZE = 1e-4


@dataclass(frozen=True)
class Said:
    """``named``: a mistake or its exact effect."""

    text: str = ""
    named: bool = False
    #: Says which elements were not written; comes before the hint.
    unwritten: str = ""


def _as_size(pattern: Pattern, case: Case, scalars: Mapping[str, Number]) -> str:
    """`` That is sqrt(cols): ...``"""
    factor = abs(pattern.number)
    if not factor or factor == 1:
        return ""
    for name, scalar in scalars.items():
        value = abs(float(scalar))
        if not value or not math.isfinite(value) or value == 1:
            continue
        if abs(factor / value - 1) < _SAME_SIZE:
            return f" That is {name}: is {name} applied twice?"
        if abs(factor * value - 1) < _SAME_SIZE:
            return f" That is 1 / {name}: is {name} left out?"
    found = []
    for name, size in case.sizes.items():
        for value, words in ((size, name), (math.sqrt(max(size, 0)), f"sqrt({name})")):
            if value <= 2:
                continue
            if abs(factor / value - 1) < _SAME_SIZE:
                found.append(words)
            elif abs(factor * value - 1) < _SAME_SIZE:
                found.append(f"1 / {words}")
    if not found:
        return ""
    return f" That is {' or '.join(found)}: is something divided by it once too often, or not at all?"


def _stored_in(mismatch: Mismatch) -> str:
    """Only the emulated GPU knows."""
    writer = mismatch.map.writer if mismatch.map is not None else None
    return f"Line {writer.lines[0]} stores it." if writer is not None and len(writer.lines) == 1 else ""


def _indices(wrong: Wrong | None) -> bool:
    return wrong is not None and not wrong.want.is_floating_point()


def _as_end(pattern: Pattern, inputs: Mapping[str, torch.Tensor]) -> str:
    """`` That is x[0]: ...``"""
    for name, values in inputs.items():
        flat = values.reshape(-1)
        if not values.is_floating_point() or flat.numel() < 2 or bool((flat == flat[0]).all()):
            continue
        for place in (0, flat.numel() - 1):
            value = float(flat[place])
            if value and abs(abs(pattern.number / value) - 1) < _SAME_SIZE:
                word = "left out" if pattern.number / value < 0 else "counted once too often"
                return f" That is {name}[{place}]: this element is {word}."
    return ""


class Reading(Protocol):
    """Answers are hints, or empty."""

    def of_result(
        self,
        pattern: Pattern | None,
        mismatch: Mismatch,
        case: Case,
        inputs: Mapping[str, torch.Tensor],
    ) -> str: ...

    def of_place(self, pattern: Pattern) -> str: ...

    def of_failure(self, failure: Failure) -> str: ...

    def adds_to(self, result: str) -> bool:
        """True if a kernel may compute with the result's old values."""


@dataclass
class Mistakes:
    challenge: Challenge
    language: Language
    source: str
    _explained: int = field(default=0, init=False)
    _numbers_alone: Pattern | None = field(default=None, init=False)

    @cached_property
    def _terms(self) -> Terms:
        return Terms(self.challenge)

    @cached_property
    def _steps(self) -> Steps:
        from grader.judge.explaining.questions.steps import Steps  # imports torch

        return Steps(self.challenge)

    @cached_property
    def _reading(self) -> Reading | None:
        if self.language.python and not self.language.programs:
            return None
        reading = TritonMistakes if self.language.programs else CudaMistakes
        return reading.of(self.challenge.manifest, self.source)

    def _said(self, ask: Callable[[Reading], str]) -> str:
        """Also empty for deep nesting or too large numbers."""
        if self._reading is None:
            return ""
        try:
            return ask(self._reading)
        except (RecursionError, ValueError, OverflowError):
            return ""

    def of_failure(self, failure: Failure) -> str:
        return self._said(lambda reading: reading.of_failure(failure))

    def of_result(
        self, wrong: Wrong | None, mismatch: Mismatch, case: Case, inputs: Mapping[str, torch.Tensor]
    ) -> Said:
        """``wrong``: None for a forbidden write."""
        pattern = self._pattern(wrong, case, inputs) if wrong is not None else None
        # The source does not depend on the explaining step.
        plain = self._numbers_alone if pattern is not None and pattern.kind == "step" else pattern
        said = self._said(lambda reading: reading.of_result(plain, mismatch, case, inputs))
        named = bool(said) or (pattern is not None and pattern.kind not in _VAGUE)
        # After the rules: some ask that no pattern fits.
        if pattern is None and wrong is not None and not self.spread(wrong):
            pattern = line_pattern(wrong) if wrong.wrong.numel() <= limits.EXPLAINED_ELEMENTS else None
            if pattern is not None and not said:
                place = pattern
                said = self._said(lambda reading: reading.of_place(place))
            named = named or bool(said) or (pattern is not None and pattern.kind in _TELLING_PLACES)
        if pattern is None:
            return Said(said, named)
        if pattern.kind.startswith("unwritten"):
            told = "" if pattern.kind in ("unwritten", "unwritten_all") else pattern.text
            return Said(said, named, told)
        if not said and pattern.kind == "rounding":
            said = _ROUNDED
        if not said and pattern.kind in ("step", "kept_sums"):
            said = _stored_in(mismatch)
        text = pattern.text
        if pattern.kind == "factor":
            text += _as_size(pattern, case, scalar_values(self.challenge.manifest, case))
        elif pattern.kind == "offset" and not _indices(wrong) and (end := _as_end(pattern, inputs)):
            text, named = text + end, True
        return Said(" ".join(part for part in (text, said) if part), named)

    def of_count(self, wrong: Wrong, inputs: Mapping[str, torch.Tensor]) -> str:
        """What a single count counts instead."""
        found = related(wrong, inputs) if wrong.got.numel() == 1 else None
        return found.text if found is not None else ""

    def spread(self, wrong: Wrong) -> str:
        """How far NaN and infinity reach, if nothing else is wrong."""
        found = spread(wrong) if wrong.wrong.numel() <= limits.EXPLAINED_ELEMENTS else None
        return found.text if found is not None else ""

    def _pattern(self, wrong: Wrong, case: Case, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
        elements = max((tensor.numel() for tensor in (wrong.want, *inputs.values())), default=0)
        if elements > limits.EXPLAINED_ELEMENTS or not elements:
            return None
        written = wrong.poisoned is None or not bool(wrong.poisoned.any())
        found = (related(wrong, inputs) if written else None) or pattern_of(wrong)
        self._numbers_alone = found
        if self._explained >= limits.EXPLAINED_CASES:
            return found
        if found is None or found.kind in _ASKED_FURTHER:
            self._explained += 1
            programs = self.language.programs
            unread = (
                never_read(wrong, self.challenge, case, inputs, programs=programs) if wrong.read else None
            )
            rounding = found is not None and found.kind == "rounding" and unread is None
            other = answers_another(wrong, self.challenge, case, inputs, rounding=rounding)
            vague = other is not None and other.kind == "ignored" and len(other.names) > 1
            if (other is None and unread is None) or vague:
                other = self._steps.find(case, inputs, wrong, found) or other
            if other is None and unread is None:
                other = self._terms.find(case, inputs, wrong) or loosely_related(wrong, inputs)
            if unread is not None:
                return replace(other, text=f"{unread.text} {other.text}") if other else unread
            return other or found
        return found

    def adds_to(self, result: str) -> bool:
        return self._reading is None or self._reading.adds_to(result)
