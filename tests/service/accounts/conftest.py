"""Shared by tests of accounts: a mail server, platforms with a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from grader.service.messages import mail
from grader.service.platform import Platform, open_platform
from tests.service import postbox
from tests.service.postbox import Postbox
from tests.service.world import make_settings

PASSWORD = "correct horse"
Open = Callable[..., Platform]


@pytest.fixture
def opened(tmp_path: Path, redis_url: str, database: str) -> Iterator[Open]:
    """Opens a platform with these settings, on each kind of database."""
    with ExitStack() as stack:

        def make(**values: object) -> Platform:
            platform = open_platform(make_settings(tmp_path, redis_url, **values))
            stack.callback(platform.close)
            stack.callback(mail.settle)
            return platform

        yield make


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Postbox]:
    with postbox.served(tmp_path, monkeypatch) as server:
        yield server
        assert mail.settle()
