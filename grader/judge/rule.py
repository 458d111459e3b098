"""The rule that makes a time of rounds: a submission's, and those of a control from before and after it.
docs/judging.md gives the argument."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grader.judge.device import Floor, Noise
from grader.judge.round_costs import RoundCosts, Usual
from grader.judge.runner_client import Timed
from grader.schemas.call_profile import CallProfile
from grader.schemas.hardware import GpuState
from grader.scoring import SHORTEST_S, Z95, Estimate, is_known, midmean, midmean_error, midmean_interval

# What lies outside the gate within this many standard errors of the control's is noise.
NOISE_ERRORS = 3.0
# From this many times its noise on, it is no noise at all, and all of it is charged.
PLAIN = 2.0
# What a time differs by from one box to the next beyond what its own rounds show (benchmarks/gpu/repeatability.py).
BETWEEN_BOXES = 0.002
# The fixed cost of a round before a submission and after it differ by this share of a round only where something else
# was going on.
UNSTEADY = 0.01
# Now and then a round of the control is disturbed; where more than this share of them is, something was going on, too.
MOST_DISTURBED = 0.2
# An own round that is slower than the fastest quarter by this share of it, and by what disturbs a control's, had
# company; most kernels' rounds differ by a tenth of that.
UNEVEN = 0.02


# A round of the control and how long its call took, seconds.
ControlRound = tuple[Timed, float]


@dataclass(frozen=True)
class Own:
    """The rounds of what is timed, whether its calls queued behind the closed gate, and how the device was; or, on an
    emulated one, what was counted there. ``drawn``: the name of each round's case."""

    rounds: Sequence[Timed]
    gated: bool
    gpu: GpuState | None = None
    profile: CallProfile | None = None
    drawn: Sequence[str] = ()


@dataclass(frozen=True)
class Measured:
    """One workload's time per call, seconds. ``fixed`` is the cost of a round that was taken off, ``cost`` what this
    timing's control alone makes of it, ``drift`` by how
    much the control's halves differ in it, and ``disturbed`` the share of its rounds that were left out; ``uneven``
    is the share of own rounds that something seems to have slowed, and ``company`` says that ``cost`` is not what it
    usually is; ``beyond`` is what lay before and after the gate beyond the control's, which makes E, and ``noise``
    what may lie there without meaning anything, see ``_noise_told``; ``charged`` was added for work outside the gate.
    Not ``gated``: its host time is in it. ``gpu``: how the device was meanwhile; ``profile``: what was counted."""

    time: Estimate
    rounds: int
    host: float
    charged: float
    fixed: float
    drift: float
    disturbed: float
    beyond: tuple[float, float]
    noise: float
    gated: bool
    gpu: GpuState | None = None
    profile: CallProfile | None = None
    uneven: float = 0.0
    company: bool = False
    cost: float = 0.0

    @property
    def plainly_charged(self) -> bool:
        """Whether more was charged than what goes a little beyond noise, as now and then happens to everyone."""
        return self.charged > self.noise

    @property
    def doubtful(self) -> bool:
        """Whether something else than the submission may have made this."""
        drifted = self.drift > UNSTEADY * (self.time.value + self.fixed)
        uneven = max(self.disturbed, self.uneven) > MOST_DISTURBED
        return self.plainly_charged or drifted or uneven or self.company

    @property
    def known(self) -> bool:
        """Whether the time may be shown, ranked and divided by. It must also be longer than what the control's halves
        differ by: a shorter call cannot be distinguished from the cost of a round."""
        return is_known(self.time, max(SHORTEST_S, self.drift))

    @property
    def short(self) -> bool:
        """Whether it is not known because it is surely shorter than the cost of a round: on such a device it never
        will be. A longer time that is not known had too much company, and may be known the next time."""
        return not self.known and self.time.interval[1] <= self.fixed


def held_against(costs: RoundCosts, workload: str, measured: Measured) -> Measured:
    """``measured``, with ``company`` where its cost of a round is none that ``costs`` knows; it is kept there, under
    ``workload``, unless something else makes it doubtful."""
    held = replace(measured, company=not costs.is_usual(measured.cost))
    if held.company or not held.doubtful:
        costs.note(workload, measured.cost)
    return held


