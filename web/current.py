from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flask import current_app

if TYPE_CHECKING:
    from grader.service.platform import Platform


def platform() -> Platform:
    return cast("Platform", current_app.extensions["grader"])
