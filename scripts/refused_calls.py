"""Lists system calls that a box's filter refuses, if a new torch, compiler or driver fails only in a Docker
box.

Judges like `grader test`, with a filter that notes unlisted calls and lets them through. Never on a server.

Usage (as root, who may read the kernel's log): python scripts/refused_calls.py FILE CHALLENGE
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from grader.challenge.catalogue import find_catalogue
from grader.challenge.source import language_of
from grader.judge.at_home import judge_at_home
from grader.sandbox import seccomp
from grader.sandbox.choose import make_boxes

# audit: type=1326 ... comm="python" ... syscall=162
NOTED = re.compile(r'type=1326 .*comm="(?P<program>[^"]*)".* syscall=(?P<number>\d+)')


def noting_profile() -> str:
    profile = json.loads(seccomp.profile())
    return json.dumps({**profile, "defaultAction": "SCMP_ACT_LOG"})


def kernel_log() -> list[str]:
    return subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout.splitlines()


def main() -> None:
    file, slug = Path(sys.argv[1]), sys.argv[2]
    noting = noting_profile()
    seccomp.profile = lambda: noting  # type: ignore[assignment]
    before = set(kernel_log())
    loaded = find_catalogue().load(slug)
    report = judge_at_home(loaded, file.read_text(), language_of(file.name, None), make_boxes("docker"))
    print(f"{report.verdict.value} {report.detail}".strip())
    found = Counter(
        match.groups() for line in kernel_log() if line not in before and (match := NOTED.search(line))
    )
    for (program, number), times in sorted(found.items()):
        print(f"{program}: system call {number} of this architecture, {times} times")
    if not found:
        print("no call would have been refused")


if __name__ == "__main__":
    main()
