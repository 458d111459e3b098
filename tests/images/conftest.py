"""All images are made once, and a platform of them runs once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.components import need
from tests.images import made
from tests.images.composed import Composed


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The images take three minutes to make: whatever needs them is left to the full matrix."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and "images" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.matrix)


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[made.Images]:
    """KEEP_IMAGES=1 leaves them, so that the next run only makes what changed; KEEP_IMAGES=taken makes none."""
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
