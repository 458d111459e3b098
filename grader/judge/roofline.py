"""The least time that a workload can take on a device, from what memory and arithmetic do there at best."""

from __future__ import annotations

from collections.abc import Mapping

from grader import limits
from grader.challenge.expression import parse
from grader.challenge.model import DType, Manifest, Workload
from grader.device_kinds import kind_of
from grader.judge.device import Device
from grader.schemas.report import WorkloadCost


def roofline_seconds(manifest: Manifest, workload: Workload, ceilings: Mapping[str, float]) -> float | None:
    """The least time that memory and arithmetic allow at measured ceilings; None where none are known."""
    cost = cost_of(manifest, workload, ceilings)
    if cost.bandwidth is None or cost.rate is None:
        return None
    return max(cost.bytes / cost.bandwidth, cost.flops / cost.rate)


def cost_of(manifest: Manifest, workload: Workload, ceilings: Mapping[str, float]) -> WorkloadCost:
    """The two sides of the roofline at this workload, and the measured ceilings that bound them, if any."""
    moved, done = (parse(text)(workload.sizes) for text in (manifest.cost.bytes, manifest.cost.flops))
    if not ceilings:
        return WorkloadCost(bytes=moved, flops=done)
    dtype = manifest.results[0].dtype
    rate = ceilings.get(f"rate:{dtype.value}", ceilings[f"rate:{DType.FLOAT32.value}"])
    return WorkloadCost(bytes=moved, flops=done, bandwidth=ceilings["bandwidth"], rate=rate)


def is_ranked(manifest: Manifest, workload: Workload, device: Device) -> bool:
    """A workload is ranked where its roofline time is long enough; on a kind of device without one, all are."""
    if not kind_of(device.name).ceilings:
        return True
    seconds = roofline_seconds(manifest, workload, device.ceilings())
    return seconds is not None and seconds * 1e6 >= limits.RANKED_ROOFLINE_US
