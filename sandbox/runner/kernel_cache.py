"""Carries Triton's cache of one source as a tar file, from the box that compiled the kernels to the one that runs
them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tarfile
from typing import IO, Any

# A file in the folder of a kernel or launcher.
_MEMBER = re.compile(r"[\w-]{1,200}/[\w.+-]{1,200}")
# Measurements of ``triton.autotune(..., cache_results=True)``. Nothing is launched while compiling ahead, so all
# configurations take equally long there, and the first would count as the fastest on the GPU.
_MEASURED = ".autotune.json"
# A file that names the other files of a kernel by their paths.
_GROUP = "__grp__"


def folder() -> str:
    """May not exist yet."""
    return os.environ["TRITON_CACHE_DIR"]


class _Counting:
    """A pipe that knows its position: ``tarfile`` then writes to it without a buffer."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._written = 0

    def write(self, data: bytes) -> int:
        self._written += len(data)
        return self._stream.write(data)

    def tell(self) -> int:
        return self._written


class Pack:
    """Writes files as they appear: those written before the box ends are complete."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        counting: Any = _Counting(stream)
        self._archive = tarfile.TarFile(fileobj=counting, mode="w", format=tarfile.GNU_FORMAT)
        self._stream = stream
        self._left = most
        self._known: set[str] = set()

    def add_new(self) -> None:
        for where, _, names in os.walk(folder()):
            for name in sorted(names):
                path = os.path.join(where, name)
                member = os.path.relpath(path, folder())
                if member in self._known or not _MEMBER.fullmatch(member) or name.endswith(_MEASURED):
                    continue
                with contextlib.suppress(OSError):  # a thread that builds a launcher has renamed it meanwhile
                    self._add(member, path)
        self._stream.flush()

    def _add(self, member: str, path: str) -> None:
        if os.path.getsize(path) > self._left:
            return
        # Read before writing: a header without its file would spoil the rest of the archive.
        with open(path, "rb") as file:
            data = file.read(self._left + 1)
        if len(data) > self._left:
            return
        self._known.add(member)
        self._left -= len(data) + 2 * tarfile.BLOCKSIZE
        about = tarfile.TarInfo(member)
        about.size = len(data)
        self._archive.addfile(about, io.BytesIO(data))

    def close(self) -> None:
        self._archive.close()


def unpack(stream: IO[bytes]) -> None:
    """Skips members that ``Pack`` would not write, and the rest of a truncated archive: Triton compiles what is
    missing."""
    with contextlib.suppress(tarfile.TarError, EOFError), tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if not (member.isreg() and _MEMBER.fullmatch(member.name)):
                continue
            source = archive.extractfile(member)
            assert source is not None
            data, path = source.read(), os.path.join(folder(), member.name)
            if os.path.basename(path).startswith(_GROUP):
                data = _here(data, os.path.dirname(path))
            with contextlib.suppress(OSError):  # not a valid file name
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(data)


def _here(group: bytes, where: str) -> bytes:
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        names = json.loads(group)["child_paths"]
        return json.dumps({"child_paths": {name: os.path.join(where, name) for name in names}}).encode()
    return group
