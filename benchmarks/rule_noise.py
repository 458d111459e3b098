"""How often the rule charges honest calls, and what hidden work gains, at 1x, 2x and 4x the noise of a real GPU.

Gradings are made up from the raw rounds that repeatability.py keeps: their deviations are drawn at random, scaled,
and put around calls of 400, 700 and 1,000 microseconds, with a difference between boxes on top. Every figure follows
from the seed.

- Honest calls: how often they are charged, flagged, or measured once more, and the spread of ten gradings.
- Work hidden before or behind the gate: the best gain that mostly passes unflagged. Behind the gate this is the rule
  alone; on a GPU the judge's stream and the spot check protect as well (benchmarks/gpu/band.py).
- A call that is a tenth quicker in a share of its rounds, unseen: what it gains by midmean and by median.
- A submission that chooses when earlier rounds are dropped: its best run of rounds against the first.

With --series, what several gradings of sizes that share a box make:

- how often the interval of a time over all sizes holds the true one, by how much boxes differ;
- how often one source, submitted again and again, beats another's first time by more than a board's resolution;
- what the next submission gains or loses if submissions slow the controls that set the kept costs of a round.

Usage: python benchmarks/rule_noise.py [--json] [--trials N] [--raw FILE] [--series]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "gpu"))

from raw_rounds import unpacked
from results import FOLDER, keep

from grader.device_kinds import NVIDIA_GPU
from grader.judge.cuda.device import CudaDevice
from grader.judge.device import GPU_PLAN
from grader.judge.round_costs import RoundCosts, Usual
from grader.judge.rule import BETWEEN_BOXES, ControlRound, Measured, Own, compared_with_usual, settle
from grader.judge.runner_client import Timed
from grader.scoring import Estimate, combine, geometric_mean, is_faster, midmean

RAW = FOLDER / "repeatability-nvidia-h100-80gb-hbm3.json"
SCALES = (1, 2, 4)
LENGTHS_US = (400, 700, 1000)
COST_S, KNOWN_S, BEFORE_S, AFTER_S = 306e-6, 1e-3, 1.4e-3, 1.0e-3
# What a submission's and a control's rounds differ by from one box to the next (standard deviations), as measured.
OWN_BOX_S, CONTROL_BOX_S = 0.4e-6, 0.2e-6
HIDDEN_US = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80)
SHARES = (1.0, 0.6, 0.4, 0.3, 0.2)
GRADINGS, LEARNT = 10, 20
# For --series: sizes that are ranked together, how boxes differ, how often one source is submitted (200 is a day's
# quota), and how many such draws are made.
SIZES_US = ((400,), (470, 470), (470, 470, 470, 470), (549, 738), (790, 1055))
BOXES_S = (0.2e-6, 0.4e-6, 0.6e-6, 1.0e-6)
AGAIN, DRAWN = (1, 10, 50, 200), 4000
# Of every size, and of their mean.
Score = tuple[list[Estimate], Estimate]


@dataclass(frozen=True)
class Deviations:
    """Seconds by which real rounds differ from the midmean of their series: a submission's and a control's."""

    own: dict[str, list[float]]
    control: dict[str, list[float]]


def deviations(file: Path) -> Deviations:
    """Without softmax's long rows, whose own calls differ by 0.6 %, and the product of matrices, which gets warm."""
    found = Deviations({}, {})
    for row in json.loads(file.read_text())["figures"]["rounds"]:
        if row["workload"] in ("1021 x 262147", "8192 cube"):
            continue
        for name, to in (
            ("own", found.own),
            ("control_before", found.control),
            ("control_after", found.control),
        ):
            rounds = unpacked(row[name])
            for part in ("gate", "before", "after"):
                values = [getattr(timing, part) for timing in rounds]
                to.setdefault(part, []).extend(value - midmean(values) for value in values)
    return found


