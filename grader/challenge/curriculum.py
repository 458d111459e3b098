"""The order of a catalogue: its tracks (``challenges/tracks.toml``), and what each challenge builds on."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader.errors import ChallengeInvalid
from grader.schemas.submission import JudgingReason

_HINT = "See challenges/tracks.toml."


class Track(BaseModel):
    """One part of the catalogue. Challenges name it by its title. Submissions for those of a track of ``practice`` are
    judged after those of the catalogue.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1, max_length=40)
    description: str = Field(min_length=1, max_length=160)
    kind: Literal[JudgingReason.COURSE, JudgingReason.PRACTICE] = JudgingReason.COURSE


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    tracks: list[Track] = Field(min_length=1)


@dataclass(frozen=True)
class Curriculum:
    """Tracks in the order in which they are taken; none where the catalogue has no ``tracks.toml``."""

    path: Path
    tracks: Sequence[Track] = ()

    def place(self, track: str) -> tuple[int, str]:
        """What to sort by. Without a file tracks stand by their names."""
        titles = [it.title for it in self.tracks]
        return (titles.index(track) if track in titles else len(titles), track)

    def kind(self, track: str) -> JudgingReason:
        """What submissions for a challenge of that track are."""
        return next((it.kind for it in self.tracks if it.title == track), JudgingReason.COURSE)

    def check_track(self, manifest: Path, track: str) -> None:
        """Raises ChallengeInvalid where there is a file and ``track`` is not in it."""
        if self.tracks and track not in {it.title for it in self.tracks}:
            known = ", ".join(it.title for it in self.tracks)
            raise ChallengeInvalid(
                f"{manifest}: track: there is no track '{track}' in {self.path}", f"Its tracks: {known}."
            )


def read_curriculum(path: Path) -> Curriculum:
    """Parse ``tracks.toml``; an empty curriculum where there is no such file. Raises ChallengeInvalid."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Curriculum(path)
    except UnicodeDecodeError as error:
        raise ChallengeInvalid(f"{path}: not TOML: {error}", _HINT) from error
    except OSError as error:
        raise ChallengeInvalid(f"{path}: it cannot be read: {error.strerror}", _HINT) from error
    return _parse(path, text)


# Each challenge that is loaded is checked against it. By the text itself, as manifests are.
@functools.lru_cache(maxsize=8)
def _parse(path: Path, text: str) -> Curriculum:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ChallengeInvalid(f"{path}: not TOML: {error}", _HINT) from error
    try:
        tracks = _File.model_validate(data).tracks
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "(the whole file)"
        raise ChallengeInvalid(f"{path}: {key}: {first['msg']}", _HINT) from error
    titles = [track.title for track in tracks]
    if twins := sorted({title for title in titles if titles.count(title) > 1}):
        raise ChallengeInvalid(f"{path}: tracks: {twins} appear more than once", _HINT)
    return Curriculum(path, tracks)


def prerequisite_problems(
    prerequisites: Mapping[str, Sequence[str]], manifests: Mapping[str, Path]
) -> list[ChallengeInvalid]:
    """What is wrong with the ``prerequisites`` of a whole catalogue: slugs that do not exist, and cycles.

    Both mappings are by slug; ``manifests`` holds the file that an error names.
    """
    problems = []
    for slug, wanted in prerequisites.items():
        where = f"{manifests[slug]}: prerequisites"
        if unknown := [it for it in wanted if it not in prerequisites]:
            problems.append(ChallengeInvalid(f"{where}: there is no challenge {unknown}"))
        elif cycle := _cycle(slug, prerequisites):
            problems.append(ChallengeInvalid(f"{where}: they lead back to itself: {' -> '.join(cycle)}"))
    return problems


def _cycle(slug: str, prerequisites: Mapping[str, Sequence[str]]) -> list[str] | None:
    """A way from ``slug`` over prerequisites back to it, if there is one."""
    ways, seen = [[slug]], {slug}
    while ways:
        way = ways.pop()
        for step in prerequisites.get(way[-1], ()):
            if step == slug:
                return [*way, slug]
            if step not in seen:
                seen.add(step)
                ways.append([*way, step])
    return None
