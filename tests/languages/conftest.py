"""A platform and a catalogue with two more languages than the product has."""

from __future__ import annotations

import importlib
import pkgutil
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from grader import cli as cli_package
from grader.challenge.catalogue import Catalogue
from grader.judge import compilation
from grader.languages import LANGUAGES
from grader.records import claims
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.web import api, pages
from grader.web.app import create_app
from tests.cli.conftest import cli, home, server  # noqa: F401 - fixtures
from tests.judge.conftest import CATALOGUE
from tests.languages.rows import PEBBLE, SLATE, Chisel
from tests.web.builders import PASSWORD, make_settings
from tests.web.conftest import call, visit  # noqa: F401 - fixtures

SLUG = "twice"

# Some modules read the table once, when they are imported. Other tests of this process need them without
# these rows.
for package in (cli_package, api, pages):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if module.name != "grader.cli.main":
            importlib.import_module(module.name)


@pytest.fixture(autouse=True)
def chisel(monkeypatch: pytest.MonkeyPatch) -> Chisel:
    made = Chisel()
    monkeypatch.setitem(LANGUAGES, PEBBLE.value, PEBBLE)
    monkeypatch.setitem(LANGUAGES, SLATE.value, SLATE)
    monkeypatch.setitem(compilation.COMPILERS, "chisel", made.entry())
    # The query of claims names the languages, and is cached.
    monkeypatch.setattr(claims, "_first", claims._first.__wrapped__)
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A catalogue whose challenge ``twice`` takes all four languages."""
    made = tmp_path / "catalogue"
    shutil.copytree(CATALOGUE, made)
    file = made / "challenges" / SLUG / "challenge.toml"
    text = file.read_text()
    taken = '["cuda", "triton"]'
    assert taken in text
    file.write_text(text.replace(taken, '["cuda", "triton", "pebble", "slate"]'))
    return made


@pytest.fixture
def catalogue(root: Path) -> Catalogue:
    return Catalogue(root)


@pytest.fixture
def platform(tmp_path: Path, root: Path, database: str) -> Iterator[Platform]:
    opened = open_platform(make_settings(tmp_path, challenges=root))
    yield opened
    opened.close()


@pytest.fixture
def app(platform: Platform) -> Flask:
    made = create_app(platform)
    made.config["TESTING"] = False  # errors are answered, not raised
    return made


@pytest.fixture
def ada(platform: Platform) -> User:
    return accounts.create_user(platform, "ada", PASSWORD)
