"""Looks for unix sockets of the host.

Mechanism: connects to the sockets of the Docker engine, of containerd, of the system's bus, to every socket
  file in the box, to every abstract name that the kernel lists, and to the judge's socket a second time.
Surface: sockets that a mount or a shared network namespace exposes.
Gain: the Docker engine's socket gives the host.
Challenge: twice
Like: network
Defence: runtime_error
Box: docker
"""

import os
import socket
import stat

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


def connect(name):
    def action():
        with socket.socket(socket.AF_UNIX) as talking:
            talking.settimeout(0.3)
            talking.connect(name)
            return True

    attempt(repr(name), action)


def lie_in(top):
    for folder, _, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISSOCK(os.lstat(path).st_mode):
                    yield path
            except OSError:
                continue


known = [
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/dbus/system_bus_socket",
]
for path in [*known, "/run/systemd/private", "/sock/s", "/tmp/.X11-unix/X0"]:
    connect(path)
for top in ("/run", "/var", "/sock", "/tmp", "/dev", "/etc"):
    for path in lie_in(top):
        connect(path)
with open("/proc/net/unix") as table:
    for line in table.readlines()[1:]:
        words = line.split()
        if len(words) > 7 and words[7].startswith("@"):
            connect("\0" + words[7][1:])


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
