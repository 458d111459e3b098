"""What is run against a suite: staff's solutions, native PyTorch, staff's mutants, and generic wrong kernels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.authoring.findings import CandidateRole
from grader.authoring.generic import WORDS, generics, native_source
from grader.challenge.loader import Challenge
from grader.errors import ChallengeInvalid
from grader.schemas.report import Language

_LANGUAGES = {".cu": Language.CUDA, ".py": Language.TRITON}


@dataclass(frozen=True)
class Candidate:
    """One submission of ours. ``reason`` says why it is not run, where it cannot be made. ``mistake``: which generic
    one it is."""

    role: CandidateRole
    name: str
    language: Language
    source: str
    reason: str = ""
    words: str = ""


def staff_folder(challenge: Challenge) -> Path:
    return challenge.reference_folder / "staff"


def mutant_files(challenge: Challenge) -> list[Path]:
    """In both languages, by name."""
    folder = staff_folder(challenge) / "mutants"
    return sorted(path for path in folder.glob("*") if path.suffix in _LANGUAGES)


def subjects(challenge: Challenge, languages: tuple[Language, ...]) -> list[Candidate]:
    """Everything to run, what must pass first. Raises ChallengeInvalid where a solution or the reference is missing."""
    made = [
        _solution(challenge, language) for language in challenge.manifest.languages if language in languages
    ]
    if Language.TRITON in languages:
        made.append(Candidate(CandidateRole.NATIVE, "reference", Language.TRITON, native_source(challenge)))
    for path in mutant_files(challenge):
        if (language := _LANGUAGES[path.suffix]) in languages:
            made.append(
                Candidate(CandidateRole.MUTANT, path.name, language, path.read_text(encoding="utf-8"))
            )
    if Language.TRITON in languages:
        made += [
            Candidate(
                CandidateRole.GENERIC, it.name, Language.TRITON, it.source, it.reason, WORDS[it.mistake]
            )
            for it in generics(challenge)
        ]
    return made


def _solution(challenge: Challenge, language: Language) -> Candidate:
    path = staff_folder(challenge) / f"solution{language.suffix}"
    if not path.is_file():
        raise ChallengeInvalid(
            f"{path}: the file is missing", "Every language of a challenge has a solution."
        )
    return Candidate(CandidateRole.SOLUTION, path.name, language, path.read_text(encoding="utf-8"))
