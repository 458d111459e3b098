"""A map of a wrong result: where its errors are and how large, element by element or in tiles."""

from __future__ import annotations

import base64
import zlib
from enum import IntEnum

from pydantic import Field

from grader import limits
from grader.schemas.strict import Strict


class Cell(IntEnum):
    """A cell's code. Codes between RIGHT and NOT_FINITE are decades of the error."""

    RIGHT = 0
    NOT_FINITE = 13
    NEVER_WRITTEN = 14
    #: No element of the result.
    OUTSIDE = 15


#: Decades of error that a map tells apart.
DECADES = Cell.NOT_FINITE - 1


class ErrorWindow(Strict):
    """The numbers around the first wrong element, a row of the map in each row."""

    first: list[list[int]] = Field(description="index of each row's first element")
    values: dict[str, list[list[str]]] = Field(
        description="got, expected, and each input with as many elements as the result"
    )


class ErrorMap(Strict):
    """The result's elements in row-major order, folded into lines of ``width`` elements. Each cell covers a tile of
    lines and elements, and has the code of its worst element."""

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
    cells: str = Field(
        max_length=limits.ERROR_MAP_CHARS,
        description=(
            "row-major, a byte each, zlib, base64: 0 right, 1 to 12 decades of |got - expected|, 13 not finite, "
            "14 never written, 15 no element"
        ),
    )
    window: ErrorWindow

    @classmethod
    def packed(cls, codes: bytes) -> str:
        return base64.b64encode(zlib.compress(codes, 9)).decode()

    def codes(self) -> bytes:
        """A byte for each cell. Raises ValueError if they don't fit the map."""
        most = self.rows * self.columns
        unpacker = zlib.decompressobj()
        try:
            found = unpacker.decompress(base64.b64decode(self.cells), most + 1)
        except zlib.error as error:
            raise ValueError(f"the cells of a map cannot be unpacked: {error}") from error
        if len(found) != most:
            raise ValueError(f"a map of {self.rows} x {self.columns} cells holds {len(found)}")
        return found

    def tile_of(self, rows: int, columns: int) -> tuple[int, int]:
        """Lines and elements that a cell of ``coarse`` covers."""
        down, across = self._merged(rows, columns)
        return self.tile[0] * down, self.tile[1] * across

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
        return f"off by less than {10**power:,}" if 0 <= power <= 6 else f"off by less than 1e{power}"

    def coarse(self, rows: int, columns: int) -> list[bytes]:
        """At most ``rows`` of at most ``columns`` cells; each has the worst code of those that it covers. Raises
        ValueError if the cells don't fit the map."""
        codes, (down, across) = self.codes(), self._merged(rows, columns)
        lines = [codes[at : at + self.columns] for at in range(0, len(codes), self.columns)]
        return [
            bytes(
                _worst([code for line in lines[top : top + down] for code in line[left : left + across]])
                for left in range(0, self.columns, across)
            )
            for top in range(0, self.rows, down)
        ]


def _worst(codes: list[int]) -> int:
    return max((code for code in codes if code != Cell.OUTSIDE), default=Cell.OUTSIDE)
