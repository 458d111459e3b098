"""Matrix products of every type, in the fragment layouts of the PTX ISA, against NumPy."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pytest

from grader.sandbox.emulator.engine import Engine, pack_arguments

HEAD = ".version 9.0\n.target sm_89\n.address_size 64\n"
BITS = {"u4": 4, "s4": 4, "b1": 1, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "f16": 16, "s32": 32, "f32": 32}


def run(engine: Engine, body: str, arrays: Sequence[np.ndarray], shared: str = "") -> None:
    """One warp; %p0, %p1 and so on are the arrays, %t the lane."""
    params = ", ".join(f".param .u64 k_{index}" for index in range(len(arrays)))
    loads = " ".join(f"ld.param.u64 %p{index}, [k_{index}];" for index in range(len(arrays)))
    text = (
        f"{HEAD}.visible .entry k({params})\n{{\n.reg .b64 %p<9>; .reg .b64 %q<9>; .reg .b32 %t; .reg .b32 %r<99>; "
        f"{shared}\nmov.u32 %t, %tid.x;\n{loads}\n{body}\nret;\n}}\n"
    )
    loaded = engine.load(text)
    addresses = [engine.adopt(array.ctypes.data, array.nbytes, written=True, keep=array) for array in arrays]
    packed = pack_arguments(
        engine.ready(loaded, "k").param_layout, [struct.pack("<Q", address) for address in addresses]
    )
    engine.launch(loaded, "k", (1, 1, 1), (32, 1, 1), packed)
    assert engine.findings() == []


def multiplied(
    engine: Engine, opcode: str, fragments: Sequence[np.ndarray], words: int, last: str = ""
) -> np.ndarray:
    """``fragments``: A, B and C, register by lane, and D in the same layout. ``last``: operands after C, with
    the registers of a fourth.
    """
    out = np.zeros((words, 32), "u4")
    body, names, used = [], [], 0
    for index, fragment in enumerate(fragments):
        body.append(f"mad.wide.u32 %q{index}, %t, 4, %p{index};")
        names.append([f"%r{used + index}" for index in range(len(fragment))])
        body += [f"ld.global.b32 {name}, [%q{index}+{128 * place}];" for place, name in enumerate(names[-1])]
        used += len(fragment)
    result = [f"%r{used + index}" for index in range(words)]
    operands = ", ".join("{" + ", ".join(names_of_one) + "}" for names_of_one in (result, *names[:3]))
    body.append(f"{opcode} {operands}{', ' if last else ''}{last};")
    body.append(f"mad.wide.u32 %q8, %t, 4, %p{len(fragments)};")
    body += [f"st.global.b32 [%q8+{128 * index}], {name};" for index, name in enumerate(result)]
    run(engine, "\n".join(body), [*(np.ascontiguousarray(fragment) for fragment in fragments), out])
    return out


def bits_of(values: np.ndarray, kind: str) -> np.ndarray:
    if kind in ("f16", "f32"):
        return (
            values.astype("f2" if kind == "f16" else "f4").view("u2" if kind == "f16" else "u4").astype("u4")
        )
    if kind in ("e4m3", "e5m2"):
        return values.astype("u4")  # drawn as bits
    return values.astype("i8").astype("u8").astype("u4") & np.uint32((1 << BITS[kind]) - 1)


def numbers_of(bits: np.ndarray, kind: str) -> np.ndarray:
    if kind not in ("e4m3", "e5m2"):
        return bits
    exponent_bits = 4 if kind == "e4m3" else 5
    mantissa_bits = 7 - exponent_bits
    exponent, mantissa = bits >> mantissa_bits & (1 << exponent_bits) - 1, bits & (1 << mantissa_bits) - 1
    scale = np.maximum(exponent, 1) - ((1 << exponent_bits - 1) - 1) - mantissa_bits
    size = (mantissa + ((exponent > 0) << mantissa_bits)) * np.exp2(scale.astype("f8"))
    signed: np.ndarray = np.where(bits & 0x80, -size, size)
    return signed


def drawn(kind: str, shape: tuple[int, int], generator: np.random.Generator) -> np.ndarray:
    if kind in ("f16", "f32"):
        return generator.integers(-8, 9, shape) / 4
    if kind in ("e4m3", "e5m2"):  # between 1/8 and 8, so that float32 sums them exactly
        exponent = generator.integers(4, 10, shape) if kind == "e4m3" else generator.integers(12, 18, shape)
        mantissa_bits = 3 if kind == "e4m3" else 2
        sign = generator.integers(0, 2, shape) << 7
        return sign | exponent << mantissa_bits | generator.integers(0, 1 << mantissa_bits, shape)
    low = -(1 << BITS[kind] - 1) if kind[0] == "s" else 0
    return generator.integers(low, low + (1 << BITS[kind]), shape)


def a_fragment(a: np.ndarray, kind: str) -> np.ndarray:
    """mma: a lane's group is its number by 4; a word has adjacent elements of one row."""
    per = 32 // BITS[kind]
    rows, columns = a.shape
    bits, tall = bits_of(a, kind), rows == 16
    out = np.zeros((rows * columns // per // 32, 32), "u4")
    for register in range(len(out)):
        for lane in range(32):
            row = lane // 4 + (8 * (register % 2) if tall else 0)
            first = lane % 4 * per + 4 * per * (register // 2 if tall else register)
            out[register, lane] = sum(int(bits[row, first + j]) << BITS[kind] * j for j in range(per))
    return out


def b_fragment(b: np.ndarray, kind: str) -> np.ndarray:
    return a_fragment(b.T, kind)


def c_place(register: int, lane: int) -> tuple[int, int]:
    return lane // 4 + 8 * (register // 2), lane % 4 * 2 + register % 2


INTEGERS = [
    *((shape, "u4", "s4") for shape in ((8, 8, 32), (16, 8, 32), (16, 8, 64))),
    ((16, 8, 64), "s4", "u4"), ((16, 8, 32), "s8", "u8"), ((8, 8, 16), "u8", "u8"),
    *((shape, "b1", "b1") for shape in ((8, 8, 128), (16, 8, 128), (16, 8, 256))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "left", "right"), INTEGERS, ids=lambda value: str(value).replace(", ", "x")
)
@pytest.mark.parametrize("flag", ["", "satfinite", "xor", "and"])
def test_integer_matrix_products_are_right(
    engine: Engine, shape: tuple[int, int, int], left: str, right: str, flag: str
) -> None:
    if (left == "b1") != (flag in ("xor", "and")):
        return
    m, n, k = shape
    generator = np.random.default_rng(31)
    a, b = drawn(left, (m, k), generator), drawn(right, (k, n), generator)
    c = generator.integers(2**31 - 4000, 2**31, (m, n))
    frame = np.array([[c[c_place(r, lane)] for lane in range(32)] for r in range(m // 4)]).astype("u4")
    ending = f".{flag}.popc" if flag in ("xor", "and") else ""
    middle = ".satfinite" if flag == "satfinite" else ""
    opcode = f"mma.sync.aligned.m{m}n{n}k{k}.row.col{middle}.s32.{left}.{right}.s32{ending}"
    got = multiplied(engine, opcode, [a_fragment(a, left), b_fragment(b, right), frame], m // 4)
    product = (a[:, :, None] != b[None]).sum(1) if flag == "xor" else a @ b
    want = np.clip(product + c, -(2**31), 2**31 - 1) if flag == "satfinite" else product + c
    expected = [[want[c_place(r, lane)] % 2**32 for lane in range(32)] for r in range(m // 4)]
    assert np.array_equal(got, np.array(expected).astype("u4"))


@pytest.mark.parametrize(("left", "right"), [("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e4m3", "e4m3")])
@pytest.mark.parametrize("k", [16, 32])
def test_fp8_matrix_products_are_right(engine: Engine, left: str, right: str, k: int) -> None:
    generator = np.random.default_rng(32)
    a, b = drawn(left, (16, k), generator), drawn(right, (k, 8), generator)
    c = generator.integers(-64, 64, (16, 8)) / 4
    frame = np.array([[c[c_place(r, lane)] for lane in range(32)] for r in range(4)], "f4").view("u4")
    opcode = f"mma.sync.aligned.m16n8k{k}.row.col.f32.{left}.{right}.f32"
    got = multiplied(engine, opcode, [a_fragment(a, left), b_fragment(b, right), frame], 4).view("f4")
    want = numbers_of(a, left) @ numbers_of(b, right) + c
    assert got.tolist() == [[want[c_place(r, lane)] for lane in range(32)] for r in range(4)]


SPARSE = [
    ("f16", 16, 4), ("f16", 32, 2), ("tf32", 8, 4), ("tf32", 16, 2), ("s8", 32, 2), ("u8", 64, 1), ("s4", 64, 2),
    ("u4", 128, 1), ("e4m3", 64, 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "k", "selector"), [(kind, k, index) for kind, k, count in SPARSE for index in range(count)]
)
def test_sparse_matrix_products_are_right(engine: Engine, kind: str, k: int, selector: int) -> None:
    """Draws a dense A with half of each chunk empty, and makes registers and metadata from it row by row."""
    generator = np.random.default_rng(36)
    width = {"tf32": 2, "s4": 8, "u4": 8}.get(kind, 4)  # of a chunk; in pairs for elements of 4 bits
    chosen = np.sort(generator.permuted(np.tile(np.arange(4), (16, k // width, 1)), axis=2)[:, :, :2], axis=2)
    if kind == "tf32":  # the first or the second of two, which count for two places each
        chosen = generator.integers(0, 2, (16, k // 2, 1)) * 2 + np.array([0, 1])
    values = "f32" if kind == "tf32" else kind
    packed, b = drawn(values, (16, k // 2), generator), drawn(values, (k, 8), generator)
    a = np.zeros((16, k), packed.dtype)
    e = np.zeros(32, "u4") + np.uint32(0xE4E4E4E4)  # lanes without a part give places, too
    for row in range(16):
        group, upper = row % 8, row // 8
        for chunk in range(k // width):
            low, high = (int(value) for value in chosen[row, chunk])
            at = [low, high]
            if width != 4:
                at = [low // 2] if width == 2 else [2 * low, 2 * low + 1, 2 * high, 2 * high + 1]
            a[row, [chunk * width + value for value in at]] = packed[
                row, chunk * len(at) : (chunk + 1) * len(at)
            ]
            if BITS[values] >= 16:
                lane = selector if k // width == 4 else 2 * selector + chunk // 4
                shift = 16 * upper + 4 * (chunk % 4)
            else:
                lane, shift = 2 * (selector if k // width == 8 else chunk // 8) + upper, 4 * (chunk % 8)
            cleared = int(e[4 * group + lane]) & ~(15 << shift)
            e[4 * group + lane] = cleared | (low | high << 2) << shift
    c = generator.integers(-64, 64, (16, 8))
    frame = np.array([[c[c_place(r, lane)] for lane in range(32)] for r in range(4)])
    whole = kind[0] in "su"
    frame = frame.astype("i4" if whole else "f4").view("u4")
    result = "s32" if whole else "f32"
    opcode = f"mma.sp.sync.aligned.m16n8k{k}.row.col.{result}.{kind}.{kind}.{result}"
    fragments = [a_fragment(packed, values), b_fragment(b, values), frame, e[None]]
    got = multiplied(engine, opcode, fragments, 4, f"%r{sum(map(len, fragments[:3]))}, {selector}")
    want = numbers_of(a, kind) @ numbers_of(b, kind) + c
    expected = [[want[c_place(r, lane)] for lane in range(32)] for r in range(4)]
    assert got.view("i4" if whole else "f4").tolist() == expected


def _quad(lane: int) -> tuple[int, int]:
    """Its number, and what a lane of the upper sixteen adds."""
    return lane % 16 // 4, 4 * (lane // 16)


@pytest.mark.parametrize("layouts", ["row.col", "col.row", "row.row", "col.col"])
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_quad_matrix_products_are_right(engine: Engine, layouts: str, kind: str) -> None:
    generator = np.random.default_rng(33)
    a = drawn("f16", (32, 4), generator).reshape(4, 8, 4)
    b = drawn("f16", (16, 8), generator).reshape(4, 4, 8)
    c = drawn("f16", (32, 8), generator).reshape(4, 8, 8)
    a_layout, b_layout = layouts.split(".")

    def a_at(lane: int, i: int) -> float:
        quad, upper = _quad(lane)
        return float(a[(quad, lane % 4 + upper, i) if a_layout == "row" else (quad, i + upper, lane % 4)])

    def b_at(lane: int, i: int) -> float:
        quad, upper = _quad(lane)
        return float(b[(quad, lane % 4, i + upper) if b_layout == "row" else (quad, i, lane % 4 + upper)])

    def c_at(lane: int, i: int) -> tuple[int, int, int]:
        quad, upper = _quad(lane)
        if kind == "f16":
            return quad, lane % 4 + upper, i
        return quad, (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)

    def halves(at: Sequence[Sequence[float]]) -> np.ndarray:
        return np.ascontiguousarray(np.array(at, "f2")).view("u4").T

    fragments = [halves([[f(lane, i) for i in range(4)] for lane in range(32)]) for f in (a_at, b_at)]
    start = np.array([[c[c_at(lane, i)] for i in range(8)] for lane in range(32)])
    fragments.append(halves(start.tolist()) if kind == "f16" else start.T.astype("f4").view("u4"))
    opcode = f"mma.sync.aligned.m8n8k4.{layouts}.{kind}.f16.f16.{kind}"
    got = multiplied(
        engine, opcode, [np.ascontiguousarray(fragment) for fragment in fragments], 4 if kind == "f16" else 8
    )
    want = a @ b + c
    found = np.ascontiguousarray(got.T).view("f2" if kind == "f16" else "f4")
    assert found.tolist() == [[want[c_at(lane, i)] for i in range(8)] for lane in range(32)]


@pytest.mark.parametrize(("kind", "k"), [("u4", 32), ("s4", 32), ("b1", 128)])
def test_sub_byte_fragments_are_right(engine: Engine, kind: str, k: int) -> None:
    generator = np.random.default_rng(34)
    a, b = drawn(kind, (8, k), generator), drawn(kind, (k, 8), generator)
    per = 32 // BITS[kind]

    def packed(matrix: np.ndarray) -> np.ndarray:
        weights = np.uint64(1) << np.arange(0, 32, BITS[kind], dtype="u8")
        words: np.ndarray = (bits_of(matrix, kind).reshape(8, k // per, per) * weights).sum(2)
        return words.astype("u4")

    stride = 2 * k  # rows are further apart than their length
    words = [np.concatenate([packed(array), np.zeros((8, k // per), "u4")], 1) for array in (a, b.T)]
    out, start = np.zeros((8, 8), "i4"), generator.integers(-9, 9, (8, 8)).astype("i4")
    multiply = "wmma.mma.xor.popc" if kind == "b1" else "wmma.mma"
    body = f"""
wmma.load.a.sync.aligned.row.m8n8k{k}.global.{kind} {{%r0}}, [%p0], {stride};
wmma.load.b.sync.aligned.col.m8n8k{k}.global.{kind} {{%r1}}, [%p1], {stride};
wmma.load.c.sync.aligned.row.m8n8k{k}.global.s32 {{%r2, %r3}}, [%p2], 8;
{multiply}.sync.aligned.row.col.m8n8k{k}.s32.{kind}.{kind}.s32 {{%r4, %r5}}, {{%r0}}, {{%r1}}, {{%r2, %r3}};
wmma.store.d.sync.aligned.row.m8n8k{k}.global.s32 [%p3], {{%r4, %r5}}, 8;"""
    run(engine, body, [*(np.ascontiguousarray(value) for value in words), start, out])
    product = (a[:, :, None] != b[None]).sum(1) if kind == "b1" else a @ b
    assert np.array_equal(out, product + start)


@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_can_be_stored_loaded_and_transposed(engine: Engine, transposed: bool) -> None:
    given = np.random.default_rng(35).integers(0, 2**32, (4, 32)).astype("u4")
    out = np.zeros((5, 32), "u4")
    trans = ".trans" if transposed else ""
    registers = "{%r0, %r1, %r2, %r3}"
    body = f"""
mad.wide.u32 %q0, %t, 4, %p0; mad.wide.u32 %q1, %t, 4, %p1;
shl.b32 %r9, %t, 4; mov.u32 %r8, room; add.u32 %r9, %r9, %r8;
{" ".join(f"ld.global.b32 %r{index}, [%q0+{128 * index}];" for index in range(4))}
movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r0;
stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%r9], {registers};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {registers}, [%r9];
{" ".join(f"st.global.b32 [%q1+{128 * index}], %r{index};" for index in range(5))}"""
    run(engine, body, [given, out], ".shared .align 16 .b8 room[512];")
    halves = given.view("u2").reshape(4, 8, 8)
    turned = np.ascontiguousarray(halves.transpose(0, 2, 1))
    assert np.array_equal(out[:4].view("u2").reshape(4, 8, 8), turned if transposed else halves)
    assert np.array_equal(out[4].view("u2").reshape(8, 8), turned[0])
