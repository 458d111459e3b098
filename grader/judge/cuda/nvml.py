"""A GPU's state during timing, from NVML: clocks, heat, power, slowdowns.

Rounds slowed by heat or hardware are repeated; those before the GPU warmed up do not count. Without NVML nothing fails.
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from grader.schemas.hardware import ClockEvent, GpuReading, GpuState, Spread

# Then it is timed while hot: waiting would delay everyone.
MOST_REPEATED = 20
# Degrees Celsius, over rounds that count together.
WARMER_C = 2

# Names of these numbers differ between NVML packages.
_SM_CLOCK, _MEMORY_CLOCK, _CORE_TEMPERATURE = 1, 2, 0
_EVENTS = {
    0x002: ClockEvent.APPLICATION_CLOCKS,
    0x004: ClockEvent.POWER_CAP,
    0x008: ClockEvent.HARDWARE_SLOWDOWN,
    0x010: ClockEvent.SYNC_BOOST,
    0x020: ClockEvent.THERMAL_SLOWDOWN,
    0x040: ClockEvent.HARDWARE_THERMAL_SLOWDOWN,
    0x080: ClockEvent.POWER_BRAKE,
    0x100: ClockEvent.DISPLAY_CLOCKS,
}
# The second is the name before driver 535.
_REASONS = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")


@dataclass(frozen=True)
class Sample:
    """None if unknown."""

    sm_mhz: int | None = None
    memory_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    events: frozenset[ClockEvent] = frozenset()


def slowed(sample: Sample | None) -> bool:
    """A power cap does not count (``ClockEvent.slows``)."""
    return sample is not None and any(event.slows for event in sample.events)


def summary(samples: Sequence[Sample], repeated: int = 0) -> GpuState | None:
    if not samples:
        return None
    heat = [sample.temperature_c for sample in samples if sample.temperature_c is not None]
    seen = {event for sample in samples for event in sample.events}
    return GpuState(
        samples=len(samples),
        sm_mhz=_spread(sample.sm_mhz for sample in samples),
        memory_mhz=_spread(sample.memory_mhz for sample in samples),
        power_w=_spread(sample.power_w for sample in samples),
        temperature_c=max(heat, default=None),
        events=[event for event in ClockEvent if event in seen],
        repeated=repeated,
    )


def _spread(values: Iterable[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(low=min(known), median=statistics.median(known), high=max(known))


class Monitor:
    """``library``: ``pynvml``, or a test's."""

    def __init__(self, uuid: str, library: Any = None) -> None:
        self._nvml = library if library is not None else _library()
        self._handle: Any = None
        self._reasons: Callable[[Any], int] | None = None
        if self._nvml is None:
            return
        with suppress(self._nvml.NVMLError):
            self._nvml.nvmlInit()
            self._handle = self._nvml.nvmlDeviceGetHandleByUUID(uuid)
            self._reasons = self._find_reasons()

    def sample(self) -> Sample | None:
        """None without NVML."""
        if self._handle is None:
            return None
        nvml = self._nvml
        milliwatts = self._read(nvml.nvmlDeviceGetPowerUsage)
        return Sample(
            sm_mhz=self._read(nvml.nvmlDeviceGetClockInfo, _SM_CLOCK),
            memory_mhz=self._read(nvml.nvmlDeviceGetClockInfo, _MEMORY_CLOCK),
            temperature_c=self._read(nvml.nvmlDeviceGetTemperature, _CORE_TEMPERATURE),
            power_w=None if milliwatts is None else milliwatts / 1000,
            events=self._events(),
        )

    def reading(self) -> GpuReading | None:
        """None without NVML."""
        sample = self.sample()
        if sample is None:
            return None
        use: Any = self._read(self._nvml.nvmlDeviceGetUtilizationRates)
        memory: Any = self._read(self._nvml.nvmlDeviceGetMemoryInfo)
        return GpuReading(
            use=use.gpu if use is not None else None,
            memory_used=memory.used if memory is not None else None,
            memory_total=memory.total if memory is not None else None,
            temperature_c=sample.temperature_c,
            power_w=sample.power_w,
            sm_mhz=sample.sm_mhz,
            events=sorted(sample.events),
            slowed=slowed(sample),
        )

    def _events(self) -> frozenset[ClockEvent]:
        bits = self._read(self._reasons) if self._reasons is not None else None
        return frozenset(event for bit, event in _EVENTS.items() if (bits or 0) & bit)

    def _find_reasons(self) -> Callable[[Any], int] | None:
        """The package and the driver must know it."""
        for name in _REASONS:
            function: Callable[[Any], int] | None = getattr(self._nvml, name, None)
            if function is not None and self._read(function) is not None:
                return function
        return None

    def _read(self, function: Callable[..., int], *arguments: int) -> int | None:
        try:
            return function(self._handle, *arguments)
        except self._nvml.NVMLError:
            return None


def _library() -> Any:
    try:
        return importlib.import_module("pynvml")
    except ImportError:
        return None


@dataclass
class NvmlRecord:
    monitor: Monitor
    samples: list[Sample] = field(default_factory=list)
    repeated: int = 0

    def round_counts(self) -> bool:
        sample = self.monitor.sample()
        if sample is None:
            return True
        self.samples.append(sample)
        if not slowed(sample) or self.repeated >= MOST_REPEATED:
            return True
        self.repeated += 1
        return False

    def warmed(self, rounds: int) -> bool:
        """Matrix products take 0.5 % longer at 56 than at 42 degrees Celsius, reached after a second of them."""
        heat = [sample.temperature_c for sample in self.samples[-rounds:] if sample.temperature_c is not None]
        return bool(heat) and heat[-1] - heat[0] > WARMER_C

    def state(self) -> GpuState | None:
        return summary(self.samples, self.repeated)


@dataclass
class NvmlRecords(NvmlRecord):
    """Has the first GPU's state, and the slowing and warming of all."""

    others: Sequence[NvmlRecord] = ()

    def round_counts(self) -> bool:
        return all([super().round_counts(), *(other.round_counts() for other in self.others)])

    def warmed(self, rounds: int) -> bool:
        return super().warmed(rounds) or any(other.warmed(rounds) for other in self.others)
