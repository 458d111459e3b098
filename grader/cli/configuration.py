"""The settings of the platform on this machine: the environment's, with what the command line says on top."""

from __future__ import annotations

import os
from typing import Any

from pydantic import ValidationError

from grader.errors import BadRequest
from grader.settings import Settings


def load_settings(**chosen: Any) -> Settings:
    """Settings; what is None in ``chosen`` was not said. Raises BadRequest naming the variable."""
    try:
        settings = Settings(**{key: value for key, value in chosen.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = f"GRADER_{'_'.join(str(part) for part in first['loc']).upper()}"
        raise BadRequest(
            f"{name} cannot be used: {first['msg']}.", "See docs/reference/settings.md."
        ) from error
    return settings.model_copy(update={"data_dir": settings.data_dir.absolute()})


def environment(settings: Settings) -> dict[str, str]:
    """The environment of a child that shall have these settings: ours, and every setting spelled out."""
    spelled = {
        f"GRADER_{name.upper()}": str(value)
        for name, value in settings.model_dump().items()
        if value is not None
    }
    return {**os.environ, **spelled}