def settle(
    own: Own,
    first: Sequence[ControlRound],
    second: Sequence[ControlRound],
    noise: Noise,
    usual: Usual | None = None,
) -> Measured:
    """The rule, with the control's rounds from ahead of the own ones and from behind them.

    With G = gate time: c = midmean of (G of control - its known length). Time = midmean(G) - c, plus what ``_Side``
    charges for what a round takes before its gate and after it, beyond what the control's takes there.

    ``usual``: what such rounds have cost in earlier timings, which tells c better than these rounds alone.

    Before and after are held against the control's one by one: being quick in the one makes up for nothing in the
    other. The interval holds what the rounds, the control's and the boxes' differ by.
    """
    gate = midmean_interval([timed.gate for timed in own.rounds])

    def control(part: Callable[[ControlRound], float]) -> _Control:
        halves = ([part(pair) for pair in half] for half in (first, second))
        return _Control(*(_undisturbed(half, noise.disturbed) for half in halves))

    costs = control(lambda pair: pair[0].gate - pair[1])
    # As nothing is known yet but that the call took no longer than its gate.
    usual_costs = costs.usual(noise.most * gate.value)
    cost, error = midmean(usual_costs), midmean_error(usual_costs)
    fixed, error = usual.refine(cost, error) if usual is not None else (cost, error)
    most = noise.most * (gate.value - fixed)
    before = _side(
        [timed.before for timed in own.rounds], control(lambda pair: pair[0].before), noise.before, most
    )
    after = _side(
        [timed.after for timed in own.rounds], control(lambda pair: pair[0].after), noise.after, most
    )
    sides = (before, after)
    charged = sum(side.charged for side in sides)
    errors = [error * Z95, *(side.error * Z95 for side in sides if side.charged)]
    return Measured(
        time=_corrected(gate, charged - fixed, errors),
        rounds=len(own.rounds),
        host=statistics.median([timed.host for timed in own.rounds]),
        charged=charged,
        fixed=fixed,
        cost=cost,
        drift=costs.drift,
        disturbed=1 - len([*costs.first, *costs.second]) / len([*first, *second]),
        beyond=(before.beyond, after.beyond),
        noise=_noise_told(sides),
        gated=own.gated,
        uneven=_uneven([timed.gate for timed in own.rounds], noise.disturbed),
        gpu=own.gpu,
    )


def _undisturbed(rounds: Sequence[float], disturbed: float) -> list[float]:
    """Those that are not slower by so much than the quickest quarter."""
    quick = sorted(rounds)[len(rounds) // 4]
    return [seconds for seconds in rounds if seconds <= quick + disturbed]


def _uneven(gates: Sequence[float], disturbed: float) -> float:
    """The share of an own call's rounds that something else slowed, as it seems. They count all the same, unless the
    next measurement has none: which rounds count must not be a submission's choice."""
    quick = sorted(gates)[len(gates) // 4]
    return sum(gate > quick + max(disturbed, UNEVEN * quick) for gate in gates) / len(gates)


@dataclass(frozen=True)
class _Control:
    """One figure of the control's rounds, from before the submission was alive and from after it was gone, without the
    rounds that something else disturbed."""

    first: Sequence[float]
    second: Sequence[float]

    @property
    def drift(self) -> float:
        return abs(midmean(self.first) - midmean(self.second))

    def usual(self, most: float) -> Sequence[float]:
        """Both halves where they agree, within their errors and ``most``; else the quicker one. Whatever keeps the
        GPU busy can slow a control, also what a submission left behind, and nothing can make it quicker."""
        errors = NOISE_ERRORS * math.hypot(midmean_error(self.first), midmean_error(self.second))
        if self.drift <= min(errors, most):
            return [*self.first, *self.second]
        return min(self.first, self.second, key=midmean)


@dataclass(frozen=True)
class _Side:
    """What lies on one side of the gate ``beyond`` the control's, its standard error, and what it may be without
    meaning anything."""

    beyond: float
    error: float
    noise: float

    @property
    def is_plain(self) -> bool:
        return self.beyond >= PLAIN * self.noise

    @property
    def charged(self) -> float:
        """All of it, where it is plainly no noise; else what goes beyond the noise.

        An honest call that lies a little above its noise is then charged that little, and its time does not jump.
        What hidden work can gain is the same as if all were charged from the noise on: at most the noise.
        """
        return self.beyond if self.is_plain else max(0.0, self.beyond - self.noise)


def _noise_told(sides: Sequence[_Side]) -> float:
    """One figure for both sides: more than it is charged only where one of them is plainly no noise."""
    if plain := [side.noise for side in sides if side.is_plain]:
        return min(plain)
    if slight := [side.noise for side in sides if side.charged]:
        return sum(slight)
    return max(sides, key=lambda side: side.beyond / side.noise).noise


def _side(own: Sequence[float], control: _Control, floor: Floor, most: float) -> _Side:
    """``most``: of the noise that rounds and drift make."""
    rounds = control.usual(most)
    usual = midmean(rounds)
    error = math.hypot(midmean_error(own), midmean_error(rounds))
    seen = min(max(NOISE_ERRORS * error, control.drift), most)
    noise = max(seen, floor.share * usual, floor.least)
    return _Side(midmean(own) - usual, error, noise)


def _corrected(gate: Estimate, shift: float, errors: Sequence[float]) -> Estimate:
    """``gate`` moved by ``shift``, its interval widened by ``errors`` and by what boxes differ by, in squares."""
    value = gate.value + shift
    widened = (*errors, BETWEEN_BOXES * value)
    low = value - math.hypot(gate.value - gate.interval[0], *widened)
    high = value + math.hypot(gate.interval[1] - gate.value, *widened)
    value, low, high = (max(SHORTEST_S, seconds) for seconds in (value, low, high))
    return Estimate(value, (low, high))
