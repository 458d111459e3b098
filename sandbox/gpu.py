"""Finds GPUs, and the device nodes and driver files that a box needs to use one.

They are named one by one, so a box sees only its own GPU and needs no NVIDIA toolkit. Importing torch here
would slow the command line.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

# The driver's control node, and unified memory's, which every context opens.
_SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm")
_QUERY_SECONDS = 60.0


@dataclass(frozen=True)
class Gpu:
    #: As in nvidia-smi.
    index: int
    uuid: str
    nodes: tuple[str, ...]
    name: str = ""
    kind: str = "nvidia"
    #: See ``together``.
    others: tuple[Gpu, ...] = ()

    @property
    def every(self) -> tuple[Gpu, ...]:
        return (replace(self, others=()), *self.others)

    @property
    def label(self) -> str:
        """UUIDs joined as a worker's ``--gpu`` takes them."""
        return "+".join(gpu.uuid for gpu in self.every)


def together(gpus: Sequence[Gpu]) -> Gpu:
    """Several GPUs of one kind for one submission."""
    first, *others = gpus
    return replace(first, others=tuple(others))


@dataclass(frozen=True)
class GpuKind:
    name: str
    #: GPUs that this process may use, by number.
    find: Callable[[], list[Gpu]]
    #: For example "570.86.15", or "unknown".
    driver_version: Callable[[], str]
    #: Tells the driver in a box which GPUs it has.
    visible: str
    #: Its name in the Container Device Interface.
    cdi: str
    #: Paths in /sys that the driver reads.
    system: tuple[str, ...]
    #: Whether a PCI device's folder in /sys is the GPU's.
    owns: Callable[[Path, Gpu], bool]
    library: str
    #: Patterns of all its libraries.
    libraries: tuple[str, ...]


def nodes_of(gpu: Gpu) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node for each in gpu.every for node in each.nodes))


def find_gpus() -> list[Gpu]:
    """Every kind's; empty if no driver answers."""
    return [gpu for kind in GPU_KINDS.values() for gpu in kind.find()]


def nvidia_gpus() -> list[Gpu]:
    """In CUDA's order with ``CUDA_DEVICE_ORDER=PCI_BUS_ID``; empty if no driver answers."""
    return _visible(_all_nvidia_gpus(), os.environ.get(NVIDIA.visible))


def _visible(gpus: Sequence[Gpu], wanted: str | None) -> list[Gpu]:
    """Like CUDA: numbers and UUID prefixes of CUDA_VISIBLE_DEVICES, up to the first unknown one."""
    if wanted is None:
        return list(gpus)
    found: list[Gpu] = []
    for entry in (part.strip() for part in wanted.split(",")):
        named = [gpu for gpu in gpus if str(gpu.index) == entry or (entry and gpu.uuid.startswith(entry))]
        if len(named) != 1 or named[0] in found:
            break
        found += named
    return found


def _all_nvidia_gpus() -> list[Gpu]:
    minors = _minors()
    return [gpu for line in _queried("index,uuid,name") if (gpu := _gpu(line, minors))]


def divided_gpus() -> set[str]:
    """UUIDs of NVIDIA GPUs whose MIG mode is on: programs get parts of them."""
    rows = [[field.strip() for field in line.split(",")] for line in _queried("uuid,mig.mode.current")]
    return {row[0] for row in rows if row[1:] == ["Enabled"]}


def has_mps(processes: Path = Path("/proc")) -> bool:
    """Whether a daemon of NVIDIA's Multi-Process Service runs, as far as this process sees others."""
    for file in processes.glob("[0-9]*/comm"):
        try:
            if file.read_text().startswith("nvidia-cuda-mps"):
                return True
        except OSError:  # it ended
            continue
    return False


def _queried(fields: str) -> list[str]:
    """A line for each GPU; empty if no driver answers, or if it is too old for the fields."""
    try:
        said = subprocess.run(
            ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=_QUERY_SECONDS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return said.splitlines()


def _gpu(line: str, minors: dict[str, int]) -> Gpu | None:
    fields = [field.strip() for field in line.split(",", 2)]
    if len(fields) != 3 or not fields[0].isdigit():
        return None
    index, uuid, name = int(fields[0]), fields[1], fields[2]
    own = f"/dev/nvidia{minors.get(uuid, index)}"
    nodes = tuple(node for node in (own, *_SHARED_NODES) if Path(node).exists())
    return Gpu(index, uuid, nodes, name)


def _minors() -> dict[str, int]:
    """By UUID, from the kernel module; they can differ from the driver's numbers."""
    found = {}
    for file in Path("/proc/driver/nvidia/gpus").glob("*/information"):
        try:
            text = file.read_text()
        except OSError:
            continue
        uuid = re.search(r"GPU UUID:\s*(\S+)", text)
        minor = re.search(r"Device Minor:\s*(\d+)", text)
        if uuid and minor:
            found[uuid[1]] = int(minor[1])
    return found


def nvidia_driver() -> str:
    for path in ("/sys/module/nvidia/version", "/proc/driver/nvidia/version"):
        try:
            said = Path(path).read_text()
        except OSError:
            continue
        if version := re.search(r"\d+\.\d+(\.\d+)?", said):
            return version[0]
    return "unknown"


def _is_nvidia(folder: Path, gpu: Gpu) -> bool:
    information = Path("/proc/driver/nvidia/gpus") / folder.name / "information"
    try:
        return gpu.uuid in information.read_text()
    except OSError:
        return False


NVIDIA = GpuKind(
    name="nvidia",
    find=nvidia_gpus,
    driver_version=nvidia_driver,
    visible="CUDA_VISIBLE_DEVICES",
    cdi="nvidia.com/gpu",
    system=("/sys/bus/pci/devices", "/sys/module/nvidia", "/sys/module/nvidia_uvm"),
    owns=_is_nvidia,
    library="libcuda.so.1",
    libraries=("libcuda.so*", "libcudadebugger.so*", "libnvidia-*.so*"),
)

# Tests add rows to _table.
_table = {kind.name: kind for kind in (NVIDIA,)}
GPU_KINDS = MappingProxyType(_table)


@functools.cache
def driver_folders() -> tuple[str, ...]:
    libraries = [kind.library for kind in GPU_KINDS.values()]
    folders = [Path(entry) for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if entry]
    folders = [folder for folder in folders if any((folder / name).exists() for name in libraries)]
    folders += [path.parent for path in _linker_paths(libraries)]
    # A link cannot be bound over, and /lib usually is one.
    return tuple(dict.fromkeys(str(folder.resolve()) for folder in folders))


@functools.cache
def driver_files() -> tuple[Path, ...]:
    """Includes links; each name once."""
    patterns = [pattern for kind in GPU_KINDS.values() for pattern in kind.libraries]
    found = (path for folder in driver_folders() for name in patterns for path in Path(folder).glob(name))
    return tuple({path.name: path for path in sorted(found)}.values())


def _linker_paths(libraries: Sequence[str]) -> list[Path]:
    """From the dynamic linker's cache."""
    try:
        said = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=_QUERY_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    lines = [line for line in said.splitlines() if any(name in line for name in libraries)]
    found = (re.search(r"=> (\S+)$", line) for line in lines)
    paths = [Path(match[1]) for match in found if match]
    return [either for path in paths if path.exists() for either in (path, path.resolve())]


def box_environment(gpu: Gpu | None) -> dict[str, str]:
    return {
        kind.visible: ",".join(each.uuid for each in gpu.every) if gpu and gpu.kind == kind.name else ""
        for kind in GPU_KINDS.values()
    }
