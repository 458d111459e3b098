"""The things of a host that an attack may change, counted before and after.

Others may use the same host, so this counts only what it can attribute: processes that descend from this one
(orphans come to it, see ``adopt_orphans``), containers whose label names this process, every file below the
given folders, and, in places that all processes share, what belongs to the boxes' user or has ``MARK`` in its
name. ``alone`` counts everything in those places. Containers are recognised by this process: create the maker
first, then take.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

from grader.errors import BoxUnavailable
from grader.sandbox.docker_engine import LABEL_PARENT, engine
from grader.sandbox.image import NOBODY, REPOSITORY
from grader.sandbox.parent import own_mark
from tests.images.made import TEST_IMAGES

# Attacks put this word into the names of all that they leave behind.
MARK = "hostile"
# The key of their System V objects: the letters "host".
MARK_KEY = 0x686F7374
SHARED_PLACES = tuple(Path(folder) for folder in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"))
SYSTEM_V = tuple(Path("/proc/sysvipc") / kind for kind in ("shm", "sem", "msg"))
# A separate thread removes a container after the verdict, which takes up to this long on a busy host.
SETTLE_SECONDS = 60.0
_READING_SECONDS = 0.05
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class HostState:
    """Names of existing things. A file's name includes its size and time of change, to show overwriting."""

    processes: frozenset[str]
    descriptors: frozenset[str]
    containers: frozenset[str]
    images: frozenset[str]
    files: frozenset[str]
    shared_memory: frozenset[str]

    def changed_since(self, before: HostState) -> dict[str, list[str]]:
        """What appeared ("+ name") and disappeared ("- name"), by kind."""
        found = {}
        for kind in fields(self):
            then, now = getattr(before, kind.name), getattr(self, kind.name)
            if changes := [f"+ {item}" for item in sorted(now - then)] + [
                f"- {item}" for item in sorted(then - now)
            ]:
                found[kind.name] = changes
        return found

    def counts(self) -> dict[str, int]:
        return {kind.name: len(getattr(self, kind.name)) for kind in fields(self)}


def adopt_orphans() -> None:
    """Make this process the parent of its children's orphans, to count and end them."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def take(folders: Iterable[Path] = (), *, alone: bool = False) -> HostState:
    """``folders``: every file below them counts (the judge's temporary folder, the catalogue)."""
    containers, images = _of_docker(alone)
    return HostState(
        processes=frozenset(_descendants()),
        descriptors=frozenset(_descriptors()),
        containers=containers,
        images=images,
        files=frozenset([*_below(folders), *_shared(alone)]),
        shared_memory=frozenset(_system_v(alone)),
    )


def settled(before: HostState, folders: Iterable[Path] = (), *, alone: bool = False) -> HostState:
    """The host as soon as it equals ``before``, or after SETTLE_SECONDS: removing a box takes time."""
    folders = list(folders)
    end = time.monotonic() + SETTLE_SECONDS
    while True:
        now = take(folders, alone=alone)
        if not now.changed_since(before) or time.monotonic() > end:
            return now
        time.sleep(_READING_SECONDS)


def _descendants() -> list[str]:
    """Children and theirs, as "number name", without zombies."""
    found, names = [os.getpid()], []
    for parent in found:
        with suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(word) for word in (task / "children").read_text().split()]
    for pid in found[1:]:
        with suppress(OSError):
            name, state = _name_and_state(pid)
            if state != "Z":
                names.append(f"{pid} {name}")
    return names


def _name_and_state(pid: int) -> tuple[str, str]:
    head, _, tail = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    return head.partition("(")[2], tail.split()[0]


def _descriptors() -> list[str]:
    """This process's open memory files, sockets and folders, by the names of their targets, with a number."""
    seen: dict[str, int] = {}
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            kind = str(entry.readlink()).partition(":")[0]
            if "memfd" in kind or kind.endswith(("/s", "(deleted)")):
                seen[kind] = seen.get(kind, 0) + 1
    return [f"{kind} #{number}" for kind, count in seen.items() for number in range(count)]


def _of_docker(alone: bool) -> tuple[frozenset[str], frozenset[str]]:
    """This process's containers (or all), and images that are not the boxes'; nothing if no engine answers."""
    try:
        client = engine().client
    except (BoxUnavailable, ImportError):
        return frozenset(), frozenset()
    marked = None if alone else {"label": f"{LABEL_PARENT}={own_mark()}"}
    containers = frozenset(
        str(container["Names"][0]) for container in client.containers(all=True, filters=marked)
    )
    images = [tag for image in client.images() for tag in (image["RepoTags"] or [image["Id"]])]
    # Other tests may be building images at this moment: an unfinished one has no name.
    known = (f"{REPOSITORY}:",) if alone else (f"{REPOSITORY}:", TEST_IMAGES, "<none>:")
    return containers, frozenset(image for image in images if not image.startswith(known))


def _below(folders: Iterable[Path]) -> list[str]:
    return [
        _named(Path(root) / name) for top in folders for root, _, files in os.walk(top) for name in files
    ]  # fmt: skip


def _shared(alone: bool) -> list[str]:
    found = []
    for place in {*SHARED_PLACES, Path(tempfile.gettempdir())}:
        with suppress(OSError):
            found += [_named(path) for path in place.iterdir() if alone or _is_theirs(path)]
    return found


def _is_theirs(path: Path) -> bool:
    with suppress(OSError):
        return MARK in path.name or path.lstat().st_uid == NOBODY
    return False


def _named(path: Path) -> str:
    """With size and time of change, but for folders: their contents are counted, if they count."""
    try:
        what = path.lstat()
    except OSError:
        return f"{path} (gone)"
    return str(path) if path.is_dir() else f"{path} ({what.st_size} bytes, {what.st_mtime_ns})"


def _system_v(alone: bool) -> list[str]:
    found = []
    for table in SYSTEM_V:
        with suppress(OSError):
            head, *rows = (line.split() for line in table.read_text().splitlines())
            entries = [dict(zip(head, row, strict=False)) for row in rows]
            found += [
                f"{table.name} {row[1]}"
                for row, entry in zip(rows, entries, strict=True)
                if alone or _marked(entry)
            ]
    return found


def _marked(entry: dict[str, str]) -> bool:
    return int(entry["key"]) == MARK_KEY or int(entry["uid"]) == NOBODY
