"""Imports the grader and its reference.

Mechanism: imports the grader's package and the reference by every name and path that the process knows, and
  calls them.
Surface: a reference in the submission's process or box.
Gain: every answer without computing it.
Challenge: twice
Box: docker
Defence: wrong_answer
"""

import contextlib
import importlib
import os
import pathlib
import sys

NAMES = (
    "grader.challenge.loader",
    "grader.judge.oracle",
    "grader.catalogue.reference",
    "reference",
    "solution_reference",
)


def solve(x, out, n):
    places = {
        *sys.path,
        "/",
        "/runner",
        "/runner/..",
        ".",
        *(place for place in os.environ.values() if "/" in place),
    }
    sys.path[:] = [*places, *(f"{place}/reference/twice" for place in places)]
    for name in NAMES:
        with contextlib.suppress(Exception):
            module = importlib.import_module(name)
            if hasattr(module, "Catalogue"):
                root = pathlib.Path(module.__file__).resolve().parents[2]
                sys.path.append(str(next(root.glob("**/reference/twice"))))
                module = importlib.import_module("reference")
            out.copy_(module.reference(x, n))
            return
