"""Each access of a Triton kernel has its own line, whatever its kind and width, inlined library code included."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

from grader.sandbox.emulator.ptx import Function, Instruction, parse

# Compiles every kernel of a file to PTX, without a GPU: {kernel: PTX}.
COMPILE = """
import importlib.util, json, sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["solution"] = module
spec.loader.exec_module(module)
found = {}
for name, (types, constants) in json.loads(sys.argv[2]).items():
    kernel = getattr(module, name)
    names = kernel.arg_names
    signature = {argument: types.get(argument, "constexpr") for argument in names}
    aligned = {(names.index(argument),): [["tt.divisibility", 16]] for argument in types}
    values = {(names.index(argument),): value for argument, value in constants.items()}
    source = ASTSource(kernel, signature, values, aligned)
    found[name] = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
print(json.dumps(found))
"""
HEAD = "import triton\nimport triton.language as tl\n\n\n"
# The lines that access memory end in a comment with the PTX instructions that may do it.
ELEMENTWISE = """@triton.jit
def {name}(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i{mask})  # ld
    y = tl.load(b + i{mask})  # ld
    tl.store(out + i, x + y{mask})  # st


"""
OTHERS = """@triton.jit
def helper(p, i, n):
    return tl.load(p + i, mask=i < n, other=0.0)  # ld


@triton.jit
def reduces(a, t, out, n, BLOCK: tl.constexpr):
    q = tl.arange(0, BLOCK)
    s = tl.sum(helper(a, q, n))  # ld st bar
    tl.store(t + q, s)  # st
    tl.store(out, tl.max(tl.load(t + q)))  # ld st bar


@triton.jit
def agrees(a, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n)  # ld
    tl.atomic_add(out + i, x)  # red atom
    old = tl.atomic_max(out + i, x)  # red atom ld st ldmatrix
    tl.atomic_cas(out, 0.0, 1.0)  # atom
    tl.store(a + i, old)  # st ld


@triton.jit
def multiplies(a, b, out, k, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B, B), dtype=tl.float32)
    for p in range(0, k, B):
        x = tl.load(a + i[:, None] * k + p + i[None, :])  # ld cp
        y = tl.load(b + (p + i[:, None]) * B + i[None, :])  # ld cp
        total = tl.dot(x, y, total)  # ld st ldmatrix wgmma
    tl.store(out + i[:, None] * B + i[None, :], total)  # st ld


@triton.jit
def describes(a, out, m, n, B: tl.constexpr):
    here = tl.make_tensor_descriptor(a, [m, n], [n, 1], [B, B])  # st cp
    there = tl.make_tensor_descriptor(out, [m, n], [n, 1], [B, B])  # st cp
    tile = here.load([0, 0])  # cp ld mbarrier
    there.store([0, 0], tile)  # cp st
"""
_ACCESSES = ("ld", "st", "atom", "red", "cp", "ldmatrix", "wgmma")
# Parts of names of instructions that only order accesses.
_ORDERS = {"commit_group", "wait_group", "fence"}
# Triton's types; the width shows how many of a thread's four elements one instruction takes.
WIDTHS = {"u8": "i8", "u16": "fp16", "u32": "fp32", "u64": "fp64"}


@dataclass
class Lines:
    """``wanted``: the instructions that a line may make, by line. ``decorators``: where functions begin."""

    wanted: dict[int, list[str]]
    decorators: list[int]
    functions: dict[str, Function]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    pytest.importorskip("triton")
    kernels, text = {}, HEAD
    for kind, triton_type in WIDTHS.items():
        for block in (128, 256, 512, 2048):
            for masked in (False, True):
                name = f"add_{kind}_{block}_{'masked' if masked else 'plain'}"
                text += ELEMENTWISE.format(name=name, mask=", mask=i < n" * masked)
                pointers = dict.fromkeys(("a", "b", "out"), f"*{triton_type}")
                kernels[name] = ({**pointers, "n": "i32"}, {"BLOCK": block})
    text += OTHERS
    floats = dict.fromkeys(("a", "b", "t", "out"), "*fp32")
    halves = dict.fromkeys(("a", "b"), "*fp16")
    kernels["reduces"] = ({name: floats[name] for name in ("a", "t", "out")} | {"n": "i32"}, {"BLOCK": 512})
    kernels["agrees"] = ({name: floats[name] for name in ("a", "out")} | {"n": "i32"}, {"BLOCK": 512})
    kernels["multiplies"] = (halves | {"out": "*fp32", "k": "i32"}, {"B": 64})
    kernels["describes"] = ({"a": "*fp16", "out": "*fp16", "m": "i32", "n": "i32"}, {"B": 64})
    path = tmp_path_factory.mktemp("lines") / "solution.py"
    path.write_text(text)
    ran = subprocess.run(
        [sys.executable, "-c", COMPILE, path, json.dumps(kernels)], capture_output=True, text=True, check=True
    )
    functions = {name: parse(ptx).functions[name] for name, ptx in json.loads(ran.stdout).items()}
    numbered = list(enumerate(text.split("\n"), 1))
    marks = {number: line.partition("# ")[2].split() for number, line in numbered if "  # " in line}
    return Lines(marks, [number for number, line in numbered if line == "@triton.jit"], functions)


def accesses(function: Function) -> list[Instruction]:
    """Instructions that reach memory, except reads of a kernel's arguments."""
    found = [item for item in function.body if isinstance(item, Instruction) and item.name in _ACCESSES]
    return [
        access for access in found if "param" not in access.modifiers and not _ORDERS & set(access.modifiers)
    ]


def test_every_access_is_attributed_to_its_source_line(lines: Lines) -> None:
    widths = set()
    for name, function in lines.functions.items():
        found = accesses(function)
        assert found, name
        for access in found:
            assert access.name in lines.wanted.get(access.place.line, []), (
                f"{name}: {access.opcode} in {access.place}"
            )
            widths |= {part for part in access.modifiers if re.fullmatch(r"v[248]", part)} or {"v1"}
    assert widths == {"v1", "v2", "v4"}


def test_no_line_of_an_access_is_lost(lines: Lines) -> None:
    for name, function in lines.functions.items():
        found = {access.place.line for access in accesses(function)}
        lines_of_kernel = set(_lines_of(name, lines))
        assert lines_of_kernel <= found, f"{name}: nothing in lines {sorted(lines_of_kernel - found)}"


def _lines_of(name: str, lines: Lines) -> list[int]:
    """The marked lines of a kernel, which ends before the next function."""
    first = lines.functions[name].place.line
    last = min((line for line in lines.decorators if line > first), default=1 << 30)
    # A reduction within a warp, or a barrier, may leave no access.
    return [
        line for line, marks in lines.wanted.items() if first < line < last and marks and "bar" not in marks
    ]
