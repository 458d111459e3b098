"""Checks whether SQLite's write-ahead log can be read to its end.

SQLite takes a wrong checksum for the end of the log, and silently drops all later commits, so this runs
before the first process opens the database. A separate program: a process that closes SQLite's index file
loses its locks on it.

The formats: https://www.sqlite.org/fileformat2.html and https://www.sqlite.org/walformat.html.
"""

from __future__ import annotations

import fcntl
import json
import struct
import sys
import time
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_MAGIC = 0x377F0682  # its last bit: checksums use big-endian words
_HEADER, _FRAME = 32, 24
_INDEX = 136
# Every process with the database open locks this byte of the index.
_IN_USE = 128
_FLOCK = "hhqqi"
# Enough for some 500 MiB; a log usually has 4 MiB.
_SECONDS = 20.0
_PAUSE_SECONDS = 0.02


@dataclass(frozen=True)
class _Index:
    # Frames; ``copied``: into the database.
    committed: int
    copied: int
    salts: bytes


@dataclass(frozen=True)
class _Log:
    salts: bytes
    # Frames up to the last commit before the first wrong one.
    readable: int
    beyond: int
    frames: int


def damage(database: Path) -> str:
    """Empty if there is none, or if somebody has the database open."""
    log = database.with_name(f"{database.name}-wal")
    index = database.with_name(f"{database.name}-shm")
    try:
        with index.open("r+b") as file:
            if not _alone(file):
                return ""
            return _compare(log, _read_index(file.read(_INDEX)), has_index=True)
    except FileNotFoundError:
        return _compare(log, None, has_index=False)


def _alone(file: BinaryIO) -> bool:
    """Lock the index; False if somebody has the database open.

    Of several programs, one checks and the others wait. If they took its lock for use, they would go on and
    let SQLite drop the damage.
    """
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _IN_USE)
        except OSError:
            asked = struct.pack(_FLOCK, fcntl.F_WRLCK, 0, _IN_USE, 1, 0)
            held = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))[0]
            if held == fcntl.F_RDLCK:  # SQLite's kind of lock
                return False
            time.sleep(_PAUSE_SECONDS)
        else:
            return True
    return False


def _compare(path: Path, index: _Index | None, has_index: bool) -> str:
    missing = index.committed if index is not None and index.committed > index.copied else 0
    size = path.stat().st_size if path.exists() else 0
    if size <= _HEADER:
        return f"{path.name} is empty or gone, and {missing} frames were committed in it" if missing else ""
    with path.open("rb") as file:
        log = _read_log(file, size)
    if log is None:
        if index is not None and not missing:
            return ""  # everything is in the database
        return f"the header of {path.name} is damaged: none of its {size} bytes can be read"
    where = f"frame {log.readable + 1} of {log.frames} in {path.name} cannot be read"
    if index is not None and index.salts == log.salts and index.committed > log.readable:
        # Even if everything was copied: the readable part is older, and would be taken for newer.
        return f"{where}, and {index.committed} were committed" if missing or log.readable else ""
    # A commit waits for the disk before the next one writes, so after a power cut at most one can be beyond
    # the torn frame. A log without an index is a copy, and was not torn.
    if log.beyond > (1 if has_index else 0):
        return f"{where}, and {log.beyond} transactions end there or after it"
    return ""


def _read_index(data: bytes) -> _Index | None:
    if len(data) < _INDEX or data[:48] != data[48:96] or not data[12]:
        return None
    (committed,) = struct.unpack_from("=I", data, 16)
    (copied,) = struct.unpack_from("=I", data, 96)
    return _Index(committed, copied, data[32:40])


def _read_log(file: BinaryIO, size: int) -> _Log | None:
    header = file.read(_HEADER)
    magic, _, page, _ = struct.unpack_from(">4I", header)
    swapped = (magic & 1 == 1) != (sys.byteorder == "big")
    sums = _add((0, 0), header[:24], swapped)
    if magic & ~1 != _MAGIC or page < 512 or sums != struct.unpack_from(">2I", header, 24):
        return None
    salts = header[16:24]
    readable = beyond = 0
    frames = (size - _HEADER) // (_FRAME + page)
    broken = False
    until = time.monotonic() + _SECONDS
    for number in range(1, frames + 1):
        frame = file.read(_FRAME)
        content = file.read(page)
        commits = frame[4:8] != b"\0\0\0\0"
        if not broken:
            sums = _add(_add(sums, frame[:8], swapped), content, swapped)
            broken = frame[8:16] != salts or sums != struct.unpack_from(">2I", frame, 16)
        if not broken and commits:
            readable = number
        elif broken and commits and frame[8:16] == salts:
            beyond += 1
        if time.monotonic() > until:
            return _Log(salts, frames, 0, frames)  # out of time, without damage
    return _Log(salts, readable, beyond, frames)


def _add(sums: tuple[int, int], data: bytes, swapped: bool) -> tuple[int, int]:
    words = array("I", data)
    if swapped:
        words.byteswap()
    first, second = sums
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second


if __name__ == "__main__":
    print(json.dumps(damage(Path(sys.argv[1]))))
