"""Makes device files.

Mechanism: mknod of the first disk, of the machine's memory, of other GPUs and of fuse; opens existing ones.
Surface: devices that a container may make or open.
Gain: the host's disk, its memory, another submission's GPU.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import glob
import os
import stat

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


NODES = {"disk": (stat.S_IFBLK, 8, 0), "vda": (stat.S_IFBLK, 254, 0), "mem": (stat.S_IFCHR, 1, 1)}
NODES |= {"kmsg": (stat.S_IFCHR, 1, 11), "fuse": (stat.S_IFCHR, 10, 229), "kvm": (stat.S_IFCHR, 10, 232)}
NODES |= {"tun": (stat.S_IFCHR, 10, 200), "gpu": (stat.S_IFCHR, 195, 0), "gpuctl": (stat.S_IFCHR, 195, 255)}
USUAL = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console", "stdin", "stdout", "stderr"}


def make(name, kind, major, minor):
    def action():
        os.mknod(f"/tmp/hostile-{name}", kind | 0o666, os.makedev(major, minor))
        return True

    attempt(name, action)


def open_it(path):
    def action():
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        return True

    attempt(path, action)


for name, what in NODES.items():
    make(name, *what)
for path in glob.glob("/dev/**", recursive=True):
    if os.path.basename(path) not in USUAL and not os.path.isdir(path) and "/fd/" not in path:
        open_it(path)


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
