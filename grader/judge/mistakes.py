"""Names the mistake behind a wrong answer or an error, from the numbers and from the source.

A rule gives a hint only if both fit. ``Mistakes`` serves every language; each language has its reader of sources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from grader import limits
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.judge.cuda_mistakes import CudaMistakes
from grader.judge.evidence import Pattern, Wrong, answers_another, pattern_of
from grader.judge.messages import Failure
from grader.judge.placement import line_pattern, spread
from grader.judge.triton_mistakes.mistakes import TritonMistakes
from grader.languages import Language
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch


_ROUNDED = (
    "Errors of this size come from rounding (sums in low precision, or sums of many terms one after the other), or "
    "from a few terms too many or too few."
)


class Reading(Protocol):
    """The mistakes in a source of one language. Each answer is a hint, or empty."""

    def of_result(
        self,
        pattern: Pattern | None,
        mismatch: Mismatch,
        case: Case,
        inputs: Mapping[str, torch.Tensor],
    ) -> str: ...

    def of_failure(self, failure: Failure) -> str: ...

    def adds_to(self, result: str) -> bool:
        """True if a kernel may compute with the result's values from before the call."""


@dataclass
class Mistakes:
    challenge: Challenge
    language: Language
    source: str
    _explained: int = field(default=0, init=False)

    @cached_property
    def _reading(self) -> Reading | None:
        reading = TritonMistakes if self.language.python else CudaMistakes
        return reading.of(self.challenge.manifest, self.source)

    def _said(self, ask: Callable[[Reading], str]) -> str:
        """Empty also for a source that nests too deeply or has too large numbers."""
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
    ) -> str:
        """``wrong``: None for a write where nothing may be written."""
        pattern = self._pattern(wrong, case, inputs) if wrong is not None else None
        said = self._said(lambda reading: reading.of_result(pattern, mismatch, case, inputs))
        # After the rules: some ask that no pattern fits.
        if pattern is None and wrong is not None and not self.spread(wrong):
            pattern = line_pattern(wrong) if wrong.wrong.numel() <= limits.EXPLAINED_ELEMENTS else None
        if pattern is None or pattern.kind.startswith("unwritten"):
            return said
        if not said and pattern.kind == "rounding":
            said = _ROUNDED
        return " ".join(part for part in (pattern.text, said) if part)

    def spread(self, wrong: Wrong) -> str:
        """How far NaN and infinity reach, if nothing else is wrong; else empty."""
        found = spread(wrong) if wrong.wrong.numel() <= limits.EXPLAINED_ELEMENTS else None
        return found.text if found is not None else ""

    def _pattern(self, wrong: Wrong, case: Case, inputs: Mapping[str, torch.Tensor]) -> Pattern | None:
        elements = max((tensor.numel() for tensor in (wrong.want, *inputs.values())), default=0)
        if elements > limits.EXPLAINED_ELEMENTS or not elements:
            return None
        found = pattern_of(wrong)
        if self._explained >= limits.EXPLAINED_CASES:
            return found
        if found is None or found.kind in ("rounding", "tail", "factor", "offset", "repeated"):
            self._explained += 1
            rounding = found is not None and found.kind == "rounding"
            other = answers_another(wrong, self.challenge, case, inputs, rounding=rounding)
            return other or found
        return found

    def adds_to(self, result: str) -> bool:
        return self._reading is None or self._reading.adds_to(result)