@dataclass
class World:
    """Makes up gradings. ``scale`` multiplies all noise."""

    seen: Deviations
    scale: float
    dice: random.Random

    def _rounds(self, of: dict[str, list[float]], gate: float, box: float, count: int) -> list[Timed]:
        shift = self.dice.gauss(0.0, box * self.scale)
        drawn = {part: self.dice.choices(of[part], k=count) for part in ("gate", "before", "after")}
        parts = zip(drawn["gate"], drawn["before"], drawn["after"], strict=True)
        return [
            Timed(
                BEFORE_S + before * self.scale,
                gate + shift + own * self.scale,
                AFTER_S + after * self.scale,
                0.0,
            )
            for own, before, after in parts
        ]

    def control(self) -> tuple[list[ControlRound], list[ControlRound]]:
        count = GPU_PLAN.control_rounds
        both = self._rounds(self.seen.control, KNOWN_S + COST_S, CONTROL_BOX_S, 2 * count)
        return [(timing, KNOWN_S) for timing in both[:count]], [(timing, KNOWN_S) for timing in both[count:]]

    def own(self, length: float, count: int = GPU_PLAN.rounds) -> list[Timed]:
        return self._rounds(self.seen.own, length + COST_S, OWN_BOX_S, count)

    def usual(self) -> Usual | None:
        """The cost as known after these timings."""
        costs = RoundCosts()
        for _ in range(LEARNT):
            first, second = self.control()
            costs.note("", midmean([timing.gate - known for timing, known in (*first, *second)]))
        return costs.usual("")

    def settled(self, rounds: Sequence[Timed], usual: Usual | None = None) -> Measured:
        return settle(Own(rounds, gated=True), *self.control(), CudaDevice.noise, usual)


def honest(world: World, length: float, trials: int) -> dict[str, float]:
    usual = world.usual()
    found, known, medians = [], [], []
    for _ in range(trials):
        rounds, control = world.own(length), world.control()
        own = Own(rounds, gated=True)
        found.append(settle(own, *control, CudaDevice.noise))
        known.append(settle(own, *control, CudaDevice.noise, usual).time.value)
        cost = statistics.median([timing.gate - seconds for half in control for timing, seconds in half])
        medians.append(statistics.median([timing.gate for timing in rounds]) - cost)
    times = [result.time.value for result in found]
    return {
        "charged": share(result.charged > 0 for result in found),
        "flagged": share(result.plainly_charged for result in found),
        "measured_again": share(result.doubtful for result in found),
        "bias_percent": round((midmean(times) / length - 1) * 100, 4),
        "spread_percent": spread(times),
        "spread_with_known_cost_percent": spread(known),
        "spread_by_median_percent": spread(medians),
        "interval_holds": share(
            result.time.interval[0] <= length <= result.time.interval[1] for result in found
        ),
    }


def share(of: Any) -> float:
    listed = list(of)
    return round(float(sum(listed)) / len(listed), 4)


def spread(times: Sequence[float]) -> float:
    """Of ten gradings, max / min - 1, in the middle of all tens."""
    tens = [times[place : place + GRADINGS] for place in range(0, len(times) - GRADINGS + 1, GRADINGS)]
    return round(100 * statistics.median(max(ten) / min(ten) - 1 for ten in tens), 3)


def hidden(world: World, length: float, trials: int) -> list[dict[str, Any]]:
    """For each side and share of the rounds: the largest gain that is mostly not flagged."""
    found = []
    for side in ("before", "after"):
        for part in SHARES:
            best: dict[str, Any] = {"gain_percent": 0.0, "hidden_us": 0, "flagged": 0.0}
            for amount in HIDDEN_US:
                runs = [world.settled(hide(world, length, side, part, amount * 1e-6)) for _ in range(trials)]
                flagged = share(run.plainly_charged for run in runs)
                gain = (length / midmean([run.time.value for run in runs]) - 1) * 100
                if flagged < 0.5 and gain > best["gain_percent"]:
                    best = {"gain_percent": round(gain, 3), "hidden_us": amount, "flagged": flagged}
            found.append({"side": side, "share_of_rounds": part, **best})
    return found


