"""One worker per GPU: a file lock that the kernel releases when its holder dies. All platforms and users of a
machine share the folder: /run/lock, or /tmp if a system lacks that.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.errors import Conflict
from grader.settings import Settings

_OPEN = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
_FILE_MODE, _FOLDER_MODE = 0o666, 0o1777


def lock_folder(settings: Settings) -> Path:
    if settings.lock_dir is not None:
        return settings.lock_dir
    base = Path("/run/lock")
    return base / "grader" if os.access(base, os.W_OK) else Path("/tmp/grader-locks")  # noqa: S108 - see above


@contextmanager
def hold(gpu: str, folder: Path) -> Iterator[None]:
    """Raises Conflict, naming the holder, if another process has it."""
    descriptor = _open(gpu, folder)
    try:
        if not _try_lock(descriptor):
            raise held(gpu, _pid(descriptor))
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
        os.truncate(descriptor, 0)
    finally:
        os.close(descriptor)


def holder(gpu: str, folder: Path) -> int | None:
    """The holder's process id, 0 if unknown, None if the GPU is free."""
    descriptor = _open(gpu, folder)
    try:
        return None if _try_lock(descriptor) else _pid(descriptor)
    finally:
        os.close(descriptor)


def held(gpu: str, pid: int) -> Conflict:
    by = f"process {pid}" if pid else "another process"
    return Conflict(f"GPU {gpu} is already in use: {by} holds it.", "End that worker, or choose another GPU.")


def _open(gpu: str, folder: Path) -> int:
    path = folder / f"{gpu}.lock"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(PermissionError):  # another user made it first
                folder.chmod(_FOLDER_MODE)
        # Not with O_CREAT alone: Linux refuses that for another user's file in a folder open to all.
        with suppress(FileExistsError):
            descriptor = os.open(path, _OPEN | os.O_CREAT | os.O_EXCL, _FILE_MODE)
            os.fchmod(descriptor, _FILE_MODE)
            return descriptor
        return os.open(path, _OPEN)
    except OSError as error:
        raise Conflict(
            f"GPU {gpu} cannot be locked: opening {path} failed ({error.strerror}).",
            "Fix that file's permissions, or set GRADER_LOCK_DIR to a folder that all workers of this machine share.",
        ) from error


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(descriptor: int) -> int:
    text = os.pread(descriptor, 32, 0).decode("ascii", "replace")
    return int(text) if text.isdigit() else 0
