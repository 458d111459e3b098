"""Bubblewrap's arguments: a box's namespaces, and the same view of the host as a Docker box's."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from grader.sandbox import compute_libraries, container, image, local_box
from grader.sandbox.box import BoxSpec
from grader.sandbox.gpu import GPU_KINDS, Gpu, nodes_of
from grader.sandbox.image import HostLayout

NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
# For ``runner/confine.py``, which drops them: to bound /tmp, to drop the bounding set, and to leave root.
STEP, STEP_AS_ROOT = ("CAP_SYS_ADMIN", "CAP_SETPCAP"), ("CAP_SETUID", "CAP_SETGID", "CAP_CHOWN")
DEVICES = ("null", "zero", "full", "random", "urandom")
LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# torch and the C library count cores and memory.
SYSTEM = ("/sys/devices/system/cpu", "/sys/devices/system/node")


def words(spec: BoxSpec, as_root: bool, files: dict[str, int]) -> list[str]:
    """``files``: descriptors with the contents of files in ``/etc``."""
    user = [] if as_root else ["--unshare-user", "--uid", str(image.NOBODY), "--gid", str(image.NOBODY)]
    kept = (*STEP, *STEP_AS_ROOT) if as_root else STEP
    return [
        *NAMESPACES,
        *user,
        *("--hostname", "box", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"),
        *(word for name in kept for word in ("--cap-add", name)),
        *("--tmpfs", "/tmp"),  # noqa: S108 - first, because bound paths may be below it
        *_root(image.layout(), spec),
        *_files(files, as_root),
        *_proc(),
        *_dev(spec.gpu, spec.shm_bytes),
        *_sys(spec.gpu),
        *(word for mount, folder in image.PROGRAMS.items() for word in ("--ro-bind", str(folder), mount)),
        *(("--ro-bind", spec.bytecode, image.BYTECODE_MOUNT) if spec.bytecode else ()),
        *("--remount-ro", "/"),
        *("--chdir", "/"),
    ]


def _root(what: HostLayout, spec: BoxSpec) -> Iterator[str]:
    """Programs, libraries, and masks over the platform's folders."""
    yield from _folders_above(what.bound)
    for path in what.bound:
        yield from ("--ro-bind", path, path)
    for name, target in _links().items():
        yield from ("--symlink", target, f"/{name}")
    for folder in what.masked:
        inner = [f"{folder}/{path}" for path in what.below(folder)]
        yield from ("--tmpfs", folder)
        yield from _folders_above(inner, folder)
        for path in inner:
            yield from ("--ro-bind", path, path)
        yield from ("--remount-ro", folder)
    if not spec.compute_libraries:
        for path in compute_libraries.hidden(what.bound, spec.shown_libraries):
            yield from ("--ro-bind", "/dev/null", path)


def _folders_above(paths: Iterable[str], top: str = "/") -> Iterator[str]:
    """Top down. bwrap would make them readable for their owner alone."""
    above = {parent for path in paths for parent in Path(path).parents if parent.is_relative_to(top)}
    for folder in sorted(str(parent) for parent in above if str(parent) != top):
        yield from ("--dir", folder)


def _files(files: dict[str, int], as_root: bool) -> Iterator[str]:
    yield from _folders_above(files)
    for path, number in files.items():
        # bwrap before 0.5 lacks --perms.
        yield from ("--perms", "0644") if as_root else ()
        yield from ("--ro-bind-data", str(number), path)


def _links() -> dict[str, str]:
    return {
        path.name: str(path.readlink())
        for path in Path("/").iterdir()
        if path.name in LINKED and path.is_symlink()
    }


def _proc() -> Iterator[str]:
    yield from ("--proc", "/proc")
    for path in container.MASKED:
        if not path.startswith("/proc/") or not Path(path).exists():
            continue
        yield from (
            ("--tmpfs", path, "--remount-ro", path)
            if Path(path).is_dir()
            else ("--ro-bind", "/dev/null", path)
        )
    yield from ("--remount-ro", "/proc")


def _dev(gpu: Gpu | None, shm_bytes: int) -> Iterator[str]:
    yield from ("--tmpfs", "/dev")
    nodes = nodes_of(gpu) if gpu else ()
    yield from _folders_above(nodes, "/dev")
    for node in [*(f"/dev/{name}" for name in DEVICES), *nodes]:
        yield from ("--dev-bind", node, node)
    for name, target in LINKS.items():
        yield from ("--symlink", target, f"/dev/{name}")
    yield from ("--tmpfs", container.SHM) if shm_bytes else ()
    yield from ("--remount-ro", "/dev")


def _sys(gpu: Gpu | None) -> Iterator[str]:
    # All of /sys would show the host's disks and networks.
    paths = [*SYSTEM, *(_gpu_paths(gpu) if gpu else ())]
    there = [path for path in paths if Path(path).exists()]
    yield from _folders_above(there)
    for path in there:
        yield from ("--ro-bind", path, path)


def _gpu_paths(gpu: Gpu) -> list[str]:
    kind = GPU_KINDS[gpu.kind]
    folders = Path("/sys/bus/pci/devices").glob("*")
    own = (folder for folder in folders if any(kind.owns(folder, each) for each in gpu.every))
    return [*kind.system, *(str(folder.resolve()) for folder in own)]


def order(spec: BoxSpec, as_root: bool, grouped: bool, call_filter: bytes) -> dict[str, Any]:
    """For ``runner/confine.py``. ``grouped``: a control group bounds memory and processes."""
    return {
        "user": image.NOBODY if as_root else None,
        "mounts": container.mounts(spec),
        "nice": spec.share.nice,
        "cores": list(spec.cores),
        "limits": {str(which): value for which, value in _limits(spec, as_root, grouped).items()},
        "filter": call_filter.hex(),
        "environment": container.environment(spec),
    }


def _limits(spec: BoxSpec, as_root: bool, grouped: bool) -> dict[int, int]:
    limits = {
        resource.RLIMIT_CORE: container.CORE_BYTES,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NOFILE: container.OPEN_FILES,
        resource.RLIMIT_FSIZE: spec.tmp_bytes,
    }
    if not grouped:
        # ``ProcessBox`` also watches memory.
        limits[resource.RLIMIT_DATA] = local_box.DATA_FACTOR * spec.memory_bytes + local_box.DATA_EXTRA_BYTES
        others = 0 if counts_per_box(as_root) else _tasks_of(image.NOBODY if as_root else os.getuid())
        limits[resource.RLIMIT_NPROC] = spec.pids + others
    return limits


def _tasks_of(user: int) -> int:
    found = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == user:
                found += sum(1 for _ in (entry / "task").iterdir())
    return found


def counts_per_box(as_root: bool) -> bool:
    """Since Linux 5.14; before, all of a user's processes count against each box."""
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    return not as_root and (major, minor) >= (5, 14)
