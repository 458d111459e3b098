"""No test reads the user's settings, login or data."""

from __future__ import annotations

import atexit
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

from tests import groups, rotation
from tests.applications import cheap_applications  # noqa: F401 - for every folder
from tests.boxes import forked_boxes  # noqa: F401 - for every folder
from tests.components import need
from tests.databases import (  # noqa: F401 - fixtures for every folder
    database,
    database_url,
    empty_url,
    is_second_twin,
    postgres_copies,
    postgres_url,
    share_statements,
    upgrade_by_copy,
)

# They name required components, the extent of proofs, and the full matrix.
_KEPT = {"GRADER_REQUIRE", "GRADER_PROVE", "GRADER_TESTS", "GRADER_TEST_GPU", "GRADER_TEST_SEED"}
_home = pytest.StashKey[Path]()
# The number of files named with their seconds.
_COSTLIEST = 40
# For Python's garbage collector, which finds little: ten times its default.
_YOUNG_OBJECTS = 10_000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--matrix", action="store_true", help="run the full matrix, as GRADER_TESTS=all does")


def _full_matrix(config: pytest.Config) -> bool:
    return bool(config.getoption("--matrix")) or os.environ.get("GRADER_TESTS") == "all"


def pytest_report_header() -> str:
    return f"GRADER_TEST_SEED={rotation.number()}"


def _draw_the_same_in_every_run() -> None:
    try:
        from hypothesis import HealthCheck, settings
    except ImportError:  # a GPU host's bundle lacks it, and its tests need none
        return
    # On a busy machine drawing may take long.
    slow = [HealthCheck.too_slow]
    settings.register_profile("grader", derandomize=True, deadline=None, suppress_health_check=slow)
    settings.load_profile("grader")


def pytest_configure(config: pytest.Config) -> None:
    """Before any fixture of any scope: settings are read from the environment, also by started processes."""
    for name in [name for name in os.environ if name.startswith("GRADER_") and name not in _KEPT]:
        del os.environ[name]
    _draw_the_same_in_every_run()
    home = Path(tempfile.mkdtemp(prefix="grader-tests-"))
    config.stash[_home] = home
    # Most tests judge in Triton's interpreter, which is quick. Those of other boards name them.
    os.environ["GRADER_DEVICE"] = os.environ["GRADER_DEVICES"] = "cpu"
    os.environ["XDG_CONFIG_HOME"] = str(home / "config")
    os.environ["XDG_DATA_HOME"] = str(home / "data")


@pytest.fixture(scope="session", autouse=True)
def _cheap_platforms(request: pytest.FixtureRequest) -> Iterator[None]:
    """Most tests open a platform and make accounts, but do not test password hashes, migrations or the disk.
    So all three are cheap here: a new SQLite file is a copy of one that was migrated once, and no commit
    waits for the disk. Tests of migrations call `grader.records.schema.upgrade`, which is unchanged; tests of
    the disk use ``durable_sqlite``.
    """
    from argon2 import PasswordHasher

    from grader.records import engine
    from grader.service import platform
    from grader.service.accounts import accounts

    switch = engine._switch_to_wal

    @functools.wraps(switch)
    def switch_for_a_test(connection: Any) -> None:
        connection.execute("PRAGMA synchronous = OFF")
        switch(connection)

    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_hasher", lambda: quick)
        patch.setattr(engine, "_switch_to_wal", switch_for_a_test)
        patch.setattr(platform, "upgrade", request.getfixturevalue("upgrade_by_copy"))
        share_statements(patch)
        yield


@pytest.fixture(scope="session")
def full_matrix(pytestconfig: pytest.Config) -> bool:
    return _full_matrix(pytestconfig)


@pytest.fixture
def durable_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits reach the disk, as in production."""
    from grader.records import engine

    monkeypatch.setattr(engine, "_switch_to_wal", inspect.unwrap(engine._switch_to_wal))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Imported modules and collected tests stay until the end. Walking through them repeatedly would cost the
    garbage collector a third of many a test's processor time.
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
    matrix = _full_matrix(config)

    def has_turn(item: pytest.Item, mark: pytest.Mark) -> bool:
        if "share" in mark.kwargs:
            return rotation.is_drawn(*mark.kwargs["share"])
        return matrix and rotation.has_turn(mark.args[0] if mark.args else item.nodeid)

    def is_left_out(item: pytest.Item) -> bool:
        if not all(has_turn(item, mark) for mark in item.iter_markers("in_turn")):
            return True
        if is_second_twin(item):
            return not (matrix and rotation.has_turn(item.nodeid))
        return not matrix and item.get_closest_marker("matrix") is not None

    left_out = {item for item in items if is_left_out(item)}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: groups.place(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.scheduler import Grouped

    return Grouped(config, log)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The slowest files of a whole run with ``--durations``."""
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
        seconds[groups.group(report.nodeid)] += report.duration
    terminalreporter.section(f"slowest {_COSTLIEST} groups, of {seconds.total():.0f}s")
    for name, spent in seconds.most_common(_COSTLIEST):
        terminalreporter.write_line(f"{spent:.2f}s {name}")


def pytest_unconfigure(config: pytest.Config) -> None:
    # Not yet: pytest now collects garbage several times. At the end of the process nanobind reports remaining
    # objects as a leak.
    atexit.register(gc.unfreeze)
    shutil.rmtree(config.stash[_home], ignore_errors=True)
