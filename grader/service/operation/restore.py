"""All of a backup, or nothing."""

from __future__ import annotations

import os
import zipfile
import zlib
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, Engine, delete, select
from sqlalchemy.exc import SQLAlchemyError

from grader.errors import Conflict, GraderError
from grader.records import dump
from grader.records.engine import writing_connection
from grader.records.models import WorkerRow, utcnow
from grader.records.schema import alone, migrate
from grader.service.operation.archive import ArchiveManifest, BadBackup, Reader, table_member
from grader.service.operation.backup import OnProgress
from grader.settings import Settings


class RestoreFailed(GraderError):
    """The database is unchanged."""

    code = "restore_failed"


def restore(
    settings: Settings,
    engine: Engine,
    path: Path,
    replace: bool = False,
    on_progress: OnProgress = lambda _t, _n: None,
) -> ArchiveManifest:
    """Verifies the whole backup first, and migrates last. Raises BadBackup, SchemaTooNew, Conflict (something exists,
    or workers run), RestoreFailed; then nothing has changed."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            return _restore(settings, engine, Reader(archive), replace, on_progress)
    except FileNotFoundError as error:
        raise BadBackup(f"The file '{path}' does not exist.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise BadBackup(
            f"'{path}' is not a backup, or is cut short.", "Nothing was changed. Use another backup."
        ) from error


def _restore(
    settings: Settings, engine: Engine, found: Reader, replace: bool, on_progress: OnProgress
) -> ArchiveManifest:
    staged = _stage_secrets(settings, found.secrets(), replace)
    try:
        with writing_connection(engine) as connection:
            alone(connection)
            _make_room(connection, settings, replace)
            _fill(connection, found, on_progress)
        for partial, secret in staged:
            partial.replace(secret)
    except (SQLAlchemyError, ValueError) as error:
        cause = getattr(error, "orig", None) or error
        raise RestoreFailed(
            f"The database refused the backup: {cause}".splitlines()[0], "Nothing was changed."
        ) from error
    finally:
        for partial, _ in staged:
            partial.unlink(missing_ok=True)
    return found.manifest


def _make_room(connection: Connection, settings: Settings, replace: bool) -> None:
    """Raises Conflict."""
    if dump.is_used(connection):
        if not replace:
            raise Conflict("The database is not empty.", "To replace its content with the backup: --replace.")
        _refuse_while_workers_live(connection, settings)
    dump.drop_all(connection)


def _refuse_while_workers_live(connection: Connection, settings: Settings) -> None:
    fresh = WorkerRow.heartbeat > utcnow() - timedelta(seconds=settings.lease_s)
    alive = connection.scalar(select(WorkerRow.name).where(WorkerRow.ended_at.is_(None), fresh).limit(1))
    if alive is not None:
        raise Conflict(f"Worker {alive} is using this database.", "Stop the web and the workers first.")


def _fill(connection: Connection, found: Reader, on_progress: OnProgress) -> None:
    """Creates the backup's revision, then migrates."""
    migrate(connection, found.manifest.schema_revision)
    tables = dump.tables(connection)
    for table in reversed(tables):
        connection.execute(delete(table))  # the backup has rows that migrations insert
    for table in tables:
        member = table_member(table.name)
        if member not in found.manifest.members:
            continue
        for count in dump.fill(connection, table, found.lines(member)):
            on_progress(table.name, count)
    migrate(connection, "head")


def _stage_secrets(settings: Settings, secrets: dict[str, bytes], replace: bool) -> list[tuple[Path, Path]]:
    """Writes them next to their places. Raises Conflict (others exist), BadBackup (outside the folder); nothing is
    written then."""
    folder = settings.data_dir / "secrets"
    places = {name: Path(os.path.normpath(folder / name)) for name in secrets}
    for name, secret in places.items():
        # The archive was checked; this checks the path that is written.
        if secret.parent != Path(os.path.normpath(folder)):
            raise BadBackup(f"The backup would write {name!r} outside {folder}.", "Nothing was changed.")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    staged = []
    for name, content in secrets.items():
        secret = places[name]
        if secret.exists() and secret.read_bytes() != content and not replace:
            raise Conflict(
                f"{secret} exists and differs from the backup's.",
                "To replace it with the backup's: --replace.",
            )
        partial = folder / f".{name}.{os.getpid()}.partial"
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            os.fsync(file.fileno())
        staged.append((partial, secret))
    return staged
