"""Turns failed calls and wrong results into a verdict and words for the student."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader import limits
from grader.challenge.cases import Case, Category
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.formats import size_text
from grader.judge.channel import BoxGone, BoxSilent, ChannelError, StillCompiling
from grader.judge.explaining import hint_of, message_of
from grader.judge.messages import Failure, Forgotten
from grader.judge.oracle import workload_case
from grader.judge.runner_client import RunnerClient
from grader.judge.timing import TooSlow, WrongInTiming
from grader.sandbox.allowance import Allowance
from grader.sandbox.box import BoxEnd, EndReason
from grader.schemas.report import CaseReport, CaseVerdict, Mismatch


@dataclass(frozen=True)
class CaseFault:
    verdict: CaseVerdict
    detail: str
    hint: str = ""
    #: The hint names the mistake, not only its effect.
    named: bool = False


_BY_END = {
    EndReason.OUTPUT_FLOOD: CaseFault(
        CaseVerdict.OUTPUT_LIMIT, "It printed more than a submission may.", "Remove the prints."
    ),
    EndReason.WALL_CLOCK: CaseFault(
        CaseVerdict.TIME_LIMIT, "Judging it took longer than any submission may take."
    ),
}


class BoxKilled(Exception):
    """Something outside ended a submission's box."""


_ENDED_ITSELF = "Return from solve; do not end the process."
_KILLED_ITSELF = (
    "Do not kill the process. (If the whole machine runs out of memory, its kernel kills processes too.)"
)
_LESS = "Allocate less, or free sooner."
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
_CRASHED = (
    "Host code caused this, not a kernel: a null or freed pointer, an index outside a host array, or a device pointer "
    "that host code dereferences (use cudaMemcpy)."
)
_CRASHED_INTERPRETED = "A read or write outside an array causes this: check masks, offsets and grid."


_SLOW = "Either it does far more work than these sizes need, or a loop or a wait in it does not end."
_SLOW_TO_COMPILE = (
    "Triton unrolls a block over its threads: half a million elements in 4 warps are 4,096 for each thread. Use "
    "smaller blocks in a loop over the row, or more warps (num_warps), or tune fewer configurations."
)
_SLOW_INTERPRETED = (
    "Either it is slow here, or a loop in it does not end. Without a GPU, Triton runs in an interpreter, where each "
    "program of the grid, and each iteration of a loop in it, costs nearly the same for any block size. Let fewer "
    "programs do more: for example, BLOCK = 1024 instead of 64, or tiles of 64 x 64 instead of 16 x 16."
)
_SLOW_BETWEEN = (
    "Something in it is slow before its kernels are queued, or after the call: compiling, allocating or freeing a lot "
    "in every call, printing to a slow stream, threads or objects that are cleaned up late."
)
_SLEPT = "It waited or slept: look for a sleep, a lock, or threads or processes that wait for each other."


def of_broken_channel(
    client: RunnerClient, error: ChannelError, doing: str, seconds: float, slow_hint: str = ""
) -> CaseFault:
    """Find out how the box ended, and end it. ``slow_hint``: if processor time ran out. Raises BoxKilled, and
    BoxUnavailable if unknown."""
    if isinstance(error, BoxSilent):
        end = client.box.end()
        if end is not None and end.outside:
            raise BoxKilled(end.sentence()) from error
        if end is not None and (finding := _of_end(end, doing, client.memory_bytes)):
            return finding
        if isinstance(error, StillCompiling):
            return _of_compiling(error)
        slow = slow_hint or (_SLOW_INTERPRETED if client.interprets else _SLOW)
        return _of_silence(error.allowance, doing, seconds, slow)
    end = client.end() if isinstance(error, BoxGone) else client.box.end()
    if end is None and isinstance(error, BoxGone):
        # A slow or absent engine is our failure (a restarting one ends its boxes): BoxUnavailable.
        end = client.box.kill()
    if end is not None and end.outside:
        raise BoxKilled(end.sentence()) from error
    if end is None or end.reason is EndReason.KILLED:
        return CaseFault(
            CaseVerdict.RUNTIME_ERROR, f"It broke the connection to the judge while {doing}: {error}."
        )
    if finding := _of_end(end, doing, client.memory_bytes):
        return finding
    return CaseFault(
        CaseVerdict.RUNTIME_ERROR, f"While {doing}, {end.sentence()}.", _hint_of_end(end, client.interprets)
    )


def _of_compiling(error: StillCompiling) -> CaseFault:
    seconds, whole = error.seconds, limits.KERNELS_OF_SUBMISSION_SECONDS
    left = "" if seconds == limits.KERNELS_OF_CALL_SECONDS else f" that were left of {whole:g}"
    detail = f"Compiling {error.kernel} took longer than the {seconds:.0f} s{left} for compiling."
    return CaseFault(CaseVerdict.TIME_LIMIT, detail, _SLOW_TO_COMPILE)


