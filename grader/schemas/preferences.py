"""What a person chose about how pages look and work."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import StrictBool, ValidationError, field_validator
from pydantic.json_schema import SkipJsonSchema

from grader.schemas.strict import Strict


class Theme(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class ProfileAudience(StrEnum):
    """From the widest to the narrowest. Staff of the platform, and of a course of the person, always read."""

    PUBLIC = "public"
    """Everybody, also without an account."""
    MEMBERS = "members"
    """Whoever is signed in."""
    COURSE = "course"
    """Members of a course in which the person is, too."""
    PRIVATE = "private"
    """The person alone."""

    def narrowed(self, other: ProfileAudience) -> ProfileAudience:
        """The narrower of both."""
        return max(self, other, key=list(ProfileAudience).index)


class Preferences(Strict):
    """``vim``: the editor's keys are vim's. ``anonymous``: leaderboards show a made-up name to everyone but staff, and
    there is no public profile. ``profile`` and ``calendar``: who reads one's profile, and in it the days on which one
    submitted; never more than the platform's ``GRADER_PROFILE_READERS``."""

    theme: Theme = Theme.SYSTEM
    vim: bool = False
    anonymous: bool = False
    profile: ProfileAudience = ProfileAudience.PUBLIC
    calendar: ProfileAudience = ProfileAudience.PUBLIC


class PreferencesBody(Strict):
    """What to change; what is left out stays, and null is an error."""

    theme: Theme | SkipJsonSchema[None] = None
    vim: StrictBool | SkipJsonSchema[None] = None
    anonymous: StrictBool | SkipJsonSchema[None] = None
    profile: ProfileAudience | SkipJsonSchema[None] = None
    calendar: ProfileAudience | SkipJsonSchema[None] = None

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_null(cls, value: object) -> object:
        if value is None:
            raise ValueError("null says neither yes nor no: leave it out")
        return value


def of_stored(stored: dict[str, Any]) -> Preferences:
    """What a later release stored, and this one does not know, is left out."""
    known = {key: value for key, value in stored.items() if key in Preferences.model_fields}
    try:
        return Preferences.model_validate(known)
    except ValidationError:
        return Preferences()
