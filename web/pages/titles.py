"""Titles of challenges on pages about submissions, also of removed and hidden ones."""

from __future__ import annotations

from grader.errors import GraderError
from grader.web.current import platform


def of(slug: str) -> str:
    """The challenge's title; its slug if the catalogue no longer has it."""
    try:
        return platform().catalogue.load(slug).manifest.title
    except GraderError:
        return slug
