"""Carries Triton's cache of a source as a tar file to the box that runs it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tarfile
from typing import IO, Any

_MEMBER = re.compile(r"[\w-]{1,200}/[\w.+-]{1,200}")
# Results of ``triton.autotune(..., cache_results=True)``. Compiling ahead launches nothing, so the first
# configuration would count as the fastest.
_MEASURED = ".autotune.json"
# Has other files' paths.
_GROUP = "__grp__"


def folder() -> str:
    return os.environ["TRITON_CACHE_DIR"]


class _Counting:
    """Lets ``tarfile`` write to a pipe without a buffer."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._written = 0

    def write(self, data: bytes) -> int:
        self._written += len(data)
        return self._stream.write(data)

    def tell(self) -> int:
        return self._written


class Pack:
    """Writes files at once: they are complete if the box ends."""

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
                with contextlib.suppress(OSError):  # a launcher's thread has renamed it
                    self._add(member, path)
        self._stream.flush()

    def _add(self, member: str, path: str) -> None:
        if os.path.getsize(path) > self._left:
            return
        # A header without its file would spoil the archive.
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
    """Skips what ``Pack`` would not write, and stops at a truncation."""
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
