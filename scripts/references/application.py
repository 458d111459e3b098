"""The web of an empty platform."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask_openapi3.openapi import OpenAPI

from grader.service.platform import open_platform
from grader.settings import Settings
from grader.web.app import API_PREFIX, create_app

API = API_PREFIX + "/"


@contextmanager
def application() -> Iterator[OpenAPI]:
    with tempfile.TemporaryDirectory(prefix="grd-") as folder:
        # Redis is not needed.
        nowhere = f"unix://{folder}/redis.sock"
        settings = Settings(data_dir=Path(folder), redis_url=nowhere, database_url="", log_level="error")
        platform = open_platform(settings)
        try:
            yield create_app(platform)
        finally:
            platform.close()
