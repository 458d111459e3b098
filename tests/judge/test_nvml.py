"""Records of a GPU during timing, with a fake of NVML."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from grader.judge.cuda import nvml
from grader.judge.cuda.nvml import MOST_REPEATED, Monitor, NvmlRecord, Sample, slowed, summary
from grader.schemas.hardware import ClockEvent, GpuState

UUID = "GPU-1"
POWER_CAP, HARDWARE, THERMAL, HARDWARE_THERMAL, POWER_BRAKE, IDLE = 0x4, 0x8, 0x20, 0x40, 0x80, 0x1


class FakeNvml:
    """The calls that a monitor makes, and no others."""

    class NVMLError(Exception):
        pass

    def __init__(self, *, reasons: int = 0, broken: tuple[str, ...] = ()) -> None:
        self.reasons = reasons
        self.sm_mhz = 1980
        self._broken = broken

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("nvml") and name in object.__getattribute__(self, "_broken"):
            return self._fail
        return object.__getattribute__(self, name)

    def _fail(self, *_: object) -> int:
        raise FakeNvml.NVMLError("Not Supported")

    def nvmlInit(self) -> None:  # noqa: N802
        pass

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:  # noqa: N802
        if uuid != UUID:
            raise FakeNvml.NVMLError("Not Found")
        return f"handle of {uuid}"

    def nvmlDeviceGetClockInfo(self, handle: str, which: int) -> int:  # noqa: N802
        assert handle == f"handle of {UUID}"
        return {1: self.sm_mhz, 2: 3201}[which]

    def nvmlDeviceGetTemperature(self, handle: str, sensor: int) -> int:  # noqa: N802
        assert sensor == 0
        return 61

    def nvmlDeviceGetPowerUsage(self, handle: str) -> int:  # noqa: N802
        return 412_500

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: str) -> int:  # noqa: N802
        return self.reasons


class OldNvml(FakeNvml):
    """A driver, or a package, from before the call got its new name."""

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: str) -> int:  # noqa: N802
        return HARDWARE


def test_a_sample_has_clocks_temperature_power_and_reasons() -> None:
    sample = Monitor(UUID, FakeNvml(reasons=POWER_CAP | IDLE)).sample()
    assert sample == Sample(1980, 3201, 61, 412.5, frozenset({ClockEvent.POWER_CAP}))


@pytest.mark.parametrize("missing", ["nvmlInit", "nvmlDeviceGetHandleByUUID"])
def test_nothing_is_recorded_without_a_driver_or_gpu(missing: str) -> None:
    monitor = Monitor(UUID, FakeNvml(broken=(missing,)))
    assert monitor.sample() is None
    assert Monitor("GPU-of-somebody-else", FakeNvml()).sample() is None
    record = NvmlRecord(monitor)
    assert record.round_counts()
    assert record.state() is None


def test_nothing_is_recorded_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    assert Monitor(UUID).sample() is None


def test_values_that_the_gpu_lacks_are_left_out() -> None:
    broken = ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetTemperature", "nvmlDeviceGetCurrentClocksEventReasons")
    sample = Monitor(UUID, FakeNvml(reasons=HARDWARE, broken=broken)).sample()
    assert sample == Sample(sm_mhz=1980, memory_mhz=3201)
    state = summary([sample])
    assert state is not None
    assert (state.power_w, state.temperature_c, state.events) == (None, None, [])


def test_reasons_are_read_from_older_drivers() -> None:
    old = OldNvml(broken=("nvmlDeviceGetCurrentClocksEventReasons",))
    assert slowed(Monitor(UUID, old).sample())


@pytest.mark.parametrize("bit", [HARDWARE, THERMAL, HARDWARE_THERMAL, POWER_BRAKE])
def test_thermal_and_hardware_limits_slow_a_round(bit: int) -> None:
    assert slowed(Monitor(UUID, FakeNvml(reasons=bit | POWER_CAP)).sample())


@pytest.mark.parametrize("bits", [0, IDLE, POWER_CAP, 0x2, 0x10, 0x100])
def test_a_power_cap_or_set_clocks_do_not_slow_a_round(bits: int) -> None:
    assert not slowed(Monitor(UUID, FakeNvml(reasons=bits)).sample())


def test_a_state_summarises_its_samples() -> None:
    looks = [
        Sample(1200, 3201, 50, 300.0, frozenset({ClockEvent.POWER_CAP})),
        Sample(1980, 3201, 70, 700.0, frozenset()),
        Sample(1755, 3201, 60, 500.0, frozenset({ClockEvent.THERMAL_SLOWDOWN})),
    ]
    state = summary(looks, repeated=1)
    assert state is not None
    assert state.sm_mhz is not None
    assert (state.sm_mhz.low, state.sm_mhz.median, state.sm_mhz.high) == (1200, 1755, 1980)
    assert state.power_w is not None
    assert state.power_w.median == 500.0
    assert (state.temperature_c, state.samples, state.repeated) == (70, 3, 1)
    assert state.events == [ClockEvent.POWER_CAP, ClockEvent.THERMAL_SLOWDOWN]
    assert state.slowed
    assert GpuState.model_validate_json(state.model_dump_json()) == state


def test_a_round_is_made_again_while_the_gpu_is_slowed() -> None:
    library = FakeNvml(reasons=THERMAL)
    record = NvmlRecord(Monitor(UUID, library))
    assert not record.round_counts()
    library.reasons = POWER_CAP
    assert record.round_counts()
    state = record.state()
    assert state is not None
    assert (state.samples, state.repeated) == (2, 1)


def test_a_gpu_that_stays_slow_is_timed_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "MOST_REPEATED", 3)
    record = NvmlRecord(Monitor(UUID, FakeNvml(reasons=HARDWARE)))
    assert [record.round_counts() for _ in range(5)] == [False, False, False, True, True]
    assert record.repeated == 3
    assert MOST_REPEATED > 3


def test_rounds_while_the_gpu_warms_up_are_recognised() -> None:
    record = NvmlRecord(Monitor("", FakeNvml(broken=("nvmlInit",))))
    assert not record.warmed(8)
    record.samples = [Sample(temperature_c=heat) for heat in (41, 46, 52, 54, 55, 55, None, 56)]
    assert record.warmed(8)
    assert not record.warmed(5)
