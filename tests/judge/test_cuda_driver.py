"""NVIDIA's driver by cuda-bindings, on machines that lack one of them."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from grader.errors import BoxUnavailable
from grader.judge.cuda import driver


def test_a_machine_without_the_driver_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuTe DSL installs cuda-bindings also on machines without a GPU."""

    def find_library() -> None:
        raise RuntimeError('"cuda" can only be found via system search')

    bindings = ModuleType("cuda.bindings")
    bindings.driver = SimpleNamespace(cuDriverGetVersion=find_library)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    driver.api.cache_clear()
    with pytest.raises(BoxUnavailable, match="driver is missing"):
        driver.api()
