"""Which program of the engine runs a box: ``GRADER_RUNTIME``.

``runc`` shares the host's kernel with the box. ``runsc`` (gVisor) puts a kernel of its own in between, which costs
time and cannot give a GPU away as ``runc`` does.
"""

from __future__ import annotations

import os

from grader.errors import BoxUnavailable
from grader.sandbox.box import BoxSpec
from grader.sandbox.docker_engine import EngineFacts

DEFAULT = "runc"
VARIABLE = "GRADER_RUNTIME"
BUSY = "A box starts within seconds on a host that is not overloaded: look at its load, memory and disk."
# Runtimes that hand device files through to the box, so that CUDA's driver finds its own. Any other is refused a GPU.
WITH_DEVICES = ("runc", "crun")


def chosen_runtime() -> str:
    return os.environ.get(VARIABLE) or DEFAULT


def check_known(runtime: str, facts: EngineFacts) -> None:
    """Raises BoxUnavailable where the engine has no such runtime."""
    if runtime not in facts.runtimes:
        known = ", ".join(facts.runtimes) or "none"
        raise BoxUnavailable(
            f"the Docker engine has no runtime {runtime!r}; it has: {known}",
            f"Add it to the engine's daemon.json, or set {VARIABLE} to one that it has.",
        )


def check_fits(runtime: str, spec: BoxSpec) -> None:
    """Raises BoxUnavailable where ``runtime`` cannot make such a box."""
    if spec.gpu is not None and runtime not in WITH_DEVICES:
        raise BoxUnavailable(
            f"a box with a GPU cannot be run by {runtime!r}",
            f"Set {VARIABLE}={DEFAULT} for workers with a GPU; those that compile may keep {runtime}.",
        )


def start_hint(runtime: str, timed_out: bool, said: str) -> str:
    """What to fix where a box was made and its program did not connect. ``timed_out``: it was still running then;
    ``said``: what it printed."""
    if any(sign in said for sign in ("Permission denied", "No such file", "ModuleNotFoundError")):
        return "Is the host's Python readable for everyone? Run: grader sandbox build --from-host"
    if timed_out and runtime == "runsc":
        return "Let runsc allow boxes to connect: --host-uds=open (older ones: --fsgofer-host-uds)."
    return BUSY if timed_out else ""
