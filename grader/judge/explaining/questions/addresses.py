"""Asks the reference with inputs as a kernel with wrong addresses would see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.challenge.cases import Case
from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind
from grader.judge.explaining.wrong import Pattern, Wrong

if TYPE_CHECKING:
    import torch

Inputs = Mapping[str, "torch.Tensor"]
# With another case if sizes differ.
Misread = tuple[Pattern, Inputs, Case]

_TILES = (32, 16, 64, 128, 8, 256)
_GROUPS = (256, 128, 512, 1024, 64, 32, 16, 8)
_RIGHT = "The result is right if"


def misread(challenge: Challenge, case: Case, inputs: Inputs, result: Wrong) -> Iterator[Misread]:
    for find in (
        _groups_again,
        _strides,
        _outer_strides,
        _padded,
        _other_type,
        _turned_tiles,
        _tile_steps,
        _shifted,
    ):
        yield from find(challenge, case, inputs, result)


def _read(challenge: Challenge, inputs: Inputs) -> list[Argument]:
    return [arg for arg in challenge.manifest.given if arg.name in inputs and arg.kind is Kind.INPUT]


def _padded(challenge: Challenge, case: Case, inputs: Inputs, result: Wrong) -> Iterator[Misread]:
    """Lanes beyond a size count as 0."""
    import torch

    manifest = challenge.manifest
    for size in manifest.sizes:
        extent = case.sizes.get(size, 0)
        shapes = [text for arg in manifest.buffers for text in arg.shape]
        if extent < 1 or any(size in parse(text).names for text in shapes if text != size):
            continue
        own = [arg for arg in _read(challenge, inputs) if list(arg.shape).count(size) == 1]
        if not own:
            continue
        widths = dict.fromkeys(
            [-(-extent // tile) * tile for tile in (16, 32, 64, 128, 256, 512, 1024)]
            + [1 << (extent - 1).bit_length()]
        )
        for width in widths:
            if width <= extent or width > 4 * max(extent, 256):
                continue
            changed = {}
            for arg in own:
                values, along = inputs[arg.name], arg.shape.index(size)
                more = list(values.shape)
                more[along] = width - extent
                changed[arg.name] = torch.cat([values, values.new_zeros(more)], dim=along)
            names = " and ".join(changed)
            text = (
                f"{_RIGHT} {names} {'go' if len(changed) > 1 else 'goes'} on with zeros from {size} = {extent:,} to "
                f"{width:,}: lanes outside the mask count, too."
            )
            asked = replace(case, sizes={**case.sizes, size: width})
            yield Pattern("padded", text, width, (size,)), changed, asked


def _groups_again(challenge: Challenge, case: Case, inputs: Inputs, result: Wrong) -> Iterator[Misread]:
    import torch

    for arg in _read(challenge, inputs):
        values = inputs[arg.name]
        read = result.read.get(arg.name)
        for axis, extent in enumerate(values.shape):
            sizes = [size for size in _GROUPS if size < extent]
            if read is not None:
                lines = read.reshape(values.shape).movedim(axis, 0).reshape(extent, -1).any(dim=1)
                sizes = (
                    [int(lines.sum())]
                    if not bool(lines.all()) and bool(lines[: int(lines.sum())].all())
                    else []
                )
            elif values.dim() > 1:
                sizes = []
            for size in (size for size in sizes if size >= _GROUPS[-1]):
                places = torch.arange(extent) % size
                along = f" along {arg.shape[axis]}" if values.dim() > 1 else ""
                text = (
                    f"{_RIGHT} each group of {size:,} elements{along} uses the first {size:,} of {arg.name}: is the "
                    f"offset of the block (blockIdx or tl.program_id) missing in the index of {arg.name}?"
                )
                changed = values.index_select(axis, places)
                yield Pattern("groups_again", text, size, (arg.name,)), {arg.name: changed}, case


def _flat(values: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """0 outside."""
    import torch

    flat = values.reshape(-1)
    inside = (places >= 0) & (places < flat.numel())
    return torch.where(inside, flat[places.clamp(0, max(flat.numel() - 1, 0))], flat.new_zeros(()))


def _strides(challenge: Challenge, case: Case, inputs: Inputs, result: Wrong) -> Iterator[Misread]:
    import torch

    for arg in _read(challenge, inputs):
        values = inputs[arg.name]
        if values.dim() < 2 or min(values.shape[-2:]) < 2:
            continue
        rows, columns = values.shape[-2:]
        others: dict[int, str] = {}
        for name, size in case.sizes.items():
            if size > 1:
                others[size] = f"{others[size]} or i * {name}" if size in others else name
        power = 1 << (columns - 1).bit_length()
        others.setdefault(power, f"{power:,}, the next power of two")
        for other in (columns + 1, columns - 1):
            others.setdefault(other, f"{arg.shape[-1]} {'+' if other > columns else '-'} 1")
        outer = torch.arange(values.numel() // (rows * columns))[:, None, None] * (rows * columns)
        for stride, words in others.items():
            if stride == columns:
                continue
            places = outer + torch.arange(rows)[:, None] * stride + torch.arange(columns)
            text = (
                f"{_RIGHT} row i of {arg.name} begins at i * {words}; it begins at i * {arg.shape[-1]}: the stride of "
                "its rows is wrong."
            )
            changed = _flat(values, places).reshape(values.shape)
            yield Pattern("strides", text, stride, (arg.name,)), {arg.name: changed}, case


def _outer_strides(challenge: Challenge, case: Case, inputs: Inputs, result: Wrong) -> Iterator[Misread]:
    import torch

    for arg in _read(challenge, inputs):
        values = inputs[arg.name]
        if values.dim() < 3 or values.shape[0] < 2:
            continue
        size = values.numel() // values.shape[0]
        others = {1: "1"}
        for name, extent in case.sizes.items():
            others[extent] = f"{others[extent]} or i * {name}" if extent in others else name
        for stride, words in others.items():
            if stride in (size, 0):
                continue
            places = torch.arange(values.shape[0])[:, None] * stride + torch.arange(size)
            whole = " * ".join(arg.shape[1:])
            text = (
                f"{_RIGHT} index i along {arg.shape[0]} of {arg.name} begins at i * {words}; it begins at i * {whole}: "
                "the offset is wrong."
            )
            changed = _flat(values, places).reshape(values.shape)
            yield Pattern("strides", text, stride, (arg.name,)), {arg.name: changed}, case


def _turned_tiles(challenge: Challenge, case: Case, inputs: Inputs, result: Wrong) -> Iterator[Misread]:
    for arg in _read(challenge, inputs):
        values = inputs[arg.name]
        if values.dim() != 2 or min(values.shape) < 2:
            continue
        rows, columns = values.shape
        for tile in _TILES:
            if min(rows, columns) <= tile // 2:
                continue
            down, across = -(-rows // tile), -(-columns // tile)
            room = values.new_zeros(down * tile, across * tile)
            room[:rows, :columns] = values
            turned = room.reshape(down, tile, across, tile).transpose(1, 3).reshape(room.shape)
            text = (
                f"{_RIGHT} each tile of {tile} x {tile} of {arg.name} is transposed within itself: rows and columns of "
                "the tile are exchanged when it is stored or used."
            )
            changed = turned[:rows, :columns].contiguous()
            yield Pattern("turned_tiles", text, tile, (arg.name,)), {arg.name: changed}, case


def _tile_steps(challenge: Challenge, case: Case, inputs: Inputs, result: Wrong) -> Iterator[Misread]:
    import torch

    for arg in _read(challenge, inputs):
        values = inputs[arg.name]
        if values.dim() != 2:
            continue
        rows, columns = values.shape
        row, column = torch.arange(rows)[:, None], torch.arange(columns)
        for tile in _TILES:
            for axis, extent, unit in ((0, rows, columns), (1, columns, 1)):
                if extent <= tile:
                    continue
                place = (row, column)[axis]
                for step, words in (
                    (0, "does not move"),
                    (1, "moves by 1 element"),
                    (tile, f"moves by {tile} elements"),
                    (tile * columns, f"moves by {tile} rows"),
                    (columns, "moves by 1 row"),
                ):
                    if step == tile * unit:
                        continue
                    start = row * columns * (axis == 1) + column * (axis == 0)
                    changed = _flat(values, start + place % tile * unit + place // tile * step)
                    right = f"{tile} {'rows' if axis == 0 else 'columns'}"
                    text = (
                        f"{_RIGHT} {arg.name} {words} from one tile of {right} to the next, where it must move by "
                        f"{right}: the step of its pointer along {arg.shape[axis]} is wrong."
                    )
                    yield Pattern("tile_steps", text, tile, (arg.name,)), {arg.name: changed}, case


def _shifted(challenge: Challenge, case: Case, inputs: Inputs, result: Wrong) -> Iterator[Misread]:
    import torch

    for arg in _read(challenge, inputs):
        values = inputs[arg.name]
        if values.numel() < 2:
            continue
        places = torch.arange(values.numel())
        for by in (1, -1):
            side = "late" if by > 0 else "early"
            text = f"{_RIGHT} {arg.name} is read 1 element too {side}: its index is off by one."
            changed = _flat(values, places + by).reshape(values.shape)
            if changed.is_floating_point():
                yield Pattern("read_shifted", text, by, (arg.name,)), {arg.name: changed}, case


def _other_type(challenge: Challenge, case: Case, inputs: Inputs, result: Wrong) -> Iterator[Misread]:
    import torch

    own = [arg for arg in _read(challenge, inputs) if arg.dtype in (DType.FLOAT16, DType.BFLOAT16)]
    types = {torch.float16: (torch.bfloat16, "bfloat16"), torch.bfloat16: (torch.float16, "float16 (half)")}
    choices = [own, *([arg] for arg in own)] if len(own) > 1 else [own]
    for chosen in choices:
        changed = {}
        for arg in chosen:
            values = inputs[arg.name].contiguous()
            if values.dtype in types:
                changed[arg.name] = values.view(types[values.dtype][0]).to(values.dtype)
        if changed:
            names = " and ".join(changed)
            first = chosen[0]
            other = types[inputs[first.name].dtype][1]
            text = (
                f"{_RIGHT} the bits of {names} are read as {other}: {'they are' if len(changed) > 1 else 'it is'} "
                f"{first.dtype.value}."
            )
            yield Pattern("other_type", text, names=tuple(changed)), changed, case
