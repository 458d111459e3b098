"""The calls that give a workload's modelled time: some with other data, then the counted one.

If a workload (``on = "emulated"``) is too large to count whole, a sample of its blocks runs (``CountedSample``), and
its results are compared. If these cannot show that the whole is right, all blocks run and the sample is counted among
them: a counted call's results are always compared.
"""

from __future__ import annotations

import hashlib
import hmac
import random
from dataclasses import dataclass

from grader.challenge.cases import Case
from grader.challenge.model import Workload
from grader.challenge.overlays import overlays
from grader.judge.arena import Arena
from grader.judge.compare import compare, compare_written, forbidden_write
from grader.judge.messages import Sampled
from grader.judge.oracle import answered, draw_for, scalar_values, workload_case
from grader.judge.request import Request
from grader.judge.runner_client import Answer, RunnerClient
from grader.judge.timekeeper import HostComputed
from grader.judge.timing import WrongInTiming

# Warp instructions: counting them takes one to three seconds.
WHOLE_INSTRUCTIONS = 32_000_000
# If blocks differ in work, a sample says little of the longest.
WHOLE_IF_UNEVEN = 64_000_000
# Above this, all blocks run in one call only.
ONCE_INSTRUCTIONS = 192_000_000
# A call whose sample writes less than this part of its blocks' share must run whole.
_WRITTEN = 0.97
_TARGETS = 18


def most_whole(*, uneven: bool) -> int:
    return max(WHOLE_INSTRUCTIONS, WHOLE_IF_UNEVEN) if uneven else WHOLE_INSTRUCTIONS


@dataclass(frozen=True)
class _Called:
    """``share``: the least written share of a result, relative to the blocks that ran."""

    case: Case
    seed: int
    answer: Answer
    share: float = 1.0

    @property
    def sampled(self) -> Sampled:
        return self.answer.sampled or Sampled()

    @property
    def needs_whole(self) -> bool:
        """The sample does not show that results are right."""
        found = self.sampled
        return bool(found.incomplete) or found.guessed or found.combined or self.share < _WRITTEN


