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
    """Submissions in a track of kind ``practice`` are judged after the others. ``chapters``: to read before its
    challenges.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1, max_length=40)
    description: str = Field(min_length=1, max_length=160)
    kind: Literal[JudgingReason.COURSE, JudgingReason.PRACTICE] = JudgingReason.COURSE
    chapters: list[str] = Field(default_factory=list)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    tracks: list[Track] = Field(min_length=1)


@dataclass(frozen=True)
class Curriculum:
    path: Path
    tracks: Sequence[Track] = ()

    def place(self, track: str) -> tuple[int, str]:
        """A sort key. Without ``tracks.toml`` tracks sort by name."""
        titles = [track.title for track in self.tracks]
        return (titles.index(track) if track in titles else len(titles), track)

    def kind(self, track: str) -> JudgingReason:
        return next((known.kind for known in self.tracks if known.title == track), JudgingReason.COURSE)

    def check_track(self, manifest: Path, track: str) -> None:
        """Raises ChallengeInvalid if ``tracks.toml`` exists and does not have ``track``."""
        if self.tracks and track not in {track.title for track in self.tracks}:
            known = ", ".join(track.title for track in self.tracks)
            raise ChallengeInvalid(
                f"{manifest}: track: there is no track '{track}' in {self.path}", f"Its tracks: {known}."
            )


def read_curriculum(path: Path) -> Curriculum:
    """Empty if the file does not exist. Raises ChallengeInvalid."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Curriculum(path)
    except UnicodeDecodeError as error:
        raise ChallengeInvalid(f"{path}: not TOML: {error}", _HINT) from error
    except OSError as error:
        raise ChallengeInvalid(f"{path}: it cannot be read: {error.strerror}", _HINT) from error
    return _parse(path, text)


# For every load. Keyed by text for the same reason as manifests.
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
    """Of a whole catalogue. ``manifests`` has the file to name in an error, by slug."""
    problems = []
    for slug, wanted in prerequisites.items():
        where = f"{manifests[slug]}: prerequisites"
        if unknown := [slug for slug in wanted if slug not in prerequisites]:
            problems.append(ChallengeInvalid(f"{where}: there is no challenge {unknown}"))
        elif cycle := _cycle(slug, prerequisites):
            problems.append(ChallengeInvalid(f"{where}: they lead back to itself: {' -> '.join(cycle)}"))
    return problems


def _cycle(slug: str, prerequisites: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Through ``slug``; may be empty."""
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
