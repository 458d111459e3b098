"""Who wrote the first wrong element, through judge and box; and a box that answers nonsense."""

from __future__ import annotations

import base64
import socket
import struct
import zlib
from collections.abc import Iterator
from string import Template
from types import SimpleNamespace

import pytest

from grader.judge.channel import Channel
from grader.judge.explaining.records.error_map import with_writers
from grader.judge.messages import ADAPTER, Writers
from grader.judge.runner_client import RunnerClient
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.error_map import (
    FIRST_BLOCK,
    UNWRITTEN,
    By,
    ErrorMap,
    ErrorWindow,
)
from tests.components import need
from tests.judge.case_judge import CaseJudge

# Each block of 16 x 8 threads transposes its tile, in line 6.
CUDA = """#include <cstdint>
__global__ void turn(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < cols$mask) {
        float value = x[row * cols + column];
        out[column * rows + row] = value$wrong;
    }
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    dim3 block(16, 8), grid((cols + 15) / 16, (rows + 7) / 8);
    if (rows && cols) turn<<<grid, block>>>(x, out, rows, cols);$behind
}
"""
TRITON = """import torch
import triton
import triton.language as tl


@triton.jit
def turn(x, out, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + row * cols + columns, mask=columns < cols)
    tl.store(out + columns * rows + row, values$wrong, mask=columns < cols)


def solve(x, out, rows, cols):
    if rows and cols:
        turn[(rows, triton.cdiv(cols, 32))](x, out, rows, cols, BLOCK=32)
    $behind
"""
CASE = "basic"


def map_of(judge: CaseJudge, source: str, sentence: str = "") -> tuple[list[int], ErrorMap]:
    """The first wrong element, and the map. ``sentence``: of the failure."""
    case = judge.judge(source, "transpose", CASE)
    mismatch = case.mismatch
    assert mismatch
    assert sentence in case.detail
    assert mismatch.map
    assert mismatch.index
    return mismatch.index, mismatch.map


@pytest.fixture(scope="module")
def cuda(local_boxes: BoxMaker) -> Iterator[CaseJudge]:
    need("nvcc")
    need("emulator")
    judge = CaseJudge(local_boxes, Language.CUDA)
    yield judge
    judge.close()


def test_thread_block_and_line_of_a_wrong_element_and_the_blocks_around_it(cuda: CaseJudge) -> None:
    wrong = " + (row == 9 && column == 21)"
    index, found = map_of(cuda, Template(CUDA).substitute(mask="", wrong=wrong, behind=""))
    assert index == [21, 9]
    assert found.writer
    assert found.writer.sentence == "Thread (5, 1) of block (1, 1) of turn wrote it last"
    assert found.writer.lines == [6]
    assert found.blocks
    ids, rows = found.blocks.ids(found.rows * found.columns), found.shape[1]
    assert ids[21 * rows + 9] == ids[16 * rows + 8] == ids[31 * rows + 15] != ids[21 * rows + 7]
    assert found.blocks.kernels == ["turn"]


def test_an_element_that_nothing_wrote_and_one_that_a_memset_wrote(cuda: CaseJudge) -> None:
    mask = " && !(row == 9 && column == 21)"
    why = "thread 5 of block (1, 1) writes out[21, 8], thread (5, 1) of block (1, 1) would write it, and does not."
    _, found = map_of(cuda, Template(CUDA).substitute(mask=mask, wrong="", behind=""), why)
    assert found.writer
    assert found.writer.by is By.NOBODY
    assert found.blocks
    assert found.blocks.ids(found.rows * found.columns)[21 * found.shape[1] + 9] == UNWRITTEN
    _, found = map_of(
        cuda, Template(CUDA).substitute(mask="", wrong="", behind="\n    cudaMemset(out + 8, 0, 4);")
    )
    assert found.writer
    assert (found.writer.by, found.writer.lines) == (By.COPY, [12])


def test_program_and_line_of_a_wrong_element_and_what_torch_changed_later(local_boxes: BoxMaker) -> None:
    need("emulator")
    judge = CaseJudge(local_boxes, Language.TRITON)
    try:
        index, found = map_of(judge, Template(TRITON).substitute(wrong=" + (columns == 40)", behind=""))
        assert index == [40, 0]
        assert found.writer
        assert found.writer.sentence == "Program (0, 1) of turn wrote it last"
        assert found.writer.lines == [11]
        _, found = map_of(judge, Template(TRITON).substitute(wrong="", behind="out[0, 3] = 1e9"))
        assert found.writer
        assert found.writer.by is By.HOST
    finally:
        judge.close()


MAP = ErrorMap(
    shape=[2, 2], width=2, tile=(1, 1), rows=2, columns=2, lowest=0, cells="",
    window=ErrorWindow(first=[], values={}),
)  # fmt: skip


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def said(ids: list[int], rows: int, launch: int = 0, kernels: int = 1) -> Writers:
    table = struct.pack("<4I", launch, 1, 2, 3) * rows
    blocks = {
        "cells": packed(struct.pack(f"<{len(ids)}H", *ids)),
        "table": packed(table),
        "kernels": ["k"] * kernels,
    }
    return Writers.model_validate({"op": "writers", "blocks": blocks})


@pytest.mark.parametrize(
    "answer",
    [
        said([0] * 3, 1),
        said([0] * 5, 1),
        said([0, 0, 0, FIRST_BLOCK + 1], 1),
        said([0, 0, 0, FIRST_BLOCK], 1, launch=1),
        said([FIRST_BLOCK] * 4, 1, kernels=0),
        said([FIRST_BLOCK] * 4, 100_000),
        Writers.model_validate(
            {"op": "writers", "blocks": {"cells": "no zlib", "table": "\0", "kernels": []}}
        ),
    ],
)
def test_blocks_that_do_not_fit_the_map_are_left_out(answer: Writers) -> None:
    assert with_writers(MAP, answer, programs=False).blocks is None


def test_blocks_that_fit_are_kept() -> None:
    found = with_writers(MAP, said([0, 1, 2, 3], 2), programs=False)
    assert found.blocks
    assert list(found.blocks.ids(4)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "first",
    [
        '{"by": "judge"}',
        '{"by": "thread", "kernel": "k;"}',
        '{"by": "thread", "block": [0, 0]}',
        '{"by": "thread", "lines": [1, 2, 3, 4, 5, 6, 7]}',
        '{"by": "thread", "thread": [-1, 0, 0]}',
    ],
)
def test_a_writer_out_of_bounds_is_no_message(first: str) -> None:
    with pytest.raises(ValueError, match="first"):
        ADAPTER.validate_json(f'{{"op": "writers", "first": {first}}}')


@pytest.mark.parametrize(
    "answer", [b"", b"no message", b'{"op": "bound"}', b'{"op": "writers", "first": {"by": "judge"}}']
)
def test_a_box_that_answers_nonsense_is_lost_and_the_report_goes_on(answer: bytes) -> None:
    judges, boxes = socket.socketpair()
    client = RunnerClient.__new__(RunnerClient)
    client.box = SimpleNamespace(cpu_seconds=lambda: 0.0)  # type: ignore[assignment]
    client._device = SimpleNamespace(modelled=True, on_processor=True)  # type: ignore[assignment]
    client._channel, client.lost = Channel(judges), False
    with judges, boxes:
        boxes.sendall(struct.pack("<I", len(answer)) + answer)
        boxes.shutdown(socket.SHUT_WR)
        assert client.writers("out", 0, MAP) is None
    assert client.lost
