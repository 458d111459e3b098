"""What an engine says of itself, as far as boxes depend on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What the engine can bound, by its own name. Where it cannot, it makes the box all the same and leaves the limit out.
LIMITS = {
    "MemoryLimit": "memory",
    "SwapLimit": "swap",
    "PidsLimit": "processes",
    "CpuCfsQuota": "processor time",
}


@dataclass(frozen=True)
class EngineFacts:
    """``options``: the names of the engine's security options, such as ``seccomp``, ``apparmor``, ``userns``.
    ``runtimes``: the programs that it can run a container with. ``cgroup``: 1 or 2, the host's control groups.
    ``unbounded``: values of ``LIMITS`` that it cannot set on this host. ``cdi``: it knows devices by name.
    ``group``: the control group to put boxes in, None where the engine's own choice is right.
    """

    runtimes: tuple[str, ...]
    cgroup: int
    options: frozenset[str]
    version: str = ""
    unbounded: tuple[str, ...] = ()
    cdi: bool = False
    group: str | None = None

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> EngineFacts:
        """From the answer to the engine's ``/info``, whose parts may be missing."""
        said = [str(text) for text in info.get("SecurityOptions") or []]
        # Such as "name=seccomp,profile=default".
        pairs = [part.partition("=") for text in said for part in text.split(",")]
        return cls(
            runtimes=tuple(sorted(info.get("Runtimes") or {})),
            # Engines before 20.10 did not say, and knew version 1 only.
            cgroup=2 if str(info.get("CgroupVersion")) == "2" else 1,
            options=frozenset(value for key, _, value in pairs if key == "name"),
            version=str(info.get("ServerVersion") or ""),
            # An engine that does not speak of a limit is taken to set it.
            unbounded=tuple(what for key, what in LIMITS.items() if info.get(key) is False),
            cdi=bool(info.get("CDISpecDirs")),
            # There it would put them under /docker, and however little one box has to say within that group, the group
            # counts as much as any process of the host. With systemd they lie beside the host's services.
            group="/" if info.get("CgroupDriver") == "cgroupfs" else None,
        )

    def sentence(self, runtime: str) -> str:
        """What a box is made with here, without versions: a report's reader need not know what is old."""
        remapped = ", users remapped" if self.remaps_users else ""
        return f"docker: {runtime}, control groups {self.cgroup}{remapped}"

    @property
    def remaps_users(self) -> bool:
        """Whether user 0 of a container is an ordinary user of the host."""
        return bool(self.options & {"userns", "rootless"})
