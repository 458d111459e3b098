"""Describes a box from within, and misbehaves on request, for tests and ``doctor``.

A message is ``{"do": NAME, ...}``, maybe with a descriptor; a failed action's answer is ``{"error": "..."}``.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from connect import connect
from protocol import receive, send

Request = dict[str, Any]
Answer = dict[str, Any]

CHUNK = 16 << 20


def status_lines() -> dict[str, str]:
    with open("/proc/self/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def see(_request: Request, _descriptors: list[int]) -> Answer:
    status = status_lines()
    with open("/proc/self/oom_score_adj") as file:
        oom_score = int(file.read())
    return {
        "uid": os.getuid(),
        "gid": os.getgid(),
        "groups": os.getgroups(),
        "capabilities": {name: status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
        "no_new_privileges": status.get("NoNewPrivs") == "1",
        "seccomp": status.get("Seccomp"),
        "interfaces": sorted(name for _, name in socket.if_nameindex()),
        "env": dict(os.environ),
        "cwd": os.getcwd(),
        "pid": os.getpid(),
        "group": os.getpgrp(),
        "session": os.getsid(0),
        "hostname": socket.gethostname(),
        "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd")),
        "oom_score": oom_score,
        "nice": os.nice(0),
        "cores": sorted(os.sched_getaffinity(0)),
        "python": sys.version,
    }


def can_write(request: Request, _descriptors: list[int]) -> Answer:
    """By folder: true, or why not."""
    answer: Answer = {}
    for folder in request["folders"]:
        path = os.path.join(folder, f"probe-{os.getpid()}")
        try:
            with open(path, "wb"):
                pass
            os.unlink(path)
            answer[folder] = True
        except OSError as error:
            answer[folder] = error.strerror
    return {"can_write": answer}


def can_read(request: Request, _descriptors: list[int]) -> Answer:
    """By path: entries (a folder), bytes read (a file), or why not."""
    answer: Answer = {}
    for path in request["paths"]:
        try:
            if os.path.isdir(path):
                answer[path] = sorted(os.listdir(path))
            else:
                with open(path, "rb") as file:
                    answer[path] = len(file.read(1 << 20))
        except OSError as error:
            answer[path] = error.strerror
    return {"can_read": answer}


def double(request: Request, descriptors: list[int]) -> Answer:
    size = os.fstat(descriptors[0]).st_size
    data = os.pread(descriptors[0], size, 0)
    os.pwrite(descriptors[0], bytes(byte * 2 % 256 for byte in data), 0)
    os.close(descriptors[0])
    return {"doubled": size}


def reach(request: Request, _descriptors: list[int]) -> Answer:
    with socket.create_connection((request["host"], request["port"]), timeout=2):
        return {"reached": True}


def use_memory(request: Request, _descriptors: list[int]) -> Answer:
    held = []
    for _ in range(0, request["bytes"], CHUNK):
        held.append(b"\xff" * CHUNK)
    return {"used": len(held) * CHUNK}


def fork(request: Request, _descriptors: list[int]) -> Answer:
    """Until the box refuses. Returns the number of children."""
    made = 0
    for _ in range(request["count"]):
        try:
            child = os.fork()
        except OSError as error:
            return {"made": made, "refused": error.strerror}
        if child == 0:
            if request.get("session"):
                os.setsid()
            time.sleep(600)
            os._exit(0)
        made += 1
    return {"made": made}


def write_output(request: Request, _descriptors: list[int]) -> Answer:
    block = b"x" * min(request["bytes"], 1 << 20)
    left = request["bytes"]
    while left > 0:
        left -= os.write(request.get("descriptor", 1), block[:left])
    return {"written": request["bytes"]}


def fill(request: Request, _descriptors: list[int]) -> Answer:
    """Returns how much fitted in ``folder``."""
    path, written = os.path.join(request["folder"], "fill"), 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        while written < request["bytes"]:
            written += os.write(descriptor, b"\0" * (1 << 20))
    except OSError as error:
        return {"filled": written, "refused": error.strerror}
    finally:
        os.close(descriptor)
        os.unlink(path)
    return {"filled": written}


def many_files(request: Request, _descriptors: list[int]) -> Answer:
    for number in range(request["count"]):
        try:
            os.close(os.open(os.path.join(request["folder"], f"f{number}"), os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError as error:
            return {"made": number, "refused": error.strerror}
    return {"made": request["count"]}


def python(request: Request, _descriptors: list[int]) -> Answer:
    ran = subprocess.run(
        [sys.executable, "-I", "-c", request["code"]], capture_output=True, text=True, timeout=60, check=False
    )
    return {"code": ran.returncode, "out": ran.stdout[-8000:], "err": ran.stderr[-2000:]}


def end(request: Request, _descriptors: list[int]) -> Answer:
    os._exit(request["code"])


def crash(_request: Request, _descriptors: list[int]) -> Answer:
    """Reads address 0: a box's first process ignores its own signals, but not a fault."""
    return {"read": str(ctypes.string_at(0))}


def spin(_request: Request, _descriptors: list[int]) -> Answer:
    """Ignores every signal that it can."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


_ALL = (see, can_write, can_read, double, reach, use_memory, fork, write_output, fill, many_files, python)
ACTIONS = {action.__name__: action for action in (*_ALL, end, crash, spin)}


def main() -> None:
    connection = connect(sys.argv[1])
    while True:
        try:
            request, descriptors = receive(connection)
        except EOFError:
            return
        try:
            answer = ACTIONS[request["do"]](request, descriptors)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        send(connection, answer)


main()
