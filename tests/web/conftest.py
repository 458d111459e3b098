"""A real platform on each kind of database, its application, and browsers (test clients) of several people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.routing import Rule

from grader.schemas.account import Role
from grader.schemas.submission import SubmissionView
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.web import builders

Visit = Callable[[User | None], FlaskClient]

# The pages of the catalogue that anyone may read, and those for members.
PUBLIC = ("/", "/challenges/vector_add")
BOARDS = ("/leaderboards/vector_add", "/leaderboards/vector_add?language=triton")
# What ``Rule.compile`` makes of a rule.
_COMPILED = ("_parts", "_trace", "_converters", "arguments", "_build", "_build_unknown")


class Compiled(BytecodeCache):
    """Templates that an earlier application of this process has compiled."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()


@pytest.fixture(scope="session", autouse=True)
def _cheap_applications() -> Iterator[None]:
    """Nearly every test makes an application of its own. Most of that time goes into its hundreds of rules: each is
    compiled once for all applications of this process, and the function that builds its address when that is called.
    """
    compile_rule, compile_builder = Rule.compile, Rule._compile_builder
    compiled: dict[tuple[object, ...], Rule] = {}

    def compile_once(self: Rule) -> None:
        key = (self.rule, self.merge_slashes, self.subdomain, self.host, str(self.defaults))
        same = compiled.setdefault(key, self)
        if same is self:
            compile_rule(self)
        else:
            vars(self).update({name: vars(same)[name] for name in _COMPILED})

    def compile_late(self: Rule, append_unknown: bool = True) -> Any:
        made: list[Any] = []

        def build(rule: Rule, *args: Any, **values: Any) -> Any:
            if not made:
                made.append(compile_builder(rule, append_unknown))
            return made[0](rule, *args, **values)

        return build

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "compile", compile_once)
        patch.setattr(Rule, "_compile_builder", compile_late)
        patch.setitem(Flask.jinja_options, "bytecode_cache", Compiled())
        yield


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
    """A student who has handed in nothing."""
    return accounts.create_user(platform, "kim", builders.PASSWORD)


@pytest.fixture
def teacher(platform: Platform) -> User:
    return accounts.create_user(platform, "teacher", builders.PASSWORD, Role.STAFF)


@pytest.fixture
def seen(platform: Platform, ada: User) -> SubmissionView:
    """An accepted submission of ada's."""
    return builders.judged(platform, ada, builders.accepted())


@pytest.fixture
def visit(app: Flask) -> Visit:
    """A browser in which that user (or nobody) is signed in through the form."""

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
    """The token in a form of ``page``."""
    found = re.search(r'name="csrf_token" value="([^"]+)"', client.get(page).text)
    assert found, f"{page} has no form"
    return found[1]
