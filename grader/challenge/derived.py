"""Recipes that depend on sizes or other inputs, drawn after plain ones in signature order. Does not import
torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_WORD = 8
# Their sums are exact, so a GPU always gives the same row lengths.
_WEIGHTS = 1 << 10


@dataclass(frozen=True)
class RowPointers:
    """Row offsets of a CSR matrix: from 0 to the size named ``total``, never decreasing.

    Row lengths range from almost 0 to twice the mean. ``empty``: approximate share of empty rows (1: all but
    one). ``huge``: approximate share of all entries in one row at a random place.
    """

    total: str = "nnz"
    empty: float = 0.0
    huge: float = 0.0

    def derive(
        self,
        drawn: Mapping[str, torch.Tensor],
        sizes: Mapping[str, int],
        shape: tuple[int, ...],
        dtype: torch.dtype,
        generator: torch.Generator,
    ) -> torch.Tensor:
        """Shape [rows + 1]. Raises ValueError if there are entries but no rows."""
        import torch

        rows, entries = shape[0] - 1, sizes[self.total]
        device = generator.device
        if rows == 0:
            if entries:
                raise ValueError(f"{self.total} = {entries}, but no row can hold an entry")
            return torch.zeros(1, dtype=dtype, device=device)
        weights = torch.randint(1, _WEIGHTS, (rows,), generator=generator, device=device)
        chosen = torch.randint(rows, (1,), generator=generator, device=device)
        if self.empty:
            kept = torch.rand(rows, generator=generator, device=device, dtype=torch.float64) >= self.empty
            kept[chosen] = True  # some row must hold the entries
            weights *= kept
        if self.huge:
            others = weights.sum() - weights[chosen]
            weights = weights if self.huge < 1 else torch.zeros_like(weights)
            weights[chosen] = (others * (self.huge / max(1 - self.huge, 1e-9))).long() + 1
        ends = weights.cumsum(0)
        # total / total is exactly 1: the last row ends at the last entry.
        places = (ends.double() / ends[-1] * entries).floor()
        return torch.cat((places.new_zeros(1), places)).to(dtype)

    def bytes_beside(self, count: int, counts: Mapping[str, int]) -> int:
        """Weights, a mask, sums, and four intermediate arrays."""
        return 7 * _WORD * count

    def words(self) -> str:
        parts = [f"row pointers from 0 to {self.total}"]
        if self.empty:
            parts.append(f"{self.empty:.0%} of rows empty")
        if self.huge:
            parts.append(f"one row holds {self.huge:.0%}")
        return ", ".join(parts)


@dataclass(frozen=True)
class NearDiagonal:
    """Columns of a CSR matrix near its diagonal: entry ``j`` of ``total`` is in one of ``width`` columns from
    ``cols * j / total`` on, wrapping. Unordered, with some duplicates.
    """

    width: int = 256
    total: str = "nnz"
    cols: str = "cols"

    def derive(
        self,
        drawn: Mapping[str, torch.Tensor],
        sizes: Mapping[str, int],
        shape: tuple[int, ...],
        dtype: torch.dtype,
        generator: torch.Generator,
    ) -> torch.Tensor:
        """Shape [total]. Raises ValueError if there are entries but no columns."""
        import torch

        (entries,), cols, device = shape, sizes[self.cols], generator.device
        if entries and not cols:
            raise ValueError(f"{self.total} = {entries}, but there is no column")
        if not entries:
            return torch.zeros(0, dtype=dtype, device=device)
        places = torch.randint(self.width, shape, generator=generator, device=device)
        # entries * cols is far below 2^63.
        places += torch.arange(entries, device=device) * cols // entries
        return (places % cols).to(dtype)

    def bytes_beside(self, count: int, counts: Mapping[str, int]) -> int:
        """Places, entry numbers, and two intermediate arrays."""
        return 4 * _WORD * count

    def words(self) -> str:
        return f"columns within {self.width} of the diagonal"


@dataclass(frozen=True)
class RowMean:
    """The mean of each row of the input ``of``, computed in float64."""

    of: str

    def derive(
        self,
        drawn: Mapping[str, torch.Tensor],
        sizes: Mapping[str, int],
        shape: tuple[int, ...],
        dtype: torch.dtype,
        generator: torch.Generator,
    ) -> torch.Tensor:
        """Shape [rows]; NaN for an empty row."""
        return _input(drawn, self.of).double().mean(dim=-1).to(dtype)

    def bytes_beside(self, count: int, counts: Mapping[str, int]) -> int:
        """A copy of the other input, and the means."""
        return _WORD * (counts[self.of] + 2 * count)

    def words(self) -> str:
        return f"the mean of each row of {self.of}"


@dataclass(frozen=True)
class RowRstd:
    """``1 / sqrt(variance + eps)`` of each row of the input ``of``, variance biased, in float64."""

    of: str
    eps: float = 1e-5

    def derive(
        self,
        drawn: Mapping[str, torch.Tensor],
        sizes: Mapping[str, int],
        shape: tuple[int, ...],
        dtype: torch.dtype,
        generator: torch.Generator,
    ) -> torch.Tensor:
        """Shape [rows]; NaN for an empty row."""
        values = _input(drawn, self.of).double()
        # torch.var warns about empty rows.
        variance = (values - values.mean(dim=-1, keepdim=True)).square().mean(dim=-1)
        return (variance + self.eps).rsqrt().to(dtype)

    def bytes_beside(self, count: int, counts: Mapping[str, int]) -> int:
        """A copy of the other input, differences and squares, and a row's figures."""
        return _WORD * (3 * counts[self.of] + 3 * count)

    def words(self) -> str:
        return f"1 / sqrt(variance + {self.eps:g}) of each row of {self.of}"


