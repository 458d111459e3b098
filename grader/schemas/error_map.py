"""Where the errors of a wrong result are, and how large."""

from __future__ import annotations

import base64
import sys
import zlib
from array import array
from collections.abc import Sequence
from enum import IntEnum, StrEnum

from pydantic import Field

from grader import limits
from grader.schemas.strict import Strict


class Cell(IntEnum):
    """Codes between RIGHT and NOT_FINITE are decades of the error."""

    RIGHT = 0
    NOT_FINITE = 13
    NEVER_WRITTEN = 14
    #: No element of the result.
    OUTSIDE = 15


#: Decades of error that a map tells apart.
DECADES = Cell.NOT_FINITE - 1


class ErrorWindow(Strict):
    """The numbers around the first wrong element, by row of the map."""

    first: list[list[int]] = Field(description="index of each row's first element")
    values: dict[str, list[list[str]]] = Field(
        description="got, expected, and each input with as many elements as the result"
    )


class By(StrEnum):
    THREAD = "thread"
    #: A program of Triton's.
    PROGRAM = "program"
    COPY = "copy"
    #: PyTorch on the host.
    HOST = "host"
    NOBODY = "nobody"


class Writer(Strict):
    """The last writer of an element, on the emulated GPU."""

    by: By
    kernel: str = ""
    block: tuple[int, int, int] = Field(default=(0, 0, 0), description="x, y, z; of a program: its ids")
    thread: tuple[int, int, int] = Field(default=(0, 0, 0), description="x, y, z in its block")
    lines: list[int] = Field(
        default_factory=list, description="where it stores to the array; of a copy: where it is called"
    )
    many: bool = Field(
        default=False, description="by an atomic operation, so others may have added to the value"
    )

    @property
    def sentence(self) -> str:
        """Without the lines, which a page links."""
        match self.by:
            case By.NOBODY:
                return "Nothing wrote it"
            case By.HOST:
                return "PyTorch wrote it last, on the host"
            case By.COPY:
                return "A copy or memset wrote it last"
        who = f"{'program' if self.by is By.PROGRAM else 'block'} {index_text(self.block)}"
        if self.by is By.THREAD:
            who = f"thread {index_text(self.thread)} of {who}"
        who += f" of {self.kernel}" if self.kernel else ""
        if self.many:
            return f"It was updated atomically, last by {who}"
        return f"{who[0].upper()}{who[1:]} wrote it last"


def index_text(index: Sequence[int]) -> str:
    """As kernels have it: ``3``, ``(3, 1)``, ``(3, 1, 2)``."""
    count = 3 if index[2] else 2 if index[1] else 1
    return str(index[0]) if count == 1 else f"({', '.join(map(str, index[:count]))})"


#: Ids of cells in ``Blocks`` that are no rows of its table.
UNKNOWN, UNWRITTEN, FIRST_BLOCK = 0, 1, 2


class Blocks(Strict):
    """The block that wrote the first element of each cell last, on the emulated GPU."""

    cells: str = Field(
        max_length=limits.ERROR_MAP_BLOCK_CHARS,
        description=(
            "row-major, two bytes each (little-endian), zlib, base64: 0 unknown or no element, 1 nothing wrote it, "
            "else a row of the table, from 2"
        ),
    )
    table: str = Field(
        max_length=limits.ERROR_MAP_BLOCK_CHARS,
        description="four words of four bytes each a row: launch, and the block's index x, y, z; packed like the cells",
    )
    kernels: list[str] = Field(
        max_length=limits.ERROR_MAP_LAUNCHES, description="of each launch, in their order"
    )

    @classmethod
    def packed(cls, ids: bytes, table: bytes, kernels: list[str]) -> Blocks | None:
        """None if it is too long for a report."""
        cells, rows = ErrorMap.packed(ids), ErrorMap.packed(table)
        if max(len(cells), len(rows)) > limits.ERROR_MAP_BLOCK_CHARS:
            return None
        return cls(cells=cells, table=rows, kernels=kernels)

    def ids(self, cells: int) -> array[int]:
        """Raises ValueError if they don't fit the cells and rows."""
        ids = _words(self.cells, "H", cells)
        rows = unpacked(self.table, 16 * cells)
        if max(ids, default=0) >= len(rows) // 16 + FIRST_BLOCK:
            raise ValueError("a map's cells name blocks that are not in its table")
        return ids


