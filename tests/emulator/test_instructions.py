"""Instructions that compilers seldom emit, against the PTX ISA, in exact integers and fractions."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from grader.sandbox.emulator.engine import Engine, pack_arguments
from tests.emulator.test_arithmetic import COUNT, computed, values

Exact = Callable[..., int]


def _signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _clamp(value: int, bits: int, signed: bool) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def _low24(value: int) -> int:
    return _signed(value, 24)


def _first_set(value: int, bits: int) -> int:
    return bits - value.bit_length() if value else 0xFFFFFFFF


def _nth(mask: int, base: int, offset: int) -> int:
    offset = _signed(offset)
    places = [lane for lane in range(32) if mask >> lane & 1]
    if base > 31:
        return 0xFFFFFFFF
    if offset == 0:
        return base if base in places else 0xFFFFFFFF
    found = (
        [place for place in places if place >= base]
        if offset > 0
        else [place for place in reversed(places) if place <= base]
    )
    return found[abs(offset) - 1] if abs(offset) <= len(found) else 0xFFFFFFFF


def _mask(start: int, width: int) -> int:
    return sum(1 << lane for lane in range(32) if start <= lane < start + width)


def _bytes(word: int, signed: bool = False) -> list[int]:
    return [_signed(word >> 8 * index, 8) if signed else word >> 8 * index & 255 for index in range(4)]


def _halves(word: int, signed: bool = False) -> list[int]:
    return [_signed(word >> 16 * index, 16) if signed else word >> 16 * index & 0xFFFF for index in range(2)]


def _joined(parts: list[int]) -> int:
    bits = 32 // len(parts)
    return sum((name & (1 << bits) - 1) << bits * index for index, name in enumerate(parts))


def _chosen(a: int, b: int, places: str) -> list[int]:
    both = _bytes(a) + _bytes(b)
    return [both[int(place)] for place in reversed(places)]


INTEGERS: dict[str, Exact] = {
    "mad.hi.sat.s32 %d, %x0, %x1, %x2": lambda a, b, c: _clamp((_signed(a) * _signed(b) >> 32) + _signed(c), 32, True),
    "mul24.hi.u32 %d, %x0, %x1": lambda a, b, c: (a % 2**24) * (b % 2**24) >> 16,
    "mul24.hi.s32 %d, %x0, %x1": lambda a, b, c: _low24(a) * _low24(b) >> 16,
    "mad24.hi.sat.s32 %d, %x0, %x1, %x2": lambda a, b, c: _clamp((_low24(a) * _low24(b) >> 16) + _signed(c), 32, True),
    "sad.s32 %d, %x0, %x1, %x2": lambda a, b, c: abs(_signed(a) - _signed(b)) + c,
    "bfind.shiftamt.u32 %d, %x0": lambda a, b, c: _first_set(a, 32),
    "bfind.shiftamt.s32 %d, %x0": lambda a, b, c: _first_set(~a & 0xFFFFFFFF if a >> 31 else a, 32),
    "fns.b32 %d, %x0, 5, 3": lambda a, b, c: _nth(a, 5, 3),
    "{ .reg .b32 %b, %o; and.b32 %b, %x1, 31; rem.s32 %o, %x2, 6; fns.b32 %d, %x0, %b, %o; }": lambda a, b, c: _nth(
        a, b % 32, int(math.fmod(_signed(c), 6))
    ),
    "bmsk.wrap.b32 %d, %x0, %x1": lambda a, b, c: _mask(a % 32, b % 32),
    "bmsk.clamp.b32 %d, 4, %x1": lambda a, b, c: _mask(4, b),
    "szext.clamp.u32 %d, %x0, %x1": lambda a, b, c: a if b >= 32 else a % (1 << b),
    "szext.wrap.s32 %d, %x0, %x1": lambda a, b, c: _signed(a, b % 32) if b % 32 else 0,
    "lop3.and.b32 %d|%q, %x0, %x1, %x2, 0x96, %q; selp.b32 %d, %d, 77, %q": lambda a, b, c: a ^ b ^ c or 77,
    "shf.l.clamp.b32 %d, %x0, %x1, %x2": lambda a, b, c: (b << 32 | a) << min(c, 32) >> 32,
    "prmt.b32.b4e %d, %x0, %x1, %x2": lambda a, b, c: _joined(
        [(_bytes(a) + _bytes(b))[(c % 4 - index) % 8] for index in range(4)]
    ),
    "dp2a.hi.s32.u32 %d, %x0, %x1, %x2": lambda a, b, c: c + sum(
        x * y for x, y in zip(_halves(a, True), _bytes(b)[2:], strict=True)
    ),
    "cvt.pack.sat.u16.s32 %d, %x0, %x1": lambda a, b, c: _joined([_clamp(_signed(x), 16, False) for x in (b, a)]),
    "cvt.pack.sat.s8.s32.b32 %d, %x0, %x1, %x2": lambda a, b, c: (
        c << 16 | (_clamp(_signed(a), 8, True) & 255) << 8 | _clamp(_signed(b), 8, True) & 255
    ),
    "vadd.u32.u32.s32.sat %d.b2, %x0.b1, %x1.h1, %x2": lambda a, b, c: (
        c & 0xFF00FFFF | _clamp(_bytes(a)[1] + _halves(b, True)[1], 8, False) << 16
    ),
    "vsub.s32.u32.u32.sat.max %d, %x0, %x1, %x2": lambda a, b, c: max(_clamp(a - b, 32, True), _signed(c)),
    "vabsdiff.u32.s32.s32.add %d, %x0.b3, %x1.b0, %x2": lambda a, b, c: (
        c + abs(_bytes(a, True)[3] - _bytes(b, True)[0])
    ),
    "vmin.s32.s32.u32 %d, %x0, %x1": lambda a, b, c: min(_signed(a), b),
    "vshl.u32.u32.u32.sat.clamp %d, %x0.h0, %x1": lambda a, b, c: _clamp(a % 2**16 << min(b, 32), 32, False),
    "vshr.s32.s32.u32.wrap.min %d, %x0, %x1, %x2": lambda a, b, c: min(_signed(a) >> b % 32, _signed(c)),
    "vmad.s32.s32.s32.sat.shr7 %d, %x0.h0, -%x1.h1, %x2": lambda a, b, c: _clamp(
        _signed(c) - _halves(a, True)[0] * _halves(b, True)[1] >> 7, 32, True
    ),
    "vmad.u32.u32.u32.po.shr15 %d, %x0, %x1, %x2": lambda a, b, c: a * b + c + 1 >> 15,
    "vset.u32.s32.lt %d.h0, %x0, %x1.b3, %x2": lambda a, b, c: c & 0xFFFF0000 | (a < _bytes(b, True)[3]),
    "vadd4.s32.s32.u32.sat %d.b20, %x0.b7531, %x1.b4444, %x2": lambda a, b, c: _joined(
        [
            _clamp(_signed(x, 8) + y, 8, True) if index % 2 == 0 else old
            for index, x, y, old in zip(range(4), _chosen(a, b, "7531"), _chosen(a, b, "4444"), _bytes(c), strict=True)
        ]
    ),
    "vabsdiff4.u32.u32.u32.add %d, %x0, %x1, %x2": lambda a, b, c: c + sum(
        abs(x - y) for x, y in zip(_bytes(a), _bytes(b), strict=True)
    ),
    "vavrg2.s32.s32.s32 %d, %x0, %x1, %x2": lambda a, b, c: _joined(
        [(x + y + (x + y >= 0)) >> 1 for x, y in zip(_halves(a, True), _halves(b, True), strict=True)]
    ),
    "vset2.u32.u32.ge %d, %x0, %x1, %x2": lambda a, b, c: _joined(
        [x >= y for x, y in zip(_halves(a), _halves(b), strict=True)]
    ),
    "vmin4.u32.u32.s32 %d, %x0, %x1, %x2": lambda a, b, c: _joined(
        [min(x, y) for x, y in zip(_bytes(a), _bytes(b, True), strict=True)]
    ),
}  # fmt: skip


def _registers(text: str) -> str:
    return f"{{ .reg .pred %q; setp.ne.u32 %q, 1, 0; {text}; }}" if "%q" in text else text


@pytest.mark.parametrize("text", INTEGERS)
def test_integer_instructions_match_the_isa(engine: Engine, text: str) -> None:
    generator = np.random.default_rng(21)
    a, b, c = (values("u32", generator) for _ in range(3))
    got = computed(engine, _registers(text), "u32", ("u32", a), ("u32", b), ("u32", c))
    want = [INTEGERS[text](*each) % 2**32 for each in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    assert got.tolist() == want


# Loads, stores and conversions of a register that is wider than their type. %w: x0, and 1 in the upper half.
WIDE = "{ .reg .b64 %w; cvt.u64.u32 %w, %x0; or.b64 %w, %w, 0x100000000; %s }"
WIDER: dict[str, tuple[str, Callable[[int], float]]] = {
    "st.global.u32 [%p1], %w; ld.global.u32 %d, [%p1];": ("u32", lambda a: a),
    "st.global.u16 [%p1], %w; ld.global.u16 %w, [%p1]; cvt.u32.u64 %d, %w;": ("u32", lambda a: a % 2**16),
    "cvt.rn.f64.u32 %d, %w;": ("f64", float),
    "cvt.rn.f64.s16 %d, %w;": ("f64", lambda a: _signed(a % 2**16, 16)),
    "cvt.sat.u8.u32 %w, %w; cvt.u32.u64 %d, %w;": ("u32", lambda a: min(a, 255)),
    "cvt.sat.s16.s64 %w, %w; cvt.u32.u64 %d, %w;": ("u32", lambda a: 32767),
    "cvt.sat.u64.s32 %w, %x0; shr.u64 %w, %w, 1; cvt.u32.u64 %d, %w;": ("u32", lambda a: max(_signed(a), 0) >> 1),
    "{ .param .b32 q; st.param.b32 [q], %w; ld.param.b32 %w, [q]; cvt.u32.u64 %d, %w; }": ("u32", lambda a: a),
}  # fmt: skip


@pytest.mark.parametrize("text", WIDER)
def test_wider_registers_hold_the_narrow_type(engine: Engine, text: str) -> None:
    kind, expected = WIDER[text]
    a = values("u32", np.random.default_rng(22))
    got = computed(engine, WIDE.replace("%s", text), kind, ("u32", a))
    assert got.tolist() == [expected(value) for value in a.tolist()]


# ---- conversions to formats of 16 and 19 bits, with every rounding ----

FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "tf32": (11, -126, 127)}


def _rounded(value: float, kind: str, mode: str) -> float:
    """Rounded to a format's precision, as a Python float."""
    digits, least, most = FORMATS[kind]
    if not math.isfinite(value) or value == 0:
        return value
    exponent = max(math.frexp(value)[1] - 1, least)
    unit = Fraction(2) ** (exponent - digits + 1)
    steps = Fraction(value) / unit
    functions: dict[str, Callable[[Fraction], int]] = {
        "rn": round, "rz": math.trunc, "rm": math.floor, "rp": math.ceil,
        "rna": lambda value: math.floor(abs(value) + Fraction(1, 2)) * (1 if value > 0 else -1),
    }  # fmt: skip
    whole = functions[mode](steps)
    result, largest = whole * unit, (2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** most
    if abs(result) > largest:
        to_largest = mode == "rz" or (mode == "rm" and value > 0) or (mode == "rp" and value < 0)
        return math.copysign(float(largest) if to_largest else math.inf, value)
    return math.copysign(float(result), value)


def _value(bits: np.ndarray, kind: str) -> np.ndarray:
    if kind == "f16":
        return bits.astype("u2").view("f2").astype("f8")
    shift = 16 if kind == "bf16" else 0
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return (bits.astype("u4") << shift).view("f4").astype("f8")


@pytest.mark.parametrize("source", ["f32", "f64", "s32", "u64"])
@pytest.mark.parametrize(
    ("to", "mode"),
    [(to, mode) for to in ("f16", "bf16") for mode in ("rn", "rz", "rm", "rp")] + [("tf32", "rna")],
)
def test_every_rounding_to_narrow_floats_is_right(engine: Engine, source: str, to: str, mode: str) -> None:
    if to == "tf32" and source != "f32":
        return
    generator = np.random.default_rng(22)
    a = values(source, generator)
    if source[0] == "f":
        a[COUNT // 2 :: 2] = generator.standard_normal(len(a[COUNT // 2 :: 2])) * 1e-5  # subnormal as f16
    got = computed(engine, f"cvt.{mode}.{to}.{source}", "b32" if to == "tf32" else "b16", (source, a))
    want = [value if value != value else _exactly(value, to, mode) for value in a.tolist()]
    found = _value(got, to)
    assert np.array_equal(found, want, equal_nan=True)
    assert np.array_equal(np.signbit(found[found == 0]), np.signbit(np.array(want)[found == 0]))


def _exactly(value: float | int, to: str, mode: str) -> float:
    if isinstance(value, float):
        return _rounded(value, to, mode)
    if value == 0:
        return 0.0
    # A 64-bit integer may not fit a float: the bits below every format's precision only mark an inexact
    # value.
    shift = max(abs(value).bit_length() - 40, 0)
    odd = abs(value) >> shift | (abs(value) & (1 << shift) - 1 != 0)
    return _rounded(math.copysign(float(odd << shift), value), to, mode)


@pytest.mark.parametrize("flags", ["satfinite", "relu", "relu.satfinite"])
def test_saturating_conversions_clamp(engine: Engine, flags: str) -> None:
    a = values("f32", np.random.default_rng(23))
    got = computed(engine, f"cvt.rn.{flags}.bf16x2.f32 %d, %x0, 0f3F800000", "b32", ("f32", a))
    assert (got % 2**16 == 0x3F80).all()
    want = np.array([value if value != value else _rounded(value, "bf16", "rn") for value in a.tolist()])
    if "relu" in flags:
        want = np.where(want < 0, 0.0, want)
    if "satfinite" in flags:
        want = np.clip(want, -3.3895313892515355e38, 3.3895313892515355e38)
    assert np.array_equal(_value(got >> 16, "bf16"), want, equal_nan=True)


# ---- comparisons and halves ----


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("how", ["lt", "geu", "ne", "nan"])
def test_packed_half_comparisons_are_right(engine: Engine, how: str) -> None:
    generator = np.random.default_rng(24)
    a, b = (values("b32", generator) for _ in range(2))
    b[::3] = a[::3]
    x, y = a.view("f2").reshape(-1, 2), b.view("f2").reshape(-1, 2)
    functions: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
        "lt": np.less, "geu": lambda p, q: ~np.less(p, q), "nan": lambda p, q: np.isnan(p) | np.isnan(q),
        "ne": lambda p, q: (p != q) & ~np.isnan(p) & ~np.isnan(q),
    }  # fmt: skip
    low, high = functions[how](x, y).T
    got = computed(engine, f"set.{how}.u32.f16x2", "b32", ("b32", a), ("b32", b))
    assert np.array_equal(got, low * np.uint32(0xFFFF) + high * np.uint32(0xFFFF0000))
    ones = computed(engine, f"set.{how}.f16x2.f16x2", "b32", ("b32", a), ("b32", b))
    assert np.array_equal(ones, low * np.uint32(0x3C00) + high * np.uint32(0x3C000000))
    setp = f"setp.{how}.f16x2 %q0|%q1, %x0, %x1"
    body = f"{{ .reg .pred %q<3>; {setp}; selp.b32 %d, 1, 0, %q0; @%q1 add.u32 %d, %d, 2; }}"
    assert np.array_equal(computed(engine, body, "b32", ("b32", a), ("b32", b)), low + 2 * high.astype("u4"))


@pytest.mark.parametrize("kind", ["f32", "f16x2"])
def test_min_xorsign_takes_the_product_of_signs(engine: Engine, kind: str) -> None:
    generator = np.random.default_rng(25)
    a, b = (values("b32", generator) for _ in range(2))
    dtype = "f4" if kind == "f32" else "f2"
    x, y = a.view(dtype), b.view(dtype)
    got = computed(engine, f"min.NaN.xorsign.abs.{kind}", "b32", ("b32", a), ("b32", b)).view(dtype)
    size = np.minimum(np.abs(x), np.abs(y))
    want = np.where(
        np.isnan(size), size, np.copysign(size, np.where(np.signbit(x) != np.signbit(y), -1, 1).astype(dtype))
    )
    assert np.array_equal(got, want, equal_nan=True)
    assert np.array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(want[~np.isnan(want)]))