@dataclass(frozen=True)
class Together:
    """One of several inputs that one function draws together, such as a matrix and its factor.

    ``draw(device, sizes, seed, **options)`` returns them by name, of any type, with as many elements. Give
    every input of the function such a recipe, in every case.
    """

    name: str
    draw: Callable[..., Mapping[str, torch.Tensor]]
    options: Mapping[str, object] = field(default_factory=dict)

    def derive(
        self,
        drawn: Mapping[str, torch.Tensor],
        sizes: Mapping[str, int],
        shape: tuple[int, ...],
        dtype: torch.dtype,
        generator: torch.Generator,
    ) -> torch.Tensor:
        """Raises what ``draw`` raises, and ValueError if it returns no such input."""
        asked = (self.draw, dict(sizes), dict(self.options), generator.device)
        kept = _KEPT.get("last")
        if kept is None or kept.asked != asked or not kept.fits(drawn) or self.name in kept.given:
            kept = _KEPT["last"] = _Kept(asked, self._all(sizes, generator))
        if self.name not in kept.values:
            raise ValueError(
                f"there is no input '{self.name}' among those drawn; there are {sorted(kept.values)}"
            )
        values = kept.given[self.name] = _as_held(kept.values[self.name], shape, dtype)
        return values

    def _all(self, sizes: Mapping[str, int], generator: torch.Generator) -> Mapping[str, torch.Tensor]:
        import torch

        device = generator.device
        seed = int(torch.randint(1 << 31, (1,), generator=generator, device=device))
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), torch.device(device):
            torch.manual_seed(seed)
            return dict(self.draw(str(device), dict(sizes), seed, **self.options))

    def words(self) -> str:
        said = ", ".join(f"{name} = {value}" for name, value in self.options.items())
        return f"drawn together{f' with {said}' if said else ''}"


@dataclass
class _Kept:
    """The last inputs, and those given out."""

    asked: tuple[object, ...]
    values: Mapping[str, torch.Tensor]
    given: dict[str, torch.Tensor] = field(default_factory=dict)

    def fits(self, drawn: Mapping[str, torch.Tensor]) -> bool:
        """It belongs to the same case as ``drawn``."""
        import torch

        return all(
            name in drawn and torch.allclose(drawn[name].double(), values.double(), 0.0, 0.0, equal_nan=True)
            for name, values in list(self.given.items())[:1]
        )


# A case draws its inputs one after the other.
_KEPT: dict[str, _Kept] = {}


def _as_held(values: torch.Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    import torch

    plain = torch.view_as_real(values) if values.is_complex() else values
    return plain.reshape(shape).to(dtype).contiguous()


def _input(drawn: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
    if name not in drawn:
        raise ValueError(f"there is no input '{name}' drawn before it; there are {sorted(drawn)}")
    return drawn[name]
