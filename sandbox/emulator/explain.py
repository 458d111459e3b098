"""Findings and faults as sentences that a student understands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .engine import Finding, Thread
from .names import FIRST_ADDRESS, LAST_ADDRESS

# Of mangled names: a part's length, what it was instantiated with, and what nvcc puts in front of a static function's.
_PART = re.compile(r"[LK]?(\d{1,3})")
_ARGUMENT = re.compile(r"L[a-z]n?\d+E|[abcdfhijlmstxy]")
_ARGUMENTS = re.compile(rf"I((?:{_ARGUMENT.pattern})+)E")
_STATIC = re.compile(r"^__nv_static_\d+_\w*?_(?=_Z)")
_TYPES = {
    "a": "signed char", "b": "bool", "c": "char", "d": "double", "f": "float", "h": "unsigned char", "i": "int",
    "j": "unsigned", "l": "long", "m": "unsigned long", "s": "short", "t": "unsigned short", "x": "long long",
    "y": "unsigned long long",
}  # fmt: skip
_LOCAL_NAME = re.compile(r"^_ZZ?.*E(\d+)([A-Za-z_]\w*?)(?:_\d+)?$")


def message_of(it: Finding, *, programs: bool = False, beside: Sequence[Finding] = ()) -> str:
    """What happened, where, and to whom, in one or two sentences without the line, which ``line_of`` gives.
    ``programs``: a block is a program of Triton's, whose threads nobody wrote; ``beside``: what else was found."""
    array = _array(it)
    who = f"program {_index(it.who.block)}" if programs else str(it.who)
    access = f"{'writes' if it.writes else 'reads'} {_bytes(it.size)}"
    match it.kind:
        case "out_of_bounds":
            if not it.array:
                return f"{_capital(who)} {access} at {_nowhere(it.offset)}."
            return f"{_capital(who)} {access} {_outside(it)} {array}, which has {_bytes(it.array_bytes)}."
        case "misaligned":
            return (
                f"{_capital(who)} {access} at byte {it.offset:,} of {array}: an access of {_bytes(it.size)} needs an "
                f"address that is a multiple of {it.size}."
            )
        case "use_after_free":
            return f"{_capital(who)} {access} of {array}, which was freed before."
        case "read_only":
            return f"{_capital(who)} writes to {array}, which is constant."
        case "unwritten":
            elsewhere = it.other_place.line and it.other_place.line != it.place.line
            origin = f" (it was read in line {it.other_place.line})" if elsewhere else ""
            empty = ": what torch.empty returns holds anything until it is written" if programs else ""
            return f"{_capital(who)} uses a value from memory that nothing was written to{origin}{empty}."
        case "shared_race" | "global_race" | "warp_race":
            return _program_race(it, array) if programs else _race(it, array, beside)
        case "stream_race":
            return _stream_race(it, array)
        case "barrier_places":
            return (
                f"Threads of block {_index(it.who.block)} wait at different __syncthreads(): some in this line, some "
                f"in line {it.other_place.line}. All of a block must reach the same one."
            )
        case "barrier_exited":
            return (
                f"{_capital(who)} goes past this __syncthreads(), on to line {it.other_place.line} and returns, while "
                "others of its block wait here. They go on without it: if they should not, have all threads reach the "
                "barrier."
            )
        case "deadlock" if it.offset:
            return f"{_capital(who)} waits for ever: it reads memory again and again that no running thread changes."
        case "bad_mask":
            mask = f"the mask 0x{it.offset & 0xFFFFFFFF:08x}"
            if it.size:
                return f"{_capital(who)} takes part with {mask}, in which it is not."
            return (
                f"{_capital(who)} is in {mask} that others of its warp pass here, and is elsewhere: all threads in a "
                "mask must come to the same place."
            )
        case "shuffled":
            origin = f" (in line {it.other_place.line})" if it.other_place.line else ""
            return f"{_capital(who)} uses a value of a shuffle{origin} from a thread that took no part in it."
        case "endless" if it.offset:
            return (
                f"{_capital(who)} does not end: {it.offset // 1_000_000:,} million instructions ran since anything in "
                "memory changed or was used for the first time, and no thread returned meanwhile. A loop around this "
                "line does not end."
            )
        case "endless":
            return f"{_capital(who)} never ends: the loop around this line changes nothing, again and again."
        case "deadlock":
            return f"Block {_index(it.who.block)} never ends: some of its threads wait for others that wait, too."
        case "async_race":
            return _async_race(it, array, who)
        case "no_proxy_fence":
            return (
                f"An asynchronous access that {who} began reads byte {it.offset:,} of {array}, which {_writer(it)} "
                "wrote as threads do. Between the two a fence.proxy.async must stand, or it may see what was there "
                "before."
            )
        case "mbarrier_uninitialised":
            return (
                f"{_capital(who)} uses the mbarrier at byte {it.offset:,} of {array}, which is not one: nobody "
                "initialised it, or something was written over it."
            )
        case "mbarrier_overrun":
            return (
                f"{_capital(who)} arrives at the mbarrier at byte {it.offset:,} of {array} more often than it counts, "
                "or gives it a number that it cannot hold."
            )
        case "mbarrier_bytes" if it.offset > 0:
            return (
                f"Block {_index(it.who.block)} never ends: its mbarrier waits for {_bytes(it.offset)} more than "
                "the copies bring."
            )
        case "mbarrier_bytes":
            return (
                f"The mbarrier's phase ends without {_bytes(-it.offset)} that copies bring: fewer were expected than "
                "come."
            )
        case "cluster_exited":
            return (
                f"{_capital(who)} {access} of {array} of another block, all of whose threads have returned."
            )
        case "early_result":
            return (
                f"{_capital(who)} uses registers that wgmma in line {it.other_place.line} may not have written yet: "
                "nothing waited for its group."
            )
        case "bad_descriptor":
            return f"{_capital(who)} gives an instruction a description of a matrix or tensor that is none."
        case "bad_coordinate" if it.writes:
            return (
                f"{_capital(who)} stores a tensor's tile that begins before the tensor, at {it.offset:,} along one "
                "of its dimensions: a card refuses that as an illegal instruction."
            )
        case "bad_coordinate":
            return (
                f"{_capital(who)} copies a tensor's tile that begins at byte {it.offset:,} of its first dimension, "
                "which is not a multiple of 16: a card refuses that as an illegal instruction."
            )
        case "bulk_unwaited":
            return (
                f"{_capital(who)} returns though its copy of {_bytes(it.size)} may not have read shared memory yet: it "
                "must wait for its group."
            )
        case "asserted":
            return f"An assert failed in {who}."
        case "trapped":
            return f"{_capital(who)} executed __trap()."
        case "bad_free":
            return f"{_capital(who)} frees memory that malloc did not give, or that was freed before."
        case "stack_overflow":
            return f"{_capital(who)} calls functions within functions too deeply."
    return f"{_capital(who)} jumped to where there is no code."


