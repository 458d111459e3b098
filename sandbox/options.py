"""How Docker boxes are made, as the worker's settings say: the runtime, the way to a GPU, the image.

A runtime is the program of the engine that runs a box. ``runc`` shares the host's kernel with the box. ``runsc``
(gVisor) puts a kernel of its own in between, which costs time and cannot pass a GPU on as ``runc`` does.

A Docker box gets its GPU in one of two ways. ``nodes`` names the device files and binds the driver's folders, and needs
nothing of NVIDIA's beside the driver. ``cdi`` asks the engine for the device by name (Container Device Interface): for
hosts whose driver is where a container cannot simply be shown it. It needs Docker 25 or newer with CDI switched on, and
a specification made by NVIDIA's toolkit (``nvidia-ctk cdi generate``). No machine that this was written on has one: it
is tested up to what the engine is asked for, and no further.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from grader.errors import BoxUnavailable

if TYPE_CHECKING:
    from grader.sandbox.box import BoxSpec
    from grader.sandbox.docker_engine import EngineFacts

RUNC = "runc"
RUNTIME_SETTING = "GRADER_RUNTIME"
GPU_ACCESS_SETTING = "GRADER_GPU_ACCESS"
NODES, CDI = "nodes", "cdi"
# Runtimes that hand device files through to the box, so that CUDA's driver finds its own. Any other is refused a GPU.
WITH_DEVICES = ("runc", "crun")
BUSY = "A box starts within seconds on a host that is not overloaded: look at its load, memory and disk."


@dataclass(frozen=True)
class SandboxOptions:
    """``runtime``: the engine's name of it. ``gpu_access``: NODES or CDI. ``image``: what boxes start from, by the
    engine's name; empty: the host's own toolchain. Only Docker boxes heed them."""

    runtime: str = RUNC
    gpu_access: str = NODES
    image: str = ""

    def as_json(self) -> str:
        """For another process of ours, see ``of_json``."""
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> SandboxOptions:
        return cls(**json.loads(text))


DEFAULTS = SandboxOptions()


def check_runtime(runtime: str, facts: EngineFacts) -> None:
    """Raises BoxUnavailable where the engine has no such runtime."""
    if runtime not in facts.runtimes:
        known = ", ".join(facts.runtimes) or "none"
        raise BoxUnavailable(
            f"the Docker engine has no runtime {runtime!r}; it has: {known}",
            f"Add it to the engine's daemon.json, or set {RUNTIME_SETTING} to one that it has.",
        )


def check_fits(runtime: str, spec: BoxSpec) -> None:
    """Raises BoxUnavailable where ``runtime`` cannot make such a box."""
    if spec.gpu is not None and runtime not in WITH_DEVICES:
        raise BoxUnavailable(
            f"a box with a GPU cannot be run by {runtime!r}",
            f"Set {RUNTIME_SETTING}={RUNC} for workers with a GPU; those that compile may keep {runtime}.",
        )


def start_hint(runtime: str, timed_out: bool, said: str) -> str:
    """What to fix where a box was made and its program did not connect. ``timed_out``: it was still running then;
    ``said``: what it printed."""
    if any(sign in said for sign in ("Permission denied", "No such file", "ModuleNotFoundError")):
        return "Is the host's Python readable for everyone? Run: grader sandbox build --from-host"
    if timed_out and runtime == "runsc":
        return "Let runsc allow boxes to connect: --host-uds=open (older ones: --fsgofer-host-uds)."
    return BUSY if timed_out else ""


def check_gpu_access(access: str, facts: EngineFacts) -> None:
    """Raises BoxUnavailable where there is no such way, or the engine does not know it."""
    if access not in (NODES, CDI):
        raise BoxUnavailable(f"{GPU_ACCESS_SETTING} is {access!r}", f"Set it to {NODES} or {CDI}.")
    if access == CDI and not facts.cdi:
        raise BoxUnavailable(
            "the Docker engine does not know the Container Device Interface",
            'Use Docker 25 or newer with {"features": {"cdi": true}} in daemon.json, or set '
            f"{GPU_ACCESS_SETTING}={NODES}.",
        )


def device_files(access: str, spec: BoxSpec) -> list[str]:
    """Device files that the box gets: its GPU's, to read and write, never to make nodes of its own."""
    if spec.gpu is None or access == CDI:
        return []
    return [f"{node}:{node}:rw" for node in spec.gpu.nodes]


def device_requests(access: str, spec: BoxSpec) -> list[Any]:
    """Devices that the engine is asked for by name."""
    if spec.gpu is None or access != CDI:
        return []
    from docker.types import DeviceRequest

    from grader.sandbox.gpu import GPU_KINDS

    return [DeviceRequest(driver="cdi", device_ids=[f"{GPU_KINDS[spec.gpu.kind].cdi}={spec.gpu.uuid}"])]
