from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field, StrictBool, ValidationError, field_validator
from pydantic.json_schema import SkipJsonSchema

from grader.schemas.strict import Strict


class Theme(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class ProfileAudience(StrEnum):
    """From widest to narrowest. Staff of the platform and of the person's courses may always read."""

    PUBLIC = "public"
    """Everybody, also without an account."""
    MEMBERS = "members"
    """Anyone signed in."""
    COURSE = "course"
    """Members of the person's courses."""
    PRIVATE = "private"
    """Only the person."""

    def narrowed(self, other: ProfileAudience) -> ProfileAudience:
        return max(self, other, key=list(ProfileAudience).index)


class Preferences(Strict):
    """``GRADER_PROFILE_READERS`` limits ``profile``, ``calendar`` and ``kernels``."""

    theme: Theme = Theme.SYSTEM
    vim: bool = Field(default=False, description="vim keys in the editor")
    anonymous: bool = Field(
        default=False,
        description="leaderboards show a made-up name to everyone but staff, and there is no public profile",
    )
    profile: ProfileAudience = Field(default=ProfileAudience.PUBLIC, description="who may see the profile")
    calendar: ProfileAudience = Field(
        default=ProfileAudience.PUBLIC, description="who may see the days with submissions in the profile"
    )
    kernels: ProfileAudience = Field(
        default=ProfileAudience.PRIVATE,
        description="who of those who solved a challenge, too, may read your best kernel for it: never "
        "while an assignment or a competition uses it; public means members",
    )


class PreferencesBody(Strict):
    """Omitted fields stay unchanged, and null is an error."""

    theme: Theme | SkipJsonSchema[None] = None
    vim: StrictBool | SkipJsonSchema[None] = None
    anonymous: StrictBool | SkipJsonSchema[None] = None
    profile: ProfileAudience | SkipJsonSchema[None] = None
    calendar: ProfileAudience | SkipJsonSchema[None] = None
    kernels: ProfileAudience | SkipJsonSchema[None] = None

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_null(cls, value: object) -> object:
        if value is None:
            raise ValueError("null is not a value: omit the field to leave it unchanged")
        return value


def of_stored(stored: dict[str, Any]) -> Preferences:
    """Ignores fields of a later release."""
    known = {key: value for key, value in stored.items() if key in Preferences.model_fields}
    try:
        return Preferences.model_validate(known)
    except ValidationError:
        return Preferences()
