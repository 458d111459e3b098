"""Writes the kernel's settings.

Mechanism: writes to /proc/sys, /proc/sysrq-trigger, /sys and the files of its process that others read: the
  program for core files, the one for modules, the maps of users, the security label.
Surface: /proc and /sys of a container.
Gain: core_pattern and modprobe name programs that the kernel runs on the host as root.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import os

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


SETTINGS = """/proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/kernel/hostname /proc/sys/kernel/printk
/proc/sys/kernel/randomize_va_space /proc/sys/kernel/ns_last_pid /proc/sys/vm/drop_caches /proc/sys/vm/overcommit_memory
/proc/sys/fs/binfmt_misc/register /proc/sys/net/ipv4/ip_forward /proc/sysrq-trigger /proc/self/uid_map
/proc/self/gid_map /proc/self/setgroups /proc/self/loginuid /proc/self/attr/current /proc/self/attr/exec
/proc/irq/default_smp_affinity
/proc/bus/pci /sys/kernel/uevent_helper /sys/kernel/mm/transparent_hugepage/enabled /sys/power/state /sys/module
/sys/class/net /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor /dev/kmsg""".split()


def write(path):
    number = os.open(path, os.O_WRONLY)
    try:
        # Only files of its own process are written: these may open and then refuse. Opening any other is the
        # success, and must not harm a host that allows it.
        if path.startswith("/proc/self/"):
            os.write(number, b"\n")
    finally:
        os.close(number)
    return True


for path in SETTINGS:
    attempt(path, lambda path=path: write(path))


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
