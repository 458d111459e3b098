"""Which NVIDIA GPUs this machine has, and what a box needs to use one: device nodes and the driver's folders.

Nodes and folders are named one by one, so that no toolkit of NVIDIA's is needed beside the driver, and a box sees
the one GPU that it was given. Without torch, so that the command line stays quick.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_DRIVER_LIBRARY = "libcuda.so.1"
# Beside the GPU's own node: the driver's control node, and unified memory's, which every CUDA context opens.
_SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm")
_QUERY_SECONDS = 60.0


@dataclass(frozen=True)
class Gpu:
    """``index`` is the driver's number, ``uuid`` such as ``GPU-8f...``, ``nodes`` the device files that a box gets."""

    index: int
    uuid: str
    nodes: tuple[str, ...]
    name: str = ""


def find_gpus() -> list[Gpu]:
    """The GPUs that this process may use, by number; empty where there is none or the driver does not answer."""
    try:
        said = subprocess.run(
            ["nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=_QUERY_SECONDS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    minors = _minors()
    return [gpu for line in said.splitlines() if (gpu := _gpu(line, minors))]


def _gpu(line: str, minors: dict[str, int]) -> Gpu | None:
    fields = [field.strip() for field in line.split(",", 2)]
    if len(fields) != 3 or not fields[0].isdigit():
        return None
    index, uuid, name = int(fields[0]), fields[1], fields[2]
    own = f"/dev/nvidia{minors.get(uuid, index)}"
    nodes = tuple(node for node in (own, *_SHARED_NODES) if Path(node).exists())
    return Gpu(index, uuid, nodes, name)


def _minors() -> dict[str, int]:
    """Number of the device node by UUID, where the kernel module says. It may differ from the driver's number."""
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


@functools.cache
def driver_folders() -> tuple[str, ...]:
    """Folders that hold the driver's libraries, links resolved; empty without a driver."""
    folders = [Path(entry) for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if entry]
    folders = [folder for folder in folders if (folder / _DRIVER_LIBRARY).exists()]
    folders += [path.parent for path in _linker_paths()]
    # Resolved: /lib is a link to /usr/lib on most systems, and a link cannot be bound over.
    return tuple(dict.fromkeys(str(folder.resolve()) for folder in folders))


@functools.cache
def driver_files() -> tuple[Path, ...]:
    """The driver's own libraries among whatever else lies in those folders; links as they are named, once each."""
    patterns = ("libcuda.so*", "libcudadebugger.so*", "libnvidia-*.so*")
    found = (path for folder in driver_folders() for name in patterns for path in Path(folder).glob(name))
    return tuple({path.name: path for path in sorted(found)}.values())


def _linker_paths() -> list[Path]:
    """Where the dynamic linker's cache has the driver's library."""
    try:
        said = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=_QUERY_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    found = (re.search(r"=> (\S+)$", line) for line in said.splitlines() if _DRIVER_LIBRARY in line)
    paths = [Path(match[1]) for match in found if match]
    return [it for path in paths if path.exists() for it in (path, path.resolve())]


def box_environment(gpu: Gpu | None) -> dict[str, str]:
    """Variables that show CUDA in a box one GPU, or none."""
    return {"CUDA_VISIBLE_DEVICES": gpu.uuid if gpu else ""}
