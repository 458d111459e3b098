"""Examines and proves an uploaded challenge: its Python runs here and nowhere else.

One request: ``{"slug"}`` and two ZIP descriptors: the platform's Python, the course's files. Answers are
``grader.authoring.boxed``'s; the platform checks only their form.

Usage: python -I examine.py ADDRESS
"""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import protocol
from connect import connect


def main() -> None:
    connection = connect(sys.argv[1])
    request, descriptors = protocol.receive(connection)
    folder = Path(tempfile.mkdtemp(prefix="examine-"))
    for name, descriptor in zip(("platform", "course"), descriptors, strict=True):
        with os.fdopen(descriptor, "rb") as file, zipfile.ZipFile(file) as archive:
            archive.extractall(folder / name)
    sys.path.insert(0, str(folder / "platform"))
    from grader.authoring.boxed import examine

    examine(folder / "course", request["slug"], lambda message: protocol.send(connection, message))


if __name__ == "__main__":
    main()
