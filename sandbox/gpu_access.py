"""How a Docker box gets its GPU: ``GRADER_GPU_ACCESS``.

``nodes`` names the device files and binds the driver's folders, and needs nothing of NVIDIA's beside the driver.
``cdi`` asks the engine for the device by name (Container Device Interface): for hosts whose driver lies where a
container cannot simply be shown it. It needs Docker 25 or newer with CDI switched on, and a specification made by
NVIDIA's toolkit (``nvidia-ctk cdi generate``). No machine that this was written on has one: it is tested up to what
the engine is asked for, and no further.
"""

from __future__ import annotations

import os
from typing import Any

from grader.errors import BoxUnavailable
from grader.sandbox.box import BoxSpec
from grader.sandbox.docker_engine import EngineFacts
from grader.sandbox.gpu import GPU_KINDS

VARIABLE = "GRADER_GPU_ACCESS"
NODES, CDI = "nodes", "cdi"


def chosen_access() -> str:
    return os.environ.get(VARIABLE) or NODES


def check_access(access: str, facts: EngineFacts) -> None:
    """Raises BoxUnavailable where there is no such way, or the engine does not know it."""
    if access not in (NODES, CDI):
        raise BoxUnavailable(f"{VARIABLE} is {access!r}", f"Set it to {NODES} or {CDI}.")
    if access == CDI and not facts.cdi:
        raise BoxUnavailable(
            "the Docker engine does not know the Container Device Interface",
            'Use Docker 25 or newer with {"features": {"cdi": true}} in daemon.json, or set '
            f"{VARIABLE}={NODES}.",
        )


def device_files(spec: BoxSpec) -> list[str]:
    """Device files that the box gets: its GPU's, to read and write, never to make nodes of its own."""
    if spec.gpu is None or chosen_access() == CDI:
        return []
    return [f"{node}:{node}:rw" for node in spec.gpu.nodes]


def device_requests(spec: BoxSpec) -> list[Any]:
    """Devices that the engine is asked for by name."""
    if spec.gpu is None or chosen_access() != CDI:
        return []
    from docker.types import DeviceRequest

    return [DeviceRequest(driver="cdi", device_ids=[f"{GPU_KINDS[spec.gpu.kind].cdi}={spec.gpu.uuid}"])]
