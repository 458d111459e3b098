"""The log and the table made from a compiler's output, which strangers control."""

from __future__ import annotations

import time

import pytest

from grader import limits
from grader.sandbox.compiler.explain import clean_log
from grader.sandbox.compiler.usage import kernels_of


def test_spills_stack_and_constants_are_parsed() -> None:
    told = """ptxas info    : 256 bytes gmem, 256 bytes cmem[3]
ptxas info    : Compiling entry function 'void wide<4>(float*, int)' for 'sm_80'
ptxas info    : Function properties for void wide<4>(float*, int)
    3328 bytes stack frame, 5904 bytes spill stores, 7488 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 512 bytes smem, 364 bytes cmem[0], 16 bytes cmem[2]
ptxas info    : Compiling entry function 'plain' for 'sm_90a'
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 11 registers, used 0 barriers
"""
    wide, plain = kernels_of(told)
    assert (wide.name, wide.registers, wide.shared_bytes, wide.constant_bytes) == ("wide<4>", 32, 512, 380)
    assert (wide.stack_bytes, wide.spill_stores, wide.spill_loads, wide.spills) == (3328, 5904, 7488, True)
    assert (plain.registers, plain.shared_bytes, plain.constant_bytes, plain.spills) == (11, 0, None, False)


def test_malformed_resource_lines_are_ignored() -> None:
    assert kernels_of("ptxas info : Used 9999999999999999999 registers\nnonsense") == ()
    lie = "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Used 99999999999999999 registers"
    assert kernels_of(lie)[0].registers <= 2**31


@pytest.mark.parametrize("end", ["", " bytes smem", " bytes cmem[", " registers"])
def test_endless_numbers_cost_no_time(end: str) -> None:
    """A source can print such lines itself, and the judge reads the table, outside of the box."""
    head = "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Used 1 registers, "
    began = time.monotonic()
    kernels_of(head + "9" * limits.COMPILE_LOG_BYTES + end)
    assert time.monotonic() - began < 2.0


def test_the_log_is_printable() -> None:
    assert clean_log("\x1b[31mred\x1b[0m \x07\u202e\x00ok\r\n") == "red ok"
    assert clean_log("/tmp/a-b/c/tmpxft_0000f1_00000000-6_solution.cu(3): no") == "solution.cu(3): no"
    assert len(clean_log("é" * limits.COMPILE_LOG_BYTES).encode()) <= limits.COMPILE_LOG_BYTES
