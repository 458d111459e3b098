"""The vocabulary of ``cases.py``: cases, categories, and recipes for inputs. Does not import torch.

An input's recipe comes from the case, else from ``inputs()`` in ``cases.py``, else from ``values`` in
``challenge.toml``. Recipes are data, so a page can describe them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from grader.challenge.dtypes import BITS
from grader.challenge.scalars import Number

if TYPE_CHECKING:
    import torch

# A permutation of more places takes longer than a case.
_PERMUTED = 1 << 24
# Elements drawn at a time on a GPU if each needs 64 bits more. A CPU draws all at once: pieces would change
# the numbers.
_PIECE = 1 << 24
# On a GPU, more than ``_FEW`` elements: places are drawn independently. From this share on, each element
# draws whether it is one.
_MASKED_SHARE, _FEW = 0.1, 1 << 16
# Bytes per element: of a whole number; of random values on a GPU; of a permutation there.
_WHOLE, _DRAWN, _PERMUTATION = 8, 4, 48
# Three copies in float64.
_UNSAID = 24
INF = float("inf")
NAN = float("nan")


class Category(StrEnum):
    BASIC = "basic"
    EMPTY = "empty"
    ONE_ELEMENT = "one_element"
    ODD = "odd"
    PRIME = "prime"
    BLOCK_EDGE = "block_edge"
    ALIGNED = "aligned"
    LARGE = "large"
    ZEROS = "zeros"
    ONES = "ones"
    HUGE = "huge"
    TINY = "tiny"
    DENORMAL = "denormal"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"
    TIES = "ties"
    CANCELLATION = "cancellation"
    RANGE = "range"
    STREAM_ORDER = "stream_order"


@runtime_checkable
class Recipe(Protocol):
    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        """A new tensor on the generator's device, which the caller may overwrite. The same generator state
        gives the same values.
        """

    def words(self) -> str:
        """For people."""


@runtime_checkable
class Derived(Protocol):
    def derive(
        self,
        drawn: Mapping[str, torch.Tensor],
        sizes: Mapping[str, int],
        shape: tuple[int, ...],
        dtype: torch.dtype,
        generator: torch.Generator,
    ) -> torch.Tensor:
        """As ``Recipe.draw``. ``drawn`` has all inputs drawn before; do not change them."""

    def words(self) -> str:
        """For people."""


Filling = Recipe | Derived


@dataclass(frozen=True)
class Part:
    """Rows ``start`` to ``start + length``."""

    whole: tuple[int, ...]
    start: int
    length: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.length, *self.whole[1:])

    def share_of(self, number: int) -> int:
        """All shares add up to ``number``."""
        rows = self.whole[0]
        return number * (self.start + self.length) // rows - number * self.start // rows


@runtime_checkable
class PartRecipe(Recipe, Protocol):
    """Draws an array part by part, so the whole is never in memory."""

    @property
    def in_parts(self) -> bool:
        """False if its base recipe cannot."""

    def draw_part(self, part: Part, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        """Depends only on ``part`` and the generator's state."""


def _is_in_parts(recipe: Recipe) -> bool:
    return isinstance(recipe, PartRecipe) and recipe.in_parts


