"""The data folder: only its owner may read it."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from grader.errors import BadRequest
from grader.logs import get_logger

log = get_logger(__name__)

OTHERS = 0o077
# A folder with other files may be somebody's home or /var/lib: its mode stays.
_OURS = frozenset(
    {
        "secrets",
        "up.lock",
        "redis.sock",
        "metrics",
        "round_costs",
        "uploads",
        "served",
        "backups-at-work",
        "lost+found",
    }
)
_DATABASE = "grader.sqlite3"


def prepare(folder: Path) -> None:
    """Make the folder, and close it (0700, files 0600). If it is somebody else's, log the command that closes
    it. Raises BadRequest if it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise BadRequest(
            f"The data folder '{folder}' cannot be made: {error.strerror}.",
            "Set GRADER_DATA_DIR to another folder.",
        ) from error
    for path in exposed(folder):
        if reason := _why_not_ours(path, folder):
            mode = "700" if path.is_dir() else "600"
            fix = f"chmod {mode} {shlex.quote(str(path))}"
            log.warning("data_open_to_others", path=str(path), reason=reason, hint=fix)
        else:
            close(path)


def exposed(folder: Path) -> list[Path]:
    return [path for path in (folder, *_kept(folder)) if _mode(path) & OTHERS]


def _kept(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.glob(f"{_DATABASE}*"))
    yield folder / "secrets"
    yield from sorted((folder / "secrets").glob("*"))


def close(path: Path) -> None:
    """Skips files that are not ours, and links: their targets are not ours."""
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            return
        if found.st_uid == os.geteuid() and found.st_mode & OTHERS:
            path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
            log.warning("data_closed_to_others", path=str(path), was=f"{stat.S_IMODE(found.st_mode):o}")
    except FileNotFoundError:
        pass  # SQLite removes its log when the last connection closes
    except OSError as error:
        log.warning("data_open_to_others", path=str(path), reason=str(error))


def _why_not_ours(path: Path, folder: Path) -> str:
    if path.exists() and path.stat().st_uid != os.geteuid():
        return "it belongs to another user"
    if path == folder and (strange := _strange(folder)):
        return f"it also holds files of others, such as {strange}"
    return ""


def _strange(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir())
    return next((name for name in names if name not in _OURS and not name.startswith(_DATABASE)), "")


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.lstat().st_mode) if not path.is_symlink() else 0
    except OSError:
        return 0