def _of_silence(allowance: Allowance | None, doing: str, seconds: float, slow: str) -> CaseFault:
    """``slow``: the hint if processor time ran out."""
    if allowance is None or allowance.used is None:
        detail, hint = f"It did not return within {seconds:g} s while {doing}.", _SLOW
    elif allowance.burnt:
        detail, hint = f"It used more than {seconds:g} s of processor time while {doing}.", slow
    elif allowance.burnt_in_total:
        return _BY_END[EndReason.WALL_CLOCK]
    else:
        detail, hint = f"It did not return within {allowance.sentence()}, while {doing}.", _SLEPT
    return CaseFault(CaseVerdict.TIME_LIMIT, detail, hint)


def _of_end(end: BoxEnd, doing: str, memory_bytes: int) -> CaseFault | None:
    if end.reason is EndReason.OUT_OF_MEMORY:
        detail = f"While {doing}, it used more than the {size_text(memory_bytes)} of memory that a submission may use."
        return CaseFault(CaseVerdict.MEMORY_LIMIT, detail, _LESS)
    return _BY_END.get(end.reason)


def out_of_memory(failure: Failure, doing: str, memory_bytes: int) -> CaseFault:
    """Host memory (``memory_bytes`` at most) or the device's ran out."""
    where = f" (line {failure.line})" if failure.line else ""
    on_host = failure.type == "MemoryError" or "DefaultCPUAllocator" in failure.message
    limit = f"; a submission may use {size_text(memory_bytes)}" if on_host else ""
    said = f"{failure.type}: {failure.message}".rstrip(": ")
    return CaseFault(
        CaseVerdict.MEMORY_LIMIT, f"It ran out of memory while {doing}{where}{limit}.\n{said}", _LESS
    )


def _hint_of_end(end: BoxEnd, interprets: bool) -> str:
    if end.signal in _CRASHES:
        return _CRASHED_INTERPRETED if interprets else _CRASHED
    if end.signal == signal.SIGXCPU:
        return _SLOW
    if end.signal == signal.SIGKILL:
        return _KILLED_ITSELF
    return _ENDED_ITSELF


# An endless kernel (on a card: a time limit), or an endless wait.
_LOOPS = "endless"
_ENDLESS = (_LOOPS, "deadlock")


def is_endless(failure: Failure) -> bool:
    """Further cases would not end either."""
    return failure.kind == "checker" and failure.type in _ENDLESS


def of_exception(failure: Failure, doing: str, memory_bytes: int, mistake: str = "") -> CaseFault:
    """An exception of ``solve`` or of the module. ``mistake``: the hint about the source."""
    found = _of_exception(failure, doing, memory_bytes)
    return replace(found, hint=mistake) if mistake else found


def _of_exception(failure: Failure, doing: str, memory_bytes: int) -> CaseFault:
    if failure.kind == "memory":
        return out_of_memory(failure, doing, memory_bytes)
    if failure.kind == "cuda":
        return _of_cuda(failure, doing)
    if failure.kind == "checker":
        where = f"Line {failure.line}: " if failure.line else ""
        verdict = CaseVerdict.TIME_LIMIT if failure.type == _LOOPS else CaseVerdict.RUNTIME_ERROR
        return CaseFault(verdict, f"{where}{failure.message}", failure.hint)
    if failure.kind == "compilation":
        where = f"Line {failure.line}: " if failure.line else ""
        compiler = "CuTe DSL" if failure.type.startswith("DSL") else "Triton"
        text = f"{where}{compiler} cannot compile this: {message_of(failure)}\n{failure.trace}".rstrip()
        return CaseFault(CaseVerdict.RUNTIME_ERROR, text, hint_of(failure))
    where = f" (line {failure.line})" if failure.line else ""
    text = f"{failure.type} while {doing}{where}: {message_of(failure)}".rstrip(": ")
    detail = f"{text}\n{failure.trace}".rstrip()
    return CaseFault(CaseVerdict.RUNTIME_ERROR, detail, hint_of(failure))


_CUDA_HINTS = {
    "CUDA_ERROR_ILLEGAL_ADDRESS": "A read or write outside an array: check indices, masks and the grid.",
    "CUDA_ERROR_MISALIGNED_ADDRESS": "A wide access (such as float4) needs an address that is a multiple of its width.",
    "CUDA_ERROR_LAUNCH_TIMEOUT": "The kernel ran for too long.",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "Too many registers or too much shared memory for one block.",
    "cudaErrorInvalidConfiguration": "A grid of zero blocks, or a block of more than 1024 threads: when a size is 0, "
    "return before the launch.",
    "cudaErrorInvalidValue": "A launch with an impossible grid, block or shared-memory size. When a size is 0, the "
    "grid has zero blocks: return before the launch.",
}


