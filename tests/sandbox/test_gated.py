"""A wait for the device behind the gate: left out while it is closed, real once the judge has opened it."""

from __future__ import annotations

import importlib
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from grader.sandbox.image import PROGRAMS, RUNNER_MOUNT


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The runner's modules, with a device that finishes everything at once."""
    monkeypatch.syspath_prepend(str(PROGRAMS[RUNNER_MOUNT]))
    driver = importlib.import_module("cuda_driver")
    for name in ("synchronise", "wait_value", "write_value", "unregister_host"):
        monkeypatch.setattr(driver, name, lambda *_: None)
    monkeypatch.setattr(driver, "register_host", lambda address, size: address)
    binding = importlib.import_module("cuda_binding")
    monkeypatch.setattr(binding, "MAPPINGS", binding.MAPPINGS.__class__())
    return binding


@contextmanager
def bound(runner: Any) -> Iterator[tuple[Any, memoryview]]:
    """A binding without arguments, and the judge's end of its gate."""
    page = os.memfd_create("gate")
    os.ftruncate(page, mmap.PAGESIZE)
    try:
        yield runner.CudaBinding([], [page]), memoryview(mmap.mmap(page, mmap.PAGESIZE)).cast("I")
    finally:
        os.close(page)


def test_a_wait_is_real_once_the_gate_is_open(runner: Any) -> None:
    """Protects a call that the judge lets through because the host is slow: its data must be there."""
    waits = runner.gated._torch
    left_out = []

    with bound(runner) as (binding, words):

        def call() -> None:
            left_out.append(waits.leaves_out())
            words[0] = 7
            left_out.append(waits.leaves_out())

        assert binding.run(7, call, lambda: None) is None
        assert left_out == [True, False]
        assert binding.waits_left_out
        assert binding.run(7, lambda: left_out.append(waits.leaves_out()), lambda: None) is None
        assert not binding.waits_left_out, "the gate was open from the start"
        assert not waits.leaves_out(), "outside a call nothing is left out"


def test_an_exception_after_a_skipped_wait_reports_the_skip(runner: Any) -> None:
    with bound(runner) as (binding, _):

        def call() -> None:
            assert runner.gated._torch.leaves_out()
            raise RuntimeError("Both events must be completed before calculating elapsed time.")

        failure = binding.run(3, call, lambda: None)
        assert failure["type"] == "RuntimeError"
        assert binding.waits_left_out
