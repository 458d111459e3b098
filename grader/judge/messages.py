"""Messages of a runner, bounded and checked. A submission's process decides no verdict and no time.

Our programs send the trusted times ``control_us`` and ``modelled_us``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from grader import limits
from grader.schemas.call_profile import CallProfile
from grader.schemas.step import Orders, StepLane, StepLaunch

Text = Annotated[str, StringConstraints(max_length=limits.ERROR_TEXT_CHARS)]
Word = Annotated[str, StringConstraints(max_length=200)]
# No character means anything to a page or a terminal.
Name = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9_.<>, ]+$")]
Signed = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)]
Small = Annotated[int, Field(ge=0, le=2**31)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Failure(Message):
    """Shown to its author, never trusted."""

    #: ``ours``: the emulated GPU's program failed, not the submission.
    kind: Literal["exception", "memory", "syntax", "import", "cuda", "checker", "compilation", "ours"]
    type: Word
    message: Text
    line: Small | None = None
    trace: Text = ""
    hint: Text = ""

    @property
    def sticky(self) -> bool:
        """The CUDA context is lost: every later call in that process fails."""
        return self.kind == "cuda" and self.type.startswith("CUDA_ERROR")


class Starting(Message):
    """Sent before a submission is loaded."""


class Imported(Starting):
    op: Literal["imported"]


class Hello(Starting):
    op: Literal["hello"]
    environment: Annotated[dict[Word, Word], Field(max_length=16)] = Field(default_factory=dict)
    #: Seconds by step.
    seconds: Annotated[dict[Word, Annotated[float, Field(ge=0)]], Field(max_length=16)] = Field(
        default_factory=dict
    )


class Loaded(Message):
    op: Literal["loaded"]
    error: Failure | None = None


class Bound(Message):
    op: Literal["bound"]


class OfCall(Message):
    round: Small


class Compiling(OfCall):
    """A submission can always claim this."""

    op: Literal["compiling"]
    kernel: Annotated[str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9_.<>=, ]+$")]


class Compiled(OfCall):
    op: Literal["compiled"]


class Queued(OfCall):
    op: Literal["queued"]


class SeenKernel(Message):
    name: Name
    registers: Small
    shared_bytes: Small
    local_bytes: Small


class Seen(Message):
    """A hint, which a submission can forge."""

    library_ops: Annotated[list[Name], Field(max_length=8)] = Field(default_factory=list)
    kernels: Annotated[list[SeenKernel], Field(max_length=16)] = Field(default_factory=list)


class Unfreed(Message):
    """Device memory and the lines that allocated it."""

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
    blocks: int = Field(ge=0, le=1 << 63)
    ran: int = Field(ge=0, le=1 << 63)
    #: Blocks that ran, without those from places where more ran than elsewhere.
    fair: int = Field(ge=0, le=1 << 63)
    instructions: int = Field(default=0, ge=0, le=1 << 63)


class Sampled(Message):
    """What an emulated GPU ran of a call on large arrays."""

    launches: Annotated[list[SampledLaunch], Field(max_length=64)] = Field(default_factory=list)
    #: Why results are worthless: more than blocks was left out.
    incomplete: Word = ""
    #: It might behave differently if every block ran.
    guessed: bool = False
    #: Blocks combine results, so these could differ.
    combined: bool = False
    #: Blocks of a counted launch differ in work.
    uneven: bool = False
    #: Warp instructions of all blocks, estimated from those that ran.
    instructions: int = Field(default=0, ge=0, le=1 << 63)


class Forgotten(Message):
    """Launches, copies and memsets that nobody waited for."""

    operations: int = Field(ge=1, le=1 << 40)
    lines: Annotated[list[Small], Field(max_length=3)] = Field(default_factory=list)

    @property
    def where(self) -> str:
        lines = " and ".join(map(str, self.lines))
        return f", in line{'s' if len(self.lines) > 1 else ''} {lines}" if lines else ""


class Reason(Message):
    """See ``emulator/stepping/not_stored.py``."""

    how: Literal["branch", "mask", "elsewhere"]
    line: Small
    store_line: Small
    compared: Annotated[list[Signed], Field(max_length=2)] = Field(default_factory=list)
    elements: Annotated[list[Signed], Field(max_length=4)] = Field(default_factory=list)
    stores: int = Field(default=0, ge=0, le=1 << 40)


class Stepped(Message):
    """The failing block in base64, see ``emulator/stepping/recorder.py``; or why there is none."""

    data: Annotated[
        str, StringConstraints(max_length=limits.STEP_CHARS, pattern=r"^[A-Za-z0-9+/]*={0,2}$")
    ] = ""
    why: Word = ""
    lanes: Annotated[list[StepLane], Field(max_length=32)] = Field(default_factory=list)
    orders: Orders = Field(default_factory=list)
    word: Word = ""
    reason: Reason | None = None
    named: Annotated[
        str, StringConstraints(max_length=limits.STEP_CHARS, pattern=r"^[A-Za-z0-9+/]*={0,2}$")
    ] = ""
    named_why: Word = ""
    launches: Annotated[list[StepLaunch], Field(max_length=64)] = Field(default_factory=list)
    launch: Small = 0
    block: Annotated[list[Small], Field(min_length=3, max_length=3)] = Field(
        default_factory=lambda: [0, 0, 0]
    )


#: As the emulated GPU reads it from PTX.
KernelName = Annotated[str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9_.<>,:$ ()-]*$")]
Index = tuple[Small, Small, Small]
Whole = Annotated[int, Field(ge=0, le=1 << 62)]


class QuizFact(Message):
    """See ``emulator/stepping/quiz.py``. ``choices``: lines; 0 is none of them."""

    kind: Literal["blocks", "first_write", "elements", "active", "sectors", "passes", "barrier", "race"]
    answer: Whole
    kernel: KernelName
    kernels: Small
    grid: Index
    threads: Index
    line: Small = 0
    block: Index = (0, 0, 0)
    thread: Index = (0, 0, 0)
    warp: Small = 0
    array: Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9_.<>,:$ -]*$")] = ""
    verb: Literal["", "reads", "writes"] = ""
    choices: Annotated[list[Small], Field(max_length=8)] = Field(default_factory=list)
    saw: Annotated[dict[Word, Whole], Field(max_length=8)] = Field(default_factory=dict)
    #: A barrier's line, and two lines of the race without it; the second may be 0.
    races: Annotated[list[tuple[Small, Small, Small]], Field(max_length=8)] = Field(default_factory=list)


class ConstructPlace(Message):
    """``text``: an opcode; for spills, the bytes that a thread moves."""

    what: Annotated[str, StringConstraints(max_length=40, pattern=r"^[a-z_]+$")]
    kernel: KernelName
    line: Small
    text: Annotated[str, StringConstraints(max_length=60, pattern=r"^[a-z0-9_.:]*$")]


class Constructs(Message):
    """See ``emulator/constructs.py``. ``idle``: in code that did not run."""

    launches: Small
    lines: Annotated[list[Small], Field(max_length=8)] = Field(default_factory=list)
    kernels: Annotated[list[KernelName], Field(max_length=16)] = Field(default_factory=list)
    executed: Annotated[list[ConstructPlace], Field(max_length=64)] = Field(default_factory=list)
    idle: Annotated[list[ConstructPlace], Field(max_length=64)] = Field(default_factory=list)
    spills_known: bool = True
    #: Operations with and without tensor cores, and where most of the latter are.
    tensor_flops: Annotated[int, Field(ge=0, le=1 << 63)] = 0
    other_flops: Annotated[int, Field(ge=0, le=1 << 63)] = 0
    most_other: ConstructPlace | None = None


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
    step: Stepped | None = None
    remarks: Annotated[list[Annotated[str, StringConstraints(max_length=500)]], Field(max_length=3)] = Field(
        default_factory=list
    )
    empty_launches: Annotated[list[Word], Field(max_length=8)] = Field(default_factory=list)
    waits_left_out: bool = False
    seen: Seen | None = None
    #: Warp instructions on an emulated GPU.
    instructions: int = Field(default=0, ge=0, le=1 << 63)
    quiz: Annotated[list[QuizFact], Field(max_length=8)] | None = None
    constructs: Constructs | None = None


Packed = Annotated[str, StringConstraints(max_length=limits.MESSAGE_BYTES)]


class Wrote(Message):
    """See ``grader.schemas.error_map.Writer``."""

    by: Literal["thread", "copy", "host", "nobody"]
    kernel: KernelName = ""
    block: Index = (0, 0, 0)
    thread: Index = (0, 0, 0)
    lines: Annotated[list[Small], Field(max_length=6)] = Field(default_factory=list)
    many: bool = False


class WritingBlocks(Message):
    """See ``grader.schemas.error_map.Blocks``."""

    cells: Packed
    table: Packed
    kernels: Annotated[list[KernelName], Field(max_length=limits.ERROR_MAP_LAUNCHES)]


class Would(Message):
    """The thread that would write an element, by the index that wrote ``like``. ``work``: the launch's number in the
    call."""

    work: Small
    kernel: KernelName
    grid: Index
    threads: Index
    block: Index
    thread: Index
    like: int = Field(ge=0, le=1 << 63)
    like_block: Index
    like_thread: Index
    like_lines: Annotated[list[Small], Field(max_length=6)] = Field(default_factory=list)
    size: int = Field(ge=1, le=16, description="bytes of an element")

    @property
    def exists(self) -> bool:
        """True if the launch has that thread."""
        sizes = (*self.grid, *self.threads)
        return all(at < size for at, size in zip((*self.block, *self.thread), sizes, strict=True))


class Writers(Message):
    """Sent by the emulated GPU's program."""

    op: Literal["writers"]
    first: Wrote | None = None
    would: Would | None = None
    blocks: WritingBlocks | None = None
    #: Inputs that were read in part: a byte per element, 1 if read.
    unread: Annotated[dict[Word, Packed], Field(max_length=64)] = Field(default_factory=dict)


AnyMessage = Annotated[
    Imported | Hello | Loaded | Bound | Compiling | Compiled | Queued | Returned | Writers,
    Field(discriminator="op"),
]
ADAPTER: TypeAdapter[
    Imported | Hello | Loaded | Bound | Compiling | Compiled | Queued | Returned | Writers
] = TypeAdapter(AnyMessage)
