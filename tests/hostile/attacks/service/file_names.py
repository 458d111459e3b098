"""File names with paths and control codes.

Mechanism: absolute paths and paths upwards, of Unix and Windows, names with line ends, control codes, a change
  of writing direction, mark-up, quotes, and ten thousand letters.
Surface: wherever a name is stored, shown, compiled under, or put into a command to copy.
Gain: a file written elsewhere; a command that does something else than it shows; an injected header.
"""

from __future__ import annotations

from tests.hostile.service import Service

NAMES = [
    "../../../etc/cron.d/hostile.py",
    "/etc/hostile.py",
    "..\\..\\hostile.py",
    "C:\\hostile.py",
    "a\nX-Evil: 1.py",
]
NAMES += [
    "a\x1b[2J.py",
    "\u202eyp.exe.py",
    "<script>alert(1)</script>.py",
    "$(touch hostile).py",
    "'; rm -rf ~;'.py",
]
NAMES += ["a\0.py", "..", "." * 100 + ".py", "n" * 10_000 + ".py"]
FORBIDDEN = set("/\\\n\r\0\x1b\u202e")


def attempt(service: Service) -> list[str]:
    gained = []
    for name in NAMES:
        answer = service.by_api("x = 1", filename=name, language="triton")
        if answer.status_code not in (201, 400):
            gained.append(f"{name[:20]!r}: {answer.status_code}")
        elif answer.status_code == 201:
            gained += _gained_by(service, answer.json)
    return gained


def _gained_by(service: Service, stored: dict[str, str]) -> list[str]:
    found = [f"kept {char!r}" for char in sorted(FORBIDDEN & set(stored["filename"]))]
    if stored["filename"] in ("", ".", ".."):
        found.append("a name that is a folder")
    found += service.what_runs(f"/submissions/{stored['id']}")
    service.program.post(f"{service.API}/{stored['id']}/cancel")
    return found
