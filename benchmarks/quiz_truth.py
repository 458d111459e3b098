"""Holds the engine's answers to questions on a kernel against models of staff's CUDA solutions that were written by
hand from their sources: which elements each thread reads and writes in which line. They share no code with the engine.

    python benchmarks/quiz_truth.py            # every fact at random sizes; exit status 1 if one differs
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from grader.challenge.catalogue import find_catalogue
from grader.challenge.own_case import own_case
from grader.device_kinds import EMULATED, kind_of
from grader.judge.arena import Arena
from grader.judge.oracle import ask, scalar_values
from grader.sandbox.emulator.stepping.quiz import Array, Quiz
from grader.schemas.own_case import OwnCase
from tests.emulator.judging import Table, compile_source

Sizes = dict[str, int]
# Line, verb, array, first element, elements.
Access = tuple[int, str, str, int, int]


@dataclass(frozen=True)
class Model:
    """``accesses``: of a thread of a block, in order; of global arrays and of shared ones."""

    case: str
    size: str
    range: tuple[int, int]
    threads: Callable[[Sizes], int]
    blocks: Callable[[Sizes], int]
    accesses: Callable[[Sizes, int, int], Iterator[Access]]
    barriers: dict[int, bool]  # line -> whether it may go


def elementwise(reads: dict[str, tuple[int, int]], out: str, whole: int, single: int) -> Any:
    """vector_add, saxpy and relu: four elements a thread. ``reads``: an array's lines, of fours and one by one."""

    def accesses(sizes: Sizes, block: int, thread: int) -> Iterator[Access]:
        n, first = sizes["n"], (block * 256 + thread) * 4
        if first + 4 <= n:
            for name, (line, _) in reads.items():
                yield line, "reads", name, first, 4
            yield whole, "writes", out, first, 4
            return
        for i in range(first, n):
            for name, (_, line) in reads.items():
                yield line, "reads", name, i, 1
            yield single, "writes", out, i, 1

    return accesses


def gelu(sizes: Sizes, block: int, thread: int) -> Iterator[Access]:
    n, begin = sizes["n"], block * 2048
    if begin + 2048 <= n:
        for i in range(2):
            yield 24, "reads", "x", begin + 4 * (thread + 256 * i), 4
        for i in range(2):
            yield 27, "writes", "out", begin + 4 * (thread + 256 * i), 4
        return
    for i in range(begin + thread, n, 256):
        yield 32, "reads", "x", i, 1
        yield 32, "writes", "out", i, 1


def summed(names: tuple[str, ...], whole: tuple[int, ...], single: int) -> Any:
    """reduce_sum and dot: up to eight steps of 4096 elements a block, then one shared number a warp."""

    def accesses(sizes: Sizes, block: int, thread: int) -> Iterator[Access]:
        n = sizes["n"]
        for step in range(8):
            begin = block * 32768 + step * 4096
            if begin + 4096 > n:
                for i in range(16):
                    if begin + i * 256 + thread < n:
                        for name in names:
                            yield single, "reads", name, begin + i * 256 + thread, 1
                break
            for i in range(4):
                for name, line in zip(names, whole, strict=True):
                    yield line, "reads", name, begin + 4 * (thread + 256 * i), 4
        if thread % 32 == 0:
            yield 23, "writes", "parts", thread // 32, 1
        if thread % 32 < 8:
            yield 26, "reads", "parts", thread % 32, 1

    return accesses


def rmsnorm(sizes: Sizes, block: int, thread: int) -> Iterator[Access]:
    """Rows of at most 1024 elements: a warp a row."""
    cols = sizes["cols"]
    kept, row = (8 if cols <= 256 else 32), block * cols
    if cols % 4 == 0:
        columns = [i * 32 + 4 * thread for i in range(0, kept, 4)]
        for column in columns:
            if column < cols:
                yield 35, "reads", "x", row + column, 4
        for column in columns:
            if column < cols:
                yield 54, "reads", "gamma", column, 4
                yield 55, "writes", "out", row + column, 4
        return
    columns = [i * 32 + thread for i in range(kept)]
    for column in columns:
        if column < cols:
            yield 41, "reads", "x", row + column, 1
    for column in columns:
        if column < cols:
            yield 62, "reads", "gamma", column, 1
            yield 62, "writes", "out", row + column, 1