def _of_cuda(failure: Failure, doing: str) -> CaseFault:
    memory = "OUT_OF_MEMORY" in failure.type or "MemoryAllocation" in failure.type
    verdict = CaseVerdict.MEMORY_LIMIT if memory else CaseVerdict.RUNTIME_ERROR
    detail = f"{failure.type} while {doing}: {failure.message}".rstrip(": ")
    return CaseFault(verdict, detail, failure.hint or _CUDA_HINTS.get(failure.type, ""))


def of_mismatch(
    mismatch: Mismatch,
    case: Case,
    empty_launches: list[str],
    mistake: str = "",
    adds: bool = True,
    evidence: str = "",
    *,
    forgotten: Forgotten | None = None,
) -> CaseFault:
    """``mistake``: the hint about the source; ``adds``: it may compute with old values; ``evidence``: how far NaN
    and infinity reach, or which elements were not written; ``forgotten``: work that nobody waited for."""
    general = _of_forgotten(forgotten) if forgotten else _mismatch_hint(mismatch, case, empty_launches, adds)
    # At a size of 0, an empty grid is the mistake; at other sizes it is an effect.
    ran = not empty_launches or mismatch.kind != "unwritten" or all(case.sizes.values())
    specific = mistake and ran and mismatch.kind != "late" and not forgotten
    hint = mistake if specific else general
    if mismatch.kind in ("nan", "inf", "value", "unwritten") and not forgotten and not empty_launches:
        hint = " ".join(part for part in (evidence, hint) if part)
    return CaseFault(CaseVerdict.WRONG_ANSWER, _mismatch_words(mismatch), hint)


_JOIN = (
    "Before solve returns, the default stream must wait for work on your own stream (cudaEventRecord on yours, then "
    "cudaStreamWaitEvent on the default one; in Python, torch.cuda.default_stream().wait_stream(yours))."
)


def _of_forgotten(forgotten: Forgotten) -> str:
    return f"solve returns before the work on its own stream is done{forgotten.where}: nothing waits for it. {_JOIN}"


def _mismatch_words(mismatch: Mismatch) -> str:
    place = f"{mismatch.argument}{mismatch.index}" if mismatch.index is not None else mismatch.argument
    share = f"{mismatch.wrong:,} of {mismatch.total:,} elements"
    match mismatch.kind:
        case "out_of_bounds":
            return f"Something was written outside {mismatch.argument}{_where_outside(mismatch)}."
        case "padding":
            many = "1 element" if mismatch.wrong == 1 else f"{mismatch.wrong:,} elements"
            return f"The padding of {mismatch.argument} was written: {many}, the first at {mismatch.index}."
        case "input_changed" if mismatch.index is None:
            many = "1 element" if mismatch.wrong == 1 else f"{mismatch.wrong:,} elements"
            were = "was" if mismatch.wrong == 1 else "were"
            return f"{many} of the input {place} {were} changed and restored; inputs are read-only."
        case "input_changed":
            return f"The input {place} was changed from {mismatch.expected} to {mismatch.got}; inputs are read-only."
        case "late":
            return f"{place} was not written yet when the call was done; expected {mismatch.expected}."
        case "refused":
            where = f"{place}: " if mismatch.index is not None else ""
            return f"{where}{mismatch.why.rstrip('.')}. Several answers are right here; this is none of them."
        case "unwritten":
            return f"{place} was never written; expected {mismatch.expected} ({share} are wrong)."
    found = f"; the worst is {mismatch.in_units}" if mismatch.in_units else ""
    return f"{place} is {mismatch.got}, expected {mismatch.expected} ({share} are wrong{found})."


def _where_outside(mismatch: Mismatch) -> str:
    """Empty if the written values are gone again."""
    places = mismatch.outside
    if not places:
        return ""
    number = "1 element" if mismatch.wrong == 1 else f"{mismatch.wrong:,} elements"
    listed = [str(place) for place in places] + ["..."] * (mismatch.wrong > len(places))
    ends = ["before its beginning"] * (places[0] < 0) + ["after its end"] * (places[-1] >= 0)
    return (
        f": {number} {' and '.join(ends)}, at flat index {', '.join(listed)} "
        f"(it has {mismatch.total:,}, counted from 0)"
    )


_NOT_FINITE = ("nan", "inf", "-inf")
_SPECIAL = (Category.NAN, Category.POS_INF, Category.NEG_INF)
# For kernels from another platform.
COMING = "See Coming from other platforms: /docs/coming-from-other-platforms"
_CLEAR = "set it to 0 first, in the same stream (or to the lowest or highest value for a maximum or minimum)"


