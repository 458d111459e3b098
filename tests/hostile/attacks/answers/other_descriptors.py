"""Reads every descriptor and mapping that is not its own argument.

Mechanism: opens whatever /proc/self/fd and /proc/self/maps name of shared memory, and searches it for the
  answer's bytes.
Surface: buffers of the judge that are passed or inherited in addition to inputs and outputs.
Gain: every answer without computing it.
Challenge: twice
Defence: wrong_answer
"""

import contextlib
import ctypes
import pathlib

import torch


def pieces():
    for entry in pathlib.Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if entry.is_file():
                yield entry.read_bytes()
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        place, rights, *_ = line.split()
        if "memfd" in line and rights.startswith("r"):
            start, end = (int(word, 16) for word in place.split("-"))
            yield ctypes.string_at(start, end - start)


def solve(x, out, n):
    wanted = (2 * x[:8]).numpy().tobytes()
    for data in pieces():
        at = data.find(wanted)
        if at >= 0:
            out.copy_(torch.frombuffer(bytearray(data[at : at + 4 * n]), dtype=torch.float32))
            return
