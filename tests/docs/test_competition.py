"""The commands of the page "Competitions" do what it says, against a server."""

from __future__ import annotations

import re
import shlex
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from grader.cli.main import main
from grader.device_kinds import languages_of
from grader.manual.pages import Manual
from grader.records import competitions as record
from grader.records import workers
from grader.records.engine import clock, writing
from grader.records.models import utcnow
from grader.schemas.account import Role
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.competitions import certificates
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.service.competitions.builders import elapse, judge
from tests.web import builders

# Sections whose commands participants type.
PARTICIPANTS = ("Take part", "Afterwards")


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    # A long lease keeps the registered worker alive on a slow machine.
    opened = open_platform(builders.make_settings(tmp_path / "platform", lease_s=600.0))
    yield opened
    opened.close()


@pytest.fixture
def address(platform: Platform) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, create_app(platform), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def blocks(docs: Manual, language: str) -> list[tuple[str, str]]:
    return [
        (part.partition("\n")[0], text)
        for part in re.split(r"^## (?!Rules)", docs.page("competitions").text, flags=re.MULTILINE)
        for text in re.findall(rf"^```{language}\n(.*?)^```", part, re.MULTILINE | re.DOTALL)
    ]


def test_every_command_of_the_page_works(
    docs: Manual,
    platform: Platform,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    staff = accounts.create_user(platform, "staff", builders.PASSWORD, Role.STAFF)
    ada, bob = (accounts.create_user(platform, name, builders.PASSWORD) for name in ("ada", "bob"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRADER_SERVER", address)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    ((_, definition),) = blocks(docs, "toml")
    now = utcnow()
    for key, at in (("starts_at", now - timedelta(hours=1)), ("ends_at", now + timedelta(hours=3))):
        definition = re.sub(rf"{key} = .*", f"{key} = {at:%Y-%m-%dT%H:%M:%SZ}", definition)
    Path("cup.toml").write_text(definition)
    Path("vector_add.py").write_text(builders.SOURCE)
    Path("signing-key.pem").write_text(certificates.signing_key(platform).pem)

    def run(who: User, line: str) -> str:
        monkeypatch.setenv("GRADER_TOKEN", tokens.issue_token(platform, who).token)
        status = main(shlex.split(line)[1:])
        told = capsys.readouterr()
        assert status == 0, f"{line}: {told.err}"
        return told.out + told.err

    said: dict[str, list[str]] = {}
    for title, block in blocks(docs, "sh"):
        for line in block.splitlines():
            if line.startswith("grader login"):
                continue
            who = ada if title in PARTICIPANTS else staff
            if "--join CODE" in line:
                code = re.search(r"--join (\w+)", run(ada, "grader competition show spring-cup"))
                assert code is not None
                who, line = bob, line.replace("CODE", code[1])
            if "finalists" in line:
                elapse(platform, "spring-cup", hours=4)
                with writing(platform.sessions) as session:
                    workers.register(session, "w", "cpu", languages_of("cpu"), clock(session))
            line = line.replace("GPU-UUID", socket.gethostname())
            told = run(who, line)
            said.setdefault(line, []).append(told)
            if line.startswith("grader submit"):
                judge(platform, told.split()[0], 100.0)
            if "final start" in line:
                assert "0 of 5 judged" in told
                with platform.sessions() as session:
                    runs = [row.public_id for _, row in record.final_runs(session, 1)]
                for number, public_id in enumerate(runs):
                    judge(platform, public_id, 90.0 + number)
    assert (
        "counts for the competition spring-cup"
        in said["grader submit vector_add.py --competition spring-cup"][0]
    )
    assert socket.gethostname() in said["grader competition final show spring-cup"][0]
    shown = said["grader competition show spring-cup"][0]
    assert "A team submits at most 50 times a day (UTC) for each challenge." in shown
    assert "SHA-256 of the final's seed: " in shown
    assert "123456789" not in shown, "sizes of the final are not told before the results"
    first, results = said["grader competition board spring-cup"]
    assert "live board" in first
    assert "final board" in results
    assert "92" in results, "the median of the repeats"
    assert said["grader competition code spring-cup Warps vector_add"][0].startswith(builders.SOURCE)
    assert "Genuine" in said["grader verify warps.json --key signing-key.pem"][0]
