"""The cost of rounds on one GPU, in a file while GPU and driver stay the same.

It is nearly the same for everyone: an unusual cost means other use. Many timings tell it better than one control.
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
# Costs of other rounds mean nothing.
VERSION = 1
# Honest costs differ by 1 %; one more context switch adds 45 %.
WITHIN = 0.05
# Costs kept for the GPU, for each workload, and the fewest that mean something.
KEPT, KEPT_EACH, FEWEST = 40, 40, 6
# Then the cost has changed for good: alike stray timings in a row, over this time. A busy GPU gives twenty in a minute.
STRAYS, ALIKE, LASTING_S = 20, 0.01, 1800.0
# The least recently timed are forgotten. A full file has some 60 KB.
WORKLOADS = 128
_MOST_BYTES = 1 << 18
_LONGEST_S = 1.0
# Standard errors by which two measurements of one thing may differ.
_CHANCE = 3.0
# From benchmarks/gpu/repeatability.py.
BETWEEN_BOXES_S = 0.2e-6


@dataclass(frozen=True)
class Machine:
    """A new driver starts from scratch."""

    uuid: str
    model: str
    driver: str


UNKNOWN = Machine("", "", "")


@dataclass(frozen=True)
class Usual:
    """Costs of a workload's rounds in earlier timings, in seconds."""

    costs: Sequence[float]

    def refine(self, cost: float, error: float) -> tuple[float, float]:
        """The best estimate and its error, if one control gives ``cost`` with ``error``.

        Mostly the mean of earlier costs within chance: a GPU is in one of several states, a microsecond or two apart.
        """
        seen = math.hypot(error, BETWEEN_BOXES_S)
        alike = [kept for kept in self.costs if abs(kept - cost) <= _CHANCE * seen]
        if len(alike) < FEWEST:
            return cost, error
        value, known = statistics.fmean(alike), BETWEEN_BOXES_S / math.sqrt(len(alike))
        weight = known**2 / (seen**2 + known**2)
        return value + weight * (cost - value), seen * known / math.hypot(seen, known)


class RoundCosts:
    """In seconds. Lost with the process if there is no folder."""

    def __init__(self, machine: Machine = UNKNOWN, folder: Path | None = None) -> None:
        self.costs: list[float] = []
        self._strays: list[float] = []
        self._since = 0.0  # time of the first stray in a row, seconds since the epoch
        self._each: OrderedDict[str, list[float]] = OrderedDict()
        self.machine = machine
        self._written = False
        self.file: Path | None = None
        if folder is not None:
            self.keep_in(folder)

    def keep_in(self, folder: Path) -> None:
        """Load costs from the data folder, and keep new ones there."""
        self.file = folder / FOLDER / f"{self.machine.uuid}.json"
        self._load(self.file)

    @property
    def known_range(self) -> tuple[float, float] | None:
        if len(self.costs) < FEWEST:
            return None
        return self.median * (1 - WITHIN), self.median * (1 + WITHIN)

    @property
    def median(self) -> float:
        """Raises ValueError if nothing is known."""
        return statistics.median(self.costs)

    @property
    def strays(self) -> int:
        return len(self._strays)

    def usual(self, workload: str) -> Usual | None:
        """None after too few timings. ``workload``: a text unique across challenges and versions."""
        self._heed_reset()
        found = self._each.get(workload, [])
        return Usual(tuple(found)) if len(found) >= FEWEST else None

    def is_usual(self, cost: float) -> bool:
        self._heed_reset()
        known = self.known_range
        return known is None or known[0] <= cost <= known[1]

    def note(self, workload: str, cost: float) -> None:
        """Unusual costs count only after many in a row, alike, over a long time."""
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
        """Forget everything, also in a running judge. Raises OSError."""
        self._forget()
        if self.file is not None:
            self.file.unlink(missing_ok=True)

    def _heed_reset(self) -> None:
        """Another process resets by removing the file."""
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
        """Raises ValueError, TypeError or KeyError unless ``_save`` wrote this for this GPU."""
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
        """Atomic. A failure is logged and fails no submission."""
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
    """Skips unreadable files."""
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
        raise ValueError("it has impossible costs")
    return found
