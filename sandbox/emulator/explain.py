"""Findings and faults as sentences for students."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .findings import Finding, Thread
from .names import FIRST_ADDRESS, LAST_ADDRESS

# In mangled names: a part's length, template arguments, nvcc's static prefix.
_PART = re.compile(r"[LK]?(\d{1,3})")
_ARGUMENT = re.compile(r"L[a-z]n?\d+E|[abcdfhijlmstxy]")
_ARGUMENTS = re.compile(rf"I((?:{_ARGUMENT.pattern})+)E")
_STATIC = re.compile(r"^__nv_static_\d+_\w*?_(?=_Z)")
_TYPES = {
    "a": "signed char", "b": "bool", "c": "char", "d": "double", "f": "float", "h": "unsigned char", "i": "int",
    "j": "unsigned", "l": "long", "m": "unsigned long", "s": "short", "t": "unsigned short", "x": "long long",
    "y": "unsigned long long",
}  # fmt: skip
_ONE_AFTER_THE_OTHER = (
    "If it waits for a kernel of the other GPU: launches of several GPUs run one after the other here, so let events "
    "order them (cudaStreamWaitEvent). Kernels that wait for each other run on real GPUs alone."
)
_LOCAL_NAME = re.compile(r"^_ZZ?.*E(\d+)([A-Za-z_]\w*?)(?:_\d+)?$")


def message_of(finding: Finding, *, programs: bool = False, beside: Sequence[Finding] = ()) -> str:
    """One or two sentences without the line. ``programs``: name a block as a Triton program, because the
    compiler assigns its threads. The last argument: the call's other findings.
    """
    array = _array(finding)
    on = "" if finding.who.gpu is None else f" on GPU {finding.who.gpu}"
    who = f"program {_index(finding.who.block)}{on}" if programs else str(finding.who)
    access = f"{'writes' if finding.writes else 'reads'} {_bytes(finding.size)}"
    match finding.kind:
        case "out_of_bounds":
            if not finding.array:
                return f"{_capital(who)} {access} at {_nowhere(finding.offset)}."
            return f"{_capital(who)} {access} {_outside(finding)} {array}, which has {_bytes(finding.array_bytes)}."
        case "misaligned":
            return (
                f"{_capital(who)} {access} at byte {finding.offset:,} of {array}: an access of {_bytes(finding.size)} "
                f"needs an address that is a multiple of {finding.size}."
            )
        case "use_after_free":
            return f"{_capital(who)} {access} of {array}, which was already freed."
        case "read_only":
            return f"{_capital(who)} writes to {array}, which is constant."
        case "unwritten":
            elsewhere = finding.other_place.line and finding.other_place.line != finding.place.line
            origin = f" (read in line {finding.other_place.line})" if elsewhere else ""
            empty = ": torch.empty leaves memory unwritten" if programs else ""
            where = "memory" if programs and array.startswith("an allocation ") else array
            return f"{_capital(who)} uses a value from {where} that was never written{origin}{empty}."
        case "shared_race" | "global_race" | "warp_race":
            return _program_race(finding, array) if programs else _race(finding, array, beside)
        case "stream_race":
            return _stream_race(finding, array)
        case "barrier_places":
            return (
                f"Threads of block {_index(finding.who.block)} wait at different __syncthreads(): some in this line, "
                f"some in line {finding.other_place.line}. All threads of a block must reach the same one."
            )
        case "barrier_exited":
            return (
                f"{_capital(who)} goes past this __syncthreads(), on to line {finding.other_place.line}, and returns, "
                "while other threads of its block wait here. They continue without it. If they should not, make all "
                "threads reach the barrier."
            )
        case "deadlock" if finding.offset:
            told = f"{_capital(who)} waits forever: it reads memory again and again that no running thread changes."
            return told if finding.who.gpu is None else f"{told} {_ONE_AFTER_THE_OTHER}"
        case "no_peer_access":
            return (
                f"{_capital(who)} {access} of {array}, which is memory of GPU {finding.array_gpu}, without peer access "
                f"to it. It is on until cudaDeviceDisablePeerAccess({finding.array_gpu}) is called."
            )
        case "bad_mask":
            mask = f"the mask 0x{finding.offset & 0xFFFFFFFF:08x}"
            if finding.size:
                return f"{_capital(who)} passes {mask}, which does not include the thread itself."
            return (
                f"{_capital(who)} is in {mask}, which other threads of its warp pass here, but is elsewhere: all "
                "threads in a mask must reach the same call."
            )
        case "shuffled":
            origin = f" (in line {finding.other_place.line})" if finding.other_place.line else ""
            return f"{_capital(who)} uses a value that a shuffle{origin} took from a thread that did not take part."
        case "endless" if finding.offset:
            return (
                f"{_capital(who)} does not end: in {finding.offset // 1_000_000:,} million instructions, no memory "
                "changed or was used for the first time, and no thread returned. A loop around this line never ends."
            )
        case "endless":
            return f"{_capital(who)} never ends: the loop around this line repeats and changes nothing."
        case "deadlock":
            return f"Block {_index(finding.who.block)} never ends: some of its threads wait for threads that also wait."
        case "async_race":
            return _async_race(finding, array, who)
        case "no_proxy_fence":
            return (
                f"An asynchronous access that {who} started reads byte {finding.offset:,} of {array}, which "
                f"{_writer(finding)} wrote with an ordinary store. Put a fence.proxy.async between the two, or the "
                "access may see the old value."
            )
        case "mbarrier_uninitialised":
            return (
                f"{_capital(who)} uses byte {finding.offset:,} of {array} as an mbarrier, but there is none: it was "
                "never initialised, or it was overwritten."
            )
        case "mbarrier_overrun":
            return (
                f"{_capital(who)} arrives at the mbarrier at byte {finding.offset:,} of {array} more often than its "
                "count allows, or gives it a count that it cannot hold."
            )
        case "mbarrier_bytes" if finding.offset > 0:
            return (
                f"Block {_index(finding.who.block)} never ends: its mbarrier waits for {_bytes(finding.offset)} more "
                "than the copies deliver."
            )
        case "mbarrier_bytes":
            return (
                f"The mbarrier's phase ends before {_bytes(-finding.offset)} of its copies arrive: it expected fewer "
                "bytes than the copies deliver."
            )
        case "cluster_exited":
            return f"{_capital(who)} {access} of {array} of another block, whose threads have all returned."
        case "early_result":
            return (
                f"{_capital(who)} uses registers that the wgmma in line {finding.other_place.line} may not have "
                "written yet: wait for its group first."
            )
        case "bad_descriptor":
            return f"{_capital(who)} gives an instruction an invalid matrix or tensor descriptor."
        case "bad_coordinate" if finding.writes:
            return (
                f"{_capital(who)} stores a tile that begins before its tensor, at {finding.offset:,} along one "
                "dimension: a GPU reports that as an illegal instruction."
            )
        case "bad_coordinate":
            return (
                f"{_capital(who)} copies a tile that begins at byte {finding.offset:,} of its tensor's first "
                "dimension, which is not a multiple of 16: a GPU reports that as an illegal instruction."
            )
        case "bulk_unwaited":
            return (
                f"{_capital(who)} returns while its copy of {_bytes(finding.size)} may still read shared memory: wait "
                "for the copy's group first."
            )
        case "asserted":
            return f"An assert failed in {who}."
        case "trapped":
            return f"{_capital(who)} executed __trap()."
        case "bad_free":
            return f"{_capital(who)} frees memory that malloc did not return, or that was already freed."
        case "stack_overflow":
            return f"{_capital(who)} nests function calls too deeply: its stack is full."
    return f"{_capital(who)} jumps to an address where there is no code."


def is_compilers(finding: Finding) -> bool:
    """In Triton, a race within a program that the compiler made: several threads may read what one writes.
    Two writes from one line are the source's.
    """
    return (
        finding.kind.endswith("_race")
        and finding.other is not None
        and finding.other.block == finding.who.block
        and not finding.same_index
    )


def line_of(finding: Finding) -> int:
    """From 1; 0: unknown."""
    return finding.place.line


def kernel_name(name: str) -> str:
    """``_ZN3sum6reduceILi256EfEEvPKf`` is ``sum::reduce<256, float>``; complicated template arguments become
    dots.
    """
    rest = _STATIC.sub("", name)
    if not rest.startswith("_Z"):
        return name
    rest, nested, parts = rest[2:], rest[2:3] == "N", []
    rest = rest[nested:]
    while found := _PART.match(rest):
        size, rest = int(found[1]), rest[found.end() :]
        part, rest = rest[:size], rest[size:]
        if arguments := _ARGUMENTS.match(rest):
            written = [_argument(argument) for argument in _ARGUMENT.findall(arguments[1])]
            part, rest = f"{part}<{', '.join(written)}>", rest[arguments.end() :]
        elif rest.startswith("I"):
            part, rest = f"{part}<...>", ""
        if not part.startswith("_GLOBAL__N_"):
            parts.append(part)
        if not nested:
            break
    return "::".join(parts) or name


def _argument(text: str) -> str:
    if text.startswith("L"):
        return text[2:-1].replace("n", "-")
    return _TYPES[text]


def array_name(name: str) -> str:
    """``_ZZ4fillPfiE4tile`` is ``tile``."""
    if (found := _LOCAL_NAME.match(name)) and len(found[2]) >= int(found[1]):
        return found[2][: int(found[1])]
    if plain := re.match(r"^_ZL?(\d+)([A-Za-z_]\w*)$", name):
        return plain[2][: int(plain[1])]
    return name


def _array(finding: Finding) -> str:
    name = array_name(finding.array)
    if finding.space == "shared":
        return f"the shared array {name}" if name else "shared memory"
    if finding.space == "local":
        return "a local array of the thread"
    return name or "memory"


_NULL_PAGE = 1 << 16


def _nowhere(address: int) -> str:
    if 0 <= address < _NULL_PAGE:
        return f"address {address}: a null pointer" if address else "address 0, a null pointer"
    if FIRST_ADDRESS <= address < LAST_ADDRESS:
        return f"address 0x{address:x}, where there is no memory"
    return (
        f"address 0x{address & (1 << 64) - 1:x}, which is not device memory: a host pointer, or a corrupt one"
    )


def _outside(finding: Finding) -> str:
    if finding.offset < 0:
        away = -finding.offset - finding.size
        return (
            f"{_bytes(max(away, 0))} before the beginning of" if away > 0 else "just before the beginning of"
        )
    away = finding.offset - finding.array_bytes
    if away < 0:
        return "across the end of"
    return f"{_bytes(away)} past the end of" if away else "just past the end of"


def _race(finding: Finding, array: str, beside: Sequence[Finding]) -> str:
    assert finding.other is not None
    first = f"{_capital(str(finding.who))} {'writes' if finding.writes else 'reads'} byte {finding.offset:,} of {array}"
    second = f"{_other(finding.other, finding.who)} {'writes' if finding.other_writes else 'reads'} it"
    line = (
        f" in line {finding.other_place.line}"
        if finding.other_place.line and finding.other_place != finding.place
        else ""
    )
    return f"{first}, and {second}{line}. {_cure(finding, beside)}."


def _stream_race(finding: Finding, array: str) -> str:
    assert finding.works is not None
    (first, second), threads = finding.works, (finding.who, finding.other)
    did = [
        (
            f"{thread} of {kernel_name(work.kernel)}"
            if work.kernel
            else f"a copy or memset{_in_line(work.line)}"
        )
        for work, thread in zip(finding.works, threads, strict=True)
    ]
    verbs = ["writes" if writes else "reads" for writes in (finding.writes, finding.other_writes)]
    line = _in_line(finding.other_place.line) if finding.other_place.line and second.kernel else ""
    lines = sorted({work.line for work in (first, second) if work.line})
    asked = f" (line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))})" if lines else ""
    apart = finding.who.gpu is not None and first.kernel and second.kernel and first.gpu != second.gpu
    where, instead = ("on different GPUs", "") if apart else ("in different streams", ", or use one stream")
    return (
        f"{_capital(did[0])} {verbs[0]} byte {finding.offset:,} of {array}, and {did[1]} {verbs[1]} it{line}. The two"
        f"{asked} are {where} and nothing orders them: record an event after the first "
        f"(cudaEventRecord) and make the second's stream wait for it (cudaStreamWaitEvent){instead}."
    )


def _in_line(line: int) -> str:
    return f" in line {line}" if line else ""


def _cure(finding: Finding, beside: Sequence[Finding]) -> str:
    """By how the race's two threads relate."""
    assert finding.other is not None
    between_blocks = finding.who.block != finding.other.block
    if finding.same_index:
        # blockIdx may be missing, a step too short, or the index may overflow.
        return (
            "Both write to it from this line: they compute the same index. Give each thread its own element; to add to "
            "one element, use atomicAdd"
        )
    if between_blocks:
        return (
            "Nothing orders two blocks, and no barrier can: let each block write only what no other block reads or "
            "writes, use atomics, or launch two kernels"
        )
    # Across warps, too, one __syncthreads() is enough.
    others = any(other.kind == "shared_race" and other.kernel == finding.kernel for other in beside)
    if finding.kind == "warp_race" and not others:
        return (
            "Nothing orders the two, which are in one warp: put a __syncwarp() between them, or a __syncthreads() if "
            "other warps use these elements at other sizes"
        )
    return "Nothing orders the two: put a __syncthreads() between them"


