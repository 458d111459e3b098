"""Uses the parts of the kernel in which escapes were found.

Mechanism: keyrings, BPF, performance counters, userfaultfd, io_uring, and file notification for the whole system.
Surface: the box's allowed system calls.
Gain: each of them has been a way from a container to the host; a keyring is shared with other users' processes,
  and performance counters show a neighbour's computation.
Challenge: twice
Like: syscalls_mount
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


attributes = ctypes.create_string_buffer(128)
call("add_key", 248, b"user", b"hostile", b"x", 1, -2)
call("request_key", 249, b"user", b"hostile", 0, -2)
call("keyctl", 250, 0, -3, 0)
for command in range(6):
    call(f"bpf {command}", 321, command, attributes, 64)
call("perf_event_open", 298, attributes, 0, -1, -1, 0)
call("userfaultfd", 323, 0)
call("userfaultfd, user mode only", 323, 1)
call("io_uring_setup", 425, 4, attributes)
call("io_uring_enter", 426, -1, 1, 0, 0, 0)
call("io_uring_register", 427, -1, 0, 0, 0)
call("fanotify_init", 300, 0, 0)
call("lookup_dcookie", 212, 0, EMPTY, 64)
call("kcmp", 312, os.getpid(), os.getpid(), 0, 0, 1)


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
