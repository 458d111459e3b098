"""A hold of the judge's own stream is lifted from outside when the judge itself waits for it."""

from __future__ import annotations

import inspect
import threading
import time

import pytest

from grader.errors import JudgeFailure
from grader.judge.watchdog import Watchdog


def test_a_hold_that_blocks_the_judge_is_lifted_and_reported() -> None:
    held = threading.Event()
    watchdog = Watchdog(held.set, seconds=0.1)
    with pytest.raises(JudgeFailure, match="own hold"), watchdog.within():
        assert held.wait(30), "nobody lifted it"
    held.clear()
    with watchdog.within():
        pass
    watchdog.close()
    assert not held.is_set()


def test_work_that_ends_in_time_is_undisturbed() -> None:
    lifted: list[float] = []
    watchdog = Watchdog(lambda: lifted.append(time.monotonic()), seconds=60.0)
    for _ in range(3):
        with watchdog.within():
            pass
    watchdog.close()
    assert lifted == []


def test_an_error_within_is_passed_on() -> None:
    watchdog = Watchdog(lambda: None, seconds=60.0)
    with pytest.raises(ValueError, match="its own"), watchdog.within():
        raise ValueError("its own")
    watchdog.close()


def test_the_watchdogs_thread_ends_with_it() -> None:
    before = threading.active_count()
    watchdog = Watchdog(lambda: None, seconds=60.0)
    with watchdog.within():
        assert threading.active_count() == before + 1
    watchdog.close()
    assert threading.active_count() == before


def test_one_check_kernel_serves_any_count() -> None:
    """Values that vary between rounds must not make Triton compile and load another: the stream is held then."""
    from grader.judge.cuda import kernels

    varying = {"counted"}
    assert varying <= set(inspect.signature(kernels._full_check.fn).parameters)
    assert varying <= {
        parameter.name for parameter in kernels._full_check.params if parameter.do_not_specialize
    }