def _words(text: str, code: str, count: int) -> array[int]:
    words = array(code)
    size = words.itemsize * count
    found = unpacked(text, size)
    if len(found) != size:
        raise ValueError(f"a map of {count} cells holds {len(found) // words.itemsize} ids")
    words.frombytes(found)
    if sys.byteorder == "big":
        words.byteswap()
    return words


def unpacked(text: str, most: int) -> bytes:
    """At most ``most`` + 1 bytes. Raises ValueError."""
    try:
        return zlib.decompressobj().decompress(base64.b64decode(text), most + 1)
    except zlib.error as error:
        raise ValueError(f"the cells of a map cannot be unpacked: {error}") from error


class ErrorMap(Strict):
    """Elements in row-major order, in lines of ``width``. A cell covers a tile of them, and has the code of
    its worst element.
    """

    shape: list[int] = Field(description="of the result")
    width: int = Field(
        ge=1, description="elements of a line: a multiple of the last dimension, or a part of it"
    )
    tile: tuple[int, int] = Field(description="lines and elements that a cell covers")
    rows: int = Field(ge=1)
    columns: int = Field(ge=1)
    lowest: int = Field(
        description="cells of code 1 have errors below 10^(lowest + 1); each code is a decade more"
    )
    unit: str = Field(
        default="", description="of the errors: ulps, steps, or empty for the result's own numbers"
    )
    cells: str = Field(
        max_length=limits.ERROR_MAP_CHARS,
        description=(
            "row-major, a byte each, zlib, base64: 0 right, 1 to 12 decades of |got - expected|, 13 not finite, "
            "14 never written, 15 no element"
        ),
    )
    window: ErrorWindow
    writer: Writer | None = Field(default=None, description="of the first wrong element; null if unknown")
    blocks: Blocks | None = None

    @classmethod
    def packed(cls, codes: bytes) -> str:
        return base64.b64encode(zlib.compress(codes, 9)).decode()

    def codes(self) -> bytes:
        """A byte for each cell. Raises ValueError."""
        most = self.rows * self.columns
        found = unpacked(self.cells, most)
        if len(found) != most:
            raise ValueError(f"a map of {self.rows} x {self.columns} cells holds {len(found)}")
        return found

    def tile_of(self, rows: int, columns: int) -> tuple[int, int]:
        """Lines and elements that a cell of ``coarse`` covers."""
        down, across = self._merged(rows, columns)
        return self.tile[0] * down, self.tile[1] * across

    def coarse_blocks(self, rows: int, columns: int) -> list[list[int]]:
        """As ``coarse``, with the id of each first cell; may be empty. Raises as ``Blocks.ids``."""
        if self.blocks is None:
            return []
        ids, (down, across) = self.blocks.ids(self.rows * self.columns), self._merged(rows, columns)
        return [
            [ids[top * self.columns + left] for left in range(0, self.columns, across)]
            for top in range(0, self.rows, down)
        ]

    def _merged(self, rows: int, columns: int) -> tuple[int, int]:
        return -(-self.rows // rows), -(-self.columns // columns)

    def label_of(self, code: int) -> str:
        if code == Cell.RIGHT:
            return "right"
        if code == Cell.NOT_FINITE:
            return "not finite"
        if code == Cell.NEVER_WRITTEN:
            return "never written"
        power = self.lowest + code
        number = f"{10**power:,}" if 0 <= power <= 6 else f"1e{power}"
        return f"off by less than {number}" + (f" {self.unit}" if self.unit else "")

    def coarse(self, rows: int, columns: int) -> list[bytes]:
        """At most ``rows`` of ``columns`` cells, with the worst code of those that they cover. Raises
        ValueError.
        """
        codes, (down, across) = self.codes(), self._merged(rows, columns)
        lines = [codes[at : at + self.columns] for at in range(0, len(codes), self.columns)]
        return [
            bytes(
                _worst([code for line in lines[top : top + down] for code in line[left : left + across]])
                for left in range(0, self.columns, across)
            )
            for top in range(0, self.rows, down)
        ]


def lines_text(lines: Sequence[int]) -> str:
    """``line 14``, ``line 14 or 18``; empty for none."""
    return f"line {' or '.join(map(str, lines))}" if lines else ""


def _worst(codes: list[int]) -> int:
    return max((code for code in codes if code != Cell.OUTSIDE), default=Cell.OUTSIDE)
