"""One application without a worker for all tests of the docs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from grader.manual.pages import Manual, manual
from grader.service.platform import open_platform
from grader.web.app import create_app
from tests.web import builders


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    platform = open_platform(builders.make_settings(tmp_path_factory.mktemp("docs")))
    yield create_app(platform)
    platform.close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture(scope="session")
def docs() -> Manual:
    return manual()
