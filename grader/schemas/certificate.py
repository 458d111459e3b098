from __future__ import annotations

from typing import Any

from pydantic import Field

from grader.schemas.strict import Strict


class SigningKey(Strict):
    """The platform's public key."""

    algorithm: str
    key: str = Field(description="its 32 bytes, in base64")
    id: str = Field(description="its name: the beginning of its SHA-256")
    pem: str


class SignedCertificate(Strict):
    """A certificate as ``grader verify`` reads it."""

    certificate: dict[str, Any]
    digests: dict[str, str] = Field(description="path of each value -> SHA-256 of path and value")
    signature: dict[str, str]


class Verified(Strict):
    """What ``grader verify --json`` prints."""

    genuine: bool
    intact: bool = Field(description="it is unchanged since it was signed, with whatever key")
    key_id: str
    key_known: bool = Field(description="it was signed with the key given with --key")
    problems: list[str]
    stands: bool | None = Field(
        default=None,
        description="with --online: the platform's results are still the same; null if it was not asked",
    )
    changes: list[str] = Field(
        default_factory=list, description="differences to the platform's present results"
    )
