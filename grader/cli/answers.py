"""Turns a server's JSON into our models."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from grader import __version__
from grader.cli import login
from grader.cli.client import Client
from grader.errors import GraderError, Unreachable

# Asked only to explain a failure.
_PATIENCE_SECONDS = 5.0

Model = TypeVar("Model", bound=BaseModel)


def understood(model: type[Model], answer: Any) -> Model:
    """``answer`` as ``model``. Raises Unreachable where it is something else: another version, another program."""
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Unreachable(
            f"The server's answer is not one we know ({model.__name__}.{where}: {first['msg']}).", _mend()
        ) from error


def _mend() -> str:
    """By the server's version, where it tells one."""
    told = server_version()
    if told is None or told == __version__:
        return f"This is grader {__version__}; is the address that of a grader server? `grader doctor` tells."
    return f"The server is grader {told}, this is {__version__}: pip install 'kernel-grader=={told}'"


def server_version() -> str | None:
    """What the server says that it is; None where it does not."""
    try:
        told = Client(login.server(), seconds=_PATIENCE_SECONDS).get("/health")
    except GraderError:
        return None
    return str(told["version"]) if isinstance(told, dict) and "version" in told else None
