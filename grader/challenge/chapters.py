"""Reads the chapters of a catalogue: ``challenges/chapters/SLUG/`` (text, drawings, exercises) and
``reference/chapters/SLUG/`` (answers, which students' copies lack)."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from grader.challenge import drawings
from grader.challenge.loader import Challenge
from grader.errors import ChallengeInvalid
from grader.schemas.chapter import ExerciseKind

FOLDER = "chapters"
MANIFEST, TEXT, ANSWERS = "chapter.toml", "text.md", "answers.toml"
#: A line of the text that puts an exercise there.
EXERCISE = re.compile(r"^\{exercise: ([a-z0-9_]+)\}$", re.MULTILINE)
_HINT = "See docs/chapters.md."
_NAME = r"^[a-z][a-z0-9_]*$"
_MOST_MINUTES = 60


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Exercise(_Model):
    """``source`` is a file of the chapter: a starter, or the code that the question is about. The question is about a
    call of ``challenge`` with ``sizes``."""

    name: str = Field(pattern=_NAME, max_length=40)
    kind: ExerciseKind
    title: str = Field(min_length=1, max_length=80)
    text: str = Field(min_length=1)
    source: str = Field(pattern=r"^[a-z0-9_]+\.(cu|py)$")
    challenge: str
    sizes: dict[str, int] = Field(default_factory=dict)


class ChapterManifest(_Model):
    """``explains``: ideas, which are tags of challenges; ``needs``: chapters to read first."""

    title: str = Field(min_length=1, max_length=60)
    summary: str = Field(min_length=1, max_length=200)
    order: int = Field(ge=0)
    minutes: int = Field(default=15, ge=1, le=_MOST_MINUTES)
    explains: list[str] = Field(min_length=1)
    needs: list[str] = Field(default_factory=list)
    exercises: list[Exercise] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> ChapterManifest:
        names = [exercise.name for exercise in self.exercises]
        if len(set(names)) != len(names):
            raise ValueError("two exercises have the same name")
        return self


class WrongAnswer(_Model):
    """``answer``: a number or a line; ``source``: a kernel, whose report must contain ``says``."""

    says: str = Field(min_length=1)
    answer: int | None = None
    source: str | None = Field(default=None, pattern=r"^[a-z0-9_]+\.(cu|py)$")


class Answer(_Model):
    """The answer of an exercise, and what proves it.

    A number is ``counter`` of the profile at ``line`` (of the whole kernel without one), divided by ``per`` if given. A
    line is one that the judge's finding names. A kernel is ``source``.
    """

    answer: list[int] = Field(default_factory=list, description="any of them is right")
    why: str = ""
    counter: str | None = None
    per: str | None = None
    line: int | None = Field(default=None, ge=1)
    source: str | None = Field(default=None, pattern=r"^[a-z0-9_]+\.(cu|py)$")
    wrong: list[WrongAnswer] = Field(default_factory=list)


@dataclass(frozen=True)
class Chapter:
    slug: str
    manifest: ChapterManifest
    folder: Path
    reference_folder: Path

    @property
    def text(self) -> str:
        return _read(self.folder / TEXT)

    @property
    def drawings(self) -> dict[str, str]:
        """SVG by name, of those that the text places. Raises ChallengeInvalid."""
        return drawings.placed_in(self.text, self.folder)

    def source(self, exercise: Exercise) -> str:
        return _read(self.folder / exercise.source)

    def exercise(self, name: str) -> Exercise | None:
        return next((exercise for exercise in self.manifest.exercises if exercise.name == name), None)

    @property
    def answers(self) -> dict[str, Answer]:
        """By exercise; empty in a student's copy. Raises ChallengeInvalid."""
        path = self.reference_folder / ANSWERS
        return _answers(path, _read(path)) if path.is_file() else {}

    def challenges(self, known: Iterable[Challenge]) -> list[Challenge]:
        """Those with an idea of this chapter among their tags."""
        return [each for each in known if set(each.manifest.tags) & set(self.manifest.explains)]

    def check(self) -> None:
        """Raises ChallengeInvalid if the text places what does not exist, leaves an exercise out, or a file is
        missing."""
        where = self.folder / TEXT
        exercises = {exercise.name for exercise in self.manifest.exercises}
        shown = EXERCISE.findall(self.text)
        if unknown := sorted(set(shown) - exercises):
            raise ChallengeInvalid(f"{where}: there is no exercise {unknown}", _HINT)
        if missing := sorted(exercises - set(shown)):
            raise ChallengeInvalid(
                f"{where}: it does not place the exercises {missing}", "Write {exercise: NAME} in a line."
            )
        _ = self.drawings
        for exercise in self.manifest.exercises:
            _ = self.source(exercise)


