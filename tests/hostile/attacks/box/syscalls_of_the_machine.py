"""Changes the machine itself.

Mechanism: kernel modules, another kernel, a restart, the clock, the host's name, I/O ports, the kernel's log.
Surface: the box's allowed system calls.
Gain: the machine; a clock that runs backwards under the judge.
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


call("init_module", 175, EMPTY, 1, b"")
call("finit_module", 313, 0, b"", 0)
call("delete_module", 176, b"nothing", 0)
call("kexec_load", 246, 0, 0, 0, 0)
call("kexec_file_load", 320, 0, 0, 0, b"", 0)
# The magic numbers are wrong: a kernel that accepts the call does not restart.
call("reboot", 169, 1, 2, 3, 0)
call("settimeofday", 164, EMPTY, 0)
call("clock_settime", 227, 0, EMPTY)
call("sethostname", 170, b"hostile", 7)
call("setdomainname", 171, b"hostile", 7)
call("iopl", 172, 3)
call("ioperm", 173, 0x80, 1, 1)
call("syslog", 103, 3, EMPTY, 64)
call("syslog, clear", 103, 5, 0, 0)
call("vhangup", 153)


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
