"""What Triton cached of the kernels of one source, as a tar file: from the box that compiled them ahead to the one that
runs them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tarfile
from typing import IO, Any

# A folder for each kernel, or launcher, and files in it.
_MEMBER = re.compile(r"[\w-]{1,200}/[\w.+-]{1,200}")
# What ``triton.autotune(..., cache_results=True)`` measured. Where kernels are compiled ahead nothing is launched, and
# every configuration takes as long: the first would be taken for the fastest on the GPU.
_MEASURED = ".autotune.json"
# Names the other files of a kernel by their paths.
_GROUP = "__grp__"


def folder() -> str:
    """Where Triton's cache is, in the box; it need not be there yet."""
    return os.environ["TRITON_CACHE_DIR"]


class _Told:
    """A pipe, as ``tarfile`` takes one without keeping anything back: it knows how much went through."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._written = 0

    def write(self, data: bytes) -> int:
        self._written += len(data)
        return self._stream.write(data)

    def tell(self) -> int:
        return self._written


class Pack:
    """Writes files to ``stream`` as they come, so that what is there before an end of the box is whole."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        told: Any = _Told(stream)
        self._archive = tarfile.TarFile(fileobj=told, mode="w", format=tarfile.GNU_FORMAT)
        self._stream = stream
        self._left = most
        self._known: set[str] = set()

    def add_new(self) -> None:
        """What is in the cache and has not been written yet, as far as it may be."""
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
        # Read before anything of it is written: a header without its file would spoil all that follows.
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
    """Put what was packed into this box's cache. What is not as ``Pack`` writes it is left out, and so is the rest of
    what ends early: Triton compiles what it does not find."""
    with contextlib.suppress(tarfile.TarError, EOFError), tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if not (member.isreg() and _MEMBER.fullmatch(member.name)):
                continue
            source = archive.extractfile(member)
            assert source is not None
            data, path = source.read(), os.path.join(folder(), member.name)
            if os.path.basename(path).startswith(_GROUP):
                data = _here(data, os.path.dirname(path))
            with contextlib.suppress(OSError):  # no name for a file
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(data)


def _here(group: bytes, where: str) -> bytes:
    """A group's file with the paths that its files have here."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        names = json.loads(group)["child_paths"]
        return json.dumps({"child_paths": {it: os.path.join(where, it) for it in names}}).encode()
    return group
