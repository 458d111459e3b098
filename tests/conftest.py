"""No test reads the settings, the login or the data of whoever runs it."""

from __future__ import annotations

import functools
import gc
import inspect
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import rotation
from tests.applications import cheap_applications  # noqa: F401 - for every folder
from tests.components import need
from tests.databases import (  # noqa: F401 - fixtures for every folder
    database,
    database_url,
    empty_url,
    is_second_twin,
    postgres_copies,
    postgres_url,
    upgrade_by_copy,
)

# They say what tests may not skip, how much is proven, and whether the full matrix runs.
_KEPT = {"GRADER_REQUIRE", "GRADER_PROVE", "GRADER_TESTS", "GRADER_TEST_GPU", "GRADER_TEST_SEED"}
_home = pytest.StashKey[Path]()
# Their tests share what takes long to make, or take every processor for themselves: one process runs them all.
_FOLDERS_AS_ONE = ["images", "browser", "faults", "topology"]
# These take longest, so they are begun first: whoever comes last runs alone.
_FIRST = [
    *_FOLDERS_AS_ONE,
    "tests/hostile/test_attacks.py",
    "tests/emulator/test_challenges.py",
    "tests/hostile/test_of_boxes.py",
    "tests/web/security/test_fuzz.py",
    "tests/challenge/test_signature.py",
]
# How many files are named with the seconds that they took.
_COSTLIEST = 40
# Of Python's garbage collector: ten times the objects before it looks, with little for it to look at.
_YOUNG_OBJECTS = 10_000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--matrix", action="store_true", help="run the full matrix, as GRADER_TESTS=all does")


def _full_matrix(config: pytest.Config) -> bool:
    return bool(config.getoption("--matrix")) or os.environ.get("GRADER_TESTS") == "all"


def pytest_report_header() -> str:
    return f"GRADER_TEST_SEED={rotation.number()}"


def pytest_configure(config: pytest.Config) -> None:
    """Before any fixture of any scope: settings are read from the environment, also by started processes."""
    for name in [name for name in os.environ if name.startswith("GRADER_") and name not in _KEPT]:
        del os.environ[name]
    home = Path(tempfile.mkdtemp(prefix="grader-tests-"))
    config.stash[_home] = home
    # Most tests judge as quickly as can be: in Triton's interpreter. Those of other boards name them.
    os.environ["GRADER_DEVICE"] = os.environ["GRADER_DEVICES"] = "cpu"
    os.environ["XDG_CONFIG_HOME"] = str(home / "config")
    os.environ["XDG_DATA_HOME"] = str(home / "data")


@pytest.fixture(scope="session", autouse=True)
def _cheap_platforms(request: pytest.FixtureRequest) -> Iterator[None]:
    """Most tests open a platform and make accounts in it, but do not test password hashes, migrations or the disk. So
    all three are cheap here: a new SQLite file is a copy of one that was migrated once, and no commit waits for the
    disk. Tests of migrations call `grader.records.schema.upgrade`, which is unchanged; tests of the disk use
    ``durable_sqlite``.
    """
    from argon2 import PasswordHasher

    from grader.records import engine
    from grader.service import platform
    from grader.service.accounts import accounts

    prepare = engine._prepare_sqlite

    @functools.wraps(prepare)
    def prepare_for_a_test(connection: Any, record: object) -> None:
        prepare(connection, record)
        connection.execute("PRAGMA synchronous = OFF")

    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_hasher", lambda: quick)
        patch.setattr(engine, "_prepare_sqlite", prepare_for_a_test)
        patch.setattr(platform, "upgrade", request.getfixturevalue("upgrade_by_copy"))
        yield


@pytest.fixture(scope="session")
def full_matrix(pytestconfig: pytest.Config) -> bool:
    return _full_matrix(pytestconfig)


@pytest.fixture
def durable_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is committed is on the disk, as where people work."""
    from grader.records import engine

    monkeypatch.setattr(engine, "_prepare_sqlite", inspect.unwrap(engine._prepare_sqlite))


def _group(path: str) -> str:
    """What one process runs: the tests of a file, or of a whole folder. ``path`` is from the root."""
    folder = Path(path).parts[1]
    return folder if folder in _FOLDERS_AS_ONE else path


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Imported modules and collected tests stay until the end. Walking through them repeatedly would cost the garbage
    collector a third of many a test's processor time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_YOUNG_OBJECTS, 10, 10)
        gc.enable()


# Last: a folder's conftest.py may mark its tests before.
@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for component in mark.args:
            need(component)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    matrix, every = _full_matrix(config), os.environ.get("GRADER_PROVE") == "all"

    def is_left_out(item: pytest.Item) -> bool:
        if is_second_twin(item):
            return not (matrix and (every or rotation.has_turn(item.nodeid)))
        return not matrix and item.get_closest_marker("matrix") is not None

    left_out = [item for item in items if is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]
    first = {name: place for place, name in enumerate(_FIRST)}
    items.sort(key=lambda item: first.get(_group(item.nodeid.partition("::")[0]), len(first)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of its own schedules, --dist=loadgroup makes no groups under pytest 9.2 (pytest-xdist 3.8)."""
    from xdist.scheduler import LoadScopeScheduling

    class Grouped(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid.partition("::")[0])

    return Grouped(config, log)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Which files took longest, of a whole run with ``--durations``."""
    if not config.getoption("durations"):
        return
    reports = [
        report
        for each in terminalreporter.stats.values()
        for report in each
        if isinstance(report, pytest.TestReport)
    ]
    seconds: Counter[str] = Counter()
    for report in reports:
        seconds[_group(report.nodeid.partition("::")[0])] += report.duration
    terminalreporter.section(f"slowest {_COSTLIEST} groups, of {seconds.total():.0f}s")
    for name, spent in seconds.most_common(_COSTLIEST):
        terminalreporter.write_line(f"{spent:.2f}s {name}")


def pytest_unconfigure(config: pytest.Config) -> None:
    gc.unfreeze()
    shutil.rmtree(config.stash[_home], ignore_errors=True)
