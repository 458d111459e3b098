"""Proves a challenge again after each change, and redoes only what it touches: one submission, changed cases,
or all if judging changed. Approximations are left to ``grader challenge check``.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.authoring.candidates import Candidate, subjects
from grader.authoring.findings import check
from grader.authoring.trial import Trial
from grader.authoring.verdicts import suite_checks
from grader.authoring.worker_pool import examined, parts_of
from grader.challenge.cases import Case
from grader.challenge.catalogue import Catalogue
from grader.challenge.fingerprint import content
from grader.challenge.loader import Challenge
from grader.errors import ChallengeInvalid
from grader.judge.device import Device
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.proof import CandidateOutcome, CandidateResult, Check, Status

# "spec" is judging without cases, "text" is cheap.
_DEPENDS = {
    "spec": ("text",),
    "checker": ("judging", "cases"),
    "contract": ("spec", "cases"),
    "examples": ("spec", "judging"),
    "categories": ("judging", "cases"),
    "reference": ("judging", "cases"),
    "baseline": ("judging", "cases"),
    "gradients": ("judging", "cases"),
    "cost_bytes": ("judging",),
}
_CASES = ("cases", "hidden_cases", "recipes", "hidden_recipes", "inputs")
_RAN = (CandidateOutcome.ACCEPTED, CandidateOutcome.FAILED)


@dataclass
class Round:
    """``redone``: names of checks; ``judged``: submission -> cases that it ran."""

    checks: list[Check]
    redone: list[str]
    judged: dict[str, int]
    seconds: float

    @property
    def strong(self) -> bool:
        return not any(found.status.fails for found in self.checks)


@dataclass
class _Known:
    passed: set[str] = field(default_factory=set)
    failed: dict[str, CandidateResult] = field(default_factory=dict)
    ending: CandidateResult | None = None


@dataclass
class Watch:
    root: Path
    slug: str
    device: Device
    boxes: BoxMaker
    languages: tuple[Language, ...]
    on_progress: Callable[[int, int, str], None] = lambda *_: None
    _checks: dict[str, tuple[tuple[str, ...], list[Check]]] = field(default_factory=dict)
    _known: dict[str, _Known] = field(default_factory=dict)
    _judging: str = ""
    _trial: Trial | None = None
    _keys: dict[str, str] = field(default_factory=dict)

    def round(self) -> Round:
        """Check the folder as it is now. Raises BoxUnavailable."""
        began = time.monotonic()
        try:
            challenge = Catalogue(self.root).load(self.slug)
            parts = content(challenge)
            chosen = subjects(challenge, self.languages)
        except ChallengeInvalid as error:
            broken = Check(name="manifest", status=Status.ERROR, summary=error.told)
            return Round([broken], ["manifest"], {}, time.monotonic() - began)
        checks, redone = self._examined(challenge, parts)
        trial = self._bench(challenge, parts)
        judged: dict[str, int] = {}
        try:
            tried = []
            for number, candidate in enumerate(chosen):
                self.on_progress(number, len(chosen), f"{candidate.role.value} {candidate.name}")
                tried.append(self._result(trial, candidate, judged))
            self.on_progress(len(chosen), len(chosen), "")
            names = [case.name for case in trial.cases]
            checks += suite_checks(tried, False, names, challenge.manifest.waives)
        except ChallengeInvalid as error:
            checks.append(Check(name="suite", status=Status.ERROR, summary=error.message))
        return Round(checks, redone, judged, time.monotonic() - began)

    def close(self) -> None:
        if self._trial is not None:
            self._trial.close()

    def _examined(self, challenge: Challenge, parts: Mapping[str, Any]) -> tuple[list[Check], list[str]]:
        cases = {name: parts[name] for name in _CASES if name in parts}
        rest = {name: value for name, value in parts.items() if name not in _CASES}
        # No verdict depends on categories, but these checks do.
        every = [*challenge.cases, *challenge.hidden_cases]
        keys = {
            "spec": _digest(challenge.spec),
            "judging": _digest(rest),
            "cases": _digest([cases, [(case.name, case.category) for case in every]]),
            "text": str(time.monotonic_ns()),
        }
        if keys["judging"] != self._judging:
            self._known.clear()
            self._judging = keys["judging"]
        found = [check("manifest", [], f"it loads, with {len(every)} cases")]
        redone = []
        for name, part in parts_of(challenge, self.device):
            key = tuple(keys[word] for word in _DEPENDS[name])
            if name not in self._checks or self._checks[name][0] != key:
                self._checks[name] = (key, examined(name, part))
                redone.append(name)
            found += self._checks[name][1]
        return found, redone

    def _bench(self, challenge: Challenge, parts: Mapping[str, Any]) -> Trial:
        """Keeps questions of unchanged cases, and libraries."""
        said = {**parts.get("hidden_cases", {}), **parts.get("cases", {})}
        recipes = [parts.get("recipes"), parts.get("hidden_recipes")]
        keys = {name: _digest([self._judging, name, case, recipes]) for name, case in said.items()}
        before = self._trial
        trial = Trial(challenge, self.device, self.boxes, compiled=before.compiled if before else {})
        if before is not None:
            trial.keep_questions(before, [name for name, key in keys.items() if self._keys.get(name) == key])
            before.close()
        self._trial, self._keys = trial, keys
        return trial

    def _result(self, trial: Trial, candidate: Candidate, judged: dict[str, int]) -> CandidateResult:
        text = (
            f"{candidate.role} {candidate.language} {candidate.large} {candidate.reason} {candidate.source}"
        )
        known = self._known.setdefault(_digest(text), _Known())
        cases = {self._keys[case.name]: case for case in trial.cases}
        if known.ending is not None:
            return known.ending.model_copy(update={"name": candidate.name})
        open_ = {key: case for key, case in cases.items() if key not in known.passed}
        failing = [known.failed[key] for key in open_ if key in known.failed]
        if candidate.role.wrong and failing:
            return failing[0].model_copy(update={"name": candidate.name})
        left = {key: case for key, case in open_.items() if key not in known.failed}
        if left or not cases:
            result = self._run(trial, candidate, left, known)
            judged[f"{candidate.role.value} {candidate.name}"] = result.ran
            if result.ending not in _RAN:
                return result
        failing = [known.failed[key] for key in cases if key in known.failed]
        if failing:
            return failing[0].model_copy(update={"name": candidate.name})
        return CandidateResult(
            slug=self.slug,
            role=candidate.role,
            name=candidate.name,
            language=candidate.language,
            ending=CandidateOutcome.ACCEPTED,
            ran=len(cases),
        )

    def _run(
        self, trial: Trial, candidate: Candidate, left: Mapping[str, Case], known: _Known
    ) -> CandidateResult:
        whole = not candidate.role.wrong
        ordered = list(left.values()) if whole else trial.small_first(list(left.values()))
        result = trial.try_cases(candidate, ordered, every_case=whole)
        if result.ending not in _RAN:
            known.ending = result
        for case in ordered[: result.ran]:
            key = self._keys[case.name]
            if case.name in result.failed:
                known.failed[key] = result
            else:
                known.passed.add(key)
        return result


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def stamp(root: Path, slug: str) -> dict[str, tuple[int, int]]:
    files = [
        path
        for part in ("challenges", "reference")
        for path in (root / part / slug).rglob("*")
        if "__pycache__" not in path.parts
    ]
    found = {}
    for path in files:
        try:
            facts = path.stat()
        except FileNotFoundError:  # an editor replaces it
            continue
        if path.is_file():
            found[str(path.relative_to(root))] = (facts.st_mtime_ns, facts.st_size)
    return found