def conv1d(sizes: Sizes, block: int, thread: int) -> Iterator[Access]:
    """Only the results: what is read is too much to be asked for here."""
    n, k = sizes["n"], sizes["k"]
    first = block * 4096 + 4 * thread
    if first + 3 * 1024 + k + 7 <= n:
        for f in range(4):
            yield 61, "writes", "out", first + f * 1024, 4
        return
    for f in range(4):
        for i in range(first + f * 1024, min(first + f * 1024 + 4, n - k + 1)):
            yield 76, "writes", "out", i, 1


def transpose(sizes: Sizes, block: int, thread: int) -> Iterator[Access]:
    """Fewer than 16 rows of tiles: one group."""
    rows, cols = sizes["rows"], sizes["cols"]
    down = -(-(rows + 7) // 128)
    first, column0 = block % down * 128 - 7, block // down * 64
    lane, warp = thread % 32, thread // 32
    high, pitch = 135, 65
    for i in range(9):
        r = warp + 16 * i
        for j in range(2):
            inside = 0 <= first + r < rows and column0 + lane + 32 * j < cols
            if r < high and inside:
                yield 49, "reads", "x", (first + r) * cols + column0 + lane + 32 * j, 1
    for i in range(9):
        r = warp + 16 * i
        for j in range(2):
            if r < high:
                yield 57, "writes", "tile", r * pitch + lane + 32 * j, 1
    for c in range(warp, 64, 16):
        if column0 + c >= cols:
            break
        shift = (column0 + c) * rows % 8
        for j in range(4):
            r = lane + 32 * j - shift + 7
            if 0 <= first + r < rows:
                yield 77, "reads", "tile", r * pitch + c, 1
                yield 77, "writes", "out", (column0 + c) * rows + first + r, 1


def per(elements: int, size: str = "n") -> Callable[[Sizes], int]:
    return lambda sizes: -(-sizes[size] // elements)


def always(number: int) -> Callable[[Sizes], int]:
    return lambda _: number


MODELS = {
    "vector_add": Model("basic", "n", (500, 5000), always(256), per(1024),
                        elementwise({"a": (13, 20), "b": (14, 20)}, "out", 15, 20), {}),
    "saxpy": Model("basic", "n", (500, 5000), always(256), per(1024),
                   elementwise({"x": (14, 24), "y": (15, 24)}, "y", 20, 24), {}),
    "relu": Model("basic", "n", (500, 5000), always(256), per(1024),
                  elementwise({"x": (16, 22)}, "out", 17, 22), {}),
    "gelu": Model("basic", "n", (500, 9000), always(256), per(2048), gelu, {}),
    "reduce_sum": Model("basic", "n", (500, 40_000), always(256), per(32768),
                        summed(("x",), (40,), 54), {24: False}),
    "dot": Model("basic", "n", (500, 40_000), always(256), per(32768),
                 summed(("a", "b"), (42, 43), 58), {24: False}),
    "rmsnorm": Model("basic", "cols", (40, 900), always(32), lambda sizes: sizes["rows"], rmsnorm, {}),
    "conv1d": Model("basic", "n", (500, 9000), always(256),
                    lambda sizes: -(-(sizes["n"] - sizes["k"] + 1) // 4096), conv1d, {}),
    "transpose": Model("basic", "cols", (40, 200), always(512),
                       lambda sizes: -(-(sizes["rows"] + 7) // 128) * -(-sizes["cols"] // 64),
                       transpose, {59: False}),
}  # fmt: skip


def expected(model: Model, sizes: Sizes, fact: dict[str, Any]) -> int | None:
    """None: the model does not say."""
    kind = fact["kind"]
    if kind == "blocks":
        return model.blocks(sizes)
    if kind == "barrier":
        return next((line for line, may_go in model.barriers.items() if may_go), 0)
    if kind == "race":
        return None
    block = fact["block"][0]
    every = [list(model.accesses(sizes, block, thread)) for thread in range(model.threads(sizes))]
    name = fact["array"]
    if kind in ("first_write", "elements"):
        stores = [
            [(at, count) for _, verb, array, at, count in one if (verb, array) == ("writes", name)]
            for one in every
        ]
        if kind == "first_write":
            return stores[fact["thread"][0]][0][0]
        return len({at + i for one in stores for at, count in one for i in range(count)})
    # Of each thread of the warp, its accesses of this kind. The n-th ones of all threads are one request.
    wanted = (fact["line"], fact["verb"], name)
    warp = [
        [(at, count) for line, verb, array, at, count in one if (line, verb, array) == wanted]
        for one in every[32 * fact["warp"] : 32 * fact["warp"] + 32]
    ]
    if not any(warp):
        return None
    request = [one[0] for one in warp if one]
    if kind == "active":
        return len(request)
    if kind == "sectors":
        return len({(4 * (at + i)) // 32 for at, count in request for i in range(count)})
    assert kind == "passes"
    return max(Counter(word % 32 for word in {at for at, _ in request}).values())


def facts_of(table: Table, challenge: Any, case: Any, seeds: list[int]) -> Iterator[dict[str, Any]]:
    question = ask(challenge, case, 1)
    arena = Arena(challenge.manifest, case.sizes, scalar_values(challenge.manifest, case))
    arena.reveal(question.inputs)
    entries = {entry["name"]: entry for entry in arena.entries()}
    arrays: dict[int, Array] = {}
    adopt = table.device.adopt

    def noted(data: int, size: int, name: str, **how: Any) -> int:
        address = adopt(data, size, name, **how)
        arrays[address] = Array(name, size // math.prod(entries[name]["shape"]))
        return address

    launches = table.engine.keep_launches()
    with patch.object(table.device, "adopt", noted):
        table.call(arena)
    arena.close()
    for seed in seeds:
        yield from Quiz(launches, arrays, seed).facts()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, default=4, help="random sizes of each solution")
    parser.add_argument("--seeds", type=int, default=6, help="draws at each size")
    asked = parser.parse_args()
    catalogue, dice = find_catalogue(), random.Random(1)
    wrong = 0
    print(f"{'solution':12} {'right':>6} {'wrong':>6} {'unsaid':>6}  by kind")
    for slug, model in MODELS.items():
        challenge = catalogue.load(slug)
        source = catalogue.root / "reference" / slug / "staff" / "solution.cu"
        told: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        with tempfile.TemporaryDirectory() as folder:
            table = Table(compile_source(challenge, source, Path(folder)), 2)
            for _ in range(asked.sizes):
                new = OwnCase(name=model.case, sizes={model.size: dice.randint(*model.range)})
                case = own_case(challenge, new, kind_of(EMULATED))
                seeds = [dice.randrange(1 << 32) for _ in range(asked.seeds)]
                for fact in facts_of(table, challenge, case, seeds):
                    truth = expected(model, dict(case.sizes), fact)
                    outcome = "unsaid" if truth is None else "right" if truth == fact["answer"] else "wrong"
                    told[outcome] += 1
                    kinds[fact["kind"]] += outcome == "right"
                    if outcome == "wrong":
                        print(f"  {slug} {dict(case.sizes)}: {truth}, not {fact}")
            table.close()
        wrong += told["wrong"]
        by_kind = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
        print(f"{slug:12} {told['right']:6} {told['wrong']:6} {told['unsaid']:6}  {by_kind}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
