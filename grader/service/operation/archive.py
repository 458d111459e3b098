"""A backup: a zip with a JSON-lines file per table, the secrets, and last a manifest with all hashes."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from grader import limits
from grader.errors import EXIT_USAGE, GraderError
from grader.records.schema import missing
from grader.schemas.strict import Strict

FORMAT = 1
MANIFEST = "manifest.json"
_CHUNK = 1 << 20


class BadBackup(GraderError):
    """No whole backup, or not restorable here."""

    code = "bad_backup"
    status = 400
    exit_code = EXIT_USAGE


class Member(Strict):
    """``rows``: only of tables."""

    sha256: str
    rows: int | None = None


class ArchiveManifest(Strict):
    format: int
    grader: str
    schema_revision: str
    database: str
    created_at: str
    left_out: list[str]
    members: dict[str, Member] = Field(default_factory=dict)


def table_member(table: str) -> str:
    return f"tables/{table}.jsonl"


def secret_member(name: str) -> str:
    return f"secrets/{name}"


class Writer:
    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path = path
        self._file = file
        self.members: dict[str, Member] = {}

    def add(self, name: str, lines: Iterable[bytes]) -> Iterator[int]:
        """Yields the count of written lines."""
        digest, count = hashlib.sha256(), 0
        with self._file.open(_info(name), "w", force_zip64=True) as member:
            for line in lines:
                member.write(line)
                digest.update(line)
                count += 1
                yield count
        rows = max(count - 1, 0) if name.startswith("tables/") else None
        self.members[name] = Member(sha256=digest.hexdigest(), rows=rows)

    def close(self, manifest: ArchiveManifest) -> None:
        self._file.writestr(_info(MANIFEST), manifest.model_dump_json(indent=2))


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


class Reader:
    """Every byte is verified."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        """Raises BadBackup, SchemaTooNew."""
        self._file = file
        self.manifest = _manifest(file)
        self._verify()

    def _verify(self) -> None:
        wanted = set(self.manifest.members) | {MANIFEST}
        if {info.filename for info in self._file.infolist()} != wanted:
            raise BadBackup(
                "The backup does not contain what its manifest lists.", "It is damaged: use another backup."
            )
        for name, member in self.manifest.members.items():
            digest = hashlib.sha256()
            with self._file.open(name) as content:
                while chunk := content.read(_CHUNK):
                    digest.update(chunk)
            if digest.hexdigest() != member.sha256:
                raise BadBackup(f"{name} in the backup is damaged.", "Use another backup.")

    def lines(self, name: str) -> Iterator[bytes]:
        with self._file.open(name) as content:
            yield from content

    def secrets(self) -> dict[str, bytes]:
        names = [name for name in self.manifest.members if name.startswith("secrets/")]
        return {name.removeprefix("secrets/"): self._file.read(name) for name in names}


def _manifest(file: zipfile.ZipFile) -> ArchiveManifest:
    try:
        manifest = ArchiveManifest.model_validate_json(file.read(MANIFEST))
    except (KeyError, ValidationError) as error:
        raise BadBackup(
            "This file is not a backup of a grader.", "Make one with `grader admin backup FILE`."
        ) from error
    if manifest.format != FORMAT:
        raise BadBackup(
            f"The backup has format {manifest.format}; this release reads format {FORMAT}.",
            "Use the release that made the backup.",
        )
    missing(manifest.schema_revision)  # raises SchemaTooNew
    for name in manifest.members:
        _check_name(name)
    return manifest


def _check_name(name: str) -> None:
    """Tables, and files directly in the folder of secrets. Raises BadBackup."""
    folder, _, file = name.partition("/")
    plain = file.isprintable() and not file.startswith(".") and not set(file) & set("/\\")
    if folder not in ("tables", "secrets") or not file or not plain or len(file) > limits.FILENAME_CHARS:
        raise BadBackup(
            f"The backup contains {name[: limits.FILENAME_CHARS]!r}, which is neither a table nor a secret.",
            "Nothing was changed. Use another backup, and find out who made this one.",
        )
