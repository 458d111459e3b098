"""Detects a path's form and licence, and reads it in a separate process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.authoring.importing.forms import FORMS
from grader.errors import BadRequest

_PROBE = Path(__file__).with_name("probe.py")
_SECONDS = 300.0
_CLONE_SECONDS = 300.0
_FORMATS = f"There are: {', '.join(form.words for form in FORMS.values())}."
_LICENCES = (
    (re.compile(r"NoDerivatives|No Derivatives|BY.NC.ND|BY.ND", re.IGNORECASE), "forbids derived works"),
    (re.compile(r"Reciprocity License", re.IGNORECASE), "asks for something in return (reciprocity)"),
    (re.compile(r"NonCommercial|Non-Commercial", re.IGNORECASE), "forbids commercial use"),
    (
        re.compile(r"GNU (Affero )?General Public License", re.IGNORECASE),
        "asks derived works for the same licence",
    ),
)
_LICENCE_FILES = ("LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "COPYING")


@dataclass(frozen=True)
class Licence:
    """``name``: the first line. ``asks``: a question about it, or ""."""

    name: str
    asks: str


@dataclass(frozen=True)
class Problem:
    """``found``: see ``probe.py``."""

    origin: str
    format: str
    licence: Licence
    found: Mapping[str, Any]


@contextmanager
def local_copy(origin: str) -> Iterator[Path]:
    """Clones a git URL (``URL#PATH``). Raises BadRequest."""
    if "://" not in origin and not origin.startswith("git@"):
        path = Path(origin)
        if not path.exists():
            raise BadRequest(f"'{origin}' does not exist.", _FORMATS)
        yield path.resolve()
        return
    url, _, inside = origin.partition("#")
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(
                ["git", "clone", "--quiet", "--depth", "1", "--", url, folder],
                check=True,
                capture_output=True,
                text=True,
                timeout=_CLONE_SECONDS,
            )
        except (OSError, subprocess.SubprocessError) as error:
            why = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
            raise BadRequest(
                f"'{url}' cannot be cloned: {why[-1] if why else 'git failed'}.", "Write URL#PATH/IN/IT."
            ) from error
        path = (Path(folder) / inside).resolve()
        if not path.is_relative_to(Path(folder).resolve()) or not path.exists():
            raise BadRequest(f"'{url}' holds no '{inside}'.", _FORMATS)
        yield path


def format_of(path: Path) -> str:
    """Raises BadRequest."""
    for name, form in FORMS.items():
        if form.is_here(path):
            return name
    raise BadRequest(f"'{path.name}' is in no form that is known here.", _FORMATS)


def licence_of(path: Path) -> Licence:
    """In this folder or above."""
    for folder in (path, *path.parents):
        for name in _LICENCE_FILES:
            file = folder / name
            if file.is_file():
                text = file.read_text("utf-8", errors="replace")
                asks = "; ".join(words for pattern, words in _LICENCES if pattern.search(text))
                first = next((line.strip("# ").strip() for line in text.splitlines() if line.strip()), name)
                return Licence(first[:120], asks)
        if (folder / ".git").exists():
            break
    return Licence("", "is not stated")


def read(origin: str, path: Path) -> Problem:
    """Raises BadRequest."""
    form = format_of(path)
    try:
        ran = subprocess.run(
            [sys.executable, "-I", str(_PROBE), form, str(path)],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BadRequest(f"'{path.name}' ran for {_SECONDS:g} s without an end.") from error
    try:
        found = json.loads(ran.stdout)
    except ValueError as error:
        said = ran.stderr.strip().splitlines()
        raise BadRequest(
            f"'{path.name}' cannot be read: {said[-1] if said else 'its process ended'}."
        ) from error
    if "unable" in found:
        raise BadRequest(f"'{path.name}' cannot become a challenge: {found['unable']}.")
    return Problem(origin, form, licence_of(path), found)
