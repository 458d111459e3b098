"""What a ``cases.py`` is written with: cases, their categories, and recipes for inputs.

A case is a name, a category, sizes, and for each input a recipe where the challenge's default is not wanted. That
default is what ``cases.py`` itself says in ``inputs() -> dict[str, Filling]``, for cases and timed workloads alike,
and else ``values`` of ``challenge.toml``. Recipes are data, so that a page can say in words what an input holds;
their ``draw`` makes the tensor. Inputs that depend on others: ``grader.challenge.derived``. Importing this module
does not import torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from grader.challenge.dtypes import BITS

if TYPE_CHECKING:
    import torch

# Permutations of more places than this take longer than a case.
_PERMUTED = 1 << 24
# On a GPU what takes 64 bits an element beside the input, such as places in it, is drawn so many at a time. On a CPU in
# one go: there the numbers of a seed stay what they were.
_PIECE = 1 << 24
# On a GPU: of more elements than so few, places are drawn one by one, some perhaps twice; and where a value shall lie
# at so large a share of them, it is drawn for each place by itself.
_MASKED_SHARE, _FEW = 0.1, 1 << 16
# Bytes an element. Of whole numbers, as torch draws them and takes them for places; of random values on a GPU; of a
# permutation there, with the keys that it is sorted by and what sorting takes.
_WHOLE, _DRAWN, _PERMUTATION = 8, 4, 48
# Bytes an element that a recipe which does not say is taken to need beside its input: three copies in float64.
_UNSAID = 24
INF = float("inf")
NAN = float("nan")


class Category(StrEnum):
    """Why a case exists."""

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
    """How to fill one input."""

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        """A tensor on the generator's device; the same generator state gives the same values."""

    def words(self) -> str:
        """What it holds, for a person."""


@runtime_checkable
class Derived(Protocol):
    """How to fill one input from sizes and from inputs that were drawn before it."""

    def derive(
        self,
        drawn: Mapping[str, torch.Tensor],
        sizes: Mapping[str, int],
        shape: tuple[int, ...],
        dtype: torch.dtype,
        generator: torch.Generator,
    ) -> torch.Tensor:
        """As ``Recipe.draw``. ``drawn`` holds all inputs with plain recipes and the derived ones before this in the
        signature; they must not be changed."""

    def words(self) -> str:
        """What it holds, for a person."""


Filling = Recipe | Derived


@dataclass(frozen=True)
class Part:
    """``length`` rows of an array of the shape ``whole``, along its first dimension, from row ``start`` on."""

    whole: tuple[int, ...]
    start: int
    length: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.length, *self.whole[1:])

    def share_of(self, number: int) -> int:
        """How many of ``number`` things spread over the whole lie here; over all parts together it is ``number``."""
        rows = self.whole[0]
        return number * (self.start + self.length) // rows - number * self.start // rows


