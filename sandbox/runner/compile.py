"""Compiles one CUDA source in a box: the source comes through the socket, the library leaves through a pipe.

One request: ``{"source", "footer", "filename", "arch", "nvcc", "log_bytes", "artefact_bytes"}`` and the pipe's write
end. One answer: ``{"ok", "log"}``. The log is what the compiler printed, cut to ``log_bytes``.
"""

import os
import re
import signal
import subprocess
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from connect import connect
from protocol import receive, send

OUTPUT = "out.so"
ENTRY = "grader_entry"
# A compiler that prints so many times more than is kept is in an endless error; it is stopped.
FLOOD_FACTOR = 16
CHUNK = 1 << 20


def flags(arch: str, filename: str) -> list[str]:
    number = arch.removeprefix("sm_")
    return [
        "-shared", "-Xcompiler", "-fPIC", "-O3", "-std=c++17", "-lineinfo", "-cudart", "shared",
        f"-gencode=arch=compute_{number},code=sm_{number}", "-o", OUTPUT, filename,
    ]  # fmt: skip


def run_bounded(command: list[str], most: int) -> tuple[int, str]:
    """Exit code and output of ``command``, the output cut to ``most`` bytes; a flood ends the command."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    kept, seen = bytearray(), 0
    while data := os.read(process.stdout.fileno(), CHUNK):  # type: ignore[union-attr]
        kept += data[: max(0, most - len(kept))]
        seen += len(data)
        if seen > FLOOD_FACTOR * most:
            os.killpg(process.pid, signal.SIGKILL)
            break
    code = process.wait()
    text = kept.decode("utf-8", "replace")
    if seen > most:
        text += f"\n[the compiler printed more than {most} bytes; the rest is left out]\n"
    return code, text


def compile_source(request: dict[str, Any], pipe: int) -> dict[str, Any]:
    filename = request["filename"]
    # Two line ends: a backslash at the end of the source would join the footer's first line to its last.
    with open(filename, "w", encoding="utf-8", newline="") as file:
        file.write(request["source"] + "\n\n" + request["footer"])
    code, log = run_bounded([request["nvcc"], *flags(request["arch"], filename)], request["log_bytes"])
    if code != 0:
        if re.search(
            r"signal 9\b|Killed signal|out of memory|virtual memory exhausted|^Killed", log, re.MULTILINE
        ):
            log += "\n[the compiler used more memory than it may]\n"
        return {"ok": False, "log": log}
    if ENTRY not in exported():
        log += (
            f"\n[the library has no entry point: the end of {filename} hides what the grader appends to it. "
            "Is a comment, a #if or a macro left open?]\n"
        )
        return {"ok": False, "log": log}
    size = os.stat(OUTPUT).st_size
    if size > request["artefact_bytes"]:
        return {
            "ok": False,
            "log": f"{log}\n[the compiled library is larger than {request['artefact_bytes']} bytes]\n",
        }
    with open(OUTPUT, "rb") as file:
        while data := file.read(CHUNK):
            while data:
                data = data[os.write(pipe, data) :]
    return {"ok": True, "log": log}


def exported() -> set[str]:
    """Names that the library gives to others."""
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", OUTPUT], capture_output=True, text=True, check=False
    )
    return {words[-1] for line in listing.stdout.splitlines() if (words := line.split())}


def main() -> None:
    connection = connect(sys.argv[1])
    try:
        request, descriptors = receive(connection)
    except EOFError:
        return
    answer = compile_source(request, descriptors[0])
    os.close(descriptors[0])
    send(connection, answer)
    connection.recv(1)  # the parent ends us


main()