def _mismatch_hint(mismatch: Mismatch, case: Case, empty_launches: list[str], adds: bool) -> str:
    zero = [name for name, size in case.sizes.items() if size == 0]
    if mismatch.kind == "late":
        return _JOIN
    if mismatch.kind == "unwritten" and empty_launches:
        sizes = " and ".join(f"{name} = 0" for name in zero) or "these sizes"
        return (
            f"'{empty_launches[0]}' was launched with zero blocks, because a grid computed from {sizes} is empty: "
            "nothing ran, so nothing was written. (In CUDA such a launch is an error.) Handle this case before the "
            "launch: return early if there is no output, else write the neutral value (often 0)."
        )
    if mismatch.kind == "unwritten" and zero:
        are = "are" if len(zero) > 1 else "is"
        return f"{' and '.join(zero)} {are} 0 here, and the output still has elements: they need their neutral value."
    if mismatch.kind == "unwritten":
        covers = (
            "Check that the grid covers every element, including the last partial block: n / 256 rounds down, "
            "(n + 255) / 256 rounds up."
        )
        if 2 * mismatch.wrong < mismatch.total or not adds:
            return covers
        return (
            f"{covers} Or does the kernel add to it, or take a maximum or minimum with it? That can leave it like this "
            f"too: {mismatch.argument} is not cleared for you. {COMING}"
        )
    if mismatch.kind == "not_cleared" and adds:
        return (
            f"The kernel computed with the old values of {mismatch.argument}. {mismatch.argument} is not cleared for "
            f"you: {_CLEAR}. {COMING}"
        )
    if mismatch.kind == "padding":
        return (
            f"Neighbouring rows of {mismatch.argument} are further apart than its rows are long: nothing between "
            "them may be written. Compare the index with the shape, not with the pitch."
        )
    if mismatch.kind == "out_of_bounds":
        return "A store without a mask, or a mask that compares with the wrong size, causes this."
    if mismatch.kind == "nan" and mismatch.expected not in _NOT_FINITE and case.category not in _SPECIAL:
        if not adds:
            return "No NaN belongs here: look for 0 / 0, inf - inf and inf / inf."
        return (
            f"No NaN belongs here. If the kernel adds to {mismatch.argument} (atomicAdd, tl.atomic_add, +=): "
            f"{mismatch.argument} is not cleared for you, {_CLEAR}. Otherwise look for 0 / 0, inf - inf and inf / inf. "
            f"{COMING}"
        )
    if mismatch.kind == "nan":
        return "Treat NaN and infinity as the PyTorch reference does."
    return ""


def not_run(limit: int, ended: Sequence[str]) -> CaseFault:
    names = ", ".join(f"'{name}'" for name in ended)
    return CaseFault(
        CaseVerdict.NOT_RUN,
        f"Not run: {names} ended the process or did not return, and after {limit} fresh processes the rest is skipped.",
    )


def not_run_behind(endless: str) -> CaseFault:
    return CaseFault(
        CaseVerdict.NOT_RUN, f"Not run: '{endless}' did not end in time, which stops the judging."
    )


def of_slow_rounds(error: TooSlow) -> CaseFault:
    rounds = f"{error.fewest} timed calls"
    if error.in_calls:
        each = error.limit / error.fewest
        detail = (
            f"Timing needs {rounds}, which may take {error.limit:g} s together (about {each:.2g} s each); "
            f"only {error.made} were made in that time."
        )
        return CaseFault(CaseVerdict.TIME_LIMIT, detail, _SLOW)
    detail = (
        f"Timing needs {rounds}. Between them, the judge waits at most {error.limit:g} s in all for a submission; "
        f"only {error.made} were made in that time."
    )
    return CaseFault(CaseVerdict.TIME_LIMIT, detail, _SLOW_BETWEEN)


def failed_workload(
    challenge: Challenge,
    workload: Workload,
    client: RunnerClient,
    error: WrongInTiming | TooSlow | ChannelError,
) -> CaseReport:
    """The failed call as a case that its seed can replay."""
    case = workload_case(challenge, workload)
    doing = "solve was timed"
    seed, mismatch = None, None
    if isinstance(error, ChannelError):
        limit = challenge.manifest.limits.call_seconds(client.on_processor)
        finding = of_broken_channel(client, error, doing, limit)
    elif isinstance(error, TooSlow):
        finding = of_slow_rounds(error)
    elif error.mismatch is None or error.answer.failure is not None:
        assert error.answer.failure is not None
        case, seed = error.case, error.seed
        finding = of_exception(error.answer.failure, doing, client.memory_bytes)
    else:
        case, seed, mismatch = error.case, error.seed, error.mismatch
        finding = of_mismatch(mismatch, case, error.answer.empty_launches)
    return CaseReport(
        name=case.name,
        category=case.category.value,
        verdict=finding.verdict,
        seed=seed,
        sizes=dict(workload.sizes),
        detail=finding.detail,
        hint=finding.hint,
        mismatch=mismatch,
    )
