"""All images are built once, and one platform of them runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.components import need
from tests.images import made
from tests.images.composed import Composed


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The images take three minutes to build, so tests that need them are for the full matrix."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and "images" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.matrix)


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[made.Images]:
    """KEEP_IMAGES=1 leaves them, so the next run only builds changes; KEEP_IMAGES=taken builds none."""
    need("images")
    kept = os.environ.get("KEEP_IMAGES", "")
    yield made.Images() if kept == "taken" else made.build_all(tmp_path_factory.mktemp("wheels"))
    if not kept:
        made.remove_all()


@pytest.fixture(scope="session")
def composed(images: made.Images, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    """compose.yaml, up: PostgreSQL, Redis, web and a worker, on loopback."""
    running = Composed(images, tmp_path_factory.mktemp("composed"))
    try:
        running.start()
        yield running
    finally:
        running.stop()
