"""Keeps a figure with what it was measured on: ``benchmarks/results/<name>-<machine>.json``."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from grader import __version__
from grader.judge.environment import cpu_model

FOLDER = Path(__file__).resolve().parent / "results"
ROOT = Path(__file__).resolve().parents[1]
# Results are as good as new while none of these has changed.
MEASURED = (
    "grader/challenge", "grader/judge", "grader/limits.py", "grader/scoring.py",
    "sandbox/runner", "sandbox/compiler", "challenges", "reference",
)  # fmt: skip
SUFFIXES = frozenset({".py", ".toml", ".cu", ".cuh", ".h", ".c"})
# Exit code of a program that ran out of time: the same command goes on (EX_TEMPFAIL).
GO_ON = 75
PACKAGES = ("torch", "triton", "flask", "rq", "redis", "sqlalchemy", "docker", "typer")


def keep(name: str, figures: Mapping[str, object]) -> Path:
    """Write ``figures`` with machine, versions and commit; prints and returns the file."""
    path = _path(name)
    path.parent.mkdir(exist_ok=True)
    kept = {
        "benchmark": name,
        "device": machine(),
        "measured": today(),
        "versions": versions(),
        "commit": commit(),
    }
    path.write_text(json.dumps({**kept, "figures": figures}, indent=2) + "\n")
    print(
        f"kept in {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}",
        file=sys.stderr,
    )
    return path


def merged(name: str, rows: Sequence[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """``rows``, stamped with commit, sources and day, and earlier rows whose ``key`` is not among them.

    So a machine that is lent by the minute measures a table in several goes.
    """
    stamp = {"commit": commit(), "sources": sources(), "measured": today()}
    new = [{**row, **stamp} for row in rows]
    kept = _kept(name)
    if kept is None:
        return new
    stamp = {"commit": kept["commit"], "measured": kept["measured"]}
    fresh = {row[key] for row in rows}
    old = [{**stamp, **row} for row in kept["figures"].get("rows", []) if row[key] not in fresh]
    return sorted(old + new, key=lambda row: str(row[key]))


def known(name: str, key: str, good: Callable[[dict[str, Any]], bool] = lambda _: True) -> set[Any]:
    """The keys of ``good`` rows that were measured on such a machine from these sources (or ``as_good`` ones)."""
    rows = before(name).get("rows", [])
    return {row[key] for row in rows if row.get("sources") in as_good() and good(row)}


def before(name: str) -> dict[str, Any]:
    """The figures kept last on such a machine, or an empty dict."""
    kept = _kept(name)
    return {} if kept is None else dict(kept["figures"])


def machine() -> str:
    """The GPUs, else the processor with the number of its cores that we may use."""
    if gpu := _first_line("nvidia-smi", "--query-gpu=name", "--format=csv,noheader"):
        return gpu
    return f"{len(os.sched_getaffinity(0))} cores of {cpu_model()}"


def versions() -> dict[str, str]:
    found = {"grader": __version__, "python": platform.python_version(), "kernel": platform.release()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The measured commit, with ``+`` if files of the package differ from it.

    ``GRADER_COMMIT`` names it if the files travelled without their repository.
    """
    if named := os.environ.get("GRADER_COMMIT"):
        return named
    head = _first_line("git", "rev-parse", "HEAD")
    changed = _first_line(
        "git", "status", "--porcelain", "--", "grader", "sandbox", "web", "challenges", "reference"
    )
    return head + ("+" if changed else "")


@functools.cache
def sources(measured: tuple[str, ...] = MEASURED, suffixes: frozenset[str] = SUFFIXES) -> str:
    """A digest of the measured files."""
    found = hashlib.sha256()
    for name in measured:
        path = ROOT / name
        files = (
            [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.suffix in suffixes)
        )
        for file in files:
            found.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return found.hexdigest()[:16]


def as_good() -> frozenset[str]:
    """The digests of sources whose rows need not be measured again: today's, and those in ``GRADER_ALSO_GOOD``."""
    return frozenset({sources(), *filter(None, os.environ.get("GRADER_ALSO_GOOD", "").split(","))})


def today() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _path(name: str) -> Path:
    return FOLDER / f"{name}-{_slug(machine())}.json"


def _kept(name: str) -> Any:
    path = _path(name)
    return json.loads(path.read_text()) if path.exists() else None


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)", "", text.lower())).strip("-")


def _first_line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=FOLDER.parent, timeout=20)
    return (ran.stdout.strip().splitlines() or [""])[0].strip() if ran.returncode == 0 else ""
