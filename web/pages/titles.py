"""Titles of challenges, also of those that are gone."""

from __future__ import annotations

from grader.errors import GraderError
from grader.service import catalogue
from grader.web.current import platform


def of(slug: str) -> str:
    """The challenge's title; its slug where the course no longer has it."""
    try:
        return catalogue.get_challenge(platform(), slug).title
    except GraderError:
        return slug
