from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.records.models import QuotaRow, ReportRow, SubmissionRow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts import tokens
from grader.service.accounts.accounts import create_user
from grader.service.platform import Platform, open_platform
from tests.components import need
from tests.service.world import make_catalogue, make_settings, until
from tests.topology.hosts import PATIENCE, Hosts, hosts


@dataclass(frozen=True)
class Site:
    """Hosts with a catalogue, a web, and a student's token. ``platform`` reads the database past every network."""

    hosts: Hosts
    catalogue: Path
    platform: Platform
    token: str

    def submit(self, **values: str) -> str:
        body = {"challenge": "scale", "source": "x = 1\n", "filename": "a.py"} | values
        status, answer = self.hosts.ask("POST", "/submissions", body, self.token)
        assert status == 201, answer
        return str(answer["id"])

    def row(self, sent: str) -> SubmissionRow:
        with self.platform.sessions() as session:
            return session.query(SubmissionRow).filter_by(public_id=sent).one()

    def used(self) -> dict[str, int]:
        """The student's counters."""
        with self.platform.sessions() as session:
            return {row.scope: row.used for row in session.query(QuotaRow)}

    def held_by(self, sent: str, worker: str) -> None:
        def look() -> bool:
            row = self.row(sent)
            return row.state is State.TESTING and row.worker == worker

        until(look, f"{worker} judges it", PATIENCE)

    def ends(self, sent: str, verdict: Verdict) -> SubmissionRow:
        until(lambda: self.row(sent).state.final, "it ends", PATIENCE)
        row = self.row(sent)
        assert row.verdict is verdict, row.error
        with self.platform.sessions() as session:
            assert session.query(ReportRow).filter_by(submission_id=row.id).count() == 1
        return row


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    need("netns")
    need("postgres")
    catalogue = make_catalogue(tmp_path / "catalogue")
    with hosts("b", "c") as found:
        # Without Redis: this platform only reads the database, and wakes nobody.
        mine = make_settings(
            tmp_path / "mine", "unix:///nowhere", database_url=found.sql_url, challenges=catalogue
        )
        platform = open_platform(mine)
        token = tokens.issue_token(platform, create_user(platform, "ada", "correct horse"), "test").token
        found.start_web(GRADER_DEVICES="cpu,h200", **found.settings(catalogue))
        yield Site(found, catalogue, platform, token)
        platform.close()
