"""The format of ``challenge.toml``."""

from __future__ import annotations

import keyword
from collections.abc import Collection, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from grader import limits
from grader.challenge.cases import Case, Category
from grader.challenge.constructs import Construct, Constructs
from grader.challenge.dtypes import DType
from grader.challenge.expression import ExpressionError, parse, parse_condition
from grader.challenge.scalars import Number, checked
from grader.challenge.tolerance import WITHOUT_STEPS, Allowance, ResultTolerance, Tolerances, step_argument
from grader.languages import Language
from grader.schemas.report import Sizes
from grader.schemas.strict import Strict

# Reserved in C++ or by the starters; Python's keywords are checked separately.
_TAKEN = frozenset(
    "alignas alignof asm auto bool case catch char class const constexpr decltype default delete do double enum "
    "explicit extern false float for friend goto if inline int long mutable namespace new operator private "
    "protected public register return short signed sizeof static struct switch template this throw true try "
    "typedef typeid typename union unsigned using virtual void volatile while kernel solve tl triton".split()
)


class Kind(StrEnum):
    INPUT = "input"
    INOUT = "inout"
    OUTPUT = "output"
    SCALAR = "scalar"
    SIZE = "size"
    WORKSPACE = "workspace"

    @property
    def buffer(self) -> bool:
        return self not in (Kind.SCALAR, Kind.SIZE)

    @property
    def given(self) -> bool:
        """Filled before a call."""
        return self in (Kind.INPUT, Kind.INOUT)

    @property
    def result(self) -> bool:
        return self in (Kind.INOUT, Kind.OUTPUT)

    @property
    def passed(self) -> bool:
        """``reference()`` takes it."""
        return self not in (Kind.OUTPUT, Kind.WORKSPACE)


def _expression(text: str) -> str:
    try:
        parse(text)
    except ExpressionError as error:
        raise ValueError(str(error)) from error
    return text


def _condition(text: str) -> str:
    try:
        parse_condition(text)
    except ExpressionError as error:
        raise ValueError(str(error)) from error
    return text


def _usable_name(name: str) -> str:
    if keyword.iskeyword(name) or name in _TAKEN:
        raise ValueError(
            f"'{name}' has another meaning in C++, in Python or in the starters: choose another name"
        )
    return name


ExpressionText = Annotated[str, AfterValidator(_expression)]
ConditionText = Annotated[str, AfterValidator(_condition)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$"), AfterValidator(_usable_name)]
# As long as its database column.
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=64)]
# The emulated GPU has addresses for as many, and a board's name has one digit.
MOST_GPUS = 8


class Values(Strict, allow_inf_nan=False):
    """``integers``: any in [low, high). ``sorted``: each row of these strictly increases. ``offsets``: each row begins
    at ``low``, ends at ``high`` and never decreases. ``powers``: 2^low to 2^(high - 1)."""

    dist: Literal["normal", "uniform", "integers", "sorted", "offsets", "powers"] = "normal"
    low: ExpressionText | float = 0.0
    high: ExpressionText | float = 1.0
    strict: bool = Field(default=False, description="no case and no run may have other values")

    @model_validator(mode="after")
    def _integers_have_an_end(self) -> Self:
        if (self.whole or self.dist == "powers") and "high" not in self.model_fields_set:
            raise ValueError(
                f"{self.dist} need `high`, the exclusive upper bound: the default of 1 would draw only 0"
                if self.dist in ("integers", "powers")
                else f"{self.dist} need `high`, the upper bound: the default of 1 would draw only 0"
            )
        if self.strict and not self.whole:
            raise ValueError(f"strict is for whole numbers; these are {self.dist}")
        return self

    @property
    def whole(self) -> bool:
        return self.dist not in ("normal", "uniform", "powers")


class Layout(Strict):
    """In elements; the rest is padding. ``pitch``: from the start of a row (the last dimension) to the start
    of the next. ``strides``: one per dimension, instead.
    """

    pitch: ExpressionText | None = None
    strides: list[ExpressionText] | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.pitch is None) == (self.strides is None):
            raise ValueError("a layout has either `pitch` or `strides`")
        return self

    @property
    def texts(self) -> list[str]:
        return [self.pitch] if self.pitch is not None else list(self.strides or ())


