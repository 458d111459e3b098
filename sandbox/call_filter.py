"""``seccomp.py``'s list as a program for the kernel, for boxes that no engine filters.

The C library libseccomp translates it, as it does for Docker's runc: both kinds of box have one filter.
"""

from __future__ import annotations

import errno
import functools
import json
import os
from typing import Any

from grader.errors import BoxUnavailable
from grader.sandbox import seccomp

MEND = "Install libseccomp (Debian: libseccomp2) and the package pyseccomp (pip install 'kernel-grader[worker]')."
UNKNOWN = -1  # libseccomp's answer to a name that it has never heard of


@functools.cache
def call_filter() -> bytes:
    """The filter, as an array of ``struct sock_filter`` for this machine. Calls of another architecture (32-bit ones)
    end the thread. Raises BoxUnavailable where the library is missing."""
    try:
        import pyseccomp
    except (ImportError, RuntimeError) as error:  # the latter: the C library is not there
        raise BoxUnavailable(f"no filter of system calls can be made: {error}", MEND) from error
    made = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    for rule in json.loads(seccomp.profile())["syscalls"]:
        _add(pyseccomp, made, rule)
    with os.fdopen(os.memfd_create("filter"), "rb") as file:
        made.export_bpf(file)
        file.seek(0)
        return file.read()


def _add(library: Any, made: Any, rule: dict[str, Any]) -> None:
    action = library.ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else library.ERRNO(rule["errnoRet"])
    conditions = [_condition(library, it) for it in rule.get("args", [])]
    for name in rule["names"]:
        if _is_known(library, name):
            made.add_rule(action, name, *conditions)


def _condition(library: Any, given: dict[str, Any]) -> Any:
    operation = getattr(library, given["op"].removeprefix("SCMP_CMP_"))
    return library.Arg(given["index"], operation, given["value"], given.get("valueTwo", 0))


def _is_known(library: Any, name: str) -> bool:
    """Whether the library knows such a call, as one does that is as new as the kernel. What it does not is refused."""
    return bool(library.resolve_syscall(library.Arch.NATIVE, name) != UNKNOWN)