class CountedCalls:
    """Methods raise WrongInTiming, HostComputed and ChannelErrors."""

    def __init__(self, request: Request, subject: RunnerClient, workload: Workload) -> None:
        self._request, self._subject, self._workload = request, subject, workload
        self._watched = request.challenge.manifest.constructs.any
        self._challenge = request.challenge
        # Outliers do not change a large workload's time.
        self._counting: Case | None = None

    def counted(self) -> Answer:
        """Earlier calls use random ``grader.challenge.overlays``: they reveal kernels that work only once, omit work
        or miss special values."""
        ahead = self._ahead()
        plain = self._counting or workload_case(self._challenge, self._workload)
        if self._workload.on == "emulated":
            first = ahead.pop(0) if len(ahead) > 1 else ahead[0]
            pilot = self._call(first, "pilot", count=True, sampled=True, small_is_unjudged=True)
            if pilot.sampled.instructions > most_whole(uneven=pilot.sampled.uneven):
                if pilot.needs_whole and pilot.sampled.instructions > ONCE_INSTRUCTIONS:
                    ahead = []
                return self._in_part(ahead, plain, whole=pilot.needs_whole)
        for case in ahead:
            self._call(case, "ahead")
        try:
            # The call before checked for races.
            large = self._workload.on == "emulated"
            return self._call(plain, "counted", count=True, unchecked=large).answer
        except WrongInTiming as error:
            self._refuse(plain, error)
            raise

    def _in_part(self, ahead: list[Case], plain: Case, *, whole: bool) -> Answer:
        """``whole``: all blocks run, a sample is counted."""
        for case in ahead:
            self._call(case, "ahead", sampled=not whole, unchecked=whole)
        try:
            if not whole:
                counted = self._call(plain, "counted", count=True, sampled=True)
                if not counted.needs_whole:
                    return counted.answer
            return self._call(plain, "counted", count=True, filled=True, unchecked=True).answer
        except WrongInTiming as error:
            self._refuse(plain, error, sampled=not whole)
            raise

    def _ahead(self) -> list[Case]:
        challenge, workload = self._challenge, self._workload
        dice = random.Random(  # noqa: S311 - its seed is secret
            hmac.digest(self._request.seed_key, f"{workload.name}:dice".encode(), hashlib.sha256)
        )
        found = overlays(challenge, workload)
        kinds = [
            [overlay for overlay in found if overlay.counts],
            [overlay for overlay in found if not overlay.counts],
        ]
        ahead = [workload_case(challenge, workload, dice.choice(kind)) for kind in kinds if kind]
        if kinds[0] and workload.on == "emulated":
            self._counting = ahead[0]
        return ahead or [workload_case(challenge, workload)]

    def _refuse(self, plain: Case, error: WrongInTiming, *, sampled: bool = False) -> None:
        """Raises HostComputed if the same data is right without counting: the host read data that it may not see."""
        for _ in range(2):  # every second call may be an empty one
            self._call(plain, "counted", sampled=sampled)
        raise HostComputed(self._workload) from error

    def _call(
        self,
        case: Case,
        data: str,
        *,
        count: bool = False,
        sampled: bool = False,
        filled: bool = False,
        unchecked: bool = False,
        small_is_unjudged: bool = False,
    ) -> _Called:
        """``data`` seeds the inputs. ``sampled``: a sample of the blocks runs; ``filled``: all run, a sample is
        counted. ``small_is_unjudged``: don't compare if it will run whole."""
        challenge, manifest = self._challenge, self._challenge.manifest
        text = f"{case.name}:{data}".encode()
        seed = int.from_bytes(hmac.digest(self._request.seed_key, text, hashlib.sha256)[:6], "big")
        inputs = draw_for(challenge, case, seed, "cpu")
        arena = Arena(manifest, case.sizes, scalar_values(manifest, case), without=case.without)
        seconds, share = manifest.limits.call_seconds(on_processor=True), 1.0
        sample = (
            {"seed": seed, "targets": _targets(arena, seed), "fill": filled} if sampled or filled else None
        )
        try:
            self._subject.bind(arena)
            answer = self._subject.call(
                arena,
                inputs,
                seconds,
                count=count,
                sample=sample,
                unchecked=unchecked,
                watch=count and self._watched,
            )
            ran = answer.sampled or Sampled()
            small = ran.instructions <= most_whole(uneven=ran.uneven)
            if small_is_unjudged and small and answer.failure is None:
                return _Called(case, seed, answer)
            question = answered(challenge, case, inputs)
            if sampled and answer.sampled is not None:
                wrong, share = compare_written(arena, arena.snapshot(), question)
                # A checker needs whole results.
                share *= 0.0 if question.check is not None else _factor(answer.sampled)
            else:
                wrong = compare(arena, arena.snapshot(), question)
            strayed = forbidden_write(arena, question)
        finally:
            arena.close()
            self._subject.unbind()
        called = _Called(case, seed, answer, share)
        if sampled and called.needs_whole:
            wrong = None  # missing blocks may be the only reason
        wrong = strayed or wrong
        if wrong is not None or answer.failure is not None or (count and answer.modelled_s is None):
            raise WrongInTiming(case, seed, wrong, answer)
        return called


def _targets(arena: Arena, seed: int) -> list[tuple[int, tuple[int, ...]]]:
    """Flat places of random elements, and the shapes."""
    dice = random.Random(f"{seed} targets")  # noqa: S311 - its seed is secret
    buffers = [arena.buffers[arg.name] for arg in arena.manifest.results]
    return [
        (dice.randrange(buffer.count), buffer.shape)
        for buffer in buffers
        if buffer.count
        for _ in range(_TARGETS // len(buffers))
    ]


def _factor(sampled: Sampled) -> float:
    """Blocks per block that ran, in the launch that does most work."""
    most = max(sampled.launches, key=lambda launch: launch.instructions, default=None)
    return most.blocks / most.ran if most is not None and most.ran else 1.0