def test_registers_of_128_bits_move_whole(engine: Engine) -> None:
    a, b = (values("b64", np.random.default_rng(26)) for _ in range(2))
    body = (
        "{ .reg .b128 %q<3>; .reg .b64 %h; mov.b128 %q1, {%x0, %x1}; mov.b128 %q2, %q1; mov.b128 {%h, %d}, %q2; "
        "xor.b64 %d, %d, %h; }"
    )
    assert np.array_equal(computed(engine, body, "b64", ("b64", a), ("b64", b)), a ^ b)


def test_a_carry_passes_through_three_words(engine: Engine) -> None:
    """The upper 32 bits of a 64 x 32-bit product and a sum, from words, as compilers emit it."""
    generator = np.random.default_rng(27)
    a, b, c = values("b64", generator), values("b32", generator), values("b32", generator)
    body = (
        "{ .reg .b32 %h<6>; mov.b64 {%h0, %h1}, %x0; mad.lo.cc.u32 %h2, %h0, %x1, %x2; madc.hi.cc.u32 %h3, %h0, %x1, 0;"
        " madc.hi.u32 %h4, %h1, %x1, 0; mad.lo.cc.u32 %h5, %h1, %x1, %h3; addc.u32 %d, %h4, 0; }"
    )
    got = computed(engine, body, "b32", ("b64", a), ("b32", b), ("b32", c))
    want = [(x * y + z) >> 64 for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    assert got.tolist() == want


VECTORS = {"f32": "u4", "f16x2": "u4", "bf16x2": "u4", "f16": "u2", "bf16": "u2"}


def _encoded(kind: str, numbers: np.ndarray) -> np.ndarray:
    """Small integers as the type's bits, two in a word of a packed type; ``numbers``: shape (n, elements)."""
    scalar = kind.removesuffix("x2")
    if scalar == "f16":
        bits = numbers.astype("f2").view("u2")
    else:
        bits = numbers.astype("f4").view("u4")
        bits = (bits >> 16).astype("u2") if scalar == "bf16" else bits
    return bits.view("u4") if kind.endswith("x2") else bits


@pytest.mark.parametrize(
    ("kind", "count", "how"),
    [("f32", 2, "add"), ("f32", 4, "add"), ("f16x2", 4, "add"), ("f16x2", 2, "max"), ("bf16x2", 4, "min"),
     ("bf16x2", 2, "add"), ("f16", 8, "add"), ("bf16", 8, "max"), ("bf16", 4, "add"), ("f16", 2, "min")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["atom", "red"])
def test_atomics_of_vectors_change_each_element(
    engine: Engine, kind: str, count: int, how: str, name: str
) -> None:
    """A warp on 4 vectors, in lane order. Results use the registers of values in reverse order."""
    per = 2 if kind.endswith("x2") else 1
    generator = np.random.default_rng(28)
    given, start = generator.integers(-9, 10, (32, count * per)), generator.integers(-9, 10, (4, count * per))
    memory, values_of = _encoded(kind, start), _encoded(kind, given)
    before = np.zeros_like(values_of)
    size, register = memory.itemsize, "f32" if kind == "f32" else "b32" if per == 2 else "b16"
    names = [f"%x{index}" for index in range(count)]
    each = "".join(f"ld.global.{register} {name}, [%p2+{size * at}];" for at, name in enumerate(names))
    kept = "".join(
        f"st.global.{register} [%p3+{size * at}], {name};" for at, name in enumerate(reversed(names))
    )
    operands = f"[%p1], {{{', '.join(names)}}}"
    results = f"{{{', '.join(reversed(names))}}}, " if name == "atom" else ""
    flags = "" if kind == "f32" else ".noftz"
    text = f""".version 8.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{{
.reg .b64 %p<4>; .reg .b32 %t, %s; .reg .{register} %x<{count}>;
ld.param.u64 %p1, [a]; ld.param.u64 %p2, [b]; ld.param.u64 %p3, [c];
mov.u32 %t, %tid.x; and.b32 %s, %t, 3;
mad.wide.u32 %p1, %s, {size * count}, %p1;
mad.wide.u32 %p2, %t, {size * count}, %p2; mad.wide.u32 %p3, %t, {size * count}, %p3;
{each}
{name}.global.{how}{flags}.v{count}.{kind} {results}{operands};
{kept}
ret;
}}
"""
    arrays = [memory, values_of, before]
    addresses = [engine.adopt(array.ctypes.data, array.nbytes, written=True, keep=array) for array in arrays]
    loaded = engine.load(text)
    params = pack_arguments(
        engine.ready(loaded, "k").param_layout, [struct.pack("<Q", address) for address in addresses]
    )
    engine.launch(loaded, "k", (1, 1, 1), (32, 1, 1), params)
    assert engine.findings() == []
    function = {"add": np.add, "min": np.minimum, "max": np.maximum}[how]
    at, found = start.copy(), np.zeros_like(given)
    for thread in range(32):
        found[thread] = at[thread % 4]
        at[thread % 4] = function(at[thread % 4], given[thread])
    assert np.array_equal(memory, _encoded(kind, at))
    assert np.array_equal(before, _encoded(kind, found) if name == "atom" else values_of[:, ::-1])
