"""Boxes of each kind for the tests, and a check that they leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.choose import make_boxes
from tests.components import need

# Kinds that withstand attacks, not only accidents.
WALLED = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]
KINDS = ["local", *WALLED]
_makers: dict[str, BoxMaker] = {}


def maker_of(kind: str) -> BoxMaker:
    """One maker of each kind for the whole run, as in the platform."""
    if kind != "local":
        need(kind)
    if kind not in _makers:
        _makers[kind] = make_boxes(kind)
    return _makers[kind]


@pytest.fixture(params=KINDS)
def boxes(request: pytest.FixtureRequest) -> BoxMaker:
    return maker_of(request.param)


@pytest.fixture(params=WALLED)
def walled_boxes(request: pytest.FixtureRequest) -> BoxMaker:
    return maker_of(request.param)


@pytest.fixture
def bubblewrap_boxes() -> BoxMaker:
    return maker_of("bubblewrap")


@pytest.fixture
def docker_boxes() -> BoxMaker:
    return maker_of("docker")


@pytest.fixture
def local_boxes() -> BoxMaker:
    return maker_of("local")


@pytest.fixture
def start() -> Iterator[Callable[..., Box]]:
    """Starts boxes that run the probe, and kills those that the test leaves alive."""
    started: list[Box] = []

    def start_probe(maker: BoxMaker, **changes: Any) -> Box:
        box = maker.start(BoxSpec(BoxPurpose.RUN, program="probe.py", **changes))
        started.append(box)
        return box

    yield start_probe
    for box in started:
        box.kill()
