"""A workload's least time on a device, from the ceilings of memory and arithmetic.

Ranking uses the multiplied type's rate. The "speed of light" uses the highest rate for its precision, which no honest
kernel exceeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grader import limits
from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.challenge.model import Manifest, Workload
from grader.device_kinds import kind_of
from grader.judge.device import RatedDevice
from grader.schemas.report import WorkloadCost

# Tensor cores' bfloat16 products for one float32 product: two parts a factor, the smallest left out.
_BF16_PRODUCTS = 3


def roofline_seconds(manifest: Manifest, workload: Workload, ceilings: Mapping[str, float]) -> float | None:
    """For the multiplied type; None without ceilings."""
    return _seconds(cost_of(manifest, workload, ceilings))


def light_seconds(manifest: Manifest, workload: Workload, ceilings: Mapping[str, float]) -> float | None:
    """For any kernel of the right precision; None without ceilings."""
    return _seconds(light_cost(manifest, workload, ceilings))


def cost_of(manifest: Manifest, workload: Workload, ceilings: Mapping[str, float]) -> WorkloadCost:
    """Bytes, operations, and the ceilings that bound them, if any."""
    return _cost(manifest, workload, ceilings, _own_rate)


def light_cost(manifest: Manifest, workload: Workload, ceilings: Mapping[str, float]) -> WorkloadCost:
    return _cost(manifest, workload, ceilings, _light_rate)


def _seconds(cost: WorkloadCost) -> float | None:
    if cost.bandwidth is None or cost.rate is None:
        return None
    return max(cost.bytes / cost.bandwidth, cost.flops / cost.rate)


def _cost(
    manifest: Manifest,
    workload: Workload,
    ceilings: Mapping[str, float],
    rate: Callable[[DType, Mapping[str, float]], float],
) -> WorkloadCost:
    moved, done = (parse(text)(workload.sizes) for text in (manifest.cost.bytes, manifest.cost.flops))
    if not ceilings:
        return WorkloadCost(bytes=moved, flops=done)
    return WorkloadCost(
        bytes=moved, flops=done, bandwidth=ceilings["bandwidth"], rate=rate(manifest.multiplied, ceilings)
    )


def _own_rate(multiplied: DType, ceilings: Mapping[str, float]) -> float:
    """Default: float32's rate."""
    name = multiplied.facts.rate_as or multiplied.value
    return ceilings.get(f"rate:{name}", ceilings[f"rate:{DType.FLOAT32.value}"])


def _light_rate(multiplied: DType, ceilings: Mapping[str, float]) -> float:
    own = _own_rate(multiplied, ceilings)
    if multiplied is not DType.FLOAT32:
        return own
    return max(own, ceilings.get(f"rate:{DType.BFLOAT16.value}", 0.0) / _BF16_PRODUCTS)


def is_ranked(manifest: Manifest, workload: Workload, device: RatedDevice) -> bool:
    """True if its roofline time is long enough, or without ceilings."""
    if not kind_of(device.name).ceilings:
        return True
    seconds = roofline_seconds(manifest, workload, device.ceilings())
    return seconds is not None and seconds * 1e6 >= limits.RANKED_ROOFLINE_US
