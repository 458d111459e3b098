"""Writes docs/reference/ (`make reference`).

`--check` only names stale pages, and exits with 1 if there are any.

Usage: python scripts/reference.py [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(ROOT))

from references import approximations, commands, errors, figures, pages, settings  # noqa: E402 - found by the lines above

FOLDER = ROOT / "docs" / "reference"
MADE: dict[str, Callable[[], str]] = {
    "cli.md": commands.make,
    "settings.md": settings.make,
    "pages.md": pages.make,
    "errors.md": errors.make,
    "figures.md": figures.make,
    "approximations.md": approximations.make,
}


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = [name for name, make in MADE.items() if not _settle(FOLDER / name, make(), check)]
    for name in stale:
        print(f"docs/reference/{name} {'is stale: make reference' if check else 'is new'}")
    return 1 if check and stale else 0


def _settle(path: Path, text: str, check: bool) -> bool:
    """Whether the file holds ``text``; writes it unless ``check``."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return True
    if not check:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return False


if __name__ == "__main__":
    sys.exit(main())
