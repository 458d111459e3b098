"""Turns a server's JSON into our models."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from grader import __version__
from grader.errors import Unreachable

Model = TypeVar("Model", bound=BaseModel)


def understood(model: type[Model], answer: Any) -> Model:
    """``answer`` as ``model``. Raises Unreachable where it is something else: another version, another program."""
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Unreachable(
            f"The server's answer is not one we know ({model.__name__}.{where}: {first['msg']}).",
            f"This is grader {__version__}; is the server's version the same? `grader doctor` tells it.",
        ) from error
