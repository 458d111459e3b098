"""What a runner may say. Every message is bounded and checked; what a submission's process says decides no verdict and
no time.

Two times are believed, because programs of ours say them: how long a control's call took (``control_us``), and what the
emulated GPU counted (``modelled_us``).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from grader import limits
from grader.schemas.call_profile import CallProfile

Text = Annotated[str, StringConstraints(max_length=limits.ERROR_TEXT_CHARS)]
Word = Annotated[str, StringConstraints(max_length=200)]
# Of an operation or a kernel: nothing that a page or a terminal could take for more than a name.
Name = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9_.<>, ]+$")]
Small = Annotated[int, Field(ge=0, le=2**31)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Failure(Message):
    """An exception, as the runner describes it: shown to its author, never trusted. ``ours``: a program of ours failed
    that runs apart from the submission, as only emulated devices have one."""

    kind: Literal["exception", "memory", "syntax", "import", "cuda", "checker", "compilation", "ours"]
    type: Word
    message: Text
    line: Small | None = None
    trace: Text = ""
    hint: Text = ""

    @property
    def sticky(self) -> bool:
        """Whether the CUDA context that failed so is lost: every later call in that process fails too."""
        return self.kind == "cuda" and self.type.startswith("CUDA_ERROR")


class Starting(Message):
    """What a runner says before anything of a submission is loaded."""


class Imported(Starting):
    """All is done that needs no GPU."""

    op: Literal["imported"]


class Hello(Starting):
    op: Literal["hello"]
    environment: Annotated[dict[Word, Word], Field(max_length=16)] = Field(default_factory=dict)
    # Of the start, by what was done.
    seconds: Annotated[dict[Word, Annotated[float, Field(ge=0)]], Field(max_length=16)] = Field(
        default_factory=dict
    )


class Loaded(Message):
    op: Literal["loaded"]
    error: Failure | None = None


class Bound(Message):
    op: Literal["bound"]


class OfCall(Message):
    """What a runner says from a call's request until it is queued."""

    round: Small


class Compiling(OfCall):
    """It compiles or tunes a kernel, as it says: a submission can say so at any time."""

    op: Literal["compiling"]
    kernel: Annotated[str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9_.<>=, ]+$")]


class Compiled(OfCall):
    op: Literal["compiled"]


class Queued(OfCall):
    op: Literal["queued"]


class SeenKernel(Message):
    """What a compiled Triton kernel takes, as the runner says."""

    name: Name
    registers: Small
    shared_bytes: Small
    local_bytes: Small


class Seen(Message):
    """What the runner noted in a call that it was asked to survey: a hint, which a submission can forge."""

    library_ops: Annotated[list[Name], Field(max_length=8)] = Field(default_factory=list)
    kernels: Annotated[list[SeenKernel], Field(max_length=16)] = Field(default_factory=list)


class Unfreed(Message):
    """Memory of the device's that was allocated and not freed when a call returned, and the source's lines where."""

    bytes: int = Field(ge=0, le=1 << 50)
    allocations: int = Field(ge=1, le=1 << 40)
    lines: Annotated[list[Small], Field(max_length=3)] = Field(default_factory=list)

    @property
    def sentence(self) -> str:
        count = "1 allocation" if self.allocations == 1 else f"{self.allocations:,} allocations"
        lines = " and ".join(map(str, self.lines))
        where = f", allocated at line{'s' if len(self.lines) > 1 else ''} {lines}" if lines else ""
        return f"Not freed: {self.bytes:,} bytes in {count}{where}."


class SampledLaunch(Message):
    """How many of a launch's blocks ran; ``fair``: of these, how many do not lie where more ran than elsewhere."""

    blocks: int = Field(ge=0, le=1 << 63)
    ran: int = Field(ge=0, le=1 << 63)
    fair: int = Field(ge=0, le=1 << 63)


class Sampled(Message):
    """What of a call on large arrays the emulated GPU ran. ``incomplete``: why something beside blocks was left out, so
    that what it wrote is worth nothing. ``guessed``: what it did may be otherwise if every block runs.
    ``combined``: what it wrote may be, because blocks put it together."""

    launches: Annotated[list[SampledLaunch], Field(max_length=64)] = Field(default_factory=list)
    incomplete: Word = ""
    guessed: bool = False
    combined: bool = False


class Forgotten(Message):
    """Launches, copies and memsets on streams of its own that nobody waited for, and the source's lines of them."""

    operations: int = Field(ge=1, le=1 << 40)
    lines: Annotated[list[Small], Field(max_length=3)] = Field(default_factory=list)

    @property
    def where(self) -> str:
        """``, in line 12``; empty where that is not known."""
        lines = " and ".join(map(str, self.lines))
        return f", in line{'s' if len(self.lines) > 1 else ''} {lines}" if lines else ""


class Returned(Message):
    op: Literal["returned"]
    round: Small
    error: Failure | None = None
    control_us: float | None = Field(default=None, gt=0, lt=60e6)
    modelled_us: float | None = Field(default=None, ge=0, lt=3600e6)
    profile: CallProfile | None = None
    unfreed: Unfreed | None = None
    sampled: Sampled | None = None
    forgotten: Forgotten | None = None
    remarks: Annotated[list[Annotated[str, StringConstraints(max_length=500)]], Field(max_length=3)] = Field(
        default_factory=list
    )
    empty_launches: Annotated[list[Word], Field(max_length=8)] = Field(default_factory=list)
    waits_left_out: bool = False
    seen: Seen | None = None


AnyMessage = Annotated[
    Imported | Hello | Loaded | Bound | Compiling | Compiled | Queued | Returned, Field(discriminator="op")
]
ADAPTER: TypeAdapter[Imported | Hello | Loaded | Bound | Compiling | Compiled | Queued | Returned] = (
    TypeAdapter(AnyMessage)
)