def _writer(finding: Finding) -> str:
    line = f" in line {finding.other_place.line}" if finding.other_place.line else ""
    return f"{_other(finding.other, finding.who) if finding.other else 'a thread'}{line}"


def _async_race(finding: Finding, array: str, who: str) -> str:
    assert finding.other is not None
    verbs = ["writes" if writes else "reads" for writes in (finding.writes, finding.other_writes)]
    line = (
        f" in line {finding.other_place.line}"
        if finding.other_place.line and finding.other_place != finding.place
        else ""
    )
    other = _other(finding.other, finding.who)
    return (
        f"{_capital(who)} {verbs[0]} byte {finding.offset:,} of {array}, and {other} {verbs[1]} it{line}; at least "
        "one of the two is an asynchronous copy or product, and nothing waited for it."
    )


def _program_race(finding: Finding, array: str) -> str:
    assert finding.other is not None
    verbs = ["writes" if writes else "reads" for writes in (finding.writes, finding.other_writes)]
    first, second = (f"program {_index(thread.block)}" for thread in (finding.who, finding.other))
    line = (
        f" in line {finding.other_place.line}"
        if finding.other_place.line and finding.other_place != finding.place
        else ""
    )
    if first == second:
        return (
            f"{_capital(first)} stores two different values to byte {finding.offset:,} of {array} at once: two of its "
            "lanes have the same offset, and either value may remain. Give each lane its own element."
        )
    return (
        f"{_capital(first)} {verbs[0]} byte {finding.offset:,} of {array}, and {second} {verbs[1]} it{line}. Nothing "
        "orders programs: they can agree only through atomics."
    )


def _other(thread: Thread, than: Thread) -> str:
    return str(thread) if thread.block != than.block else str(thread).partition(" of ")[0]


def _index(block: tuple[int, int, int]) -> str:
    return str(Thread(block, block)).rpartition("block ")[2]


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
