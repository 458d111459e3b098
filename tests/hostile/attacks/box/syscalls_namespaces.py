"""Makes namespaces in which it would be root.

Mechanism: unshare, setns, clone and clone3 with every namespace's flag, and pivot_root and chroot.
Surface: the box's allowed system calls.
Gain: root in a user namespace reaches kernel code that ordinary users never do; most escapes begin there.
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


FLAGS = {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000}
FLAGS |= {"pid": 0x20000000, "net": 0x40000000, "time": 0x80}
SIGCHLD = 17
for name, flag in FLAGS.items():
    call(f"unshare {name}", 272, flag)
    if flag > 0xFF:  # the low byte is the number of a signal
        call(f"clone {name}", 56, flag | SIGCHLD, 0, 0, 0, 0)
own = os.open("/proc/self/ns/user", os.O_RDONLY)
call("setns", 308, own, 0)
call("pivot_root", 155, b"/tmp", b"/tmp")
call("chroot", 161, b"/tmp")
for name in ("user", "time"):
    arguments = (ctypes.c_uint64 * 11)(FLAGS[name], 0, 0, 0, SIGCHLD)
    call(f"clone3 {name}", 435, arguments, ctypes.sizeof(arguments))


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
