"""Runs another platform's problem, in a separate process, and prints it as JSON.

Usage: python -I probe.py FORM PATH, with FORM a name of ``forms.FORMS``, whose module defines ``read(path)``.
Everything is on the CPU, or has no memory. A problem that has no form here ends with ``{"unable": why}``.

The output: ``title``, ``about``, ``arguments`` (``name``, ``kind``, ``dtype``; for a scalar ``value``),
``samples`` (see ``probed.sample_of``; ``timed`` if its speed counts), ``tolerance`` (``atol``, ``rtol``, or
null) and ``stated`` (by its author), ``reference`` (the text of ``reference.py`` without its docstring),
``open`` (for a person to look at). Optional:

- ``drawn``, its code that draws the inputs: ``code``, the ``call``, ``paths`` to each input in ``given``, the
  parameters of its ``tests`` and those that are ``usual``, and whether it is ``needed``,
- ``check``, its check of results: ``code``, and whether its output is one ``single`` tensor,
- ``data``, what the reference takes, and ``order``, the names of what it returns.
"""

from __future__ import annotations

import importlib
import io
import itertools
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from grader.authoring.importing.probed import MOST_SAMPLES, Reader, Unable


def main() -> None:
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            read: Reader = importlib.import_module(f"grader.authoring.importing.{sys.argv[1]}").read
            found = read(Path(sys.argv[2]))
            found["samples"] = list(itertools.islice(found["samples"], 4 * MOST_SAMPLES))
    except Unable as error:
        found = {"unable": str(error)}
    except Exception as error:  # the problem's own code
        found = {"unable": f"{type(error).__name__}: {error}"[:500]}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
