"""A catalogue of many challenges: the one that came along, and copies of it under other names."""

from __future__ import annotations

import shutil
from pathlib import Path

from grader.challenge.catalogue import find_catalogue

ROOT = Path(__file__).resolve().parents[1]


def make_catalogue(folder: Path, count: int) -> list[str]:
    """``count`` challenges in ``folder``; returns their slugs, the original ones first.

    Copies have other titles; their prerequisites are the originals'.
    """
    originals = find_catalogue(None).slugs()
    slugs = originals[:count]
    for part in ("challenges", "reference"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("staff", "__pycache__"))
    for number in range(count - len(slugs)):
        original = originals[number % len(originals)]
        slug = f"{original}_{2 + number // len(originals)}"
        for part in ("challenges", "reference"):
            shutil.copytree(folder / part / original, folder / part / slug)
        _retitle(folder / "challenges" / slug / "challenge.toml", slug.rpartition("_")[2])
        slugs.append(slug)
    return slugs


def _retitle(manifest: Path, number: str) -> None:
    lines = manifest.read_text().splitlines(keepends=True)
    renamed = [f'{line.rstrip()[:-1]} {number}"\n' if line.startswith("title = ") else line for line in lines]
    manifest.write_text("".join(renamed))