def hide(world: World, length: float, side: str, part: float, amount: float) -> list[Timed]:
    made = []
    for timing in world.own(length):
        moved = amount if world.dice.random() < part else 0.0
        before, after = (moved, 0.0) if side == "before" else (0.0, moved)
        made.append(Timed(timing.before + before, timing.gate - moved, timing.after + after, 0.0))
    return made


def quicker(world: World, length: float, trials: int) -> list[dict[str, float]]:
    found = []
    for part in SHARES[1:]:
        by_rule, by_median = [], []
        for _ in range(trials):
            rounds = [
                Timed(
                    timing.before, timing.gate - length / 10 * (world.dice.random() < part), timing.after, 0.0
                )
                for timing in world.own(length)
            ]
            by_rule.append(world.settled(rounds).time.value)
            by_median.append(statistics.median([timing.gate for timing in rounds]) - COST_S)
        gains = [(length / midmean(times) - 1) * 100 for times in (by_rule, by_median)]
        found.append(
            {
                "share_of_rounds": part,
                "gain_percent": round(gains[0], 2),
                "median_gain_percent": round(gains[1], 2),
            }
        )
    return found


def chosen(world: World, length: float, trials: int) -> dict[str, float]:
    """Drops half of the rounds that count and makes as many again, as often as there is room."""
    fewest, most = GPU_PLAN.rounds, GPU_PLAN.most_rounds
    gains = []
    for _ in range(trials):
        gates = [timing.gate - COST_S for timing in world.own(length, most)]
        starts = range(0, most - fewest + 1, fewest // 2)
        times = [midmean(gates[start : start + fewest]) for start in starts]
        gains.append((times[0] / min(times) - 1) * 100)
    return {"gain_percent": round(statistics.fmean(gains), 3), "most_percent": round(max(gains), 3)}


def grading(world: World, lengths: Sequence[float], usual: Sequence[Usual | None], own_box: float) -> Score:
    """The times of all sizes, and their mean. ``own_box``: what submissions differ by from box to box, seconds."""
    own_shift, control_shift = (
        world.dice.gauss(0.0, deviation * world.scale) for deviation in (own_box, CONTROL_BOX_S)
    )
    count, found = GPU_PLAN.control_rounds, []
    for length, known in zip(lengths, usual, strict=True):
        own = world._rounds(world.seen.own, length + COST_S + own_shift, 0.0, GPU_PLAN.rounds)
        rounds = world._rounds(world.seen.control, KNOWN_S + COST_S + control_shift, 0.0, 2 * count)
        control = [(timing, KNOWN_S) for timing in rounds]
        halves = (control[:count], control[count:])
        found.append(settle(Own(own, gated=True), *halves, CudaDevice.noise, known).time)
    return found, combine(found, BETWEEN_BOXES)


def several_sizes(world: World, lengths: Sequence[float], own_box: float, trials: int) -> dict[str, float]:
    usual, true = [world.usual() for _ in lengths], geometric_mean(lengths)
    made = [grading(world, lengths, usual, own_box) for _ in range(trials)]
    each = [(estimate, length) for times, _ in made for estimate, length in zip(times, lengths, strict=True)]
    means = [whole.value for _, whole in made]
    return {
        "interval_holds": share(estimate.interval[0] <= true <= estimate.interval[1] for _, estimate in made),
        "interval_of_one_size_holds": share(
            estimate.interval[0] <= length <= estimate.interval[1] for estimate, length in each
        ),
        "differ_percent": round(100 * statistics.stdev(means) / true, 3),
        **submitted_again(world, means),
    }


def submitted_again(world: World, times: Sequence[float]) -> dict[str, float]:
    """``times``: of gradings of one kernel, of which these are drawn."""
    resolution, draw = NVIDIA_GPU.resolution, world.dice.choices
    found = {}
    for often in AGAIN:
        pairs = [(min(draw(times, k=often)), draw(times)[0]) for _ in range(DRAWN)]
        found[f"best_of_{often}_is_faster"] = share(is_faster(*pair, resolution) for pair in pairs)
    slow = statistics.median(times)
    chosen = [time if time <= slow else draw(times)[0] for time in draw(times, k=DRAWN)]
    gain = 100 * (statistics.fmean(times) / statistics.fmean(chosen) - 1)
    return {**found, "measured_again_at_will_gain_percent": round(gain, 3)}


def slowed_control(world: World, length: float, lift: float, both: bool, series: int) -> dict[str, float]:
    """Gains of a submission that follows some with controls slower by ``lift`` seconds, behind or on both sides."""

    def one(costs: RoundCosts, behind: float, ahead: float) -> None:
        first, second = (
            [(replace(timing, gate=timing.gate + more), known) for timing, known in half]
            for half, more in zip(world.control(), (ahead, behind), strict=True)
        )
        own = Own(world.own(length), gated=True)
        compared_with_usual(costs, "", settle(own, first, second, CudaDevice.noise, costs.usual("")))

    gains = []
    for _ in range(GRADINGS):
        costs = RoundCosts()
        for _ in range(LEARNT):
            one(costs, 0.0, 0.0)
        before = costs.usual("")
        for _ in range(series):
            one(costs, lift, lift if both else 0.0)
        rounds, control = Own(world.own(length), gated=True), world.control()
        times = [
            settle(rounds, *control, CudaDevice.noise, usual).time.value
            for usual in (before, costs.usual(""))
        ]
        gains.append(100 * (times[0] / times[1] - 1))
    return {
        "gain_percent": round(statistics.fmean(gains), 3),
        "most_percent": round(max(gains), 3),
        "least_percent": round(min(gains), 3),
    }


def print_series(seen: Deviations, trials: int) -> None:
    for scale in SCALES:
        for box in BOXES_S:
            for lengths in SIZES_US:
                world = World(seen, scale, random.Random(f"{scale} {box} {lengths}"))
                found = several_sizes(world, [length * 1e-6 for length in lengths], box, trials)
                print(f"{scale}x noise, boxes {box * 1e6:.1f} us, {lengths} us: {found}", flush=True)
    for series in (5, 40, 200):
        for lift in (0.5e-6, 1e-6, 2e-6, 5e-6, 14e-6):
            for both in (False, True):
                world = World(seen, 1, random.Random(f"{series} {lift} {both}"))
                found = slowed_control(world, 400e-6, lift, both, series)
                sides = "both sides" if both else "behind"
                print(f"{series} controls slower by {lift * 1e6:.1f} us {sides}: {found}", flush=True)


def _gain(found: dict[str, Any]) -> float:
    return float(found["gain_percent"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--trials", type=int, default=400, help="gradings of each kind")
    parser.add_argument("--raw", type=Path, default=RAW, help="a file of repeatability.py's")
    parser.add_argument(
        "--series", action="store_true", help="print what several gradings make, and nothing else"
    )
    options = parser.parse_args()
    seen = deviations(options.raw)
    if options.series:
        print_series(seen, options.trials)
        return
    rows = []
    for scale in SCALES:
        for length_us in LENGTHS_US:
            world = World(seen, scale, random.Random(f"{scale} {length_us}"))
            length = length_us * 1e-6
            row: dict[str, Any] = {
                "noise": scale,
                "length_us": length_us,
                "honest": honest(world, length, options.trials),
                "hidden": hidden(world, length, max(20, options.trials // 10)),
                "quicker": quicker(world, length, max(20, options.trials // 10)),
                "chosen": chosen(world, length, max(20, options.trials // 10)),
            }
            print(
                f"{scale}x noise, {length_us} us: {row['honest']}\n    {row['quicker']}\n    {row['chosen']}"
            )
            for side in ("before", "after"):
                print(
                    f"    {max((hidden for hidden in row['hidden'] if hidden['side'] == side), key=_gain)}",
                    flush=True,
                )
            rows.append(row)
    if options.json:
        keep("rule_noise", {"raw": options.raw.name, "trials": options.trials, "rows": rows})


if __name__ == "__main__":
    main()
