"""Uploads in use, extracted from the database to this host on first use."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy.exc import OperationalError, ProgrammingError

from grader.challenge import bundle
from grader.errors import ChallengeInvalid, GraderError
from grader.logs import get_logger
from grader.records import uploads
from grader.records.engine import AWAY, Sessions
from grader.records.models import UploadRow

log = get_logger(__name__)

# Other processes' changes are seen this much later.
_KEPT_SECONDS = 0.5
_FOLDER = "uploads"
# A judgement may still use the previous one.
_OLD_KEPT = 3


class UploadFolders:
    def __init__(self, sessions: Sessions, data_dir: Path) -> None:
        self._sessions = sessions
        self._root = data_dir / _FOLDER
        self._lock = threading.Lock()
        self._kept: dict[str, Path] = {}
        self._looked = float("-inf")

    def roots(self) -> Mapping[str, Path]:
        with self._lock:
            if time.monotonic() - self._looked > _KEPT_SECONDS:
                try:
                    self._kept = self._look()
                except AWAY as error:  # other pages report the database
                    log.warning("database_away", error=type(error).__name__)
                self._looked = time.monotonic()
            return self._kept

    def forget(self) -> None:
        """Call it after this process changed which uploads are in use."""
        with self._lock:
            self._looked = float("-inf")

    def _look(self) -> dict[str, Path]:
        with self._sessions() as session:
            try:
                found = uploads.all_in_use(session)
            except (OperationalError, ProgrammingError) as error:
                if _no_table(error):  # the database is not migrated yet
                    return {}
                raise
            roots = {}
            for slug, number, digest in found:
                roots[slug] = folder = self.folder(slug, digest)
                if not folder.is_dir():
                    try:
                        self.unfold(session.get_one(UploadRow, number))
                    except (
                        GraderError,
                        OSError,
                    ) as error:  # a broken folder must not hide all others
                        log.error("upload_not_unfolded", challenge=slug, error=str(error))
                    self._sweep(slug, folder)
        return roots

    def folder(self, slug: str, digest: str) -> Path:
        """May not exist yet."""
        return self._root / slug / digest[:24]

    def unfold(self, row: UploadRow) -> Path:
        """Raises ChallengeInvalid, OSError."""
        target = self.folder(row.challenge, row.digest)
        if row.examined is None:
            raise ChallengeInvalid(f"{row.challenge}: no worker has examined upload {row.number} yet")
        if not target.is_dir():
            bundle.unfold(bundle.read_archive(row.archive), row.examined, target)
        return target

    def _sweep(self, slug: str, kept: Path) -> None:
        there = sorted((path for path in (self._root / slug).glob("[!.]*") if path != kept), key=_changed)
        for folder in there[:-_OLD_KEPT]:
            shutil.rmtree(folder, ignore_errors=True)


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _no_table(error: Exception) -> bool:
    text = str(getattr(error, "orig", error))
    return "no such table" in text or "does not exist" in text
