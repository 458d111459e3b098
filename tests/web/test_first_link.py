"""Only the log of a web started alone says how to become the first admin."""

from __future__ import annotations

import subprocess
from pathlib import Path

from grader.schemas.account import Role
from grader.service.accounts import accounts, first_admin
from grader.service.platform import open_platform
from grader.settings import Settings
from tests.web.test_server import start

PATIENCE = 60.0


def lines_until(server: subprocess.Popen[str], words: str) -> list[str]:
    assert server.stdout
    found: list[str] = []
    while not (found and words in found[-1]):
        found.append(server.stdout.readline())
        assert found[-1], f"it ended without {words!r}: {found}"
    return found


def test_the_first_link_is_printed_until_there_is_staff(tmp_path: Path) -> None:
    with start(tmp_path, GRADER_URL="https://grader.example") as server:
        try:
            line = lines_until(server, "There are no staff yet")[-1]
        finally:
            server.terminate()
            server.communicate(timeout=PATIENCE)
    assert "https://grader.example/setup?key=" in line
    platform = open_platform(Settings(data_dir=tmp_path / "data", redis_url=f"unix://{tmp_path}/nobody.sock"))
    made = first_admin.make(platform, line.strip().partition("key=")[2], "boss", "correct horse")
    assert made.role is Role.ADMIN
    assert accounts.authenticate(platform, "boss", "correct horse") == made
    platform.close()
    with start(tmp_path) as server:
        try:
            lines_until(server, "Listening on")
        finally:
            server.terminate()
            rest, _ = server.communicate(timeout=PATIENCE)
    assert "staff" not in rest