class Argument(Strict, allow_inf_nan=False):
    name: Name
    kind: Kind
    dtype: DType = DType.INT64
    shape: list[ExpressionText] = Field(default_factory=list)
    values: Values = Values()
    value: Number | None = Field(default=None, description="what a scalar is in workloads and by default")
    optional: bool = Field(default=False, description="an input that a case or a workload may leave out")
    layout: Layout | None = Field(default=None, description="if it is not dense and row-major")
    valid: list[ExpressionText] = Field(
        default_factory=list,
        description="of an output: how much of its first dimensions counts, in sizes and in results that are counts",
    )
    on: Literal["each"] | Annotated[int, Field(ge=0, lt=MOST_GPUS)] | None = Field(
        default=None,
        description="of a buffer, if there are several GPUs: each has one (if left out), or the number of its GPU",
    )

    @model_validator(mode="before")
    @classmethod
    def _dtype_is_stated(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        if data.get("kind") in {"input", "inout", "output", "workspace"} and "dtype" not in data:
            raise ValueError("a buffer needs a dtype")
        return {**data, "valid": [data["valid"]]} if isinstance(data.get("valid"), str) else data

    @model_validator(mode="after")
    def _keys_fit_kind(self) -> Argument:
        if self.kind.buffer and not self.shape:
            raise ValueError(f"'{self.name}' is an {self.kind.value}: it needs a shape")
        if not self.kind.buffer and self.shape:
            raise ValueError(f"'{self.name}' is a {self.kind.value}: it has no shape")
        if not self.kind.buffer and self.on is not None:
            raise ValueError(f"'{self.name}' is a {self.kind.value}: it is on no GPU; remove `on`")
        if self.kind is Kind.SCALAR and not self.dtype.facts.scalar:
            allowed = " or ".join(dtype for dtype in DType if dtype.facts.scalar)
            raise ValueError(f"'{self.name}' is a scalar: its dtype must be {allowed}")
        if self.kind is Kind.SCALAR and self.value is None:
            raise ValueError(f"'{self.name}' is a scalar: it needs a default value")
        if self.kind is Kind.SCALAR and self.value is not None:
            try:
                self.__dict__["value"] = checked(self.dtype, self.value)  # the model is frozen
            except ValueError as error:
                raise ValueError(f"'{self.name}' is a scalar: value: {error}") from error
        if self.optional and self.kind is not Kind.INPUT:
            raise ValueError(f"'{self.name}' is a {self.kind.value}: only an input may be optional")
        if self.layout is not None and not self.kind.buffer:
            raise ValueError(f"'{self.name}' is a {self.kind.value}: it has no layout")
        if self.layout is not None and not self.dtype.strided:
            able = ", ".join(dtype for dtype in DType if dtype.strided)
            raise ValueError(
                f"'{self.name}' is {self.dtype}, which has no layout; these types have one: {able}"
            )
        if self.layout is not None and self.layout.pitch is not None and len(self.shape) < 2:
            raise ValueError(f"'{self.name}' has one dimension: a pitch needs rows")
        strides = self.layout.strides if self.layout is not None else None
        if strides is not None and len(strides) != len(self.shape):
            raise ValueError(f"'{self.name}': it has {len(self.shape)} dimensions and {len(strides)} strides")
        if self.valid and (self.kind is not Kind.OUTPUT or len(self.valid) > len(self.shape)):
            raise ValueError(f"'{self.name}': valid has at most one expression per dimension of an output")
        ordered = self.values.dist in ("sorted", "offsets")
        if ordered and self.kind.buffer and self.dtype.floating:
            raise ValueError(f"'{self.name}': {self.values.dist} values are integers")
        if (
            self.dtype.floating
            and not self.dtype.as_float.signed
            and self.kind in (Kind.INPUT, Kind.INOUT)
            and "values" not in self.model_fields_set
        ):
            raise ValueError(
                f"'{self.name}' is {self.dtype}, which has powers of two only: give it values, such as "
                '{ dist = "powers", low = -3, high = 4 }'
            )
        if self.kind is Kind.SIZE and self.dtype is not DType.INT64:
            raise ValueError(f"'{self.name}' is a size: sizes are int64")
        return self


# The last argument of ``solve`` if there are several GPUs.
_GPUS = Argument(name="gpus", kind=Kind.SIZE)


class Compare(Strict):
    """``first`` names an int64 output whose first element is the number of elements to compare."""

    first: Name | None = None


class Pieces(Strict):
    """Computes the right answer of a GPU-only case piece by piece. Inputs and results with the dimension
    ``along`` are cut there; other inputs are passed whole, other results are summed.
    """

    along: Name
    # Elements that neighbouring pieces share of their inputs.
    overlap: ExpressionText = "0"
    # A running sum: each piece continues the last element of the previous one. Results that ``compare`` cuts
    # short are concatenated.
    running: bool = False


class Cost(Strict):
    """Least bytes moved and operations done, in sizes: the roofline's two sides."""

    bytes: ExpressionText
    flops: ExpressionText
    # If not the first input's.
    multiplied: DType | None = None


class Workload(Strict, allow_inf_nan=False):
    name: str = Field(min_length=1, max_length=40)
    sizes: Sizes
    scalars: dict[str, Number] = Field(default_factory=dict, description="instead of the arguments' values")
    without: list[str] = Field(default_factory=list, description="optional inputs that it leaves out")
    # The devices that time it. An emulated GPU without workloads takes those of ``cpu``.
    on: Literal["cpu", "gpu", "emulated"] = "gpu"


class NamedBaseline(Strict):
    """A time to compare with, in addition to the reference's in PyTorch."""

    # As long as its column allows; ``eager`` and ``compile`` are the reference's.
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 .+_-]{0,23}$")
    function: str = Field(
        default="", pattern=r"^(?:baseline_[a-z0-9_]{1,32})?$", description="of reference.py; timed on GPUs"
    )
    source: str = Field(
        default="",
        pattern=r"^(?:(?:baselines/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,60})?$",
        description="of a submission in the folder staff, such as solution.cu; timed on GPUs and emulated ones",
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.name.lower() in ("eager", "compile"):
            raise ValueError(f"baselines: '{self.name}' is the reference's own; choose another name")
        if bool(self.function) is bool(self.source):
            raise ValueError(f"baselines '{self.name}': give it either a function or a source")
        if self.source and Language.of_file(self.source) is None:
            raise ValueError(f"baselines '{self.name}': the ending of '{self.source}' is of no language")
        return self


class Autograd(Strict):
    """The signature has a forward pass and its gradients; ``reference.py`` defines ``forward`` alone."""

    upstream: dict[Name, Name] = Field(
        min_length=1, description="input -> the output whose gradient it is, such as dout -> out"
    )
    gradients: dict[Name, Name] = Field(
        min_length=1, description="output -> the input whose gradient it is, such as dx -> x"
    )


class Limits(Strict, allow_inf_nan=False):
    # Wall time of one call on a GPU.
    case_seconds: float = Field(default=limits.CASE_SECONDS, gt=0, le=300)
    # Processor time of one call on the board ``cpu``.
    cpu_seconds: float = Field(default=limits.CASE_CPU_SECONDS, gt=0, le=300)
    memory_bytes: int = Field(default=limits.BOX_MEMORY_BYTES, ge=256 * limits.MIB, le=64 * limits.GIB)

    def call_seconds(self, on_processor: bool) -> float:
        """Of one call; ``on_processor``: calls run on the host's processor."""
        return self.cpu_seconds if on_processor else self.case_seconds


class Tier(Strict, allow_inf_nan=False):
    speedup: float = Field(gt=0)
    points: float = Field(ge=0)


def _refuse_twins(names: list[str], where: str) -> None:
    if twins := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{where}: {sorted(twins)} appear more than once")


class Group(Strict, allow_inf_nan=False):
    """Cases that earn points together, in assignments that give partial credit."""

    name: str = Field(min_length=1, max_length=40)
    points: float = Field(gt=0, description="of the correctness points, if every case of the group is right")
    categories: list[Category] = Field(default_factory=list, description="every case of these categories")
    cases: list[str] = Field(default_factory=list, description="names of public cases")
    hidden: bool | None = Field(default=None, description="only hidden or only public cases; not set: both")
    needs: list[str] = Field(
        default_factory=list, description="groups before this one, without which it earns nothing"
    )

    def takes(self, case: Case) -> bool:
        if self.hidden is not None and self.hidden is not case.hidden:
            return False
        return case.category in self.categories or (not case.hidden and case.name in self.cases)


class Grading(Strict, allow_inf_nan=False):
    correctness_points: float = Field(default=100, ge=0)
    tiers: list[Tier] = Field(default_factory=list)
    groups: list[Group] = Field(
        default_factory=list,
        max_length=20,
        description="parts of the correctness points; the rest is for all cases together",
    )

    @model_validator(mode="after")
    def _groups_agree(self) -> Grading:
        names: list[str] = []
        for group in self.groups:
            where = f"grading.groups '{group.name}'"
            if not group.categories and not group.cases:
                raise ValueError(f"{where}: it takes no cases; list categories or cases")
            if group.hidden and group.cases:
                raise ValueError(f"{where}: cases are names of public ones; take hidden ones by categories")
            if unknown := sorted(set(group.needs) - set(names)):
                raise ValueError(f"{where}: needs {unknown}, but the groups before it are {names}")
            names.append(group.name)
        _refuse_twins(names, "grading.groups")
        if (total := sum(group.points for group in self.groups)) > self.correctness_points:
            raise ValueError(
                f"grading.groups: their points are {total:g} together, but correctness_points is "
                f"{self.correctness_points:g}"
            )
        return self

    def group_of(self, case: Case) -> Group | None:
        """The first group that takes it."""
        return next((group for group in self.groups if group.takes(case)), None)


class AllowedApproximations(Strict):
    """Approximations that may pass `grader challenge check`."""

    # Exact, or patterns with ``*``.
    names: list[str] = Field(min_length=1)
    # Empty means all. Students read the ``reason``.
    workloads: list[str] = Field(default_factory=list)
    reason: str = Field(min_length=1)

    def allows(self, name: str, workload: str) -> bool:
        here = not self.workloads or workload in self.workloads
        return here and any(fnmatchcase(name, pattern) for pattern in self.names)


Waivable = Literal[
    "basic", "empty", "one_element", "odd", "prime", "block_edge", "aligned", "large",
    "zeros", "huge", "tiny", "denormal", "nan", "pos_inf", "neg_inf", "range",
    "cost_bytes", "cost_flops", "workloads", "tolerance",
]  # fmt: skip

# A generic wrong kernel that no case can catch, as mistake and result: ``low_precision:out``.
WaivableKernel = Annotated[str, Field(pattern=r"^[a-z_]+:[A-Za-z_]\w*$")]


class Manifest(Strict):
    title: str = Field(min_length=1, max_length=80)
    track: str = Field(min_length=1, max_length=40)
    order: int = Field(default=100, ge=0, description="place within the track")
    prerequisites: list[Slug] = Field(
        default_factory=list, description="challenges that this one builds on; shown, never enforced"
    )
    difficulty: Literal["easy", "medium", "hard"]
    tags: list[str] = Field(default_factory=list)
    version: int = Field(ge=1)
    languages: list[Language] = Field(min_length=1)
    allow: list[Literal["cublas", "cutlass", "torch", "nccl"]] = Field(default_factory=list)
    gpus: int = Field(default=1, ge=1, le=MOST_GPUS, description="that one submission runs on")
    args: list[Argument] = Field(min_length=1)
    tolerance: Tolerances = Tolerances()
    constructs: Constructs = Constructs()
    compare: dict[str, Compare] = Field(default_factory=dict)
    constraints: list[ConditionText] = Field(
        default_factory=list, max_length=20, description="conditions that the sizes of every call fulfil"
    )
    pieces: Pieces | None = None
    autograd: Autograd | None = None
    workloads: list[Workload] = Field(min_length=1)
    cost: Cost
    baselines: list[NamedBaseline] = Field(
        default_factory=list, max_length=8, description="further times to compare with"
    )
    limits: Limits = Limits()
    grading: Grading = Grading()
    library_kernels: Literal["flag", "unranked"] = Field(
        default="flag", description="what becomes of an accepted submission that calls a library's kernels"
    )
    name_hidden_categories: bool = Field(
        default=False, description="whether students read in which categories hidden cases failed"
    )
    waives: Mapping[Waivable | WaivableKernel, Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict, description="checks of the suite that do not fit this challenge, and why"
    )

    approximations: list[AllowedApproximations] = Field(
        default_factory=list, description="wrong answers that may pass at a workload, and why"
    )

    @property
    def sizes(self) -> list[str]:
        return [arg.name for arg in self.args if arg.kind is Kind.SIZE]

    @property
    def buffers(self) -> list[Argument]:
        return [arg for arg in self.args if arg.kind.buffer]

    @property
    def given(self) -> list[Argument]:
        """Inputs and in-outs."""
        return [arg for arg in self.args if arg.kind.given]

    @property
    def has_checked_results(self) -> bool:
        """True if each piece of a result is contiguous, so writes of single blocks can be checked."""
        return (
            self.pieces is not None
            and not self.pieces.running
            and not any(rule.first for rule in self.compare.values())
            and all(any(self.pieces.along in parse(text).names for text in arg.shape) for arg in self.results)
        )

    @property
    def operands(self) -> list[Argument]:
        return [arg for arg in self.buffers if arg.kind is not Kind.WORKSPACE]

    @property
    def passed(self) -> list[str]:
        """By name, for ``reference()``."""
        return [arg.name for arg in self.args if arg.kind.passed]

    @property
    def optional(self) -> list[str]:
        return [arg.name for arg in self.args if arg.optional]

    @property
    def results(self) -> list[Argument]:
        """In signature order, as ``reference()`` returns them."""
        return [arg for arg in self.args if arg.kind.result]

    @property
    def exact(self) -> bool:
        values = dict.fromkeys((*self.sizes, *(arg.name for arg in self.scalars)), 1)
        return not any(self.tolerance.allowance(arg, values).tolerant for arg in self.results)

    def allowance(self, arg: Argument, sizes: Mapping[str, int], scalars: Mapping[str, float]) -> Allowance:
        """Raises ExpressionError."""
        return self.tolerance.allowance(arg, {**scalars, **sizes})

    @property
    def multiplied(self) -> DType:
        """Decides the rate of arithmetic: int8 products summed in int32 run at int8's rate."""
        if self.cost.multiplied is not None:
            return self.cost.multiplied
        read = [arg.dtype for arg in self.given]
        return read[0] if read else self.results[0].dtype

    def timed_on(self, device: Literal["cpu", "gpu", "emulated"]) -> list[Workload]:
        own = [workload for workload in self.workloads if workload.on == device]
        return self.timed_on("cpu") if device == "emulated" and not own else own

    @property
    def scalars(self) -> list[Argument]:
        return [arg for arg in self.args if arg.kind is Kind.SCALAR]

    def shape(self, arg: Argument, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """With the GPUs as first dimension if each has one. Raises ExpressionError."""
        found = tuple(parse(text).integer(sizes) for text in arg.shape)
        if arg.dtype.packed and found[-1] % 2:
            raise ExpressionError(
                f"the last dimension of {arg.dtype} is even, because two elements share a byte; "
                f"'{arg.shape[-1]}' is {found[-1]}"
            )
        return (self.gpus, *found) if self.on_each(arg) else found

    def on_each(self, arg: Argument) -> bool:
        """True if every GPU has a separate buffer."""
        return self.gpus > 1 and arg.kind.buffer and arg.on in ("each", None)

    def on_one_gpu(self) -> Manifest:
        """As the reference gets them: the arrays of several GPUs stacked."""
        if self.gpus == 1:
            return self
        stacked = {
            arg.name: [str(self.gpus), *arg.shape] if self.on_each(arg) else arg.shape for arg in self.buffers
        }
        args = [
            arg.model_copy(update={"shape": stacked.get(arg.name, arg.shape), "on": None})
            for arg in self.args
        ]
        return self.model_copy(update={"gpus": 1, "args": args})

    @property
    def parameters(self) -> list[Argument]:
        """What ``solve`` gets."""
        return [*self.args, _GPUS] if self.gpus > 1 else self.args

    def strides(self, arg: Argument, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
        """In elements; None if it is dense and row-major. Raises ExpressionError."""
        if arg.layout is None:
            return None
        if arg.layout.strides is not None:
            return tuple(parse(text).integer(sizes) for text in arg.layout.strides)
        assert arg.layout.pitch is not None
        found = [parse(arg.layout.pitch).integer(sizes), 1]
        for size in reversed(self.shape(arg, sizes)[1:-1]):
            found.insert(0, found[0] * size)
        return tuple(found)

    def check_constraints(self, sizes: Mapping[str, int]) -> None:
        """Raises ValueError for a constraint that ``sizes`` break, or an impossible layout."""
        for text in self.constraints:
            try:
                holds = parse_condition(text)(sizes)
            except ExpressionError as error:
                raise ValueError(f"the constraint '{text}' cannot be computed: {error}") from error
            if not holds:
                named = ", ".join(f"{name} = {sizes[name]:,}" for name in sorted(parse_condition(text).names))
                raise ValueError(f"the sizes must fulfil '{text}', and here {named}")
        for arg in self.buffers:
            try:
                self._check_layout(arg, sizes)
            except ExpressionError as error:
                raise ValueError(f"layout of '{arg.name}': {error}") from error

    def _check_layout(self, arg: Argument, sizes: Mapping[str, int]) -> None:
        """No two elements share a place: each stride is at least the extent of the smaller ones."""
        shape, strides = self.shape(arg, sizes), self.strides(arg, sizes)
        if strides is None or 0 in shape:
            return
        least = 1
        for stride, size in sorted(zip(strides, shape, strict=True)):
            if size > 1 and stride < least:
                raise ValueError(
                    f"layout of '{arg.name}': a stride of {stride:,} is too short, elements would overlap: its shape "
                    f"is {list(shape)} and its strides {list(strides)}"
                )
            least = max(least, stride * size)

    @model_validator(mode="after")
    def _parts_agree(self) -> Manifest:
        names = [arg.name for arg in self.args]
        _refuse_twins(names, "args")
        _refuse_twins(self.prerequisites, "prerequisites")
        if not self.results:
            raise ValueError("args: a challenge needs at least one output or inout")
        if not self.sizes:
            raise ValueError("args: a challenge needs at least one size")
        self._check_gpus()
        self._check_expressions()
        self._check_compare()
        self._check_pieces()
        self._check_autograd()
        _check_tolerances(self)
        if "cublas" in self.allow and Construct.LIBRARY_CALLS in self.constructs.forbid:
            raise ValueError("constructs: library_calls are forbidden, but `allow` names cublas")
        _refuse_twins([workload.name for workload in self.workloads], "workloads")
        for workload in self.workloads:
            check_sizes(self, workload.sizes, f"workloads '{workload.name}'")
            workload.scalars.update(
                check_values(self, workload.scalars, workload.without, f"workloads '{workload.name}'")
            )
        _refuse_twins([baseline.name.lower() for baseline in self.baselines], "baselines")
        known = {workload.name for workload in self.workloads}
        if (
            unknown := {name for approximation in self.approximations for name in approximation.workloads}
            - known
        ):
            raise ValueError(
                f"approximations: {sorted(unknown)} are not workloads; there are {sorted(known)}"
            )
        return self

    def _check_gpus(self) -> None:
        if self.gpus == 1:
            if named := [arg.name for arg in self.args if arg.on is not None]:
                raise ValueError(
                    f"args: {named} say `on`, which is for several GPUs: set `gpus`, or remove it"
                )
            return
        if any(arg.name == _GPUS.name for arg in self.args):
            raise ValueError(f"args: '{_GPUS.name}' is passed to solve by itself: remove it")
        for arg in self.buffers:
            if self.on_each(arg) and not arg.dtype.strided:
                raise ValueError(
                    f"args '{arg.name}': {arg.dtype} cannot be on each of several GPUs; say `on = 0`, or change dtype"
                )
            if isinstance(arg.on, int) and arg.on >= self.gpus:
                raise ValueError(f"args '{arg.name}' on: GPU {arg.on} is not there; gpus = {self.gpus}")
            if arg.layout is not None:
                raise ValueError(
                    f"args '{arg.name}': a challenge for several GPUs has no layouts; remove `layout`"
                )
            if self.on_each(arg) and (arg.optional or arg.valid):
                key = "optional" if arg.optional else "valid"
                raise ValueError(
                    f"args '{arg.name}' {key}: it is on each GPU; remove `{key}`, or say `on` for one GPU"
                )
        if self.autograd is not None:
            raise ValueError("autograd: a challenge for several GPUs has no gradients; remove [autograd]")
        if "torch" in self.allow:
            raise ValueError("allow: PyTorch extensions run on one GPU; remove torch, or `gpus`")
        if self.pieces is not None:
            raise ValueError("pieces: a challenge for several GPUs has no large cases; remove [pieces]")
        if cut := [
            name for name in self.compare if any(arg.name == name and self.on_each(arg) for arg in self.args)
        ]:
            raise ValueError(
                f"compare: {cut} are on each GPU, and compared whole; remove them, or say `on` for one GPU"
            )

    def _check_expressions(self) -> None:
        known = set(self.sizes)
        texts = [(f"args '{arg.name}' shape", text) for arg in self.buffers for text in arg.shape]
        texts += [("cost.bytes", self.cost.bytes), ("cost.flops", self.cost.flops)]
        for arg in self.buffers:
            bounds = (arg.values.low, arg.values.high)
            texts += [(f"args '{arg.name}' values", bound) for bound in bounds if isinstance(bound, str)]
            if arg.layout is not None:
                texts += [(f"args '{arg.name}' layout", text) for text in arg.layout.texts]
        for where, text in texts:
            if unknown := parse(text).names - known:
                raise ValueError(f"{where}: '{text}' names {sorted(unknown)}; the sizes are {sorted(known)}")
        for text in self.constraints:
            if unknown := parse_condition(text).names - known:
                raise ValueError(
                    f"constraints: '{text}' names {sorted(unknown)}; the sizes are {sorted(known)}"
                )

    def _check_compare(self) -> None:
        by_name = {arg.name: arg for arg in self.results}
        for name, rule in self.compare.items():
            if name not in by_name:
                raise ValueError(f"compare: '{name}' is not an output; the outputs are {sorted(by_name)}")
            if rule.first is not None:
                counter = by_name.get(rule.first)
                if counter is None or counter.dtype is not DType.INT64:
                    raise ValueError(f"compare.{name}: first = '{rule.first}' must name an int64 output")
        counts = {arg.name for arg in self.results if arg.dtype in (DType.INT32, DType.INT64)}
        for arg in self.results:
            cut = self.compare.get(arg.name)
            if arg.valid and cut is not None and cut.first is not None:
                raise ValueError(f"compare.{arg.name}: '{arg.name}' has `valid`, too: leave `first` out")
            for text in arg.valid:
                if unknown := parse(text).names - counts - set(self.sizes):
                    raise ValueError(
                        f"args '{arg.name}' valid: '{text}' names {sorted(unknown)}; there are the sizes "
                        f"{sorted(self.sizes)} and the int32 and int64 results {sorted(counts)}"
                    )

    def _check_autograd(self) -> None:
        if self.autograd is None:
            return
        args = {arg.name: arg for arg in self.args}
        pairs = [("upstream", *pair, Kind.INPUT, Kind.OUTPUT) for pair in self.autograd.upstream.items()]
        pairs += [("gradients", *pair, Kind.OUTPUT, Kind.INPUT) for pair in self.autograd.gradients.items()]
        for table, gradient, of, kind, kind_of in pairs:
            where = f"autograd.{table}: {gradient} = '{of}'"
            for name, wanted in ((gradient, kind), (of, kind_of)):
                if name not in args or args[name].kind is not wanted:
                    raise ValueError(f"{where}: '{name}' is no {wanted.value} of the signature")
            if args[gradient].shape != args[of].shape or args[gradient].dtype is not args[of].dtype:
                raise ValueError(f"{where}: a gradient has the shape and dtype of what it is of")
            if not args[of].dtype.floating:
                raise ValueError(f"{where}: only floats have gradients")
        upstream, gradients = self.autograd.upstream, self.autograd.gradients
        for table, named in (("upstream", upstream), ("gradients", gradients)):
            _refuse_twins(list(named.values()), f"autograd.{table}")
            if crossed := sorted({*named.values()} & {*upstream, *gradients}):
                raise ValueError(f"autograd.{table}: {crossed} are gradients themselves")
        if any(arg.kind is Kind.INOUT for arg in self.args):
            raise ValueError("autograd: a Function changes no argument, so there can be no inout")

    def _check_pieces(self) -> None:
        if self.pieces is None:
            return
        if self.pieces.along not in self.sizes:
            raise ValueError(
                f"pieces: along = '{self.pieces.along}' is not a size; the sizes are {sorted(self.sizes)}"
            )
        if unknown := parse(self.pieces.overlap).names - set(self.sizes):
            raise ValueError(f"pieces: overlap names {sorted(unknown)}; the sizes are {sorted(self.sizes)}")
        for arg in self.operands:
            if arg.layout is not None or arg.valid:
                raise ValueError(f"pieces: '{arg.name}' has a layout or `valid`, and cannot be cut")
            naming = [text for text in arg.shape if self.pieces.along in parse(text).names]
            if len(naming) > 1 or (arg.kind is not Kind.OUTPUT and naming not in ([], [self.pieces.along])):
                raise ValueError(
                    f"pieces: '{arg.name}' cannot be cut along '{self.pieces.along}': one dimension must be that size"
                )


def check_sizes(manifest: Manifest, sizes: Sizes, where: str) -> None:
    """Raises ValueError."""
    if set(sizes) != set(manifest.sizes):
        raise ValueError(f"{where}: sizes are {sorted(sizes)}, the signature has {sorted(manifest.sizes)}")
    if negative := [name for name, value in sizes.items() if value < 0]:
        raise ValueError(f"{where}: {negative} must not be negative")
    for arg in manifest.buffers:
        try:
            manifest.shape(arg, sizes)
        except ExpressionError as error:
            raise ValueError(f"{where}: shape of '{arg.name}': {error}") from error
    try:
        manifest.check_constraints(sizes)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    scalars = {arg.name: arg.value or 0.0 for arg in manifest.scalars}
    for arg in manifest.results:
        try:
            manifest.allowance(arg, sizes, scalars)
        except ExpressionError as error:
            raise ValueError(f"{where}: step of tolerance.{arg.name}: {error}") from error


def check_values(
    manifest: Manifest, scalars: Mapping[str, Number], without: Collection[str], where: str
) -> dict[str, Number]:
    """As their dtypes take them. Raises ValueError, also for an input that may not be left out."""
    known = {arg.name: arg.dtype for arg in manifest.scalars}
    if unknown := sorted(set(scalars) - set(known)):
        raise ValueError(f"{where}: scalars {unknown} do not exist; there are {sorted(known)}")
    if wrong := sorted(set(without) - set(manifest.optional)):
        raise ValueError(
            f"{where}: {wrong} cannot be left out; the optional inputs are {sorted(manifest.optional)}"
        )
    found = {}
    for name, value in scalars.items():
        try:
            found[name] = checked(known[name], value)
        except ValueError as error:
            raise ValueError(f"{where}: scalar '{name}': {error}") from error
    return found


def _check_tolerances(manifest: Manifest) -> None:
    """Raises ValueError."""
    results = {arg.name: arg for arg in manifest.results}
    values = dict.fromkeys((*manifest.sizes, *(arg.name for arg in manifest.scalars)), 1)
    for name, own in manifest.tolerance.results.items():
        where = f"tolerance.{name}"
        if name not in results:
            raise ValueError(f"{where}: '{name}' is not an output; the outputs are {sorted(results)}")
        arg = results[name]
        if not arg.dtype.floating and own.steps is None:
            raise ValueError(f"{where}: '{name}' is {arg.dtype}: give steps, by how many it may be off")
        if arg.dtype in WITHOUT_STEPS:
            raise ValueError(
                f"{where}: '{name}' is {arg.dtype}, which has no steps here: it must be exact, so leave the table out"
            )
        if not arg.dtype.floating and own.step is not None:
            raise ValueError(f"{where}: '{name}' is {arg.dtype}: its step is 1, so leave step out")
        if arg.dtype.floating and own.steps is not None and own.step is None:
            raise ValueError(f"{where}: '{name}' is {arg.dtype}: give step, the size of one of its steps")
        if own.step is not None:
            _check_step(manifest, arg, own, values)


def _check_step(manifest: Manifest, arg: Argument, own: ResultTolerance, values: Mapping[str, float]) -> None:
    where = f"tolerance.{arg.name}"
    name = step_argument(own, values)
    if name is None:
        if own.block != 1:
            raise ValueError(f"{where}: block needs a step that names an argument")
        if isinstance(own.step, str) and (unknown := parse(own.step).names - set(values)):
            raise ValueError(f"{where}: step names {sorted(unknown)}; sizes and scalars are {sorted(values)}")
        return
    buffers = {each.name: each for each in manifest.buffers}
    if name not in buffers or name == arg.name:
        known = sorted({*buffers, *values} - {arg.name})
        raise ValueError(f"{where}: step = '{name}' is not an argument; there are {known}")
    if len(buffers[name].shape) > len(arg.shape):
        raise ValueError(f"{where}: '{name}' has more dimensions than '{arg.name}', whose steps it holds")
    pieces = manifest.pieces
    if pieces is not None and not any(pieces.along in parse(text).names for text in arg.shape):
        raise ValueError(
            f"{where}: '{arg.name}' is summed over the pieces along '{pieces.along}', and steps cannot be: "
            "take a step that names no argument"
        )
