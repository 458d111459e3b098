"""Everything that judging depends on: two folders judge alike if and only if it is the same.

It excludes titles, prose, starters, points, comments and notes: changing those needs no new version. Nothing
here runs ``reference.py``.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from grader.challenge.cases import Case
from grader.challenge.checker import CHECKER
from grader.challenge.loader import Challenge

# JSON by part: "tolerance", "cases", ... A copy without some files lacks those parts.
Content = dict[str, Any]

# All other keys count, including future ones.
_NOT_JUDGED = frozenset(
    "title track order prerequisites difficulty tags version languages grading waives approximations"
    " name_hidden_categories pieces baselines".split()
)
# A difference lists names.
_BY_NAME = ("workloads", "compare", "inputs", "cases", "hidden_cases")
# Only staff's copies have them.
_STAFF_ONLY = ("hidden_cases", "hidden_recipes")


# Every post asks, and cases.py is slow. Keyed by texts: two edits within one tick of a file system's clock
# look the same.
_kept: dict[tuple[Path, Path], tuple[tuple[str | None, ...], Content]] = {}


def content(challenge: Challenge) -> Content:
    """Parts are shared: do not change them. Raises ChallengeInvalid."""
    folders, texts = (challenge.folder, challenge.reference_folder), _texts(challenge)
    kept = _kept.get(folders)
    if kept is None or kept[0] != texts:
        kept = _kept[folders] = (texts, _content(challenge))
    return dict(kept[1])


def _texts(challenge: Challenge) -> tuple[str | None, ...]:
    """The manifest's is as parsed at load time."""
    staff = challenge.reference_folder / "staff"
    files = (
        challenge.folder / "cases.py",
        challenge.reference_folder / "reference.py",
        challenge.reference_folder / CHECKER,
        staff / "hidden_cases.py",
    )
    texts = (path.read_text("utf-8", errors="replace") if path.exists() else None for path in files)
    return (challenge.manifest.model_dump_json(), str(staff.is_dir()), *texts)


def _content(challenge: Challenge) -> Content:
    said = challenge.manifest.model_dump(mode="json", exclude_defaults=True)
    parts: Content = {key: _plain(value) for key, value in said.items() if key not in _NOT_JUDGED}
    parts["workloads"] = {workload["name"]: _without(workload, "name") for workload in parts["workloads"]}
    parts["reference"] = _code(challenge.reference_source)
    if (checker := challenge.checker_source) is not None:
        parts["checker"] = _code(checker)
    parts["inputs"] = {name: _plain(recipe) for name, recipe in challenge.inputs.items()}
    public = challenge.cases
    parts["cases"] = {case.name: _case(case) for case in public}
    parts |= _recipes("recipes", challenge.folder / "cases.py", public, challenge.inputs.values())
    staff = challenge.reference_folder / "staff"
    if staff.is_dir():
        hidden = challenge.hidden_cases
        parts["hidden_cases"] = {case.name: _case(case) for case in hidden}
        parts |= _recipes("hidden_recipes", staff / "hidden_cases.py", hidden, ())
    return parts


def digest(parts: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(parts).encode()).hexdigest()


def agree(one: Content, other: Content) -> bool:
    """Hidden cases count only if both copies have them."""
    return not changes(one, other)


def merged(known: Content, more: Content) -> Content:
    return {**more, **known}


@dataclass(frozen=True)
class ContentChange:
    """``kind``: added, removed or changed. ``name``: "" for a part without names. Values are JSON or text."""

    part: str
    name: str
    kind: str
    before: Any = None
    after: Any = None


def changes(before: Content, after: Content) -> list[ContentChange]:
    """Sorted by part and name. Empty parts count as absent."""
    found = []
    for part in sorted({*before, *after}):
        if part in _STAFF_ONLY and not (_knows_staff(before) and _knows_staff(after)):
            continue
        if not before or not after:
            continue  # a version served before contents were kept
        old, new = before.get(part), after.get(part)
        if part in _BY_NAME:
            found += _by_name(part, old or {}, new or {})
        elif _text(old or None) != _text(new or None):
            found.append(_change(part, "", old, new))
    return found


def _knows_staff(parts: Content) -> bool:
    return "hidden_cases" in parts


def _by_name(part: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[ContentChange]:
    names = [*old, *(name for name in new if name not in old)]
    return [
        _change(part, name, old.get(name), new.get(name))
        for name in names
        if _text(old.get(name)) != _text(new.get(name))
    ]


def _change(part: str, name: str, old: Any, new: Any) -> ContentChange:
    kind = "added" if old is None else "removed" if new is None else "changed"
    return ContentChange(part, name, kind, old, new)


def _case(case: Case) -> dict[str, Any]:
    # Without category and note, which only explain the case.
    where = {"on": case.on} if case.on else {}
    left_out = {"without": sorted(case.without)} if case.without else {}
    return {
        "sizes": _plain(case.sizes),
        "inputs": _plain(case.inputs),
        "scalars": _plain(case.scalars),
        **where,
        **left_out,
    }


def _recipes(part: str, path: Path, cases: Iterable[Case], others: Iterable[object]) -> Content:
    """Of a file that defines recipes, whose fields do not show what they draw."""
    used = [*others, *(recipe for case in cases for recipe in case.inputs.values())]
    if all(_ours(recipe) for recipe in used):
        return {}
    return {part: _code(path.read_text(encoding="utf-8"))}


def _ours(value: object) -> bool:
    """All recipes in it come from ``grader``."""
    if not is_dataclass(value):
        return isinstance(value, str | int | float | bool | tuple | list | None)
    if not type(value).__module__.startswith("grader."):
        return False
    return all(_ours(getattr(value, field.name)) for field in fields(value))


def _plain(value: Any) -> Any:
    """Canonical JSON: the same for 1 and 1.0, a list and a tuple."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        whole = value.is_integer() and math.copysign(1, value) > 0
        return int(value) if whole else value
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if is_dataclass(value):
        said = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"recipe": type(value).__name__, **said}
    if value is None or isinstance(value, str | int):
        return value
    return type(value).__name__  # the file's text covers the rest, see _recipes


def _without(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != key}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _code(source: str) -> str:
    """Without comments and blanks: rewording a comment changes no verdict.

    Comments are cut by position, so every version of Python gives the same text.
    """
    lines = source.splitlines()
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column]
    except (tokenize.TokenError, SyntaxError):
        return source
    return "\n".join(stripped for line in lines if (stripped := line.rstrip()))
