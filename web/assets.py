"""Static files at addresses that change with their content, so browsers may cache them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from flask import Flask

_STATIC = Path(__file__).parent / "static"


def init_app(app: Flask) -> None:
    app.url_defaults(_stamp)


def _stamp(endpoint: str, values: dict[str, Any]) -> None:
    if endpoint == "static" and "filename" in values:
        values.setdefault("v", _digest(values["filename"]))


def built(filename: str) -> str | None:
    """The static path of a file that scripts/build_client makes; None if it was not built: pages work without it."""
    path = f"built/{filename}"
    return path if _digest(path) else None


@cache
def _digest(filename: str) -> str:
    path = _STATIC / filename
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else ""
