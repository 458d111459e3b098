"""Variables by name and type, prints and malloc of a block that a page steps through; and blocks of choice."""

from __future__ import annotations

import json
import struct
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.sandbox.emulator.engine import Engine, pack_arguments
from grader.sandbox.emulator.findings import Fault
from grader.sandbox.emulator.stepping.dwarf import debug_of
from grader.sandbox.emulator.stepping.recorder import Choice, Recorder
from grader.sandbox.toolkit import cuda_home
from grader.web.assets import _STATIC
from tests.components import need
from tests.emulator.test_step import header_of

SOURCE = Path(__file__).with_name("named.cu")
DRIVER = Path(__file__).with_name("named_driver.js")
LINES = SOURCE.read_text().splitlines()
Array = np.ndarray[Any, Any]


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if line.strip().startswith(text))


@cache
def ptx(*options: str) -> str:
    need("nvcc")
    home = cuda_home()
    assert home is not None
    command = [home / "bin" / "nvcc", "-ptx", "-std=c++17", "-arch=compute_90a", *options, "-o", "-", SOURCE]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def recorded(
    kernel: str,
    grid: tuple[int, int, int],
    threads: tuple[int, int, int],
    arguments: list[Array | bytes],
    choice: Choice | None,
    names: bool = True,
) -> Recorder:
    engine = Engine(threads=1)
    try:
        recorder = engine.record(choice)
        recorder.texts = [ptx("-G")] if names else []
        loaded = engine.load(ptx("-lineinfo"))
        packed = [
            it
            if isinstance(it, bytes)
            else struct.pack("<Q", engine.adopt(it.ctypes.data, it.nbytes, f"array{number}", keep=it))
            for number, it in enumerate(arguments)
        ]
        layout = engine.ready(loaded, kernel).param_layout
        try:
            engine.launch(loaded, kernel, grid, threads, pack_arguments(layout, packed))
            engine.findings()
        except Fault:
            pass
    finally:
        engine.close()
    recorder.finish()
    return recorder


