from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.records.models import QuotaRow, ReportRow, SubmissionRow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User, create_user
from grader.service.platform import Platform, open_platform
from grader.service.submissions.cancel import cancel
from tests.components import need
from tests.service.world import make_catalogue, make_settings, until
from tests.topology.hosts import PATIENCE, Hosts, hosts

_numbers = itertools.count()


@dataclass(frozen=True)
class Site:
    """Hosts with a catalogue, a web, and a student with a token. ``platform`` reads the database past every
    network.
    """

    hosts: Hosts
    catalogue: Path
    platform: Platform
    student: User
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
        with self.platform.sessions() as session:
            rows = session.query(QuotaRow).filter_by(user_id=self.student.id)
            return {row.scope: row.used for row in rows}

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


@dataclass(frozen=True)
class Shared:
    hosts: Hosts
    catalogue: Path
    platform: Platform


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Database, queue and web start once for all tests."""
    need("netns")
    need("postgres")
    folder = tmp_path_factory.mktemp("topology")
    catalogue = make_catalogue(folder / "catalogue")
    with hosts("b", "c") as found:
        # Without Redis: this platform only reads the database, and wakes nobody.
        mine = make_settings(
            folder / "mine", "unix:///nowhere", database_url=found.sql_url, challenges=catalogue
        )
        platform = open_platform(mine)
        found.start_web(GRADER_DEVICES="cpu,h200", **found.settings(catalogue))
        yield Shared(found, catalogue, platform)
        platform.close()


@pytest.fixture
def site(shared: Shared) -> Iterator[Site]:
    """A new student. Afterwards every cable is whole, and no worker and no submission is left."""
    earlier = len(shared.hosts.started)
    student = create_user(shared.platform, f"student{next(_numbers)}", "correct horse")
    token = tokens.issue_token(shared.platform, student, "test").token
    yield Site(shared.hosts, shared.catalogue, shared.platform, student, token)
    shared.hosts.network.restore_all()
    for process in shared.hosts.started[earlier:]:
        process.end(signal.SIGKILL)
    with shared.platform.sessions() as session:
        left = [row.public_id for row in session.query(SubmissionRow) if not row.state.final]
    for submission in left:
        cancel(shared.platform, student, submission)
