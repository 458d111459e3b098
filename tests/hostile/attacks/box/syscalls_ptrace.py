"""Takes over another process.

Mechanism: ptrace of its child, of its parent and of the first process; reads and writes of another's memory; a
  descriptor stolen from another process.
Surface: the box's allowed system calls, and processes of the same user.
Gain: control of a trusted process; a box per submission has none, and still no submission needs these calls.
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


PTRACE_TRACEME, PTRACE_ATTACH, PTRACE_SEIZE = 0, 16, 0x4206
call("ptrace: trace me", 101, PTRACE_TRACEME, 0, 0, 0)
child = os.fork()
if child == 0:
    libc.pause()
for name, pid in (("child", child), ("parent", os.getppid()), ("first", 1)):
    call(f"ptrace: attach {name}", 101, PTRACE_ATTACH, pid, 0, 0)
    call(f"ptrace: seize {name}", 101, PTRACE_SEIZE, pid, 0, 0)
place = (ctypes.c_void_p * 2)(ctypes.addressof(EMPTY), 8)
call("process_vm_readv", 310, 1, place, 1, place, 1, 0)
call("process_vm_writev", 311, 1, place, 1, place, 1, 0)
itself = os.pidfd_open(os.getpid())
call("pidfd_getfd", 438, itself, 0, 0)
os.kill(child, 9)


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
