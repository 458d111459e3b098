"""A compiled CUDA submission, on its way from the compiler to the worker that runs it."""

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
    """A compiled library."""

    # A hash of everything that it was made from.
    key: str
    # Such as sm_90a.
    arch: str
    # The compiler's version.
    toolkit: str
    library: Library
    # Of the library.
    sha256: str
    # The compiler's output.
    log: str = ""
    kernels: list[KernelUsage] = Field(default_factory=list)

    @property
    def intact(self) -> bool:
        """True if the library is still the one that was stored."""
        return hashlib.sha256(self.library).hexdigest() == self.sha256