def states(bundle: bytes, folder: Path, *questions: tuple[Any, ...]) -> tuple[dict[str, Any], list[Any]]:
    """The page worker's answer at the first row of a line in a warp, or at the first of an operation there;
    line 0: at the end.
    """
    need("wasm")
    need("node")
    (folder / "bundle").write_bytes(bundle)
    asked = [",".join(map(str, question)) for question in questions]
    files = [_STATIC / "step_worker.js", _STATIC / "built" / "engine.wasm", folder / "bundle"]
    ran = subprocess.run(["node", DRIVER, *files, *asked], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    told = json.loads(ran.stdout)
    return told["about"], told["states"]


def values(state: dict[str, Any]) -> dict[str, tuple[str, list[str]]]:
    """Variable -> type and each lane's value; the innermost of a name."""
    return {it["name"]: (it["type"], it["values"]) for it in state["variables"]}


def test_a_matrix_turned_has_its_indices_by_lane(tmp_path: Path) -> None:
    rows, cols = 20, 40
    given = np.arange(rows * cols, dtype=np.float32)
    arguments: list[Array | bytes] = [
        given,
        np.zeros_like(given),
        struct.pack("<i", rows),
        struct.pack("<i", cols),
    ]
    made = recorded("turn", (3, 2, 1), (16, 16, 1), arguments, Choice(0, (1, 1, 0)))
    assert made.named, made.named_why
    # Rows 16 and 17 of the matrix; warp 1 has rows 18 and 19.
    first, second = line_of("if (row < rows"), line_of("if (row < cols")
    about, (before, after, end) = states(made.named, tmp_path, (first, 1), (second, 1), (0, 0))
    assert about["named"]
    assert about["differs"] == 0
    known = values(before)
    assert known["column"] == ("int", [str(16 + lane % 16) for lane in range(32)])
    assert known["row"] == ("int", [str(18 + lane // 16) for lane in range(32)])
    assert known["rows"] == ("int", ["20"] * 32)
    start = [(18 + lane // 16) * cols + 16 + lane % 16 for lane in range(32)]
    assert known["from"] == ("float*", [f"array0 + {at}" for at in start])
    assert known["in"] == ("float*", ["array0"] * 32)
    # After the barrier the same names have other values.
    assert values(after)["column"][1] == [str(16 + lane % 16) for lane in range(32)]
    assert values(after)["row"][1] == [str(16 + 2 + lane // 16) for lane in range(32)]
    assert end["status"] == "ended"


def test_variables_have_the_types_of_the_kernel(tmp_path: Path) -> None:
    given = np.linspace(0, 6.3, 64, dtype=np.float32)
    arguments: list[Array | bytes] = [given, np.zeros(64), struct.pack("<fI", 0.5, 7)]
    made = recorded("mixed", (1, 1, 1), (64, 1, 1), arguments, Choice())
    assert made.named, made.named_why
    whole, inner = line_of("float grown"), line_of("return sum")
    early = line_of("double wide")
    _, (before, there, within) = states(made.named, tmp_path, (early, 1), (whole, 1), (inner, 1))
    assert values(before)["wide"][1] == ["not set here"] * 32
    known = {name: (kind, each[5]) for name, (kind, each) in values(there).items()}
    half = np.float16(given[37])
    assert known["i"] == ("unsigned int", "37")
    assert (known["small"][0], float(known["small"][1])) == ("half", pytest.approx(float(half), rel=1e-4))
    assert known["both"][0] == "half2"
    assert known["both"][1].endswith(", -2)")
    assert (known["wide"][0], float(known["wide"][1])) == ("double", pytest.approx(1 / 38))
    assert known["byte"] == ("unsigned char", str((250 + 37) % 256))
    assert known["pair"] == ("Pair", "{weight: 18.5, count: 44}")
    assert known["counts"] == ("int[4]", "[11, 2, 3, 37]")
    assert known["steps"] == ("int", "1")
    assert known["start"] == ("Pair", "{weight: 0.5, count: 7}")
    # The function's own variables, not the kernel's.
    of_function = values(within)
    assert {"value", "times", "sum"} <= of_function.keys()
    assert "pair" not in of_function
    assert [float(each) for each in of_function["sum"][1][:2]] == [3 * 16.0, 3 * 16.5]


def test_prints_and_allocations_come_with_their_row_and_thread(tmp_path: Path) -> None:
    made = recorded("speaks", (1, 1, 1), (32, 1, 1), [np.zeros(32, dtype=np.int32)], Choice())
    assert made.named, made.named_why
    for bundle in (made.bundle, made.named):
        _, (before, end) = states(bundle, tmp_path, (line_of("list[i] = 3"), 0), (0, 0))
        assert before["prints"]["list"] == []
        assert [it["text"] for it in end["prints"]["list"]] == ["3 of speaks: 4.5\n", "19 of speaks: 28.5\n"]
        assert [it["thread"][0] for it in end["prints"]["list"]] == [3, 19]
        assert {it["line"] for it in end["prints"]["list"]} == {line_of("if (i % 16 == 3)")}
        assert 0 < end["prints"]["list"][0]["row"] < end["row"]
        pieces = end["allocations"]
        assert [it["size"] for it in pieces] == [4 * (thread + 1) for thread in range(32)]
        assert [it["thread"] for it in pieces] == list(range(32))
        assert {it["line"] for it in pieces} == {line_of("int* list")}
        assert [it["freed"] is not None for it in pieces] == [thread % 2 == 1 for thread in range(32)]
        assert pieces[1]["freed"]["line"] == line_of("if (i % 2)")
    known = values(before)
    assert known["list"][1][0].startswith("memory of malloc")


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (Choice(0, (4, 0, 0)), "Block 4 is outside the grid: fused has 1 x 1 x 1 blocks, numbered from 0."),
        (Choice(2), "There is no launch 3: this case has 1 launch."),
    ],
)
def test_a_block_that_is_not_there_is_refused(choice: Choice, sentence: str) -> None:
    arrays: list[Array | bytes] = [np.ones(64, dtype=np.float32), np.zeros(64, dtype=np.float32)]
    made = recorded("fused", (1, 1, 1), (64, 1, 1), arrays, choice, names=False)
    assert (made.bundle, made.why) == (b"", sentence)
    assert made.launches == [{"kernel": "fused", "grid": [1, 1, 1], "threads": [64, 1, 1]}]


def test_a_block_that_waits_for_others_is_refused() -> None:
    arrays: list[Array | bytes] = [np.zeros(1, dtype=np.int32), np.zeros(2, dtype=np.int32)]
    made = recorded("waits", (2, 1, 1), (32, 1, 1), arrays, Choice(), names=False)
    assert made.bundle == b""
    assert made.why.startswith("This block waits for other blocks, or uses what they write")


def test_results_that_round_otherwise_are_counted(tmp_path: Path) -> None:
    given = np.linspace(1, 2, 64, dtype=np.float32)
    made = recorded("fused", (1, 1, 1), (64, 1, 1), [given, np.zeros(64, dtype=np.float32)], Choice())
    fused = (given.astype(np.float64) ** 2 + given[::-1]).astype(np.float32)
    apart = given * given + given[::-1]
    header, _ = header_of(made.named)
    assert header["differs"] == int((fused != apart).sum()) > 0


def test_the_fault_is_at_the_same_place_with_names(tmp_path: Path) -> None:
    given = np.ones(40, dtype=np.float32)
    arguments: list[Array | bytes] = [given, np.zeros(40, dtype=np.float32), struct.pack("<i", 40)]
    made = recorded("beyond", (2, 1, 1), (32, 1, 1), arguments, Choice())
    assert made.named, (made.why, made.named_why)
    assert (made.launch, made.block) == (0, [1, 0, 0])
    line = line_of("if (index <= n)")
    about, (state,) = states(made.named, tmp_path, (line, 0))
    assert (about["kind_name"], about["fault_line"]) == ("out_of_bounds", line)
    assert values(state)["index"] == ("int", [str(32 + lane) for lane in range(32)])
    assert values(state)["n"] == ("int", ["40"] * 32)


def test_a_race_of_two_blocks_has_names(tmp_path: Path) -> None:
    made = recorded("clash", (2, 1, 1), (32, 1, 1), [np.zeros(1, dtype=np.float32)], Choice())
    assert made.named, (made.why, made.named_why)
    about, (state,) = states(made.named, tmp_path, (line_of("if (threadIdx.x == 3)"), 0))
    assert about["kind_name"] == "global_race"
    assert about["before"] + about["index"][0] == 1
    assert values(state)["value"] == ("float", [f"{about['index'][0]}.5"] * 32)


def test_operands_have_the_type_that_their_instruction_uses(tmp_path: Path) -> None:
    given = np.linspace(1, 2, 64, dtype=np.float32)
    made = recorded("fused", (1, 1, 1), (64, 1, 1), [given, np.zeros_like(given)], Choice(), names=False)
    _, at_line = states(made.bundle, tmp_path, *((line_of("out[i] = in[i]"), 1, name) for name in (
        "add_s64", "load", "fma_f32", "store"
    )))  # fmt: skip
    shown = {
        state["name"]: {it["name"]: (it["kind"], it["values"]) for it in state["operands"]}
        for state in at_line
    }
    assert shown["add_s64"]["result"][0] == "s64"
    assert shown["load"]["result"][0] == "f32"
    kind, values_of_a = shown["fma_f32"]["a"]
    assert (kind, values_of_a) == ("f32", [pytest.approx(float(it)) for it in given[32:]])
    kind, stored = shown["store"]["value"]
    assert (kind, stored) == (
        "f32",
        [pytest.approx(float(a * a + b)) for a, b in zip(given, given[::-1], strict=True)][32:],
    )


@pytest.mark.parametrize("cut", [300, 3000, -2000])
def test_damaged_debug_information_yields_no_names(cut: int) -> None:
    text = ptx("-G")
    at = text.index(".section\t.debug_info")
    whole = text[: at + cut] + "\n}\n" if cut > 0 else text[:cut] + "\n}\n"
    for variable in debug_of(whole).variables:
        assert variable.name
