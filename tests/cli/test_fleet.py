"""`grader fleet`, whose pool is launched by a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.web import builders

_SCRIPT = """\
#!/bin/sh
case $1 in
launch) echo "$PILOT_NAME 17 running" >>pilots; echo 17 ;;
list) cat pilots 2>/dev/null; exit 0 ;;
esac
"""
_FILE = """\
[pools.cpus]
device = "cpu"
min = 1
max = 2
command = { launch = ["./cloud.sh", "launch"], list = ["./cloud.sh", "list"], stop = ["./cloud.sh", "stop"] }
"""


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    settings = builders.make_settings(tmp_path)
    monkeypatch.setenv("GRADER_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("GRADER_REDIS_URL", settings.redis_url)
    script = tmp_path / "cloud.sh"
    script.write_text(_SCRIPT)
    script.chmod(0o755)
    path = tmp_path / "fleet.toml"
    path.write_text(_FILE)
    return str(path)


def test_a_pool_is_launched_once_and_shown(cli: Cli, fleet: str, tmp_path: Path) -> None:
    shown = json.loads(cli("fleet", "run", fleet, "--dry-run", "--json").out)
    assert shown["pools"][0]["launches"] == 1
    assert not (tmp_path / "pilots").exists()
    assert "No fleet" in cli("fleet", "status").err
    assert cli("fleet", "run", fleet, "--once").code == 0
    again = json.loads(cli("fleet", "run", fleet, "--once", "--json").out)
    assert (again["pools"][0]["launches"], again["pools"][0]["running"]) == (0, 1)
    assert len((tmp_path / "pilots").read_text().splitlines()) == 1
    (pool,) = json.loads(cli("fleet", "status", "--json").out)["pools"]
    assert (pool["device"], pool["wanted"], pool["running"], pool["controlled"]) == ("cpu", 1, 1, False)
    assert "no controller since" in cli("fleet", "status").out


def test_a_wrong_file_is_a_usage_error(cli: Cli, fleet: str) -> None:
    Path(fleet).write_text(_FILE.replace("max = 2", "max = 0"))
    refused = cli("fleet", "run", fleet, "--once")
    assert refused.code == 2
    assert "pools.cpus.max" in refused.err
