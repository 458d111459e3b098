"""What the rule makes of noise: how often it charges honest calls, and what hidden work gains, at 1x, 2x and 4x.

Gradings are made up of rounds that a GPU really made: deviations of the raw rounds that repeatability.py keeps, drawn
again at random and multiplied by 1, 2 and 4, around calls of 400, 700 and 1,000 microseconds, with a difference between
boxes on top. Nothing runs on a GPU, and every figure follows from the seed.

- Honest calls: how often something is charged, how often the report is flagged, how often it is measured once more, and
  how far ten gradings lie apart, with c from one control or from twenty earlier timings, and by the median.
- Work hidden before or behind the gate, in all rounds or a share of them: the best gain that is mostly not flagged. For
  what is behind it this is the rule alone: on a GPU "done" is when the judge's own stream goes on, and the spot check
  finds what is late, so no attack has won time there (benchmarks/gpu/band.py), and the floor is wide.
- A call that is a tenth quicker in a share of its rounds, unseen: what the time gains by midmean and by median. It is
  the price of a midmean that varies less. Who can be quicker unseen would be so in all rounds; who risks a wrong
  answer in each such round needs a quarter of them to gain anything.
- A submission that chooses when earlier rounds are dropped, by heating the GPU, and knows its own times: the best of
  all runs of rounds that it could have count, against the first.

Usage: python benchmarks/rule_noise.py [--json] [--trials N] [--raw FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "gpu"))

from raw_rounds import unpacked
from results import FOLDER, keep

from grader.judge.cuda.device import CudaDevice
from grader.judge.device import GPU_PLAN
from grader.judge.round_costs import RoundCosts, Usual
from grader.judge.rule import ControlRound, Measured, Own, settle
from grader.judge.runner_client import Timed
from grader.scoring import midmean

RAW = FOLDER / "repeatability-nvidia-h100-80gb-hbm3.json"
SCALES = (1, 2, 4)
LENGTHS_US = (400, 700, 1000)
COST_S, KNOWN_S, BEFORE_S, AFTER_S = 306e-6, 1e-3, 1.4e-3, 1.0e-3
# What a submission's and a control's rounds differ by from one box to the next (standard deviations), as measured.
OWN_BOX_S, CONTROL_BOX_S = 0.4e-6, 0.2e-6
HIDDEN_US = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80)
SHARES = (1.0, 0.6, 0.4, 0.3, 0.2)
GRADINGS, LEARNT = 10, 20


@dataclass(frozen=True)
class Deviations:
    """Of real rounds from the midmean of their own series, seconds: of a submission and of a control."""

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
                values = [getattr(it, part) for it in rounds]
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
        return [(it, KNOWN_S) for it in both[:count]], [(it, KNOWN_S) for it in both[count:]]

    def own(self, length: float, count: int = GPU_PLAN.rounds) -> list[Timed]:
        return self._rounds(self.seen.own, length + COST_S, OWN_BOX_S, count)

    def usual(self) -> Usual | None:
        """As known after so many timings."""
        costs = RoundCosts()
        for _ in range(LEARNT):
            first, second = self.control()
            costs.note("", midmean([it.gate - known for it, known in (*first, *second)]))
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
        cost = statistics.median([it.gate - seconds for half in control for it, seconds in half])
        medians.append(statistics.median([it.gate for it in rounds]) - cost)
    times = [it.time.value for it in found]
    return {
        "charged": share(it.charged > 0 for it in found),
        "flagged": share(it.plainly_charged for it in found),
        "measured_again": share(it.doubtful for it in found),
        "bias_percent": round((midmean(times) / length - 1) * 100, 4),
        "spread_percent": spread(times),
        "spread_with_known_cost_percent": spread(known),
        "spread_by_median_percent": spread(medians),
        "interval_holds": share(it.time.interval[0] <= length <= it.time.interval[1] for it in found),
    }


def share(of: Any) -> float:
    listed = list(of)
    return round(float(sum(listed)) / len(listed), 4)


def spread(times: Sequence[float]) -> float:
    """Of ten gradings, max / min - 1, in the middle of all tens."""
    tens = [times[place : place + GRADINGS] for place in range(0, len(times) - GRADINGS + 1, GRADINGS)]
    return round(100 * statistics.median(max(ten) / min(ten) - 1 for ten in tens), 3)


def hidden(world: World, length: float, trials: int) -> list[dict[str, Any]]:
    """For each side, and each share of the rounds it is done in, what gained most of what is mostly not flagged."""
    found = []
    for side in ("before", "after"):
        for part in SHARES:
            best: dict[str, Any] = {"gain_percent": 0.0, "hidden_us": 0, "flagged": 0.0}
            for amount in HIDDEN_US:
                runs = [world.settled(hide(world, length, side, part, amount * 1e-6)) for _ in range(trials)]
                flagged = share(it.plainly_charged for it in runs)
                gain = (length / midmean([it.time.value for it in runs]) - 1) * 100
                if flagged < 0.5 and gain > best["gain_percent"]:
                    best = {"gain_percent": round(gain, 3), "hidden_us": amount, "flagged": flagged}
            found.append({"side": side, "share_of_rounds": part, **best})
    return found


def hide(world: World, length: float, side: str, part: float, amount: float) -> list[Timed]:
    made = []
    for it in world.own(length):
        moved = amount if world.dice.random() < part else 0.0
        before, after = (moved, 0.0) if side == "before" else (0.0, moved)
        made.append(Timed(it.before + before, it.gate - moved, it.after + after, 0.0))
    return made


def quicker(world: World, length: float, trials: int) -> list[dict[str, float]]:
    found = []
    for part in SHARES[1:]:
        by_rule, by_median = [], []
        for _ in range(trials):
            rounds = [
                Timed(it.before, it.gate - length / 10 * (world.dice.random() < part), it.after, 0.0)
                for it in world.own(length)
            ]
            by_rule.append(world.settled(rounds).time.value)
            by_median.append(statistics.median([it.gate for it in rounds]) - COST_S)
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
    """Half of the rounds that count are dropped, and as many made anew, as often as there is room for that."""
    fewest, most = GPU_PLAN.rounds, GPU_PLAN.most_rounds
    gains = []
    for _ in range(trials):
        gates = [it.gate - COST_S for it in world.own(length, most)]
        starts = range(0, most - fewest + 1, fewest // 2)
        times = [midmean(gates[start : start + fewest]) for start in starts]
        gains.append((times[0] / min(times) - 1) * 100)
    return {"gain_percent": round(statistics.fmean(gains), 3), "most_percent": round(max(gains), 3)}


def _gain(found: dict[str, Any]) -> float:
    return float(found["gain_percent"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--trials", type=int, default=400, help="gradings of each kind")
    parser.add_argument("--raw", type=Path, default=RAW, help="a file of repeatability.py's")
    options = parser.parse_args()
    seen = deviations(options.raw)
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
                print(f"    {max((it for it in row['hidden'] if it['side'] == side), key=_gain)}", flush=True)
            rows.append(row)
    if options.json:
        keep("rule_noise", {"raw": options.raw.name, "trials": options.trials, "rows": rows})


if __name__ == "__main__":
    main()
