from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import BadRequest


@dataclass
class Exported:
    """``files``: text by path. ``lost``: what the form cannot say."""

    files: dict[str, str]
    lost: list[str] = field(default_factory=list)


def write(exported: Exported, folder: Path) -> None:
    """Raises BadRequest if the folder exists or cannot be written."""
    if folder.exists():
        raise BadRequest(f"'{folder}' already exists; nothing was written.", "Choose another path.")
    try:
        for name, text in exported.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"'{error.filename}' cannot be written: {error.strerror}.") from error
