"""Maintenance and `db upgrade` on the command line; their services have their own tests."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from grader.cli import stored_data
from grader.records.engine import make_engine
from grader.records.schema import head
from grader.service.accounts import accounts
from grader.service.platform import open_platform
from grader.settings import Settings
from tests.cli.conftest import Cli
from tests.records import releases
from tests.web import builders


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A platform of an earlier release, named by the environment."""
    found = builders.make_settings(tmp_path)
    monkeypatch.setenv("GRADER_DATA_DIR", str(found.data_dir))
    monkeypatch.setenv("GRADER_REDIS_URL", found.redis_url)
    engine = make_engine(found.sql_url)
    releases.make(engine, "0005")
    engine.dispose()
    return found


def test_upgrade_lists_its_steps_and_warns(cli: Cli, settings: Settings) -> None:
    planned = cli("db", "upgrade", "--dry-run", "--json")
    assert json.loads(planned.out)["steps"] == [f"{number:04}" for number in range(6, int(head()) + 1)]
    assert "grader admin backup" in planned.err
    done = cli("db", "upgrade")
    assert (done.code, "doing 0006" in done.err, "up to date" in done.err) == (0, True, True)
    again = cli("db", "upgrade", "--dry-run")
    assert (again.code, "backup" in again.err, "up to date" in again.err) == (0, False, True)


def test_a_backup_can_be_restored(
    cli: Cli, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "backup")
    monkeypatch.setattr(stored_data, "_SAID_EVERY_SECONDS", -1.0)
    ran = cli("admin", "backup", file)
    assert (ran.code, "submissions: " in ran.err) == (0, True)
    again = cli("admin", "backup", file)
    assert (again.code, "already" in again.err) == (2, True)
    refused = cli("admin", "restore", file)
    assert (refused.code, "--replace" in refused.err) == (2, True)
    assert cli("admin", "restore", file, "--replace").code == 0
    monkeypatch.setenv("GRADER_DATA_DIR", str(tmp_path / "elsewhere"))
    assert cli("admin", "restore", file).code == 0
    assert len(json.loads(cli("admin", "submissions", "--json").out)["submissions"]) == 6
    bad = cli("admin", "restore", str(tmp_path / "nothing"), "--replace")
    assert (bad.code, "does not exist" in bad.err) == (2, True)


def test_submissions_are_found_and_retried(cli: Cli, settings: Settings) -> None:
    (failed,) = json.loads(cli("admin", "submissions", "--state", "failed", "--json").out)["submissions"]
    shown = cli("admin", "submissions", failed["id"])
    assert "The box could not be made." in shown.out
    assert f"grep -E '{failed['id']}'" in shown.err
    assert failed["id"] in cli("admin", "submissions", "--user", "bob").out
    assert cli("admin", "retry", "--here").code == 2
    assert json.loads(cli("admin", "retry", "--here", failed["id"], "--json").out) == {
        "submissions": [failed["id"]]
    }
    assert cli("admin", "retry", "--here", failed["id"]).code == 2
    assert json.loads(cli("admin", "retry", "--here", "--all", "--json").out) == {"submissions": []}


def test_results_are_exported_as_csv_and_json(cli: Cli, settings: Settings, tmp_path: Path) -> None:
    rows = list(csv.DictReader(cli("admin", "export").out.splitlines()))
    accepted = [row for row in rows if row["verdict"] == "accepted"]
    assert sorted((row["user"], row["time_us"]) for row in accepted) == [("Bob", "812.5"), ("ada", "900.0")]
    file = tmp_path / "results.json"
    assert cli("admin", "export", str(file), "--format", "json").code == 0
    assert {json.loads(line)["user"] for line in file.read_text().splitlines()} == {"Bob", "ada"}
    assert cli("admin", "export", str(file)).code == 2
    assert cli("admin", "export", "-").out == cli("admin", "export").out
    assert not Path("-").exists()


def test_prune_and_forget_ask_first(cli: Cli, settings: Settings) -> None:
    assert "Would remove: nothing." in cli("admin", "prune").out
    assert cli("admin", "forget", "ada").code == 2
    assert "Would remove" in cli("admin", "prune", "--older-than", "1").out
    done = json.loads(cli("admin", "forget", "ada", "--yes", "--json").out)
    assert done["name"].startswith("deleted-user-")
    platform = open_platform(settings)
    assert accounts.authenticate(platform, "bob", "battery staple").name == "Bob"
    platform.close()
