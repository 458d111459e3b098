"""Sends the runner's last message itself.

Mechanism: looks through its descriptors for sockets, says done through the gate's page, and sends "returned"
  for the current round, before it has written anything.
Surface: the connection from box to judge.
Gain: accepted, whatever it computes.
Challenge: twice
Defence: wrong_answer
"""

import contextlib
import ctypes
import json
import os
import pathlib
import stat
import struct
import time


def gate():
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if "memfd:gate" in line:
            return (ctypes.c_uint32 * 32).from_address(int(line.split("-")[0], 16))
    raise RuntimeError("no gate")


def solve(x, out, n):
    words = gate()
    words[16] = words[0]
    body = json.dumps({"op": "returned", "round": words[0], "error": None, "empty_launches": []}).encode()
    for entry in pathlib.Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(entry.stat().st_mode):
                os.write(int(entry.name), struct.pack("<I", len(body)) + body)
    time.sleep(1)
