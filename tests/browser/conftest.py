"""One browser and two platforms for all tests here: a furnished one where nothing moves by itself, and one
that judges.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.furnished import Site, serving
from tests.browser.live import judging
from tests.browser.steps import sign_up
from tests.browser.visitors import Visitor, browsing, visiting
from tests.cli.up import Up
from tests.components import need

Visit = Callable[..., Visitor]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    need("browser")
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="package")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Served without a worker: tests act as one."""
    with serving(tmp_path_factory.mktemp("site")) as served:
        yield served


@pytest.fixture
def visit(chromium: Browser, site: Site) -> Iterator[Visit]:
    """``visit("ada", phone=True)``. At the end, no visitor may have seen an error."""
    with ExitStack() as stack:

        def make(name: str = "", **options: Any) -> Visitor:
            cookie = site.session(name) if name else None
            return stack.enter_context(visiting(chromium, site.url, cookie=cookie, **options))

        yield make


@pytest.fixture(scope="package")
def live(chromium: Browser) -> Iterator[Up]:
    """Its folder has a short name: a socket's address must stay below 100 bytes."""
    temporary = tempfile.TemporaryDirectory(prefix="gr", dir="/tmp", ignore_cleanup_errors=True)
    with temporary as folder, judging(Path(folder)) as up:
        yield up


@pytest.fixture
def student(chromium: Browser, live: Up) -> Iterator[Visit]:
    """A visitor of the judging platform, signed up under the given name; nobody without one."""
    with ExitStack() as stack:

        def make(name: str = "", **options: Any) -> Visitor:
            visitor = stack.enter_context(visiting(chromium, live.url, **options))
            if name:
                sign_up(visitor, name)
            return visitor

        yield make
