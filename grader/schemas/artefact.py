"""A compiled CUDA submission, for the worker that runs it."""

from __future__ import annotations

import base64
import hashlib
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer

from grader import limits
from grader.schemas.hardware import KernelUsage
from grader.schemas.strict import Strict


def _decoded(value: Any) -> Any:
    return base64.b64decode(value, validate=True) if isinstance(value, str) else value


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


Library = Annotated[
    bytes,
    BeforeValidator(_decoded),
    PlainSerializer(_encoded, when_used="json"),
    Field(max_length=limits.ARTEFACT_BYTES),
]


class Artefact(Strict):
    # A hash of everything that it was made from.
    key: str
    arch: str
    toolkit: str
    library: Library
    sha256: str
    log: str = ""
    kernels: list[KernelUsage] = Field(default_factory=list)

    @property
    def intact(self) -> bool:
        """The library is as stored."""
        return hashlib.sha256(self.library).hexdigest() == self.sha256