def read_chapters(root: Path) -> tuple[list[Chapter], dict[str, ChallengeInvalid]]:
    """The chapters of a catalogue in order, and by slug why others cannot be shown."""
    found, broken = [], {}
    for path in sorted((root / "challenges" / FOLDER).glob(f"*/{MANIFEST}")):
        folder = path.parent
        try:
            manifest = _manifest(path, _read(path))
            chapter = Chapter(folder.name, manifest, folder, root / "reference" / FOLDER / folder.name)
            chapter.check()
        except ChallengeInvalid as error:
            broken[folder.name] = error
        else:
            found.append(chapter)
    return sorted(found, key=lambda chapter: (chapter.manifest.order, chapter.slug)), broken


def path_problems(
    chapters: Sequence[Chapter], challenges: Sequence[Challenge], headed: Sequence[tuple[str, Sequence[str]]]
) -> list[str]:
    """Jumps in the path through a catalogue: an idea that a challenge needs before a chapter explains it.

    ``headed``: each track's title and the chapters at its head, in order. A challenge comes after the chapters of its
    track and of the tracks before.
    """
    known = {chapter.slug: chapter for chapter in chapters}
    ideas = {idea for chapter in chapters for idea in chapter.manifest.explains}
    problems = []
    read: list[str] = []
    explained: set[str] = set()
    for title, slugs in headed:
        for slug in slugs:
            if slug not in known:
                problems.append(f"track '{title}': there is no chapter '{slug}'")
                continue
            unread = [need for need in known[slug].manifest.needs if need not in read]
            if unread:
                problems.append(f"chapter '{slug}' comes before {unread}, which it needs")
            read.append(slug)
            explained |= set(known[slug].manifest.explains)
        problems += [
            f"'{challenge.slug}' needs '{tag}' before a chapter explains it"
            for challenge in challenges
            if challenge.manifest.track == title
            for tag in challenge.manifest.tags
            if tag in ideas - explained
        ]
    problems += [f"chapter '{slug}' is at the head of no track" for slug in known if slug not in read]
    problems += [
        f"chapter '{slug}' is there twice" for slug in sorted({s for s in read if read.count(s) > 1})
    ]
    return problems


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ChallengeInvalid(f"{path}: not UTF-8: {error}", _HINT) from error
    except OSError as error:
        raise ChallengeInvalid(f"{path}: it cannot be read: {error.strerror}", _HINT) from error


_Parsed = TypeVar("_Parsed", bound=BaseModel)


def _parse(path: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ChallengeInvalid(f"{path}: not TOML: {error}", _HINT) from error


def _validated(model: type[_Parsed], path: Path, data: object, prefix: str = "") -> _Parsed:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join([*filter(None, [prefix]), *(str(part) for part in first["loc"])]) or "(the whole file)"
        raise ChallengeInvalid(f"{path}: {key}: {first['msg']}", _HINT) from error


# Keyed by text, as manifests of challenges are: a changed file is read again.
@functools.lru_cache(maxsize=64)
def _manifest(path: Path, text: str) -> ChapterManifest:
    return _validated(ChapterManifest, path, _parse(path, text))


@functools.lru_cache(maxsize=64)
def _answers(path: Path, text: str) -> dict[str, Answer]:
    return {name: _validated(Answer, path, value, name) for name, value in _parse(path, text).items()}
