"""The text of an answer."""

from __future__ import annotations

import io
import zipfile

from werkzeug.test import TestResponse


def told(answer: TestResponse) -> str:
    """Its text; for a ZIP archive, the names and texts of its files; for a PDF, its uncompressed parts."""
    if answer.mimetype == "application/pdf":
        return answer.data.decode(errors="replace")
    if answer.mimetype != "application/zip":
        return answer.text
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        return "\n".join(
            f"{name}\n{archive.read(name).decode(errors='replace')}" for name in archive.namelist()
        )
