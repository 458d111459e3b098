"""Settings of the host's kernel, which every box shares. Each is read from ``/proc/sys``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.cli.security.check import Check, Level

AREA = "kernel"
ROOT = Path("/proc/sys")


@dataclass(frozen=True)
class Setting:
    """``least``: the smallest number that is good; ``against``: what it holds back."""

    name: str
    least: int
    against: str

    @property
    def path(self) -> str:
        return self.name.replace(".", "/")


SETTINGS = (
    Setting("kernel.dmesg_restrict", 1, "any user may read the kernel's log, which tells addresses"),
    Setting("kernel.kptr_restrict", 1, "any user may read where the kernel lies in memory"),
    Setting("kernel.yama.ptrace_scope", 1, "a process may read the memory of any other of the same user"),
    Setting("kernel.perf_event_paranoid", 2, "any user may watch the kernel with its performance counters"),
    Setting("kernel.unprivileged_bpf_disabled", 1, "any user may load programs into the kernel"),
    Setting("vm.mmap_min_addr", 4096, "a null pointer of the kernel can be made to point somewhere"),
    Setting("fs.protected_symlinks", 1, "links in /tmp can lead a privileged program astray"),
    Setting("fs.protected_hardlinks", 1, "links to files of others can be made"),
)


def kernel_checks(root: Path = ROOT) -> list[Check]:
    found = [check for setting in SETTINGS if (check := _number(setting, root))]
    return [*found, _namespaces(root), _cores(root)]


def _number(setting: Setting, root: Path) -> Check | None:
    """None where this kernel has no such setting."""
    value = _read(root / setting.path)
    if value is None or not value.lstrip("-").isdigit():
        return None
    if int(value) >= setting.least:
        return Check(AREA, setting.name, Level.OK, value)
    mend = f"sysctl -w {setting.name}={setting.least}, and keep it in /etc/sysctl.d"
    return Check(AREA, setting.name, Level.WARN, f"{value}: {setting.against}", mend)


def _namespaces(root: Path) -> Check:
    """Whether ordinary users make user namespaces, behind which most kernel bugs of the last years lay."""
    refused: dict[str, Callable[[str], bool]] = {
        "kernel.unprivileged_userns_clone": lambda value: value == "0",
        "kernel.apparmor_restrict_unprivileged_userns": lambda value: value == "1",
        "user.max_user_namespaces": lambda value: value == "0",
    }
    for name, holds in refused.items():
        value = _read(root / name.replace(".", "/"))
        if value is not None and holds(value):
            return Check(AREA, "user namespaces", Level.OK, f"{name} is {value}")
    text = "any user may make them; Docker boxes are refused it by their filter, local boxes are not"
    mend = "sysctl -w user.max_user_namespaces=0, unless the engine runs rootless or remaps users."
    return Check(AREA, "user namespaces", Level.WARN, text, mend)


def _cores(root: Path) -> Check:
    pattern = _read(root / "kernel/core_pattern") or ""
    if not pattern.startswith("|"):
        return Check(AREA, "kernel.core_pattern", Level.OK, pattern or "not told")
    program = pattern[1:].split(" ")[0]
    text = f"every crash starts {program} as root; Docker boxes are kept from it, local boxes are not"
    mend = "sysctl -w kernel.core_pattern=core on a host that only grades."
    return Check(AREA, "kernel.core_pattern", Level.WARN, text, mend)


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
