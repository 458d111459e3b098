"""Submissions to try against a suite: solutions, native PyTorch, staff's mutants, generic wrong kernels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.authoring.generic import WORDS, generics, native_source
from grader.challenge.loader import Challenge
from grader.errors import ChallengeInvalid
from grader.languages import Language
from grader.schemas.proof import CandidateRole

NATIVE = Language.TRITON


@dataclass(frozen=True)
class Candidate:
    role: CandidateRole
    name: str
    language: Language
    source: str
    reason: str = ""
    words: str = ""
    # The mistake shows only in cases for a GPU.
    large: bool = False


# Begin a mutant's first line; the second is for a GPU's cases.
MISTAKE, LARGE_MISTAKE = "Mistake: ", "Mistake on a GPU: "


def staff_folder(challenge: Challenge) -> Path:
    return challenge.reference_folder / "staff"


def mutant_files(challenge: Challenge) -> list[Path]:
    folder = staff_folder(challenge) / "mutants"
    return sorted(path for path in folder.glob("*") if Language.of_file(path.name))


def variant_files(challenge: Challenge) -> list[Path]:
    """Their answers are right, but not the reference's."""
    folder = staff_folder(challenge) / "variants"
    return sorted(path for path in folder.glob("*") if Language.of_file(path.name))


def baseline_files(challenge: Challenge) -> list[Path]:
    """Raises ChallengeInvalid if one is missing."""
    solutions = [f"solution{language.suffix}" for language in challenge.manifest.languages]
    named = {each.source for each in challenge.manifest.baselines if each.source} - {*solutions}
    files = [staff_folder(challenge) / name for name in sorted(named)]
    for path in files:
        if not path.is_file():
            raise ChallengeInvalid(
                f"{path}: the file is missing", "challenge.toml names it in [[baselines]]."
            )
    return files


def shows_large_alone(source: str) -> bool:
    return LARGE_MISTAKE in source.partition("\n")[0]


def subjects(challenge: Challenge, languages: tuple[Language, ...]) -> list[Candidate]:
    """What must pass comes first. Raises ChallengeInvalid if a solution or the reference is missing."""
    made = [
        _solution(challenge, language) for language in challenge.manifest.languages if language in languages
    ]
    if NATIVE in languages:
        made.append(Candidate(CandidateRole.NATIVE, "reference", NATIVE, native_source(challenge)))
    for path in [*variant_files(challenge), *baseline_files(challenge)]:
        language = Language.of_file(path.name)
        if language is not None and language in languages:
            made.append(
                Candidate(CandidateRole.VARIANT, path.name, language, path.read_text(encoding="utf-8"))
            )
    for path in mutant_files(challenge):
        language = Language.of_file(path.name)
        if language is not None and language in languages:
            text = path.read_text(encoding="utf-8")
            made.append(
                Candidate(CandidateRole.MUTANT, path.name, language, text, large=shows_large_alone(text))
            )
    if NATIVE in languages:
        made += [
            Candidate(
                CandidateRole.GENERIC,
                kernel.name,
                NATIVE,
                kernel.source,
                kernel.reason,
                WORDS[kernel.mistake],
            )
            for kernel in generics(challenge)
        ]
    return made


def _solution(challenge: Challenge, language: Language) -> Candidate:
    path = staff_folder(challenge) / f"solution{language.suffix}"
    if not path.is_file():
        raise ChallengeInvalid(
            f"{path}: the file is missing", "Every language of a challenge has a solution."
        )
    return Candidate(CandidateRole.SOLUTION, path.name, language, path.read_text(encoding="utf-8"))