@runtime_checkable
class PartRecipe(Recipe, Protocol):
    """A recipe that also draws an array part by part, so that nobody has to hold the whole."""

    @property
    def in_parts(self) -> bool:
        """False if what it is based on cannot."""

    def draw_part(self, part: Part, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        """What lies in ``part``. It depends on the part and the generator's state alone, which differs from part to
        part."""


def _is_in_parts(recipe: Recipe) -> bool:
    return isinstance(recipe, PartRecipe) and recipe.in_parts


def _part_of(recipe: Recipe, part: Part, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    assert isinstance(recipe, PartRecipe)
    return recipe.draw_part(part, dtype, generator)


class _Alike:
    """Elements are drawn alike, wherever they lie."""

    in_parts = True

    def draw_part(self: Recipe, part: Part, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        return self.draw(part.shape, dtype, generator)


def drawing_bytes(filling: Filling, count: int, itemsize: int, counts: Mapping[str, int]) -> int:
    """What drawing ``count`` elements of ``itemsize`` bytes on a GPU takes beside them, at its height: what the
    filling's own ``bytes_beside`` says. ``counts``: elements of every buffer by its name."""
    if isinstance(filling, Derived):
        derived = getattr(filling, "bytes_beside", None)
        return int(derived(count, counts)) if derived else _UNSAID * max(count, *counts.values())
    drawn = getattr(filling, "bytes_beside", None)
    return int(drawn(count, itemsize)) if drawn else _UNSAID * count


def _random_bytes(count: int, itemsize: int) -> int:
    return 0 if itemsize == _DRAWN else _DRAWN * count


def _drawing_type(generator: torch.Generator, dtype: torch.dtype) -> torch.dtype:
    """What random values of ``dtype`` are drawn in. On a CPU float64: the float32 version rounds differently on
    machines with and without AVX2. A GPU's own numbers are reproduced on GPUs only, and there float64 takes several
    times as long: only what is float64 is drawn so, or a kernel that reads it as float32 would lose nothing."""
    import torch

    return torch.float32 if _is_gpu(generator) and dtype is not torch.float64 else torch.float64


# Memory for a tensor of this shape and dtype, or None.
Place = Callable[[tuple[int, ...], "torch.dtype"], "torch.Tensor | None"]
_place: ContextVar[Place | None] = ContextVar("place", default=None)


@contextmanager
def drawn_into(place: Place) -> Iterator[None]:
    """Within, the first normal or uniform values that are drawn may lie where ``place`` says, so that they need not be
    copied there. Which values they are does not depend on it."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def _placed(shape: tuple[int, ...], dtype: torch.dtype, drawn: torch.dtype) -> torch.Tensor | None:
    """Memory that was offered for values of ``dtype``, where they are drawn as that. It is offered once."""
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
    """``draw`` of ``shape`` as ``dtype``, in pieces where the generator is a GPU's."""
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
    """How many of ``count`` elements are drawn at once."""
    return min(count, _PIECE) if _is_gpu(generator) else count


def _is_gpu(generator: torch.Generator) -> bool:
    return generator.device.type != "cpu"


@dataclass(frozen=True)
class Normal(_Alike):
    """Normally distributed values."""

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
    """Uniform in [low, high)."""

    low: float = 0.0
    high: float = 1.0

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        drawn = _drawing_type(generator, dtype)
        out = _placed(shape, dtype, drawn)
        width = self.high - self.low
        if _is_gpu(generator) and 0 <= width <= torch.finfo(drawn).max:
            values = torch.empty(shape, device=generator.device, dtype=drawn) if out is None else out
            return values.uniform_(self.low, self.high, generator=generator).to(dtype)  # in one pass
        values = torch.rand(shape, generator=generator, device=generator.device, dtype=drawn, out=out)
        if width <= torch.finfo(drawn).max:
            return values.mul_(width).add_(self.low).to(dtype)
        # Half of what is wider than the largest number is not.
        return values.mul_(self.high / 2 - self.low / 2).add_(self.low / 2).mul_(2).to(dtype)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return _random_bytes(count, itemsize)

    def words(self) -> str:
        return f"uniform from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Integers(_Alike):
    """Whole numbers from ``low`` up to, not including, ``high``."""

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
class Constant(_Alike):
    """One value everywhere."""

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
    """``base`` with ``value`` written over a random ``share`` of the elements, at least one."""

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
        """``values`` with the value at ``count`` random places."""
        import torch

        flat = values.view(-1)
        if flat.numel():
            many = _is_gpu(generator) and flat.numel() > _FEW
            if many and self.share >= _MASKED_SHARE and flat.dtype.is_floating_point:
                # To write so many elements all over memory takes longer than to pass over all of it.
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
            for start in range(0, count, max(1, step)):  # some twice, which nobody notices among so many
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
    """``flat[places] = value``; for integers by their bits, because torch cannot do it in uint16 and the like."""
    import torch

    if not flat.is_floating_point() and flat.dtype is not torch.bool:
        bits: torch.dtype = getattr(torch, BITS[flat.element_size()])
        value = int(torch.full((), value, dtype=flat.dtype).view(bits))
        flat = flat.view(bits)
    flat[places] = value


@dataclass(frozen=True)
class Rows:
    """``base`` with whole rows (first dimension) set to ``value``: row 0 and every ``step``-th after it."""

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
        return f"{self.base.words()}, every {self.step}. row all {self.value:g}"


@dataclass(frozen=True)
class Choice(_Alike):
    """Each element is one of ``values``, drawn at random: ties on purpose."""

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
    """``base`` with ``value`` at these ``places`` of the last dimension, in every row; negative ones count from its
    end. Places that an array does not have are left out."""

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


# The kind of device whose boards alone run a case.
OnlyOn = Literal["gpu"]


@dataclass(frozen=True)
class Case:
    """One correctness test. ``inputs`` and ``scalars`` override what ``challenge.toml`` says.

    A case of a loaded challenge holds the challenge's own recipes too, where it names none itself. ``timed``: whether
    some of the rounds in which a workload is timed draw its inputs at the workload's sizes; None: by its category (see
    ``grader.challenge.overlays``). ``on``: "gpu" for a case that is too large for any other board; its inputs are drawn
    there, and it is left out where it does not fit the GPU's memory.
    """

    name: str
    category: Category
    sizes: Mapping[str, int]
    inputs: Mapping[str, Filling] = field(default_factory=dict)
    scalars: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    hidden: bool = False
    timed: bool | None = None
    on: OnlyOn | None = None

    def runs_on(self, workloads: str) -> bool:
        """Whether boards with these workloads, "cpu" or "gpu", run it."""
        return self.on is None or self.on == workloads


def case(
    name: str,
    category: Category | str,
    *,
    inputs: Mapping[str, Filling] | None = None,
    scalars: Mapping[str, float] | None = None,
    note: str = "",
    timed: bool | None = None,
    on: OnlyOn | None = None,
    **sizes: int,
) -> Case:
    """A case, its sizes as keywords: ``case("odd", "odd", n=1023)``. Raises ValueError: unknown category."""
    return Case(name, Category(category), sizes, inputs or {}, scalars or {}, note, timed=timed, on=on)
