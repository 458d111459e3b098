"""Writes a challenge's mutants from staff's solutions, each seen to fail a case.

While a solution is only PyTorch's operations, the reference's mutants are used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from grader.authoring.candidates import NATIVE, Candidate, mutant_files, staff_folder
from grader.authoring.generic import native_source, spoilt_source
from grader.authoring.holes import Closing, close
from grader.authoring.mutations import Mutation, digest, made_from, marked, mutations, with_mistake
from grader.authoring.specs import TO_DO
from grader.authoring.trial import Trial
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument
from grader.languages import Language
from grader.schemas.proof import CandidateOutcome, CandidateResult, CandidateRole

WANTED = 8
SECONDS = 120.0
# Most mutations fail a small case at once; a right one would run all.
_EACH_SECONDS = 8.0
_HOLE_SECONDS = 10.0
_MOST_HOLES = 3
STAND_IN = "Stand-in: PyTorch's own operations. Replace it with a kernel."


@dataclass
class Added:
    """``written``: name -> the case that refuses it. ``equivalent``: no case was found. ``holes``: a passing
    mutation's name -> a case that it fails. ``removed``: of an earlier solution.
    """

    written: dict[str, str] = field(default_factory=dict)
    equivalent: list[str] = field(default_factory=list)
    holes: dict[str, Closing] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    # : Neither failed nor ended in time.
    undecided: list[str] = field(default_factory=list)


def stand_in(challenge: Challenge) -> str:
    return f'"""{STAND_IN}"""\n\n{native_source(challenge)}'


def is_stand_in(source: str) -> bool:
    return STAND_IN in source.partition("\n")[0]


def add_mutants(trial: Trial, wanted: int = WANTED, seconds: float = SECONDS) -> Added:
    """Write mutants until there are ``wanted``, in each language in turn; remove those of changed solutions.
    Raises BoxUnavailable, and ChallengeInvalid if the reference fails.
    """
    challenge, until = trial.challenge, time.monotonic() + seconds
    solutions = {
        language: source
        for language, source in challenge.solutions.items()
        if language in trial.device.languages() and TO_DO not in source.partition("\n")[0]
    } or {NATIVE: stand_in(challenge)}
    added = Added(removed=remove_old(challenge, solutions))
    here = {path.name: path.read_text(encoding="utf-8") for path in mutant_files(challenge)}
    missing = wanted - len(here)
    alive: list[tuple[Candidate, str]] = []
    for mutation, language in _in_turn(challenge, solutions):
        name = f"{mutation.name}{language.suffix}"
        if len(added.written) >= missing or time.monotonic() > until:
            break
        if name in here:
            continue
        candidate = Candidate(CandidateRole.MUTANT, name, language, mutation.source)
        ended: list[CandidateResult] = []
        with trial.until(min(until, time.monotonic() + _EACH_SECONDS)):
            ended.append(trial.try_out(candidate, every_case=False))
        if not ended:
            added.undecided.append(name)
        elif ended[0].ending is CandidateOutcome.FAILED and not ended[0].no_answer:
            _write(challenge, name, mutation.source, language, solutions[language])
            added.written[name] = ended[0].failed[0]
        elif ended[0].ending is CandidateOutcome.ACCEPTED:
            alive.append((candidate, mutation.mistake))
    for number, (candidate, mistake) in enumerate(alive):
        left = min(_HOLE_SECONDS, until - time.monotonic())
        found = close(trial, candidate, left) if number < _MOST_HOLES and left > 0 else None
        if found is None:
            added.equivalent.append(f"{candidate.name}: {mistake}")
        else:
            added.holes[candidate.name] = found
    return added


def _in_turn(challenge: Challenge, solutions: dict[Language, str]) -> Iterator[tuple[Mutation, Language]]:
    made = {
        language: _stand_ins(challenge, language)
        if is_stand_in(source)
        else mutations(source, language, challenge.manifest)
        + (_spoilt_answers(challenge, language) if language is NATIVE else [])
        for language, source in solutions.items()
    }
    for number in range(max(map(len, made.values()), default=0)):
        for language, found in made.items():
            if number < len(found):
                yield found[number], language


def _write(challenge: Challenge, name: str, source: str, language: Language, solution: str) -> None:
    path = staff_folder(challenge) / "mutants" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(marked(source, language, solution), encoding="utf-8")


def remove_old(challenge: Challenge, solutions: dict[Language, str]) -> list[str]:
    """Removes mutants of other solutions; returns names."""
    known = {digest(source) for source in solutions.values()}
    spoken = challenge.manifest.languages
    removed = []
    for path in mutant_files(challenge):
        origin = made_from(path.read_text(encoding="utf-8"))
        language = Language.of_file(path.name)
        # Without a kernel, mutants are in Python.
        if origin and origin not in known and (language in solutions or language not in spoken):
            path.unlink()
            removed.append(path.name)
    return removed


# ------------------------------------------------------------------------------------------------------- Stand-ins


_GIVEN = "{floats}given[name] = given[name]"
_WHOLE = "target.copy_(value)"
# Name -> the mistake, code that changes the inputs before the reference, code that writes the result.
_SPOILT = {
    "last_left_out": (
        "never writes the last element",
        "",
        "stop = max(counted - 1, 0)\ntarget[:stop] = value[:stop]",
    ),
    "first_left_out": ("never writes the first element", "", "target[1:counted] = value[1:counted]"),
    "shifted": ("writes each element one place too far", "", "target.copy_(value.roll(1))"),
    "reversed": ("writes the result from its end", "", "target.copy_(value.flip(0))"),
    "absolute": ("loses the sign of its inputs", f"{_GIVEN}.abs()", _WHOLE),
    "half": ("computes in float16", f"{_GIVEN}.half().to(given[name].dtype)", _WHOLE),
    "clamped": ("cuts inputs off at 1000", f"{_GIVEN}.clamp(-1000, 1000)", _WHOLE),
    "nan_is_0": ("takes NaN in its inputs for 0", f"{_GIVEN}.nan_to_num(0)", _WHOLE),
    "one_in_1000": ("leaves every 1000th element out", "", f"value[999::1000] = 0\n{_WHOLE}"),
    "small_left_out": (
        "writes nothing if it has fewer than 128 elements",
        "",
        f"if counted >= 128:\n    {_WHOLE}",
    ),
    "added": ("adds to the result without setting it to 0 first", "", "target.add_(value)"),
}


def _stand_ins(challenge: Challenge, language: Language) -> list[Mutation]:
    reference = challenge.reference_source
    made = [
        Mutation(
            mutation.name,
            mutation.mistake.replace("of the solution", "of reference.py"),
            with_mistake(
                native_source(challenge, _without_first_line(mutation.source)),
                language,
                mutation.mistake.replace("of the solution", "of reference.py"),
            ),
        )
        for mutation in mutations(reference, language, challenge.manifest)
    ]
    return made + _spoilt_answers(challenge, language)


def _spoilt_answers(challenge: Challenge, language: Language) -> list[Mutation]:
    made = []
    results = challenge.manifest.results
    for number, (name, (mistake, before, body)) in enumerate(_SPOILT.items()):
        arg = results[number % len(results)]
        if (source := _spoilt(challenge, arg, before, body)) is not None:
            words = f"{mistake} ('{arg.name}')."
            made.append(Mutation(name, words, with_mistake(source, language, words)))
    return made


def _spoilt(challenge: Challenge, arg: Argument, before: str, body: str) -> str | None:
    readable = [other for other in challenge.manifest.buffers if other.kind.given]
    floats = [other.name for other in readable if other.dtype.floating]
    if "{floats}" in before and not floats:
        return None
    loop = before.replace("{floats}", f"for name in {floats}:\n    ")
    return spoilt_source(challenge, arg.name, loop, body)


def _without_first_line(source: str) -> str:
    return source.partition("\n")[2].lstrip("\n")
