"""A real platform on each kind of database, its application, and test clients of several people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from grader.schemas.account import Role
from grader.schemas.submission import SubmissionView
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.web import builders

Visit = Callable[[User | None], FlaskClient]

# A public page, and one that a setting reserves for members.
PUBLIC = ("/", "/challenges/vector_add")
BOARDS = ("/leaderboards/vector_add", "/leaderboards/vector_add?language=triton")


@pytest.fixture
def platform(tmp_path: Path, database: str) -> Iterator[Platform]:
    opened = open_platform(builders.make_settings(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def app(platform: Platform) -> Flask:
    made = create_app(platform)
    made.config["TESTING"] = False  # errors are answered, not raised
    return made


@pytest.fixture
def ada(platform: Platform) -> User:
    return accounts.create_user(platform, "ada", builders.PASSWORD)


@pytest.fixture
def bob(platform: Platform) -> User:
    return accounts.create_user(platform, "bob", builders.PASSWORD)


@pytest.fixture
def kim(platform: Platform) -> User:
    return accounts.create_user(platform, "kim", builders.PASSWORD)


@pytest.fixture
def teacher(platform: Platform) -> User:
    return accounts.create_user(platform, "teacher", builders.PASSWORD, Role.STAFF)


@pytest.fixture
def seen(platform: Platform, ada: User) -> SubmissionView:
    return builders.judged(platform, ada, builders.accepted())


@pytest.fixture
def visit(app: Flask) -> Visit:
    """A browser signed in as that user (or nobody) through the form."""

    def make(user: User | None) -> FlaskClient:
        client = app.test_client()
        if user is not None:
            data = {"name": user.name, "password": builders.PASSWORD, "csrf_token": csrf(client)}
            assert client.post("/sign-in", data=data).status_code == 303
        return client

    return make


@pytest.fixture
def call(app: Flask, platform: Platform) -> Visit:
    """A program with that user's API token (or none)."""

    def make(user: User | None) -> FlaskClient:
        client = app.test_client()
        if user is not None:
            token = tokens.issue_token(platform, user, "test").token
            client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
        return client

    return make


def csrf(client: FlaskClient, page: str = "/sign-in") -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', client.get(page).text)
    assert found, f"{page} has no form"
    return found[1]