def line_of(it: Finding) -> int:
    """The source's line, counted from 1; 0: unknown."""
    return it.place.line


def kernel_name(name: str) -> str:
    """``_ZN3sum6reduceILi256EfEEvPKf`` is ``sum::reduce<256, float>``; arguments of templates that are neither numbers
    nor plain types are dots."""
    rest = _STATIC.sub("", name)
    if not rest.startswith("_Z"):
        return name
    rest, nested, parts = rest[2:], rest[2:3] == "N", []
    rest = rest[nested:]
    while found := _PART.match(rest):
        size, rest = int(found[1]), rest[found.end() :]
        part, rest = rest[:size], rest[size:]
        if arguments := _ARGUMENTS.match(rest):
            written = [_argument(it) for it in _ARGUMENT.findall(arguments[1])]
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
    """``_ZZ4fillPfiE4tile`` is ``tile``: names of C++ as they were written, without their function."""
    if (found := _LOCAL_NAME.match(name)) and len(found[2]) >= int(found[1]):
        return found[2][: int(found[1])]
    if plain := re.match(r"^_ZL?(\d+)([A-Za-z_]\w*)$", name):
        return plain[2][: int(plain[1])]
    return name


def _array(it: Finding) -> str:
    name = array_name(it.array)
    if it.space == "shared":
        return f"the shared array {name}" if name else "shared memory"
    if it.space == "local":
        return "an array of the thread's own"
    return name or "memory"


_NULL_PAGE = 1 << 16


def _nowhere(address: int) -> str:
    if 0 <= address < _NULL_PAGE:
        return f"address {address}: a null pointer" if address else "address 0, a null pointer"
    if FIRST_ADDRESS <= address < LAST_ADDRESS:
        return f"address 0x{address:x}, where there is no memory"
    return f"address 0x{address & (1 << 64) - 1:x}, which is none of the GPU's: a pointer of the host, or a wild one"


