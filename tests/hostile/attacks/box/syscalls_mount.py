"""Mounts file systems.

Mechanism: mount, umount, the newer calls that mount by descriptor, file handles that reach host files outside
  all mounts (open_by_handle_at), swap files, quotas and process accounting.
Surface: the box's allowed system calls.
Gain: the read-only root made writable; the host's file system by the handle of its root.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import ctypes
import errno
import os

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


libc = ctypes.CDLL(None, use_errno=True)
# All possible refusals. Any other error means that the kernel looked at the arguments.
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS)
EMPTY = ctypes.create_string_buffer(4096)


def call(name, number, *arguments):
    """A system call by its number on x86-64, in a child: some would change this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        ctypes.set_errno(0)
        came = libc.syscall(number, *arguments)
        os.write(writing, str(0 if came >= 0 else ctypes.get_errno()).encode())
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    told = os.read(reading, 16)
    os.close(reading)
    code = int(told) if told else None
    name = f"{name}: {errno.errorcode.get(code, 'went through') if told else f'ended ({status})'}"
    (refused if code in REFUSALS or not told else won).append(name)


MS_BIND, MS_REMOUNT = 0x1000, 0x20
call("mount tmpfs", 165, b"none", b"/tmp", b"tmpfs", 0, 0)
call("mount proc", 165, b"none", b"/tmp", b"proc", 0, 0)
call("mount bind", 165, b"/", b"/tmp", 0, MS_BIND, 0)
call("mount remount", 165, b"none", b"/", 0, MS_REMOUNT | MS_BIND, 0)
call("umount", 166, b"/tmp", 2)
call("open_tree", 428, -100, b"/", 1)
call("move_mount", 429, -1, b"", -1, b"", 0)
call("fsopen", 430, b"tmpfs", 0)
call("fspick", 433, -100, b"/", 0)
call("mount_setattr", 442, -100, b"/", 0, EMPTY, 32)
call("open_by_handle_at", 304, 3, EMPTY, 0)
call("swapon", 167, b"/tmp/x", 0)
call("quotactl", 179, 0, 0, 0, 0)
call("acct", 163, b"/tmp/x")


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
