"""Reads the reference and the staff's folder by the host's own paths.

Mechanism: /proc/self/mountinfo names the host's mounted folders, which give away the checkout's path; looks for
  reference.py, solution.py and hidden_cases.py there.
Surface: folders that are mounted for the toolchain.
Gain: every answer without computing it.
Challenge: twice
Box: docker
Defence: wrong_answer
"""

import pathlib

WANTED = ("reference.py", "solution.py", "hidden_cases.py")


def roots():
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        for word in line.split()[3:5]:
            path = pathlib.Path(word)
            yield from [path, *path.parents][:4]


def solve(x, out, n):
    for root in dict.fromkeys(roots()):
        for pattern in (
            "reference/*/*",
            "reference/*/staff/*",
            "tests/catalogue/reference/*/*",
            "catalogue/reference/*/*",
        ):
            for path in root.glob(pattern):
                if path.name in WANTED:
                    print("found", path, path.read_text())
                    names = {}
                    exec(path.read_text(), names)
                    out.copy_(names["reference"](x, n))
                    return
