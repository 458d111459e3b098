"""Draws a wrong result's map on the tensors' device: only codes and a few numbers are copied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.numbers import shown
from grader.judge.explaining.wrong import Wrong
from grader.judge.messages import Writers, WritingBlocks
from grader.judge.worst import index_of, unit_sizes
from grader.schemas.error_map import (
    DECADES,
    Blocks,
    By,
    Cell,
    ErrorMap,
    ErrorWindow,
    Writer,
    unpacked,
)

if TYPE_CHECKING:
    import torch

# For results without rows: a multiple of usual blocks' warps.
_LINE = 128
# Shorter rows are put side by side.
_SHORT_ROW = 16


def error_map(result: Wrong, inputs: Mapping[str, torch.Tensor]) -> ErrorMap | None:
    """None if nothing is wrong, or too large."""
    import torch

    total = result.got.numel()
    if total > limits.ERROR_MAP_ELEMENTS or not bool(result.wrong.any()):
        return None
    width = _width(result.shape, total)
    lines = -(-total // width)
    tile = _tile(lines, width)
    codes, lowest = _codes(result)
    rows, columns = -(-lines // tile[0]), -(-width // tile[1])
    room = torch.full((rows * tile[0], columns * tile[1]), -1, dtype=torch.int8, device=codes.device)
    flat = torch.full((lines * width,), -1, dtype=torch.int8, device=codes.device)
    flat[:total] = codes
    room[:lines, :width] = flat.reshape(lines, width)
    cells = room.reshape(rows, tile[0], columns, tile[1]).amax(dim=(1, 3))
    cells = torch.where(cells < 0, torch.full_like(cells, Cell.OUTSIDE), cells)
    return ErrorMap(
        shape=list(result.shape),
        width=width,
        tile=tile,
        rows=rows,
        columns=columns,
        lowest=lowest,
        unit=result.allowance.unit,
        cells=ErrorMap.packed(cells.reshape(-1).cpu().numpy().tobytes()),
        window=_window(result, inputs, width),
    )


def with_writers(found: ErrorMap, said: Writers, *, programs: bool) -> ErrorMap:
    """``programs``: say "program" for Triton."""
    writer = None
    if said.first is not None:
        by = By.PROGRAM if programs and said.first.by == "thread" else By(said.first.by)
        writer = Writer.model_validate({**said.first.model_dump(), "by": by})
    return found.model_copy(
        update={"writer": writer, "blocks": _blocks(said.blocks, found.rows * found.columns)}
    )


def _blocks(said: WritingBlocks | None, cells: int) -> Blocks | None:
    """None unless they fit the map."""
    if said is None:
        return None
    try:
        ids, table = unpacked(said.cells, 2 * cells), unpacked(said.table, 16 * cells)
        made = Blocks.packed(ids, table, list(said.kernels))
        if made is None:
            return None
        made.ids(cells)
    except ValueError:
        return None
    launches = {table[at : at + 4] for at in range(0, len(table), 16)}
    fits = all(int.from_bytes(launch, "little") < len(said.kernels) for launch in launches)
    return made if fits and len(table) % 16 == 0 else None


def _width(shape: tuple[int, ...], total: int) -> int:
    last = shape[-1] if len(shape) > 1 else 1
    if last >= _SHORT_ROW:
        return last
    rows_a_line = max(1, _LINE // max(last, 1))
    return max(1, min(total, last * rows_a_line))


def _tile(lines: int, width: int) -> tuple[int, int]:
    down = across = 1
    while -(-lines // down) * -(-width // across) > limits.ERROR_MAP_CELLS:
        if -(-lines // down) >= -(-width // across):
            down *= 2
        else:
            across *= 2
    return down, across


def _codes(result: Wrong) -> tuple[torch.Tensor, int]:
    """Codes (int8, flat), and the decade of code 1."""
    import torch

    errors = (result.got.double() - result.want.double()).abs()
    units = unit_sizes(result.want, result.allowance, result.magnitude)
    if units is not None:
        errors = errors / units  # by a step of 0: not finite
    if not result.want.is_floating_point():
        errors = errors.clamp(min=1.0)  # large ones may be equal as doubles
    measured = result.wrong & torch.isfinite(errors)
    if result.poisoned is not None:
        measured &= ~result.poisoned
    lowest = 0
    codes = torch.zeros(errors.numel(), dtype=torch.int8, device=errors.device)
    codes[result.wrong] = Cell.NOT_FINITE
    if bool(measured.any()):
        least, most = errors[measured].min().item(), errors[measured].max().item()
        lowest = max(math.floor(math.log10(least)), math.floor(math.log10(most)) - DECADES + 1)
        decades = torch.floor(torch.log10(errors[measured])) - lowest + 1
        codes[measured] = decades.clamp(1, DECADES).to(torch.int8)
    if result.poisoned is not None:
        codes[result.poisoned & result.wrong] = Cell.NEVER_WRITTEN
    return codes, lowest


def _window(result: Wrong, inputs: Mapping[str, torch.Tensor], width: int) -> ErrorWindow:
    total, side = result.got.numel(), limits.ERROR_WINDOW
    first = int(result.wrong.nonzero()[0])
    line, column = divmod(first, width)
    lines = -(-total // width)
    top = max(0, min(line - side // 2, lines - side))
    left = max(0, min(column - side // 2, width - side))
    starts = [at * width + left for at in range(top, min(top + side, lines)) if at * width + left < total]
    spans = [(start, min(start + min(side, width), start - left + width, total)) for start in starts]
    dtype = result.argument.dtype
    sources = {"got": shown(result.got, dtype), "expected": shown(result.want, dtype)}
    sources |= {
        name: values.reshape(-1)
        for name, values in inputs.items()
        if values.numel() == total and name not in sources
    }
    values = {
        name: [[_text(value) for value in source[start:end].tolist()] for start, end in spans]
        for name, source in sources.items()
    }
    if result.poisoned is not None:
        for row, (start, end) in zip(values["got"], spans, strict=True):
            for place, lost in enumerate(result.poisoned[start:end].tolist()):
                if lost:
                    row[place] = "never written"
    return ErrorWindow(first=[index_of(start, result.shape) for start in starts], values=values)


def _text(value: float | int | bool) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
