"""No test reads the settings, the login or the data of whoever runs it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.databases import database, database_url, empty_url, postgres_url  # noqa: F401 - fixtures for every folder

_KEPT = {"GRADER_REQUIRE", "GRADER_PROVE"}  # they say what tests may not skip, and how much is proven
_home = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Before any fixture of any scope: settings are read from the environment, also by started processes."""
    for name in [name for name in os.environ if name.startswith("GRADER_") and name not in _KEPT]:
        del os.environ[name]
    home = Path(tempfile.mkdtemp(prefix="grader-tests-"))
    config.stash[_home] = home
    os.environ["XDG_CONFIG_HOME"] = str(home / "config")
    os.environ["XDG_DATA_HOME"] = str(home / "data")


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[_home], ignore_errors=True)
