"""A small platform for tests: its own catalogue and database, and the session's Redis."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from grader.schemas.submission import SubmitBody
from grader.settings import Settings
from tests.patience import pause

T = TypeVar("T")

_MANIFEST = """\
title = "{title}"
track = "{track}"
order = {order}
difficulty = "easy"
version = 1
languages = [{languages}]
workloads = [{{ name = "small", sizes = {{ n = 10 }}, on = "cpu" }}]
cost = {{ bytes = "8*n", flops = "n" }}

[[args]]
name = "a"
kind = "input"
dtype = "float32"
shape = ["n"]
values = {{ dist = "uniform", high = "n" }}

[[args]]
name = "i"
kind = "input"
dtype = "int32"
shape = ["n"]
values = {{ dist = "integers", high = "n+1" }}

[[args]]
name = "out"
kind = "output"
dtype = "float32"
shape = ["n"]

[[args]]
name = "alpha"
kind = "scalar"
dtype = "float32"
value = 2.0

[[args]]
name = "n"
kind = "size"
"""
_CASES = """\
from grader.challenge.cases import Constant, case

def cases():
    return [
        case("seven", "prime", n=7, scalars={"alpha": 0.5}, note="a prime"),
        case("ones", "ones", n=4, inputs={"a": Constant(1.0)}),
    ]
"""


def make_catalogue(root: Path) -> Path:
    """``scale`` takes both languages, ``only_cuda`` takes CUDA alone."""
    _challenge(root, "scale", title="Scale", track="first", order=1, languages='"cuda", "triton"')
    _challenge(root, "only_cuda", title="CUDA only", track="second", order=1, languages='"cuda"')
    return root


def _challenge(root: Path, slug: str, **values: Any) -> None:
    folder, twin = root / "challenges" / slug, root / "reference" / slug
    folder.mkdir(parents=True)
    twin.mkdir(parents=True)
    (folder / "challenge.toml").write_text(_MANIFEST.format(**values))
    (folder / "spec.md").write_text("# What to do\n")
    (folder / "cases.py").write_text(_CASES)
    (twin / "reference.py").write_text("raise SystemExit('a page must not run this')\n")


def make_settings(folder: Path, redis_url: str, **values: Any) -> Settings:
    """Short times, so nothing takes long."""
    catalogue = folder / "catalogue"
    if not catalogue.exists():
        make_catalogue(catalogue)
    given: dict[str, Any] = {
        "data_dir": folder / "data",
        "redis_url": redis_url,
        "challenges": catalogue,
        "box": "local",
        "devices": "cpu",
        "device": "cpu",
        "lease_s": 60.0,
        "heartbeat_s": 0.2,
        "sweep_s": 0.2,
        "attempts": 3,
        # Only test_readers tests their readers.
        "board_readers": "everybody",
    }
    return Settings(**(given | values))


def body(**values: Any) -> SubmitBody:
    return SubmitBody(**({"challenge": "scale", "source": "x = 1\n", "filename": "a.py"} | values))


def short_folder() -> Path:
    """A folder whose path leaves room for a socket's name; remove it with ``shutil.rmtree``."""
    return Path(tempfile.mkdtemp(prefix="gr", dir="/tmp"))


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def until(look: Callable[[], T | None], what: str, seconds: float = 30.0) -> T:
    """Repeat ``look`` until it returns something; fails with ``what`` at the deadline."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        pause(began)
