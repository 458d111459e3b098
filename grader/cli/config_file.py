"""Writes the file of the client's settings: one line changes, comments and the rest stay as they are."""

from __future__ import annotations

import json
import os
from pathlib import Path

from grader.cli import config
from grader.errors import BadRequest


def put(name: str, told: str) -> config.Value:
    """Keep a setting. Raises BadRequest: no such setting, no such value, a file that cannot be read or written."""
    if name not in config.KEYS:
        raise config.unknown(name)
    value = config.parsed(name, told, name)
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    lines = _lines()
    places = _places(name, lines)
    if places:
        lines[places[0]] = line
    else:
        lines.append(line)
    _write(lines)
    return value


def take(name: str) -> bool:
    """Forget a setting; False where the file did not give it. Raises BadRequest as ``put`` does."""
    if name not in config.KEYS:
        raise config.unknown(name)
    lines = _lines()
    places = _places(name, lines)
    if places:
        _write([line for number, line in enumerate(lines) if number not in places])
    return bool(places)


def _lines() -> list[str]:
    try:
        return Path(config.path()).read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{config.path()} cannot be read: {error}", "Mend or remove it.") from error


def _places(name: str, lines: list[str]) -> list[int]:
    return [
        number
        for number, line in enumerate(lines)
        if "=" in line and line.partition("=")[0].strip().strip("\"'") == name
    ]


def _write(lines: list[str]) -> None:
    """Whole or not at all: a second command may read it meanwhile."""
    target = Path(config.path())
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise BadRequest(f"{target} cannot be written: {error.strerror}.") from error
