from __future__ import annotations

from ..names import BEYOND, LOOKUP, NONE
from ..ptx import SIZES, Instruction, split_operands
from .kernel import Kernel, handles
from .rows import Unsupported

# Axes; layered.
_GEOMETRIES = {"1d": (1, 0), "2d": (2, 0), "3d": (3, 0), "a1d": (1, 1), "a2d": (2, 1)}


_BEYOND = {"trap": BEYOND.TRAP, "clamp": BEYOND.CLAMPED, "zero": BEYOND.ZERO}


_TEXTURES = {"tex": LOOKUP.FETCH, "suld": LOOKUP.LOAD_SURFACE, "sust": LOOKUP.STORE_SURFACE}


def _object_and_places(k: Kernel, text: str, kind: str) -> tuple[int, list[int]]:
    """Of ``[%rd1, {%f1, %f2}]``."""
    name, places = split_operands(text[1:-1])
    if k.width(name) != 8:
        raise ValueError(f"{name} is not an object")
    return k.register(name), [k.value(operand, kind) for operand in split_operands(places.strip("{}"))]


@handles(*_TEXTURES)
def _texture(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    geometry = next((modifier for modifier in m if modifier in _GEOMETRIES), None)
    if geometry is None or (i.name != "tex" and m[0] != "b"):
        raise Unsupported(i.opcode, i.place)
    axes, layered = _GEOMETRIES[geometry]
    where, values = (o[0], o[1]) if i.name == "sust" else (o[1], o[0])
    by_floats = i.name == "tex" and m[-1] == "f32"
    kind = m[-2]
    if i.name == "tex":
        if kind not in ("f32", "u32", "s32"):
            raise Unsupported(i.opcode, i.place)
        size = 4  # one level only
    else:
        size = SIZES[kind]
    item, places = _object_and_places(k, where, "f32" if by_floats else "b32")
    names = split_operands(values.strip("{}"))
    units = [k.value(operand, kind) if i.name == "sust" else k.sink(operand) for operand in names]
    if (
        len(places) < axes + layered
        or size * len(units) > 16
        or any(k.width(operand) == 8 for operand in names) != (size == 8)
    ):
        raise Unsupported(i.opcode, i.place)
    places = (places + [places[0]] * 4)[:4]
    beyond = next((_BEYOND[modifier] for modifier in m if modifier in _BEYOND), 0)
    words = [
        _TEXTURES[i.name], axes, layered, by_floats, size, beyond, len(units), item,
        *(units + [NONE] * 4)[:4], *places,
    ]  # fmt: skip
    k.granule = min(k.granule, size)
    k.control("TEXTURE", imm=k.describe([int(word) for word in words]))
