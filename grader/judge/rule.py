"""Computes a time from a submission's and the control's rounds. docs/judging.md gives the argument."""

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

# Time outside the gate within this many standard errors of the control's is noise.
NOISE_ERRORS = 3.0
# From this multiple of the noise on, it is charged in full.
PLAIN = 2.0
# Relative difference between boxes, beyond that within one (benchmarks/gpu/repeatability.py).
BETWEEN_BOXES = 0.002
# If the fixed cost differs by this share of a round before and after a submission, something else ran.
UNSTEADY = 0.01
# If more of a control's rounds are disturbed, something else ran; some always are.
MOST_DISTURBED = 0.2
# An own round this much slower than the fastest quarter, and by ``Noise.disturbed``, had company; most differ by a
# tenth of it.
UNEVEN = 0.02


# A control's round and the known length of its call, in seconds.
ControlRound = tuple[Timed, float]


@dataclass(frozen=True)
class Own:
    rounds: Sequence[Timed]
    #: Calls queued behind the closed gate.
    gated: bool
    gpu: GpuState | None = None
    #: The work on an emulated device.
    profile: CallProfile | None = None
    #: Each round's case.
    drawn: Sequence[str] = ()


@dataclass(frozen=True)
class Measured:
    """Per call, in seconds."""

    time: Estimate
    rounds: int
    host: float
    #: Added for work outside the gate.
    charged: float
    #: A round's cost, which was subtracted.
    fixed: float
    #: Difference of that cost between the control's halves.
    drift: float
    #: The share of the control's rounds that do not count.
    disturbed: float
    #: Time before and after the gate beyond the control's, which makes E.
    beyond: tuple[float, float]
    #: The part of it that means nothing, see ``_noise_told``.
    noise: float
    #: If False, the time includes the host's.
    gated: bool
    gpu: GpuState | None = None
    profile: CallProfile | None = None
    #: The share of own rounds that something seems to have slowed.
    uneven: float = 0.0
    #: ``cost`` is unusual.
    company: bool = False
    #: A round's cost by this timing's control alone.
    cost: float = 0.0

    @property
    def plainly_charged(self) -> bool:
        """A small excess over noise sometimes happens to everyone."""
        return self.charged > self.noise

    @property
    def doubtful(self) -> bool:
        """Something other than the submission may have caused this."""
        drifted = self.drift > UNSTEADY * (self.time.value + self.fixed)
        uneven = max(self.disturbed, self.uneven) > MOST_DISTURBED
        return self.plainly_charged or drifted or uneven or self.company

    @property
    def known(self) -> bool:
        """It may be shown, ranked and divided by. A call shorter than the drift is indistinguishable from a round's
        cost."""
        return is_known(self.time, max(SHORTEST_S, self.drift))

    @property
    def short(self) -> bool:
        """Surely shorter than a round's cost, so always unknown. Longer unknown times may be known next time."""
        return not self.known and self.time.interval[1] <= self.fixed


def compared_with_usual(costs: RoundCosts, workload: str, measured: Measured) -> Measured:
    """Sets ``company`` if the cost is unusual. Notes the cost, unless the measurement is doubtful for another
    reason."""
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
    """The rule. ``first`` and ``second``: the control's rounds before and after.

    With G = gate time: c = midmean(G of control - its known length). Time = midmean(G) - c, plus the charge of
    ``_Side``. Before and after are compared separately: speed in one does not make up for the other. ``usual``: earlier
    costs, which improve c.
    """
    gate = midmean_interval([timed.gate for timed in own.rounds])

    def control(part: Callable[[ControlRound], float]) -> _Control:
        halves = ([part(pair) for pair in half] for half in (first, second))
        return _Control(*(_undisturbed(half, noise.disturbed) for half in halves))

    costs = control(lambda pair: pair[0].gate - pair[1])
    # So far it is only known that the call took no longer than its gate.
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
    quick = sorted(rounds)[len(rounds) // 4]
    return [seconds for seconds in rounds if seconds <= quick + disturbed]


def _uneven(gates: Sequence[float], disturbed: float) -> float:
    """The share of rounds that something seems to have slowed. They count unless the next measurement has none: a
    submission must not choose which rounds count."""
    quick = sorted(gates)[len(gates) // 4]
    return sum(gate > quick + max(disturbed, UNEVEN * quick) for gate in gates) / len(gates)


@dataclass(frozen=True)
class _Control:
    """A figure of undisturbed rounds, before and after the submission."""

    first: Sequence[float]
    second: Sequence[float]

    @property
    def drift(self) -> float:
        return abs(midmean(self.first) - midmean(self.second))

    def usual(self, most: float) -> Sequence[float]:
        """Both halves if they agree, else the faster: other work can slow a control, nothing makes it faster."""
        errors = NOISE_ERRORS * math.hypot(midmean_error(self.first), midmean_error(self.second))
        if self.drift <= min(errors, most):
            return [*self.first, *self.second]
        return min(self.first, self.second, key=midmean)


@dataclass(frozen=True)
class _Side:
    """Time on one side of the gate ``beyond`` the control's, its standard error, and its noise."""

    beyond: float
    error: float
    noise: float

    @property
    def is_plain(self) -> bool:
        return self.beyond >= PLAIN * self.noise

    @property
    def charged(self) -> float:
        """All if plainly not noise, else the excess: an honest call pays little, hidden work gains at most the
        noise."""
        return self.beyond if self.is_plain else max(0.0, self.beyond - self.noise)


def _noise_told(sides: Sequence[_Side]) -> float:
    """One figure for both sides: the charge exceeds it only if one side is plainly not noise."""
    if plain := [side.noise for side in sides if side.is_plain]:
        return min(plain)
    if slight := [side.noise for side in sides if side.charged]:
        return sum(slight)
    return max(sides, key=lambda side: side.beyond / side.noise).noise


def _side(own: Sequence[float], control: _Control, floor: Floor, most: float) -> _Side:
    """``most``: limits noise from rounds and drift."""
    rounds = control.usual(most)
    usual = midmean(rounds)
    error = math.hypot(midmean_error(own), midmean_error(rounds))
    seen = min(max(NOISE_ERRORS * error, control.drift), most)
    noise = max(seen, floor.share * usual, floor.least)
    return _Side(midmean(own) - usual, error, noise)


def _corrected(gate: Estimate, shift: float, errors: Sequence[float]) -> Estimate:
    """Widens the interval by ``errors`` and the difference of boxes, in squares."""
    value = gate.value + shift
    widened = (*errors, BETWEEN_BOXES * value)
    low = value - math.hypot(gate.value - gate.interval[0], *widened)
    high = value + math.hypot(gate.interval[1] - gate.value, *widened)
    value, low, high = (max(SHORTEST_S, seconds) for seconds in (value, low, high))
    return Estimate(value, (low, high))
