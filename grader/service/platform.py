from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import Engine

from grader import data_folder, logs
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.records.engine import Sessions, make_engine, make_sessions
from grader.records.integrity import check_pages, refuse_damaged
from grader.records.models import UploadRow
from grader.records.publications import publish_at_first_start
from grader.records.schema import upgrade
from grader.records.writability import Writability
from grader.service.boards.rankings import Rankings
from grader.service.challenges.upload_folders import UploadFolders
from grader.service.courses.kept_grades import KeptGrades
from grader.service.kept import Kept
from grader.service.submissions.waiting import QueueSnapshots
from grader.settings import Settings
from grader.wakeups import WakeUps


@dataclass(frozen=True)
class Platform:
    settings: Settings
    catalogue: Catalogue
    sessions: Sessions
    wakeups: WakeUps
    engine: Engine
    lines: QueueSnapshots = field(default_factory=QueueSnapshots)
    rankings: Rankings = field(default_factory=Rankings)
    boards: Kept = field(default_factory=Kept)
    grades: KeptGrades = field(default_factory=KeptGrades)
    writability: Writability = field(default_factory=Writability)
    uploads: UploadFolders | None = None

    def upload_folder(self, row: UploadRow) -> Path:
        """Raises ChallengeInvalid."""
        return self._uploads.unfold(row)

    def forget_uploads(self) -> None:
        """Call after changing which uploads are in use."""
        self._uploads.forget()

    @property
    def _uploads(self) -> UploadFolders:
        return self.uploads or UploadFolders(self.sessions, self.settings.data_dir)

    def close(self) -> None:
        self.wakeups.close()
        self.engine.dispose()


def open_platform(settings: Settings, migrate: bool = True, starting: bool = False) -> Platform:
    """Does not contact Redis. ``starting``: also check every page of a SQLite file (up to
    ``limits.INTEGRITY_SECONDS``). Raises ChallengeInvalid without a catalogue, DatabaseDamaged, and OperationalError
    without a database."""
    logs.configure(settings.log_level, settings.log_format)
    data_folder.prepare(settings.data_dir)
    catalogue = find_catalogue(settings.challenges)
    engine = make_engine(settings.sql_url)
    try:
        if starting:
            check_pages(engine)
        if migrate:
            upgrade(engine)
        sessions = make_sessions(engine)
        if migrate:
            publish_at_first_start(sessions, catalogue.folders())
    except BaseException as error:
        engine.dispose()
        refuse_damaged(engine, error)
        raise
    uploads = UploadFolders(sessions, settings.data_dir)
    catalogue = replace(catalogue, uploads=uploads)
    return Platform(settings, catalogue, sessions, WakeUps(settings.queue_url), engine, uploads=uploads)
