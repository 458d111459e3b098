"""Asks a challenge's ``check.py`` if differing results are also right.

If it fails or is too slow, the challenge is at fault, never the submission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from grader import limits
from grader.challenge.checker import CHECKER, Refused
from grader.challenge.loader import Challenge
from grader.challenge.model import Manifest
from grader.errors import ChallengeInvalid, JudgeFailure
from grader.judge.boxed_reference import ReferenceBox
from grader.sandbox.box import BoxMaker, BoxPurpose, BoxSpec

if TYPE_CHECKING:
    import torch

# torch's threads would disturb timings.
_ENV = {"GRADER_PRELOAD": "torch", "OMP_NUM_THREADS": "1"}
_HOW = "Return None for right results, a sentence, or (sentence, result, index) for wrong ones."


@dataclass
class BoxedChecker:
    """Raises ChallengeInvalid, or BoxUnavailable if no box starts."""

    box: ReferenceBox
    manifest: Manifest

    def __call__(
        self, given: Mapping[str, Any], got: Mapping[str, torch.Tensor], want: Mapping[str, torch.Tensor]
    ) -> Refused | None:
        arguments = {
            f"{part}/{name}": value
            for part, values in (("given", given), ("got", got), ("want", want))
            for name, value in values.items()
        }
        slug = self.box.slug
        try:
            said = self.box.judgement("check", arguments)
        except JudgeFailure as error:
            self.box.close()
            raise ChallengeInvalid(f"{slug}: {CHECKER}: {error.message}") from error
        return self._refused(said)

    def _refused(self, said: Any) -> Refused | None:
        if said is None:
            return None
        why, name, index = said if isinstance(said, list) and len(said) == 3 else (said, "", None)
        results = {arg.name: len(arg.shape) for arg in self.manifest.results}
        known = not name or (name in results and (index is None or len(index) == results[name]))
        if not isinstance(why, str) or not why.strip() or not known:
            raise ChallengeInvalid(f"{self.box.slug}: {CHECKER}: check() returned {str(said)[:200]}", _HOW)
        return Refused(why.strip()[: limits.CHECKER_CHARS], name, tuple(index) if index is not None else None)

    def close(self) -> None:
        self.box.close()


def with_checker(
    challenge: Challenge, boxes: BoxMaker, interrupt: Callable[[], None] = lambda: None
) -> tuple[Challenge, BoxedChecker | None]:
    """Also returns the checker, for the caller to close."""
    source = challenge.checker_source
    if source is None:
        return challenge, None
    spec = BoxSpec(BoxPurpose.BASELINE, env=_ENV)
    box = ReferenceBox(
        boxes, spec, challenge.slug, source, interrupt, part="checker", patience_s=limits.CHECKER_SECONDS
    )
    checker = BoxedChecker(box, challenge.manifest)
    return replace(challenge, checker=checker), checker
