"""Each operation against NumPy's, on values of all its type, bit for bit except the payload of NaN."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest

from grader.sandbox.emulator.engine import Engine, pack_arguments

COUNT = 4096
EDGES = {
    "f32": [
        0.0,
        -0.0,
        1.0,
        -1.0,
        np.inf,
        -np.inf,
        np.nan,
        1e-45,
        -1e-40,
        3.4e38,
        1.17549435e-38,
        16777217.0,
        0.5,
        2.5,
    ],
    "f64": [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1.7e308, 0.1, 9007199254740993.0],
}
NUMPY = {
    "u16": "u2", "s16": "i2", "u32": "u4", "s32": "i4", "u64": "u8", "s64": "i8", "f32": "f4", "f64": "f8",
    "b16": "u2", "b32": "u4", "b64": "u8",
}  # fmt: skip
Function = Callable[..., np.ndarray]


def values(kind: str, generator: np.random.Generator) -> np.ndarray:
    dtype = np.dtype(NUMPY[kind])
    drawn = np.frombuffer(generator.bytes(COUNT * dtype.itemsize), dtype).copy()
    if kind in EDGES:
        drawn[: COUNT // 2] = generator.standard_normal(COUNT // 2)
        drawn[: len(EDGES[kind])] = EDGES[kind]
        generator.shuffle(drawn)
    else:
        info = np.iinfo(dtype)
        drawn[:6] = [0, 1, info.max, info.min, info.max - 1, 2]
        drawn[6:200] = generator.integers(0, 40, 194)
        generator.shuffle(drawn)
    return drawn


def computed(engine: Engine, opcode: str, result: str, *operands: tuple[str, np.ndarray]) -> np.ndarray:
    """Runs ``opcode`` on whole arrays, a thread for each element; text with a blank uses %d, %x0, %x1 and so on."""
    loads = [f"ld.global.{kind} %x{index}, [%p{index}];" for index, (kind, _) in enumerate(operands)]
    registers = [f".reg .{kind} %x{index};" for index, (kind, _) in enumerate(operands)]
    address = [
        f"ld.param.u64 %p{index}, [k_param_{index}]; "
        f"mad.wide.u32 %p{index}, %i, {np.dtype(NUMPY[kind]).itemsize}, %p{index};"
        for index, kind in enumerate([*(kind for kind, _ in operands), result])
    ]
    count = len(operands)
    text = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k({", ".join(f".param .u64 k_param_{index}" for index in range(count + 1))})
{{
.reg .b64 %p<5>; .reg .b32 %i, %t, %n; .reg .{result} %d;
{" ".join(registers)}
mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 128, %t;
{" ".join(address)}
{" ".join(loads)}
{opcode if " " in opcode else f"{opcode} %d, " + ", ".join(f"%x{index}" for index in range(count))};
st.global.{result} [%p{count}], %d;
ret;
}}
"""
    out = np.zeros(COUNT, NUMPY[result])
    arrays = [np.ascontiguousarray(operand) for _, operand in operands] + [out]
    addresses = [engine.adopt(array.ctypes.data, array.nbytes, written=True, keep=array) for array in arrays]
    loaded = engine.load(text)
    layout = engine.ready(loaded, "k").param_layout
    params = pack_arguments(layout, [struct.pack("<Q", address) for address in addresses])
    engine.launch(loaded, "k", (COUNT // 128, 1, 1), (128, 1, 1), params)
    assert engine.findings() == []
    return out


def same(got: np.ndarray, want: np.ndarray) -> bool:
    if got.dtype.kind == "f":
        both = np.isnan(got) & np.isnan(want)
        return bool(((got.view(f"u{got.itemsize}") == want.view(f"u{got.itemsize}")) | both).all())
    return bool((got == want).all())


def _high(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    products = [(int(x) * int(y)) >> bits for x, y in zip(a, b, strict=True)]
    return np.array(products, dtype=object).astype(a.dtype)


def _divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return np.array([(abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs]).astype(
        a.dtype
    )


def _fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Products are exact in float64; an inexact sum is rounded to odd, so float32 is rounded once."""
    product, addend = a.astype("f8") * b, c.astype("f8")
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    bits = total.view("i8")
    fix = np.isfinite(total) & (lost != 0) & (bits % 2 == 0)
    return np.where(fix, (bits + np.where((lost > 0) == (total > 0), 1, -1)).view("f8"), total).astype("f4")


def _clipped(a: np.ndarray, low: float, high: float) -> np.ndarray:
    """Converts floats to integers: too large values become the largest, NaN becomes 0."""
    return np.clip(np.nan_to_num(a.astype("f8"), nan=0), low, high)


def _shift(function: Function, bits: int) -> Function:
    def shifted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        all_of_it = function(a, np.array(bits - 1, a.dtype)) if a.dtype.kind == "i" else np.zeros_like(a)
        return np.where(b >= bits, all_of_it, function(a, b.astype(a.dtype) % bits)).astype(a.dtype)

    return shifted


def _on_pairs(kind: str, function: Function) -> Function:
    """On the 16-bit halves of words."""

    def both(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        halves = function(a.view(NUMPY[kind]).astype("i4"), b.view(NUMPY[kind]).astype("i4"))
        return halves.astype("i2").view("u4")

    return both


BINARY: list[tuple[str, str, Function]] = [
    *((f"add.{kind}", kind, lambda a, b: a + b) for kind in ("u16", "s32", "u64", "f32", "f64")),
    *((f"sub.{kind}", kind, lambda a, b: a - b) for kind in ("s16", "u32", "s64", "f32", "f64")),
    *((f"mul.{kind}", kind, lambda a, b: a * b) for kind in ("f32", "f64")),
    *((f"mul.lo.{kind}", kind, lambda a, b: a * b) for kind in ("u16", "s32", "u64")),
    *((f"mul.hi.{kind}", kind, lambda a, b: _high(a, b, 8 * a.itemsize)) for kind in ("u32", "s32", "u64", "s64")),
    *((f"div.{kind}", kind, lambda a, b: a / b) for kind in ("rn.f32", "rn.f64")),
    *((f"min.{kind}", kind, np.fmin) for kind in ("u32", "s32", "u64", "s64")),
    *((f"max.{kind}", kind, np.fmax) for kind in ("u16", "s16", "u32", "s32")),
    ("min.relu.s32", "s32", lambda a, b: np.maximum(np.minimum(a, b), 0)),
    ("max.relu.s32", "s32", lambda a, b: np.maximum(np.maximum(a, b), 0)),
    *((f"add.{kind}x2", "b32", _on_pairs(kind, lambda a, b: a + b)) for kind in ("u16", "s16")),
    *((f"min.{kind}x2", "b32", _on_pairs(kind, np.minimum)) for kind in ("u16", "s16")),
    *((f"max.{kind}x2", "b32", _on_pairs(kind, np.maximum)) for kind in ("u16", "s16")),
    ("add.sat.u16x2", "b32", _on_pairs("u16", lambda a, b: np.minimum(a + b, 65535))),
    ("add.sat.s16x2", "b32", _on_pairs("s16", lambda a, b: np.clip(a + b, -32768, 32767))),
    ("min.relu.s16x2", "b32", _on_pairs("s16", lambda a, b: np.maximum(np.minimum(a, b), 0))),
    ("max.relu.s16x2", "b32", _on_pairs("s16", lambda a, b: np.maximum(np.maximum(a, b), 0))),
    ("and.b32", "b32", np.bitwise_and),
    ("or.b32", "b32", np.bitwise_or),
    ("xor.b32", "b32", np.bitwise_xor),
]  # fmt: skip
UNARY: list[tuple[str, str, str, Function]] = [
    ("neg.s32", "s32", "s32", np.negative),
    ("abs.f32", "f32", "f32", np.abs),
    ("sqrt.rn.f32", "f32", "f32", np.sqrt),
    ("sqrt.rn.f64", "f64", "f64", np.sqrt),
    ("rcp.rn.f32", "f32", "f32", lambda a: np.float32(1) / a),
    ("popc.b32", "b32", "u32", lambda a: np.array([int(x).bit_count() for x in a], "u4")),
    ("clz.b64", "b64", "u32", lambda a: np.array([64 - int(x).bit_length() for x in a], "u4")),
    ("brev.b32", "b32", "b32", lambda a: np.array([int(f"{int(x):032b}"[::-1], 2) for x in a], "u4")),
    ("cvt.rn.f32.s32", "s32", "f32", lambda a: a.astype("f4")),
    ("cvt.rn.f32.u64", "u64", "f32", lambda a: a.astype("f4")),
    ("cvt.rn.f64.s64", "s64", "f64", lambda a: a.astype("f8")),
    ("cvt.rn.f32.f64", "f64", "f32", lambda a: a.astype("f4")),
    ("cvt.f64.f32", "f32", "f64", lambda a: a.astype("f8")),
    ("cvt.rni.f32.f32", "f32", "f32", np.rint),
    ("cvt.rmi.f32.f32", "f32", "f32", np.floor),
    ("cvt.rzi.f64.f64", "f64", "f64", np.trunc),
    ("cvt.rzi.s32.f32", "f32", "s32", lambda a: _clipped(a, -(2.0**31), 2.0**31 - 1).astype("i4")),
    ("cvt.rni.u32.f32", "f32", "u32", lambda a: _clipped(np.rint(a), 0, 2.0**32 - 1).astype("u4")),
    ("cvt.s64.s32", "s32", "s64", lambda a: a.astype("i8")),
    ("cvt.u64.u32", "u32", "u64", lambda a: a.astype("u8")),
    ("cvt.u32.u64", "u64", "u32", lambda a: a.astype("u4")),
    ("cvt.sat.u32.s32", "s32", "u32", lambda a: np.maximum(a, 0).astype("u4")),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("opcode", "kind", "function"), BINARY, ids=[case[0] for case in BINARY])
def test_operations_on_two_operands_match_numpy(
    engine: Engine, opcode: str, kind: str, function: Function
) -> None:
    generator, kind = np.random.default_rng(7), kind.rpartition(".")[2]
    a, b = values(kind, generator), values(kind, generator)
    assert same(computed(engine, opcode, kind, (kind, a), (kind, b)), function(a, b))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("opcode", "kind", "result", "function"), UNARY, ids=[case[0] for case in UNARY])
def test_operations_on_one_operand_match_numpy(
    engine: Engine, opcode: str, kind: str, result: str, function: Function
) -> None:
    a = values(kind, np.random.default_rng(8))
    assert same(computed(engine, opcode, result, (kind, a)), function(a).astype(NUMPY[result]))


@pytest.mark.parametrize("kind", ["u32", "s32", "s64"])
def test_division_rounds_toward_zero(engine: Engine, kind: str) -> None:
    generator = np.random.default_rng(9)
    a, b = values(kind, generator), values(kind, generator)
    info = np.iinfo(b.dtype)
    defined = (b != 0) & ~((a == info.min) & (b.astype("i8") == -1))
    b = np.where(defined, b, 3).astype(b.dtype)
    assert same(computed(engine, f"div.{kind}", kind, (kind, a), (kind, b)), _divided(a, b))


@pytest.mark.parametrize(
    ("opcode", "kind"), [("shl.b32", "b32"), ("shr.u32", "u32"), ("shr.s32", "s32"), ("shr.s64", "s64")]
)
def test_a_shift_beyond_the_width_clears(engine: Engine, opcode: str, kind: str) -> None:
    generator = np.random.default_rng(10)
    a, b = values(kind, generator), generator.integers(0, 80, COUNT).astype("u4")
    function = np.left_shift if opcode.startswith("shl") else np.right_shift
    got = computed(engine, opcode, kind, (kind, a), ("u32", b))
    assert same(got, _shift(function, 8 * a.itemsize)(a, b))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fma_rounds_once(engine: Engine) -> None:
    generator = np.random.default_rng(11)
    a, b, c = (values("f32", generator) for _ in range(3))
    c[::3] = -(a * b)[::3]  # the error of the product
    assert same(computed(engine, "fma.rn.f32", "f32", ("f32", a), ("f32", b), ("f32", c)), _fma(a, b, c))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("opcode", "toward"), [("add.rm.f32", -np.inf), ("mul.rp.f32", np.inf)])
def test_directed_rounding_rounds_toward_its_side(engine: Engine, opcode: str, toward: float) -> None:
    generator = np.random.default_rng(12)
    a, b = generator.standard_normal((2, COUNT)).astype("f4")
    exact = a.astype("f8") + b if opcode.startswith("add") else a.astype("f8") * b
    near = exact.astype("f4")
    wrong = near > exact if toward < 0 else near < exact
    assert same(
        computed(engine, opcode, "f32", ("f32", a), ("f32", b)),
        np.where(wrong, np.nextafter(near, np.float32(toward)), near),
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ftz_flushes_subnormals(engine: Engine) -> None:
    a = values("f32", np.random.default_rng(13))
    b = np.full(COUNT, 0.5, "f4")

    def flush(numbers: np.ndarray) -> np.ndarray:
        return np.where(
            np.abs(numbers) < np.float32(1.17549435e-38), np.copysign(np.float32(0), numbers), numbers
        )

    assert same(
        computed(engine, "mul.ftz.f32", "f32", ("f32", a), ("f32", b)), flush(flush(a) * b).astype("f4")
    )
