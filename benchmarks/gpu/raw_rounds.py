"""The rounds behind a time, as a file of results keeps them: microseconds, a line of text for each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.judge.cuda.nvml import NvmlRecord
from grader.judge.device import Device, DeviceRecord
from grader.judge.rule import ControlRound
from grader.judge.runner_client import Timed
from grader.judge.timekeeper import Reading

# A round's gate time without the known length of a control's call, and its times before and after the gate.
PARTS = ("gate", "before", "after")


class Recorded:
    """Keeps what a device records from now on: clocks after each round, in the order of the rounds."""

    def __init__(self, device: Device) -> None:
        self.records: list[DeviceRecord] = []
        make = device.record

        def record() -> DeviceRecord | None:
            if (made := make()) is not None:
                self.records.append(made)
            return made

        device.record = record  # type: ignore[method-assign]

    def clocks(self) -> list[dict[str, str]]:
        """Of each record since the last time: a reading after each round."""
        taken, self.records = self.records, []
        return [_clocks(sample) for sample in taken]


def _clocks(record: DeviceRecord) -> dict[str, str]:
    if not isinstance(record, NvmlRecord):
        return {}
    samples = record.samples
    return {
        "sm_mhz": " ".join(str(sample.sm_mhz) for sample in samples),
        "watts": " ".join(f"{sample.power_w:.0f}" for sample in samples if sample.power_w is not None),
        "celsius": " ".join(str(sample.temperature_c) for sample in samples),
    }


def packed(reading: Reading) -> dict[str, Any]:
    """All rounds of ``reading``. ``outliers`` has a 1 for each own round whose inputs held some."""
    plain = f"workload {reading.workload.name}"
    return {
        "workload": reading.workload.name,
        "own": _series([(timing, 0.0) for timing in reading.own.rounds]),
        "outliers": "".join("0" if kind == plain else "1" for kind in reading.own.drawn),
        "control_before": _series(reading.before),
        "control_after": _series(reading.after),
    }


def _series(rounds: Sequence[ControlRound]) -> dict[str, str]:
    return {
        "gate": _line([timing.gate - known for timing, known in rounds]),
        "before": _line([timing.before for timing, _ in rounds]),
        "after": _line([timing.after for timing, _ in rounds]),
    }


def _line(seconds: Sequence[float]) -> str:
    return " ".join(f"{time * 1e6:.2f}" for time in seconds)


def unpacked(series: dict[str, str]) -> list[Timed]:
    """The rounds that ``packed`` wrote, in seconds; the gate of a control's is less its call's length."""
    columns = [[float(number) * 1e-6 for number in series[part].split()] for part in PARTS]
    return [Timed(before, gate, after, 0.0) for gate, before, after in zip(*columns, strict=True)]
