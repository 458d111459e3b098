"""GPUs: versions with known holes, and settings that let one run differ from the next."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.cli.security.check import Check, Level, numbers

AREA = "gpu"
QUERY_SECONDS = 20.0
FIELDS = (
    "index",
    "driver_version",
    "persistence_mode",
    "ecc.mode.current",
    "mig.mode.current",
    "compute_mode",
    "clocks.applications.graphics",
    "clocks.default_applications.graphics",
    "clocks.max.graphics",
)
GOVERNORS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Escape:
    """A hole of NVIDIA's container toolkit through which a container reached its host."""

    name: str
    mended_in: tuple[int, ...]


ESCAPES = (
    Escape("CVE-2024-0132", (1, 16, 2)),
    Escape("CVE-2025-23359", (1, 17, 4)),
    Escape("CVE-2025-23266", (1, 17, 8)),
)


def gpu_checks() -> list[Check]:
    """The toolkit and the processor on every host; each GPU where there is one."""
    return [toolkit(_toolkit_version()), governor(GOVERNORS), *_each_gpu()]


def toolkit(said: str | None) -> Check:
    """``said``: what the toolkit's program answers to ``--version``; None without one."""
    if said is None:
        return Check(AREA, "container toolkit", Level.OK, "not installed, and not needed")
    found = re.search(r"\d+\.\d+\.\d+", said)
    if found is None:
        mend = f"See that it is {_dotted(ESCAPES[-1].mended_in)} or newer."
        return Check(AREA, "container toolkit", Level.WARN, "installed, of unknown version", mend)
    open_ = [escape for escape in ESCAPES if numbers(found[0]) < escape.mended_in]
    if not open_:
        return Check(AREA, "container toolkit", Level.OK, f"{found[0]}; boxes do without it")
    names = ", ".join(escape.name for escape in open_)
    mend = f"Upgrade to {_dotted(max(it.mended_in for it in open_))} or newer, or remove it: grader does not use it."
    text = (
        f"{found[0]} lets containers out ({names}); grader's boxes do without it, others on this host may not"
    )
    return Check(AREA, "container toolkit", Level.BAD, text, mend)


def governor(root: Path) -> Check:
    """The processor's clock: what launches kernels should not slow down between them."""
    found = set()
    for path in root.glob("cpu[0-9]*/cpufreq/scaling_governor"):
        try:
            found.add(path.read_text().strip())
        except OSError:
            continue
    if found <= {"performance"}:
        told = "performance" if found else "the processor's clock is not ours to set"
        return Check(AREA, "clock governor", Level.OK, told)
    mend = "cpupower frequency-set -g performance"
    return Check(AREA, "clock governor", Level.WARN, f"{', '.join(sorted(found))}: times scatter", mend)


def _each_gpu() -> list[Check]:
    said = _said(["nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"])
    if said is None:
        return []
    rows = [[field.strip() for field in line.split(",")] for line in said.splitlines()]
    return [
        check
        for row in rows
        if len(row) == len(FIELDS)
        for check in judge(dict(zip(FIELDS, row, strict=True)))
    ]


def judge(gpu: Mapping[str, str]) -> list[Check]:
    """The checks of one GPU from nvidia-smi's answers, by field."""
    number = gpu["index"]

    def say(what: str, level: Level, text: str, mend: str = "") -> Check:
        return Check(AREA, f"{number}, {what}", level, text, mend)

    found = [
        say("driver", Level.OK, f"{gpu['driver_version']}; compare it with NVIDIA's security bulletins"),
        say("persistence", Level.OK, "on")
        if gpu["persistence_mode"] == "Enabled"
        else say(
            "persistence", Level.WARN, "off: the driver forgets its settings when idle", "nvidia-smi -pm 1"
        ),
        say(
            "ECC",
            Level.WARN,
            "off: a flipped bit is a wrong answer",
            f"nvidia-smi -i {number} -e 1, then reboot",
        )
        if gpu["ecc.mode.current"] == "Disabled"
        else say("ECC", Level.OK, _told(gpu["ecc.mode.current"])),
        say(
            "MIG",
            Level.WARN,
            "on: a slice shares memory bandwidth and clocks with its neighbours, so times are not comparable",
            f"nvidia-smi -i {number} -mig 0",
        )
        if gpu["mig.mode.current"] == "Enabled"
        else say("MIG", Level.OK, _told(gpu["mig.mode.current"])),
    ]
    return [*found, say("clocks", *_clocks(gpu))]


def _clocks(gpu: Mapping[str, str]) -> tuple[Level, str, str]:
    set_, usual = gpu["clocks.applications.graphics"], gpu["clocks.default_applications.graphics"]
    if set_ == usual or not set_.isdigit() or not usual.isdigit():
        return Level.OK, f"as the driver sets them, at most {gpu['clocks.max.graphics']} MHz", ""
    text = f"{set_} MHz instead of {usual} MHz: times differ from those of other hosts of the same board"
    return Level.WARN, text, f"nvidia-smi -i {gpu['index']} -rac"


def _told(state: str) -> str:
    return {"Enabled": "on", "Disabled": "off"}.get(state, "this GPU has none")


def _toolkit_version() -> str | None:
    for program in ("nvidia-ctk", "nvidia-container-cli", "nvidia-container-runtime"):
        if shutil.which(program):
            return _said([program, "--version"]) or ""
    return None


def _said(command: list[str]) -> str | None:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=QUERY_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout if ran.returncode == 0 else None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
