from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from grader.schemas.strict import Strict

Bytes = Annotated[int, Field(ge=0)]


class Witness(StrEnum):
    """The source of a kernel's figures."""

    ASSEMBLER = "assembler"
    RUNNER = "runner"


class KernelUsage(Strict):
    """Registers, spilled bytes and stack bytes per thread; static shared memory per block.

    The runner's figures come from the process that runs the submission, so nothing trusts them.
    """

    name: str
    registers: int = Field(ge=0)
    shared_bytes: Bytes = 0
    constant_bytes: Bytes | None = Field(default=None, description="null if the assembler does not tell")
    stack_bytes: Bytes = 0
    spill_stores: Bytes = 0
    spill_loads: Bytes = 0
    said_by: Witness = Witness.ASSEMBLER

    @property
    def spills(self) -> bool:
        return self.spill_stores + self.spill_loads > 0


class ClockEvent(StrEnum):
    """Why a GPU's clocks were below its highest, in the driver's terms. Idleness is missing: the GPU is read
    between rounds.
    """

    APPLICATION_CLOCKS = "application_clocks"
    POWER_CAP = "power_cap"
    HARDWARE_SLOWDOWN = "hardware_slowdown"
    SYNC_BOOST = "sync_boost"
    THERMAL_SLOWDOWN = "thermal_slowdown"
    HARDWARE_THERMAL_SLOWDOWN = "hardware_thermal_slowdown"
    POWER_BRAKE = "power_brake"
    DISPLAY_CLOCKS = "display_clocks"

    @property
    def slows(self) -> bool:
        """Heat or hardware slowed the GPU, so repeat the round. A power cap is normal."""
        return self in _SLOWING


_SLOWING = frozenset(
    {
        ClockEvent.HARDWARE_SLOWDOWN,
        ClockEvent.THERMAL_SLOWDOWN,
        ClockEvent.HARDWARE_THERMAL_SLOWDOWN,
        ClockEvent.POWER_BRAKE,
    }
)


class Spread(Strict):
    """Of a few samples."""

    low: float
    median: float
    high: float

    @model_validator(mode="after")
    def _is_in_order(self) -> Spread:
        if not self.low <= self.median <= self.high:
            raise ValueError(f"{self.low}, {self.median}, {self.high} are not in order")
        return self

    def words(self, unit: str) -> str:
        """``1,755 MHz (1,200 to 1,980)``; without the range if nothing varies."""
        middle, low, high = (f"{value:,.0f}" for value in (self.median, self.low, self.high))
        return f"{middle} {unit}" + ("" if low == high else f" ({low} to {high})")


class GpuState(Strict):
    """Around the rounds of one workload, read with NVML by the judge. Null: the driver does not tell."""

    samples: int = Field(ge=1)
    sm_mhz: Spread | None = None
    memory_mhz: Spread | None = None
    power_w: Spread | None = None
    temperature_c: int | None = Field(default=None, description="the highest, degrees Celsius")
    events: list[ClockEvent] = Field(default_factory=list, description="why clocks were below the highest")
    repeated: int = Field(
        default=0, ge=0, description="rounds repeated because heat or hardware slowed the GPU"
    )

    @property
    def slowed(self) -> bool:
        return any(event.slows for event in self.events)

    @property
    def sentence(self) -> str:
        """``SM 1,755 MHz (1,200 to 1,980), memory 3,201 MHz, 500 W, up to 70 °C``."""
        parts = [
            f"SM {self.sm_mhz.words('MHz')}" if self.sm_mhz else "",
            f"memory {self.memory_mhz.words('MHz')}" if self.memory_mhz else "",
            self.power_w.words("W") if self.power_w else "",
            f"up to {self.temperature_c} °C" if self.temperature_c is not None else "",
        ]
        said = ", ".join(part for part in parts if part) or "it does not report its clocks"
        if self.events:
            said += "; clocks were limited by " + ", ".join(
                event.value.replace("_", " ") for event in self.events
            )
        if self.repeated:
            rounds = "1 round" if self.repeated == 1 else f"{self.repeated} rounds"
            said += f"; {rounds} repeated because heat or hardware slowed it"
        return said


class GpuReading(Strict):
    """The GPU's state at a heartbeat. Null: the driver does not tell."""

    use: int | None = Field(default=None, description="percent of recent time in which a kernel ran")
    memory_used: int | None = Field(default=None, description="bytes")
    memory_total: int | None = Field(default=None, description="bytes")
    temperature_c: int | None = None
    power_w: float | None = None
    sm_mhz: int | None = None
    events: list[ClockEvent] = Field(default_factory=list)
    slowed: bool = Field(default=False, description="heat or hardware slows it")
