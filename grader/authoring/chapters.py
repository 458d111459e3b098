"""Proves the exercises of a chapter with the judge itself, on the emulated GPU.

A number must be what the judge counts, a line one that its finding names, a completed kernel accepted. Wrong answers
must be wrong, and a wrong kernel must get the sentence that the chapter promises.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.authoring.findings import check
from grader.challenge.catalogue import Catalogue
from grader.challenge.chapters import FOLDER, Answer, Chapter, Exercise, read_chapters
from grader.challenge.model import Workload
from grader.challenge.own_case import own_case
from grader.device_kinds import EMULATED, kind_of
from grader.errors import ChallengeInvalid, GraderError, UnknownChallenge
from grader.judge.device import Device, make_device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.schemas.call_profile import CallProfile
from grader.schemas.chapter import ExerciseKind
from grader.schemas.own_case import OwnCase
from grader.schemas.proof import Check, Proof, Proofs, Status
from grader.schemas.report import Report, Verdict

_SEED_KEY = b"chapters" * 4
_LINE = re.compile(r"\blines? ((?:\d+(?:, | and )?)+)", re.IGNORECASE)


def with_chapters(proofs: Proofs, catalogue: Catalogue, names: Sequence[str]) -> Proofs:
    """``proofs`` and those of the chapters, named ``chapters/SLUG``, on the emulated GPU whatever the device."""
    if not names:
        return proofs
    chapters, broken = read_chapters(catalogue.root)
    known = {f"{FOLDER}/{chapter.slug}": chapter for chapter in chapters}
    reasons = {f"{FOLDER}/{slug}": error for slug, error in broken.items()}
    trial = ChapterTrial(catalogue, make_device(EMULATED), make_boxes("local"))
    found = []
    for name in names:
        if name not in known:
            raise reasons.get(name) or UnknownChallenge(
                f"There is no chapter '{name}'.", f"There are: {', '.join(known) or 'none'}."
            )
        began = time.monotonic()
        checks = trial.prove(known[name])
        found.append(Proof(slug=name, device=EMULATED, checks=checks, seconds=time.monotonic() - began))
    strong = proofs.strong and all(proof.strong for proof in found)
    seconds = proofs.seconds + sum(proof.seconds for proof in found)
    every = [*proofs.challenges, *found]
    device = proofs.device if proofs.challenges else EMULATED
    update = {"challenges": every, "strong": strong, "seconds": seconds, "device": device}
    return proofs.model_copy(update=update)


@dataclass(frozen=True)
class ChapterTrial:
    """Judges what belongs to chapters."""

    catalogue: Catalogue
    device: Device
    boxes: BoxMaker

    def prove(self, chapter: Chapter) -> list[Check]:
        """One check for each exercise."""
        answers = chapter.answers
        unknown = sorted(set(answers) - {exercise.name for exercise in chapter.manifest.exercises})
        checks = [
            check("answers", [f"there is no exercise '{name}'" for name in unknown], "each has an exercise")
        ]
        for exercise in chapter.manifest.exercises:
            key = answers.get(exercise.name)
            try:
                problems = (
                    [f"{chapter.reference_folder} has no answer"]
                    if key is None
                    else [*_PROOFS[exercise.kind](self, chapter, exercise, key)]
                )
            except GraderError as error:
                problems = [error.message]
            checks.append(check(exercise.name, problems, "proven by the judge", bad=Status.ERROR))
        return checks

    def of_kernel(self, chapter: Chapter, exercise: Exercise, key: Answer) -> Iterator[str]:
        if key.source is None:
            yield "its answer names no `source`, the completed kernel"
            return
        whole = exercise.model_copy(update={"sizes": {}})
        verdict = self._judged(whole, _staffs(chapter, key.source), key.source).verdict
        if verdict is not Verdict.ACCEPTED:
            yield f"{key.source} is not accepted but {verdict}"
        if self._judged(exercise, chapter.source(exercise), exercise.source).verdict is Verdict.ACCEPTED:
            yield f"{exercise.source} has a hole, and is accepted all the same"
        for wrong in key.wrong:
            if wrong.source is None:
                yield "a wrong answer names no `source`"
                continue
            said = _said(self._judged(exercise, _staffs(chapter, wrong.source), wrong.source))
            if wrong.says.lower() not in said.lower():
                yield f"{wrong.source} is answered without '{wrong.says}': {said[:300]}"

    def of_number(self, chapter: Chapter, exercise: Exercise, key: Answer) -> Iterator[str]:
        yield from _wrong_answers(key)
        if key.counter is None:
            yield "its answer names no `counter`, so nothing proves it"
            return
        workload = Workload(name=exercise.name, sizes=exercise.sizes, on="emulated")
        report = self._judged(exercise, chapter.source(exercise), exercise.source, [workload])
        profile = report.workloads[0].profile if report.workloads else None
        if profile is None:
            yield f"{exercise.source} is not counted: {_said(report)[:300]}"
            return
        found = counted(profile, key)
        if key.answer != [found]:
            yield f"the judge counts {found}, the answer is {key.answer}"

    def of_line(self, chapter: Chapter, exercise: Exercise, key: Answer) -> Iterator[str]:
        yield from _wrong_answers(key)
        said = _said(self._judged(exercise, chapter.source(exercise), exercise.source))
        named = {int(number) for lines in _LINE.findall(said) for number in re.findall(r"\d+", lines)}
        if not set(key.answer) & named:
            yield f"the judge names {sorted(named) or 'no line'}, the answer is {key.answer}: {said[:300]}"

    def _judged(self, exercise: Exercise, source: str, name: str, timed: Sequence[Workload] = ()) -> Report:
        """Of the public suite, or of one case if the exercise has sizes."""
        challenge = self.catalogue.load(exercise.challenge)
        cases = challenge.cases
        if exercise.sizes:
            asked = OwnCase(name=cases[0].name, sizes=exercise.sizes)
            cases = [own_case(challenge, asked, kind_of(EMULATED))]
        request = Request(
            challenge, _language(name), source, EMULATED, _SEED_KEY, cases, timing=bool(timed), timed=timed
        )
        return Session(request, self.device, self.boxes, lambda _: None, interrupt=lambda: None).run().report


_PROOFS: dict[ExerciseKind, Callable[[ChapterTrial, Chapter, Exercise, Answer], Iterator[str]]] = {
    ExerciseKind.KERNEL: ChapterTrial.of_kernel,
    ExerciseKind.NUMBER: ChapterTrial.of_number,
    ExerciseKind.LINE: ChapterTrial.of_line,
}


def counted(profile: CallProfile, key: Answer) -> int | None:
    """``key.counter`` of the line, or of the first kernel, divided by ``key.per``; None if it is no whole number.
    Raises ChallengeInvalid for an unknown counter."""
    place: object = profile.kernels[0]
    if key.line is not None:
        place = profile.by_line.get(key.line)
        if place is None:
            raise ChallengeInvalid(f"the judge counts nothing at line {key.line}")
    values = []
    for name in filter(None, (key.counter, key.per)):
        value = getattr(place, name, getattr(getattr(place, "total", None), name, None))
        if not isinstance(value, int):
            raise ChallengeInvalid(
                f"there is no counter '{name}'", "grader/schemas/call_profile.py lists them."
            )
        values.append(value)
    found = Fraction(values[0], values[1]) if len(values) > 1 and values[1] else Fraction(values[0])
    return found.numerator if found.denominator == 1 else None


def _wrong_answers(key: Answer) -> Iterator[str]:
    if not key.why:
        yield "its answer says no `why`"
    if not key.wrong:
        yield "no wrong answer has a sentence of its own"
    for wrong in key.wrong:
        if wrong.answer is None or wrong.answer in key.answer:
            yield f"{wrong.answer} is listed as wrong"


def _staffs(chapter: Chapter, name: str) -> str:
    path = chapter.reference_folder / name
    if not path.is_file():
        raise ChallengeInvalid(f"{path} is missing")
    return path.read_text(encoding="utf-8")


def _language(name: str) -> Language:
    language = Language.of_file(name)
    if language is None:
        raise ChallengeInvalid(f"{name} is in no language that the platform knows")
    return language


def _said(report: Report) -> str:
    """Everything that the report says about failures."""
    cases = [case for case in report.cases if case.verdict.failed]
    parts = [report.detail, report.compiler_log, report.hint]
    parts += [text for case in cases for text in (case.detail, case.hint)]
    return " ".join(part for part in parts if part) or f"the verdict {report.verdict}"