def _part_of(recipe: Recipe, part: Part, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    assert isinstance(recipe, PartRecipe)
    return recipe.draw_part(part, dtype, generator)


class _Alike:
    in_parts = True

    def draw_part(self: Recipe, part: Part, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        return self.draw(part.shape, dtype, generator)


def drawing_bytes(filling: Filling, count: int, itemsize: int, counts: Mapping[str, int]) -> int:
    """Peak bytes that a GPU needs to draw ``count`` elements, beyond these. ``counts``: elements of every
    buffer.
    """
    if isinstance(filling, Derived):
        derived = getattr(filling, "bytes_beside", None)
        return int(derived(count, counts)) if derived else _UNSAID * max(count, *counts.values())
    drawn = getattr(filling, "bytes_beside", None)
    return int(drawn(count, itemsize)) if drawn else _UNSAID * count


def _random_bytes(count: int, itemsize: int) -> int:
    return 0 if itemsize == _DRAWN else _DRAWN * count


def _drawing_type(generator: torch.Generator, dtype: torch.dtype) -> torch.dtype:
    """On a CPU float64: float32 rounds differently with and without AVX2. On a GPU float32, as float64 is
    several times slower; but float64 for float64, so a kernel that reads it as float32 loses digits.
    """
    import torch

    return torch.float32 if _is_gpu(generator) and dtype is not torch.float64 else torch.float64


# Memory for a tensor of this shape and dtype, or None.
Place = Callable[[tuple[int, ...], "torch.dtype"], "torch.Tensor | None"]
_place: ContextVar[Place | None] = ContextVar("place", default=None)


@contextmanager
def drawn_into(place: Place) -> Iterator[None]:
    """Draw the first normal or uniform values into memory from ``place``, which saves a copy."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def _placed(shape: tuple[int, ...], dtype: torch.dtype, drawn: torch.dtype) -> torch.Tensor | None:
    """Offered once."""
    place = _place.get()
    if place is None or drawn is not dtype:
        return None
    _place.set(None)
    return place(shape, dtype)


def _in_pieces(
    shape: tuple[int, ...],
    dtype: torch.dtype,
    generator: torch.Generator,
    draw: Callable[[tuple[int, ...]], torch.Tensor],
) -> torch.Tensor:
    import torch

    count = math.prod(shape)
    step = _at_once(generator, count)
    if step == count:
        return draw(shape).to(dtype)
    values = torch.empty(count, dtype=dtype, device=generator.device)
    for start in range(0, count, step):
        piece = values[start : start + step]
        piece.copy_(draw((piece.numel(),)))
    return values.view(shape)


def _at_once(generator: torch.Generator, count: int) -> int:
    return min(count, _PIECE) if _is_gpu(generator) else count


def _is_gpu(generator: torch.Generator) -> bool:
    return generator.device.type != "cpu"


@dataclass(frozen=True)
class Normal(_Alike):
    mean: float = 0.0
    std: float = 1.0

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        drawn = _drawing_type(generator, dtype)
        out = _placed(shape, dtype, drawn)
        values = torch.randn(shape, generator=generator, device=generator.device, dtype=drawn, out=out)
        if (self.mean, self.std) != (0.0, 1.0):
            values = values.mul_(self.std).add_(self.mean)
        return values.to(dtype)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return _random_bytes(count, itemsize)

    def words(self) -> str:
        return f"normal, mean {self.mean:g}, deviation {self.std:g}"


@dataclass(frozen=True)
class Uniform(_Alike):
    low: float = 0.0
    high: float = 1.0

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        drawn = _drawing_type(generator, dtype)
        out = _placed(shape, dtype, drawn)
        width = self.high - self.low
        if _is_gpu(generator) and 0 <= width <= torch.finfo(drawn).max:
            values = torch.empty(shape, device=generator.device, dtype=drawn) if out is None else out
            return values.uniform_(self.low, self.high, generator=generator).to(dtype)
        values = torch.rand(shape, generator=generator, device=generator.device, dtype=drawn, out=out)
        if width <= torch.finfo(drawn).max:
            return values.mul_(width).add_(self.low).to(dtype)
        # Halved, because ``high - low`` may overflow.
        return values.mul_(self.high / 2 - self.low / 2).add_(self.low / 2).mul_(2).to(dtype)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return _random_bytes(count, itemsize)

    def words(self) -> str:
        return f"uniform from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Integers(_Alike):
    low: int
    high: int

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        def piece(shape: tuple[int, ...]) -> torch.Tensor:
            high = max(self.high, self.low + 1)
            return torch.randint(self.low, high, shape, generator=generator, device=generator.device)

        return _in_pieces(shape, dtype, generator, piece)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return _WHOLE * min(count, _PIECE)

    def words(self) -> str:
        return f"whole numbers from {self.low} to {self.high - 1}"


@dataclass(frozen=True)
class Ascending:
    """Whole numbers from ``low`` to ``high - 1`` that strictly increase along the last dimension."""

    low: int
    high: int

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        """Raises ValueError if a row has more places than there are numbers."""
        import torch

        count = shape[-1]
        if count > self.high - self.low:
            raise ValueError(
                f"{count:,} different numbers from {self.low:,} to {self.high - 1:,} do not exist"
            )
        # Each of some ordered, possibly equal numbers is moved by its place.
        spare = self.high - self.low - count + 1
        drawn = torch.randint(spare, shape, generator=generator, device=generator.device)
        places = torch.arange(count, device=generator.device)
        return (drawn.sort(dim=-1).values + places + self.low).to(dtype)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return 4 * _WHOLE * count

    def words(self) -> str:
        return f"increasing whole numbers from {self.low} to {self.high - 1}"


@dataclass(frozen=True)
class Offsets:
    """Whole numbers that never decrease along the last dimension, from ``low`` to ``high``: row offsets of a
    sparse matrix.
    """

    low: int
    high: int

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        """Raises ValueError if both ends must be one place, or ``high`` is below ``low``."""
        import torch

        if self.high < self.low or (shape[-1] == 1 and self.low != self.high):
            raise ValueError(f"{shape[-1]} offsets cannot go from {self.low:,} to {self.high:,}")
        width = self.high - self.low + 1
        drawn = torch.randint(width, shape, generator=generator, device=generator.device).sort(dim=-1).values
        if shape[-1]:
            drawn[..., 0], drawn[..., -1] = 0, width - 1
        return (drawn + self.low).to(dtype)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return 3 * _WHOLE * count

    def words(self) -> str:
        return f"offsets from {self.low} to {self.high}, never decreasing"


@dataclass(frozen=True)
class PowersOfTwo(_Alike):
    """2^low to 2^(high - 1), each with the same probability: scales of blocks."""

    low: int
    high: int

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        def piece(shape: tuple[int, ...]) -> torch.Tensor:
            exponents = torch.randint(
                self.low, max(self.high, self.low + 1), shape, generator=generator, device=generator.device
            )
            return torch.ldexp(torch.ones(shape, dtype=torch.float64, device=generator.device), exponents)

        return _in_pieces(shape, dtype, generator, piece)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return 3 * _WHOLE * min(count, _PIECE)

    def words(self) -> str:
        return f"powers of two from 2^{self.low} to 2^{self.high - 1}"


@dataclass(frozen=True)
class Constant(_Alike):
    value: float

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        value = torch.tensor(self.value, dtype=torch.float64).to(dtype)
        return torch.full(shape, value.item(), dtype=dtype, device=generator.device)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return 0

    def words(self) -> str:
        return f"{self.value:g} everywhere"


@dataclass(frozen=True)
class Sprinkle:
    """``base`` with ``value`` at a random ``share`` of the elements, at least one."""

    value: float
    share: float = 0.02
    base: Recipe = field(default_factory=Normal)

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        values = self.base.draw(shape, dtype, generator)
        return self._strewn(values, self._count(values.numel()), generator)

    @property
    def in_parts(self) -> bool:
        return _is_in_parts(self.base)

    def draw_part(self, part: Part, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        values = _part_of(self.base, part, dtype, generator)
        return self._strewn(values, part.share_of(self._count(math.prod(part.whole))), generator)

    def _count(self, elements: int) -> int:
        return max(1, round(elements * self.share))

    def _strewn(self, values: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
        import torch

        flat = values.view(-1)
        if flat.numel():
            many = _is_gpu(generator) and flat.numel() > _FEW
            if many and self.share >= _MASKED_SHARE and flat.dtype.is_floating_point:
                # For many elements, one pass over everything is faster than scattered writes.
                for start in range(0, flat.numel(), _PIECE):
                    part = flat[start : start + _PIECE]
                    chosen = torch.empty(part.shape, dtype=torch.bool, device=generator.device)
                    part.masked_fill_(chosen.bernoulli_(self.share, generator=generator), self.value)
                return values
            if flat.numel() <= _PERMUTED and not many:
                places = torch.randperm(flat.numel(), generator=generator, device=generator.device)[:count]
                _put(flat, places, self.value)
                return values
            step = _at_once(generator, count)
            for start in range(0, count, max(1, step)):  # a few twice, which does not matter
                size = (min(step, count - start),)
                places = torch.randint(flat.numel(), size, generator=generator, device=generator.device)
                _put(flat, places, self.value)
        return values

    def bytes_beside(self, count: int, itemsize: int) -> int:
        places = _PERMUTATION * count if count <= _FEW else 2 * _WHOLE * min(count, _PIECE)
        return max(places, drawing_bytes(self.base, count, itemsize, {}))

    def words(self) -> str:
        return f"{self.base.words()}, with {self.value:g} at {self.share:.0%} of places"


def _put(flat: torch.Tensor, places: torch.Tensor, value: float) -> None:
    """``flat[places] = value``; integers by their bits, because torch cannot do it in uint16."""
    import torch

    if not flat.is_floating_point() and flat.dtype is not torch.bool:
        bits: torch.dtype = getattr(torch, BITS[flat.element_size()])
        value = int(torch.full((), value, dtype=flat.dtype).view(bits))
        flat = flat.view(bits)
    flat[places] = value


@dataclass(frozen=True)
class Rows:
    """``base`` with rows 0, ``step``, ... of the first dimension set to ``value``."""

    value: float
    step: int = 2
    base: Recipe = field(default_factory=Normal)

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        values = self.base.draw(shape, dtype, generator)
        values[:: self.step] = self.value
        return values

    @property
    def in_parts(self) -> bool:
        return _is_in_parts(self.base)

    def draw_part(self, part: Part, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        values = _part_of(self.base, part, dtype, generator)
        values[-part.start % self.step :: self.step] = self.value
        return values

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return drawing_bytes(self.base, count, itemsize, {})

    def words(self) -> str:
        return f"{self.base.words()}, rows 0, {self.step}, {2 * self.step}, ... all {self.value:g}"


@dataclass(frozen=True)
class Choice(_Alike):
    """At random: deliberate ties."""

    values: tuple[float, ...]

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        table = torch.tensor(self.values, dtype=torch.float64, device=generator.device)

        def piece(shape: tuple[int, ...]) -> torch.Tensor:
            return table[torch.randint(len(table), shape, generator=generator, device=generator.device)]

        return _in_pieces(shape, dtype, generator, piece)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return 2 * _WHOLE * min(count, _PIECE)

    def words(self) -> str:
        return "one of " + ", ".join(f"{value:g}" for value in self.values)


@dataclass(frozen=True)
class At:
    """``base`` with ``value`` at ``places`` of the last dimension in every row. Negative places count from
    the end; places outside are ignored.
    """

    value: float
    places: tuple[int, ...] = (-1,)
    base: Recipe = field(default_factory=Normal)

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        values = self.base.draw(shape, dtype, generator)
        for place in self._places(shape[-1]):
            values[..., place] = self.value
        return values

    @property
    def in_parts(self) -> bool:
        return _is_in_parts(self.base)

    def draw_part(self, part: Part, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        values = _part_of(self.base, part, dtype, generator)
        first = part.start if len(part.whole) == 1 else 0
        for place in self._places(part.whole[-1]):
            if first <= place < first + values.shape[-1]:
                values[..., place - first] = self.value
        return values

    def _places(self, last: int) -> list[int]:
        return [place % last for place in self.places if -last <= place < last]

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return drawing_bytes(self.base, count, itemsize, {})

    def words(self) -> str:
        last = all(place < 0 for place in self.places)
        where = f"the last {-min(self.places)}" if last else "places " + ", ".join(map(str, self.places))
        return f"{self.base.words()}, with {self.value:g} at {where} of each row"


# The only boards of such a case.
OnlyOn = Literal["gpu"]


@dataclass(frozen=True)
class Case:
    """``inputs`` and ``scalars`` override ``challenge.toml``."""

    name: str
    category: Category
    sizes: Mapping[str, int]
    inputs: Mapping[str, Filling] = field(default_factory=dict)
    scalars: Mapping[str, Number] = field(default_factory=dict)
    note: str = ""
    hidden: bool = False
    # Timed rounds may draw its inputs at the workload's sizes; None decides by category
    # (``grader.challenge.overlays``).
    timed: bool | None = None
    # Too large for other boards. Skipped if it does not fit the GPU's memory.
    on: OnlyOn | None = None
    without: tuple[str, ...] = ()

    def runs_on(self, workloads: str) -> bool:
        """``workloads``: "cpu" or "gpu"."""
        return self.on is None or self.on == workloads


def case(
    name: str,
    category: Category | str,
    *,
    inputs: Mapping[str, Filling] | None = None,
    scalars: Mapping[str, Number] | None = None,
    without: Sequence[str] = (),
    note: str = "",
    timed: bool | None = None,
    on: OnlyOn | None = None,
    **sizes: int,
) -> Case:
    """Such as ``case("odd", "odd", n=1023)``. ``without``: optional inputs to leave out. Raises ValueError
    for an unknown category.
    """
    return Case(
        name,
        Category(category),
        sizes,
        inputs or {},
        scalars or {},
        note,
        timed=timed,
        on=on,
        without=tuple(without),
    )
