"""Only its owner can read a data folder, whatever its maker and mode."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from grader import data_folder
from grader.service.platform import open_platform
from tests.service.world import make_settings


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_existing_folder_is_made_private(tmp_path: Path) -> None:
    settings = make_settings(tmp_path, "")
    folder = settings.data_dir
    (folder / "secrets").mkdir(parents=True)
    (folder / "secrets" / "web").write_text("00")
    (folder / "grader.sqlite3").touch()
    for path, rights in ((folder, 0o755), (folder / "secrets", 0o755)):
        path.chmod(rights)
    for path in (folder / "secrets" / "web", folder / "grader.sqlite3"):
        path.chmod(0o644)
    platform = open_platform(settings)
    assert (mode(folder), mode(folder / "secrets")) == (0o700, 0o700)
    files = [folder / "secrets" / "web", *folder.glob("grader.sqlite3*")]
    assert len(files) == 4, "the database, its log and its index"
    assert {mode(path) for path in files} == {0o600}
    platform.close()


def test_a_database_outside_the_folder_is_private(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        settings = make_settings(tmp_path, "").model_copy(
            update={"database_url": f"sqlite:///{tmp_path / 'elsewhere.sqlite3'}"}
        )
        platform = open_platform(settings)
        assert {mode(path) for path in tmp_path.glob("elsewhere.sqlite3*")} == {0o600}
        platform.close()
    finally:
        os.umask(before)


def test_a_folder_with_other_files_is_left_and_reported(tmp_path: Path) -> None:
    """It may be a home, or a part of the system."""
    tmp_path.chmod(0o755)
    (tmp_path / "other").touch()
    (tmp_path / "grader.sqlite3").touch(0o644)
    with capture_logs() as said:
        data_folder.prepare(tmp_path)
    assert (mode(tmp_path), mode(tmp_path / "grader.sqlite3")) == (0o755, 0o600)
    (told,) = [line for line in said if line["event"] == "data_open_to_others"]
    assert told["hint"] == f"chmod 700 {tmp_path}"
    assert "other" in told["reason"]


def test_a_folder_of_another_user_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with capture_logs() as said:
        data_folder.prepare(tmp_path)
    assert mode(tmp_path) == 0o755
    assert [(line["reason"], line["hint"]) for line in said] == [
        ("it belongs to another user", f"chmod 700 {tmp_path}")
    ]
