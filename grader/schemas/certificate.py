"""What the platform signs certificates with, as everyone may see it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from grader.schemas.strict import Strict


class SigningKey(Strict):
    """The public key of the platform. ``id`` names it: the beginning of its SHA-256."""

    algorithm: str
    key: str = Field(description="the 32 bytes of the key, in base64")
    id: str
    pem: str


class SignedCertificate(Strict):
    """A certificate as ``grader verify`` reads it."""

    certificate: dict[str, Any]
    digests: dict[str, str] = Field(description="path of each value -> SHA-256 of path and value")
    signature: dict[str, str]


class Verified(Strict):
    """What ``grader verify --json`` prints."""

    genuine: bool
    intact: bool = Field(description="it is as it was signed, by whatever key")
    key_id: str
    key_known: bool = Field(description="it was signed by the key that was given with --key")
    problems: list[str]
    stands: bool | None = Field(
        default=None,
        description="with --online: the platform's results still say it; null where it was not asked",
    )
    changes: list[str] = Field(default_factory=list, description="what the platform says otherwise now")
