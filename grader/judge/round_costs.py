"""What a round has cost on one GPU: kept in a file, while GPU and driver stay the same, or else while the judge runs.

The cost of a round is nearly the same for everyone on a GPU. One that is not what it usually is means that something
else uses the GPU; and what it was in earlier timings of a workload says better what it is than one timing's control.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader.logs import get_logger

log = get_logger(__name__)

FOLDER = "round_costs"
# Of the file's form, and of what a round does: costs of another kind of round tell nothing.
VERSION = 1
# The cost of a round is the same for all submissions on one GPU, within 1 %. Beyond this share of what it usually is,
# something else uses the GPU: one more switch between contexts makes it 45 % more.
WITHIN = 0.05
# How many timings' costs are kept for the GPU, and for each workload; fewer than the third figure tell nothing yet.
KEPT, KEPT_EACH, FEWEST = 40, 40, 6
# A machine on which a round costs something else for good: after so many timings in a row, alike by this share, over at
# least so many seconds. A busy GPU makes twenty within a minute, and so does somebody who uses it for a minute, too.
STRAYS, ALIKE, LASTING_S = 20, 0.01, 1800.0
# Those timed least lately are forgotten. With as many costs for each, a file has some 60 KB.
WORKLOADS = 128
_MOST_BYTES = 1 << 18
_LONGEST_S = 1.0
# Standard errors by which two figures of one thing may differ.
_CHANCE = 3.0
# The cost of a round differs by this from box to box, however many rounds there are (benchmarks/gpu/repeatability.py).
BETWEEN_BOXES_S = 0.2e-6


@dataclass(frozen=True)
class Machine:
    """What a cost belongs to. A new driver begins anew."""

    uuid: str
    model: str
    driver: str


UNKNOWN = Machine("", "", "")


@dataclass(frozen=True)
class Usual:
    """What a workload's rounds have cost in earlier timings, seconds."""

    costs: Sequence[float]

    def refine(self, cost: float, error: float) -> tuple[float, float]:
        """The best guess at a cost that one timing's control says is ``cost``, with a standard error of ``error``; and
        the guess's own.

        It is mostly the mean of those earlier costs that differ from this one by no more than chance: a GPU may be in
        one of several states, a microsecond or two apart, which a submission's rounds share. With too few of them the
        control alone counts.
        """
        seen = math.hypot(error, BETWEEN_BOXES_S)
        alike = [kept for kept in self.costs if abs(kept - cost) <= _CHANCE * seen]
        if len(alike) < FEWEST:
            return cost, error
        value, known = statistics.fmean(alike), BETWEEN_BOXES_S / math.sqrt(len(alike))
        weight = known**2 / (seen**2 + known**2)
        return value + weight * (cost - value), seen * known / math.hypot(seen, known)


