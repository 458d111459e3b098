"""Leaves its file system through other processes.

Mechanism: /proc/PID/root and /proc/PID/cwd lead into the file system of another process; looks for the
  reference there.
Surface: process numbers and folders that the box shares with its host.
Gain: every answer without computing it.
Challenge: twice
Like: mounted_reference
Box: docker
Defence: wrong_answer
"""

import contextlib
import os
import pathlib


def solve(x, out, n):
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        for door in ("root", "cwd"):
            with contextlib.suppress(OSError):
                if (process / door).is_dir():
                    out.copy_(2 * x)
                    return
