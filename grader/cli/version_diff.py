"""`challenge diff`: what the folder of a challenge changed, and whether that takes a new version number."""

from __future__ import annotations

import difflib
import json as jsons
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from grader.cli import catalogue, options
from grader.cli.answers import understood
from grader.cli.client import connect, segment
from grader.cli.terminal import out, put_json, safe, say
from grader.errors import EXIT_ACCEPTED, EXIT_NOT_ACCEPTED
from grader.schemas.version import ChangeView, VersionContent, VersionDiff

if TYPE_CHECKING:
    from grader.challenge.course import Course
    from grader.challenge.fingerprint import Content
    from grader.challenge.loader import Challenge

_COLOURS = {"added": "green", "removed": "red", "changed": "yellow"}
_PARTS = {"args": "signature", "allow": "allowed libraries"}
# Lines of a longer text that a change shows.
_MOST_LINES = 12


def diff(
    slug: options.Slug,
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="GITREF|VERSION",
            help="A commit, branch or tag, or a version of the platform.",
        ),
    ] = "HEAD",
    json: options.Json = False,
) -> int:
    """Say what a folder changed, and whether it takes a new version."""
    course = catalogue.course()
    found = _compare(course, course.load(slug), against)
    if json:
        put_json(found)
    else:
        _show(found)
    return EXIT_NOT_ACCEPTED if found.needs_version else EXIT_ACCEPTED


def _compare(course: Course, challenge: Challenge, against: str) -> VersionDiff:
    from grader.challenge.fingerprint import changes, content

    if against.isdecimal():
        version, before = int(against), _of_platform(challenge.slug, int(against))
    else:
        version, before = _of_git(course, challenge.slug, against)
    after = content(challenge)
    found = [
        ChangeView(part=it.part, name=it.name, kind=it.kind, before=it.before, after=it.after)
        for it in changes(before, after)
    ]
    return VersionDiff(
        challenge=challenge.slug,
        against=against,
        version_before=version,
        version_after=challenge.manifest.version,
        changes=found,
        needs_version=bool(found) and challenge.manifest.version <= version,
    )


def _of_platform(slug: str, version: int) -> Content:
    found = connect().get(f"/challenges/{segment(slug)}/versions/{version}")
    return understood(VersionContent, found).content


def _of_git(course: Course, slug: str, reference: str) -> tuple[int, Content]:
    from grader.challenge.earlier import at_reference
    from grader.challenge.fingerprint import content

    with at_reference(course, slug, reference) as earlier:
        return earlier.manifest.version, content(earlier)


def _show(found: VersionDiff) -> None:
    for change in found.changes:
        name = f" {change.name}" if change.name else ""
        part = _PARTS.get(change.part, change.part.replace("_", " "))
        out().print(Text(f"{change.kind:<8}", _COLOURS[change.kind]), safe(f"{part}{name}", "bold"))
        for line in _lines(change):
            out().print(safe(f"           {line}"), soft_wrap=True)
    if not found.changes:
        say(f"{found.challenge} judges as '{found.against}' does: no new version is needed.", "green")
    elif found.needs_version:
        say(
            f"{found.challenge} judges otherwise than '{found.against}' under the same number: "
            f"set `version = {found.version_before + 1}` in its challenge.toml.",
            "yellow",
        )
    else:
        say(
            f"From version {found.version_before} to version {found.version_after}: as it should be.", "green"
        )


def _lines(change: ChangeView) -> list[str]:
    """What differs, each line by itself; nothing for what came or went as a whole."""
    if change.kind != "changed":
        return []
    if isinstance(change.before, str) and isinstance(change.after, str):
        told = difflib.unified_diff(change.before.splitlines(), change.after.splitlines(), n=0, lineterm="")
        lines = [line for line in told if not line.startswith(("---", "+++", "@@"))]
    else:
        lines = list(_leaves("", change.before, change.after))
    hidden = len(lines) - _MOST_LINES
    return lines if hidden <= 0 else [*lines[:_MOST_LINES], f"and {hidden} more lines"]


def _leaves(where: str, before: Any, after: Any) -> Iterator[str]:
    """``sizes.n: 7 -> 11`` for each value that differs."""
    old, new = _named(before), _named(after)
    if old is None or new is None:
        if before != after:
            yield f"{where}: {_text(before)} -> {_text(after)}"
        return
    for key in {**old, **new}:
        yield from _leaves(f"{where}.{key}" if where else key, old.get(key), new.get(key))


def _named(value: Any) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return {str(each.get("name", place)): each for place, each in enumerate(value)}
    return None


def _text(value: Any) -> str:
    return "nothing" if value is None else jsons.dumps(value)