class RoundCosts:
    """The costs on one GPU, in seconds. Without a folder they are lost with the process."""

    def __init__(self, machine: Machine = UNKNOWN, folder: Path | None = None) -> None:
        #: The last ones.
        self.costs: list[float] = []
        self._strays: list[float] = []
        self._since = 0.0  # the first of them in a row, in seconds since the epoch
        self._each: OrderedDict[str, list[float]] = OrderedDict()
        self.machine = machine
        self._written = False
        self.file: Path | None = None
        if folder is not None:
            self.keep_in(folder)

    def keep_in(self, folder: Path) -> None:
        """Load what the data folder ``folder`` has of this GPU, and keep new costs there."""
        self.file = folder / FOLDER / f"{self.machine.uuid}.json"
        self._load(self.file)

    @property
    def known_range(self) -> tuple[float, float] | None:
        """What a round may cost here; None while too few timings say so."""
        if len(self.costs) < FEWEST:
            return None
        return self.median * (1 - WITHIN), self.median * (1 + WITHIN)

    @property
    def median(self) -> float:
        """Raises ValueError where nothing is known."""
        return statistics.median(self.costs)

    @property
    def strays(self) -> int:
        """How many of the last timings in a row were out of the known range."""
        return len(self._strays)

    def usual(self, workload: str) -> Usual | None:
        """What rounds of ``workload`` have cost; None while too few timings say so. ``workload`` is a text that no
        other one has, nor another version of its challenge."""
        self._heed_reset()
        found = self._each.get(workload, [])
        return Usual(tuple(found)) if len(found) >= FEWEST else None

    def is_usual(self, cost: float) -> bool:
        """Whether ``cost`` is within the known range, or none is known."""
        self._heed_reset()
        known = self.known_range
        return known is None or known[0] <= cost <= known[1]

    def note(self, workload: str, cost: float) -> None:
        """Keep what a timing's rounds cost. What is out of the range counts only when it has been so, and alike, many
        times in a row and for long."""
        self._heed_reset()
        if not _is_possible(cost):
            log.warning("round_cost_impossible", workload=workload, cost=cost)
            return
        if self.is_usual(cost):
            self._strays.clear()
            self.costs = [*self.costs, cost][-KEPT:]
            each = self._each.pop(workload, [])
            self._each[workload] = [*each, cost][-KEPT_EACH:]
            while len(self._each) > WORKLOADS:
                self._each.popitem(last=False)
        else:
            now = time.time()
            self._since = min(self._since, now) if self._strays else now
            self._strays = [*self._strays, cost][-STRAYS:]
            lasting = now - self._since >= LASTING_S
            if lasting and len(self._strays) == STRAYS and _alike(self._strays):
                log.warning("round_cost_changed", was=self.known_range, now=statistics.median(self._strays))
                self.costs, self._strays = self._strays, []
                self._each.clear()
        self._save()

    def reset(self) -> None:
        """Forget everything; a judge that has this GPU does so, too. Raises OSError."""
        self._forget()
        if self.file is not None:
            self.file.unlink(missing_ok=True)

    def _heed_reset(self) -> None:
        """Whoever removes the file wants it all forgotten, also by a judge that runs."""
        if self._written and self.file is not None and not self.file.exists():
            self._forget()

    def _forget(self) -> None:
        self.costs, self._strays, self._written = [], [], False
        self._each.clear()

    def _load(self, file: Path) -> None:
        try:
            if file.stat().st_size > _MOST_BYTES:
                raise ValueError("it is too large")
            kept = json.loads(file.read_text(encoding="utf-8"))
            self._take(kept)
            self._written = True
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            self._forget()
            log.warning("round_costs_ignored", file=str(file), error=f"{type(error).__name__}: {error}")

    def _take(self, kept: Any) -> None:
        """Raises ValueError, TypeError or KeyError where this is not what ``_save`` wrote for this GPU."""
        if not isinstance(kept, dict) or kept["version"] != VERSION:
            raise ValueError("it is of another version")
        if kept["machine"] != asdict(self.machine):
            raise ValueError("it is of another GPU or driver")
        self.costs = _seconds(kept["costs_us"], KEPT)
        self._strays = _seconds(kept["strays_us"], STRAYS)
        self._since = float(kept.get("strays_since", time.time()))
        each = kept["workloads_us"]
        if not isinstance(each, dict) or len(each) > WORKLOADS:
            raise ValueError("it has too many workloads")
        for name, costs in each.items():
            self._each[name] = _seconds(costs, KEPT_EACH)

    def _save(self) -> None:
        """Whole or not at all. What cannot be written is worth a line in the log, and no submission."""
        if self.file is None:
            return
        kept = {
            "version": VERSION,
            "machine": asdict(self.machine),
            "costs_us": _microseconds(self.costs),
            "strays_us": _microseconds(self._strays),
            "strays_since": self._since,
            "workloads_us": {name: _microseconds(costs) for name, costs in self._each.items()},
        }
        written = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            written.write_text(json.dumps(kept), encoding="utf-8")
            written.replace(self.file)
            self._written = True
        except OSError as error:
            log.warning("round_costs_not_kept", file=str(self.file), error=str(error))
            with suppress(OSError):
                written.unlink()


def kept_in(folder: Path) -> list[RoundCosts]:
    """All that is kept in a data folder, for whatever GPU. Files that cannot be read are left out."""
    found = []
    for file in sorted((folder / FOLDER).glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError):
            machine = Machine(**json.loads(file.read_text(encoding="utf-8"))["machine"])
            if file.stem == machine.uuid:
                found.append(RoundCosts(machine, folder))
    return found


def _alike(costs: Iterable[float]) -> bool:
    ordered = sorted(costs)
    return ordered[-1] - ordered[0] <= 2 * ALIKE * statistics.median(ordered)


def _is_possible(cost: float) -> bool:
    return 0 < cost < _LONGEST_S


def _microseconds(costs: Iterable[float]) -> list[float]:
    return [round(cost * 1e6, 3) for cost in costs]


def _seconds(kept: Any, most: int) -> list[float]:
    if not isinstance(kept, list) or len(kept) > most:
        raise ValueError("it has too many costs")
    found = [float(cost) * 1e-6 for cost in kept]
    if not all(map(_is_possible, found)):
        raise ValueError("it has costs that none can be")
    return found
