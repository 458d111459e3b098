"""Changes the program that judges later submissions.

Mechanism: writes, renames, links over and unlinks files of the runner, of Python, of torch and of the compiler; opens
  them for writing through /proc/self/fd.
Surface: files of the host that boxes share.
Gain: every later submission, the judge and the host run the changed files.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import os
import sys

import torch

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


RUNNER = [os.path.join("/runner", name) for name in os.listdir("/runner")]
SHARED = [
    sys.executable,
    torch.__file__,
    os.__file__,
    "/usr/bin/env",
    "/bin/sh",
    "/etc/passwd",
    "/etc/ld.so.cache",
]


def write(path):
    with open(path, "ab"):
        return True


def write_again(path):
    number = os.open(path, os.O_RDONLY)
    try:
        os.close(os.open(f"/proc/self/fd/{number}", os.O_WRONLY))
    finally:
        os.close(number)
    return True


for path in [*RUNNER, *SHARED]:
    attempt(f"write {path}", lambda path=path: write(path))
    attempt(f"write again {path}", lambda path=path: write_again(path))
    attempt(f"mode {path}", lambda path=path: os.chmod(path, 0o777) is None)
    attempt(f"beside {path}", lambda path=path: write(f"{path}.hostile"))
for folder in ("/runner", "/sock", "/usr/lib", sys.prefix, "/", "/etc", "/usr/local/lib"):
    attempt(f"folder {folder}", lambda folder=folder: os.mkdir(f"{folder}/hostile") is None)
refused = sorted({line.rpartition("] ")[2].partition(":")[0] for line in refused})


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
