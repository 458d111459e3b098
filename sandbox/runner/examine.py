"""Examines and proves an uploaded challenge in a box: its Python runs here and nowhere else.

One request: ``{"slug"}`` and two descriptors, ZIP archives of the platform's own Python and of the course's files. The
answers are those of ``grader.authoring.boxed``. The platform checks only their form and believes nothing else.

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
