"""Facts for questions on a kernel, each against the same quantity computed from the source's own indices."""

from __future__ import annotations

import math
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.challenge.catalogue import Catalogue
from grader.sandbox.emulator.device import Device, HostProcess
from grader.sandbox.emulator.engine import Engine
from grader.sandbox.emulator.stepping.quiz import Array, Launches, Quiz
from tests.components import need
from tests.emulator.judging import compile_source
from tests.judge.conftest import CATALOGUE

N, THREADS = 100, 64
# Lines of quiz.cu.
READS, STORES_TILE, NEEDED, READS_TILE, NEEDLESS, WRITES = 8, 9, 10, 11, 12, 13


@pytest.fixture(scope="module")
def launches(tmp_path_factory: pytest.TempPathFactory) -> Any:
    need("nvcc")
    folder = tmp_path_factory.mktemp("quiz")
    library = compile_source(Catalogue(CATALOGUE).load("twice"), Path(__file__).with_name("quiz.cu"), folder)
    engine = Engine(threads=1)
    device = Device(engine)
    host = HostProcess(device, library)
    x, out = np.ones(N, dtype=np.float32), np.zeros(N, dtype=np.float32)
    addresses = [
        device.adopt(array.ctypes.data, array.nbytes, name, written=name == "x")
        for name, array in (("x", x), ("out", out))
    ]
    kept = engine.keep_launches()
    returned = host.call([struct.pack("<Q", address) for address in addresses] + [struct.pack("<q", N)])
    assert returned.fault is None
    assert not returned.findings
    yield kept, {address: Array(name, 4) for address, name in zip(addresses, ("x", "out"), strict=True)}
    host.close()
    engine.close()


def facts(launches: tuple[Launches, dict[int, Array]], seed: int, **how: bool) -> dict[str, dict[str, Any]]:
    kept, arguments = launches
    return {fact["kind"]: fact for fact in Quiz(kept, arguments, seed, **how).facts()}


def lanes(fact: dict[str, Any]) -> list[int]:
    """The elements of the array that the fact's warp touches in its line, by active thread."""
    found = []
    for thread in range(32 * fact["warp"], 32 * fact["warp"] + 32):
        i = 64 * fact["block"][0] + thread
        if fact["line"] == STORES_TILE:
            found.append(2 * thread)
        elif fact["line"] == READS_TILE:
            found.append(2 * (63 - thread))
        elif i < N:
            found.append(5 * i % N if fact["line"] == READS else N - 1 - i)
    return found


def expected(fact: dict[str, Any]) -> int:
    kind, block = fact["kind"], fact["block"][0] if "block" in fact else 0
    if kind == "blocks":
        return math.ceil(N / THREADS)
    if kind == "first_write":
        return N - 1 - (THREADS * block + fact["thread"][0])
    if kind == "elements":
        return min(THREADS, N - THREADS * block)
    touched = lanes(fact)
    if kind == "active":
        return len(touched)
    if kind == "sectors":
        return len({4 * element // 32 for element in touched})
    assert kind == "passes"
    return max(Counter(word % 32 for word in set(touched)).values())


def test_answers_are_what_the_source_computes(launches: tuple[Launches, dict[int, Array]]) -> None:
    seen: dict[str, set[int]] = {}
    for seed in range(40):
        for kind, fact in facts(launches, seed).items():
            if kind not in ("barrier", "race"):
                assert fact["answer"] == expected(fact), fact
            seen.setdefault(kind, set()).add(fact["answer"])
    assert seen["barrier"] == {NEEDLESS}
    assert seen["race"] == {STORES_TILE, READS_TILE}
    assert seen["active"] == {4}
    assert seen["passes"] == {2}
    for kind in ("first_write", "sectors", "elements"):
        assert len(seen[kind]) > 1, f"{kind} should differ between students"


def test_a_race_names_no_second_right_line(launches: tuple[Launches, dict[int, Array]]) -> None:
    for seed in range(10):
        race = facts(launches, seed)["race"]
        assert race["line"] == NEEDED
        assert set(race["choices"]) & {STORES_TILE, READS_TILE} == {race["answer"]}
        assert set(race["races"][0][1:]) == {STORES_TILE, READS_TILE}


def test_a_seed_draws_the_same_again(launches: tuple[Launches, dict[int, Array]]) -> None:
    assert facts(launches, 7) == facts(launches, 7)
    assert len({str(facts(launches, seed)) for seed in range(10)}) > 5


def test_programs_are_asked_about_as_a_whole(launches: tuple[Launches, dict[int, Array]]) -> None:
    """The compiler chooses a program's threads, so no question names one."""
    for seed in range(10):
        found = facts(launches, seed, programs=True)
        assert set(found) == {"blocks", "first_write", "elements", "sectors"}
        block = found["first_write"]["block"][0]
        assert found["first_write"]["answer"] == max(0, N - THREADS * (block + 1))
        sectors = found["sectors"]
        both = [lanes({**sectors, "warp": warp}) for warp in (0, 1)]
        assert sectors["answer"] == len({4 * element // 32 for element in (*both[0], *both[1])})


def test_nothing_is_asked_about_a_wrong_call(launches: tuple[Launches, dict[int, Array]]) -> None:
    kept, _ = launches
    kept.wrong = True
    try:
        assert facts(launches, 1) == {}
    finally:
        kept.wrong = False
