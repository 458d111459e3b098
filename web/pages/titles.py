from __future__ import annotations

from grader.errors import GraderError
from grader.web.current import platform


def of(slug: str) -> str:
    """Also of removed and hidden challenges; the slug if the catalogue lacks it."""
    try:
        return platform().catalogue.load(slug).manifest.title
    except GraderError:
        return slug
