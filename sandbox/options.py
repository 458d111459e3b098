"""The worker's settings for Docker boxes.

``runc`` shares the host's kernel with the box. ``runsc`` (gVisor) adds its own, which costs time and cannot
pass a GPU on.

Access to a GPU:
- ``nodes`` passes device files and binds the driver's folders.
- ``cdi`` asks the engine for the device by name. It needs Docker 25 with CDI, and a specification by
  ``nvidia-ctk cdi generate``. It is tested only up to the request to the engine.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from grader.errors import BoxUnavailable
from grader.sandbox.gpu import GPU_KINDS, nodes_of

if TYPE_CHECKING:
    from grader.sandbox.box import BoxSpec
    from grader.sandbox.docker_engine import EngineFacts

RUNC = "runc"
RUNTIME_SETTING = "GRADER_RUNTIME"
GPU_ACCESS_SETTING = "GRADER_GPU_ACCESS"
NODES, CDI = "nodes", "cdi"
# Runtimes that pass device files on, where CUDA's driver looks for them.
WITH_DEVICES = ("runc", "crun")
BUSY = "A box starts within seconds on a host that is not overloaded: look at its load, memory and disk."


@dataclass(frozen=True)
class SandboxOptions:
    runtime: str = RUNC
    #: NODES or CDI.
    gpu_access: str = NODES
    #: Empty: the host's toolchain.
    image: str = ""

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> SandboxOptions:
        return cls(**json.loads(text))


DEFAULTS = SandboxOptions()


def check_runtime(runtime: str, facts: EngineFacts) -> None:
    """Raises BoxUnavailable if the engine lacks it."""
    if runtime not in facts.runtimes:
        known = ", ".join(facts.runtimes) or "none"
        raise BoxUnavailable(
            f"the Docker engine has no runtime {runtime!r}; it has: {known}",
            f"Add it to the engine's daemon.json, or set {RUNTIME_SETTING} to one that it has.",
        )


def check_fits(runtime: str, spec: BoxSpec) -> None:
    if spec.gpu is not None and runtime not in WITH_DEVICES:
        raise BoxUnavailable(
            f"the runtime {runtime!r} cannot give a box a GPU",
            f"Set {RUNTIME_SETTING}={RUNC} for workers with a GPU; those that compile may keep {runtime}.",
        )


def start_hint(runtime: str, timed_out: bool, said: str) -> str:
    """For a program that did not connect. ``timed_out``: it was still running. ``said``: its output."""
    if any(sign in said for sign in ("Permission denied", "No such file", "ModuleNotFoundError")):
        return "Is the host's Python readable for everyone? Run: grader sandbox build --from-host"
    if timed_out and runtime == "runsc":
        return "Let runsc allow boxes to connect: --host-uds=open (older ones: --fsgofer-host-uds)."
    return BUSY if timed_out else ""


def check_gpu_access(access: str, facts: EngineFacts) -> None:
    """Raises BoxUnavailable for an unknown access, or if the engine lacks it."""
    if access not in (NODES, CDI):
        raise BoxUnavailable(f"{GPU_ACCESS_SETTING} is {access!r}", f"Set it to {NODES} or {CDI}.")
    if access == CDI and not facts.cdi:
        raise BoxUnavailable(
            "the Docker engine does not know the Container Device Interface",
            'Use Docker 25 or newer with {"features": {"cdi": true}} in daemon.json, or set '
            f"{GPU_ACCESS_SETTING}={NODES}.",
        )


def device_files(access: str, spec: BoxSpec) -> list[str]:
    """The GPU's, to read and write, never to make nodes."""
    if spec.gpu is None or access == CDI:
        return []
    return [f"{node}:{node}:rw" for node in nodes_of(spec.gpu)]


def device_requests(access: str, spec: BoxSpec) -> list[Any]:
    if spec.gpu is None or access != CDI:
        return []
    from docker.types import DeviceRequest

    names = [f"{GPU_KINDS[each.kind].cdi}={each.uuid}" for each in spec.gpu.every]
    return [DeviceRequest(driver="cdi", device_ids=names)]