def _outside(it: Finding) -> str:
    if it.offset < 0:
        away = -it.offset - it.size
        return (
            f"{_bytes(max(away, 0))} before the beginning of" if away > 0 else "just before the beginning of"
        )
    away = it.offset - it.array_bytes
    if away < 0:
        return "across the end of"
    return f"{_bytes(away)} behind the end of" if away else "just behind the end of"


def _race(it: Finding, array: str, beside: Sequence[Finding]) -> str:
    assert it.other is not None
    first = f"{_capital(str(it.who))} {'writes' if it.writes else 'reads'} byte {it.offset:,} of {array}"
    second = f"{_other(it.other, it.who)} {'writes' if it.other_writes else 'reads'} it"
    line = f" in line {it.other_place.line}" if it.other_place.line and it.other_place != it.place else ""
    return f"{first}, and {second}{line}. {_cure(it, beside)}."


def _stream_race(it: Finding, array: str) -> str:
    assert it.works is not None
    (first, second), threads = it.works, (it.who, it.other)
    did = [
        (
            f"{thread} of {kernel_name(work.kernel)}"
            if work.kernel
            else f"a copy or memset{_in_line(work.line)}"
        )
        for work, thread in zip(it.works, threads, strict=True)
    ]
    verbs = ["writes" if writes else "reads" for writes in (it.writes, it.other_writes)]
    line = _in_line(it.other_place.line) if it.other_place.line and second.kernel else ""
    lines = sorted({work.line for work in (first, second) if work.line})
    asked = f" (line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))})" if lines else ""
    return (
        f"{_capital(did[0])} {verbs[0]} byte {it.offset:,} of {array}, and {did[1]} {verbs[1]} it{line}. The two"
        f"{asked} are in different streams and nothing orders them: record an event behind the first "
        "(cudaEventRecord) and let the second's stream wait for it (cudaStreamWaitEvent), or use one stream."
    )


def _in_line(line: int) -> str:
    return f" in line {line}" if line else ""


def _cure(it: Finding, beside: Sequence[Finding]) -> str:
    """Of a race: what follows from who the two are."""
    assert it.other is not None
    between_blocks = it.who.block != it.other.block
    if it.same_index:
        # Why, two threads do not show: blockIdx may be missing, a loop's step too short, or an index overflow.
        return (
            "Both write to it from this line: they compute the same index. Each thread needs an element of its own; "
            "threads that add to one element need atomicAdd"
        )
    if between_blocks:
        return (
            "Nothing orders two blocks, and no barrier does: let each block write what no other one reads or writes, "
            "use atomics, or launch two kernels"
        )
    # Where threads of other warps race, too, one barrier of the block is for both.
    others = any(other.kind == "shared_race" and other.kernel == it.kernel for other in beside)
    if it.kind == "warp_race" and not others:
        return "Nothing orders the two, which are of one warp: a __syncwarp() between them does"
    return "Nothing orders the two: a __syncthreads() between them does"


def _writer(it: Finding) -> str:
    line = f" in line {it.other_place.line}" if it.other_place.line else ""
    return f"{_other(it.other, it.who) if it.other else 'a thread'}{line}"


def _async_race(it: Finding, array: str, who: str) -> str:
    assert it.other is not None
    verbs = ["writes" if writes else "reads" for writes in (it.writes, it.other_writes)]
    line = f" in line {it.other_place.line}" if it.other_place.line and it.other_place != it.place else ""
    other = _other(it.other, it.who)
    return (
        f"{_capital(who)} {verbs[0]} byte {it.offset:,} of {array}, and {other} {verbs[1]} it{line}; of the two at "
        "least one is an asynchronous copy or product, and nothing waited for it."
    )


def _program_race(it: Finding, array: str) -> str:
    assert it.other is not None
    verbs = ["writes" if writes else "reads" for writes in (it.writes, it.other_writes)]
    first, second = (f"program {_index(thread.block)}" for thread in (it.who, it.other))
    line = f" in line {it.other_place.line}" if it.other_place.line and it.other_place != it.place else ""
    if first == second:
        return (
            f"{_capital(first)} stores two different values to byte {it.offset:,} of {array} at once: two of its lanes "
            "have the same offset, and which one stays is chance. Each lane needs an element of its own."
        )
    return (
        f"{_capital(first)} {verbs[0]} byte {it.offset:,} of {array}, and {second} {verbs[1]} it{line}. Nothing orders "
        "programs: they agree by atomics only."
    )


def _other(it: Thread, than: Thread) -> str:
    return str(it) if it.block != than.block else str(it).partition(" of ")[0]


def _index(block: tuple[int, int, int]) -> str:
    return str(Thread(block, block)).rpartition("block ")[2]


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
