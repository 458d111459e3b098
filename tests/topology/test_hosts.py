"""Web, database, queue and workers, each on its own host; cables that are cut and restored."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import create_user
from grader.service.platform import open_platform
from grader.service.submissions.submissions import get_submission
from tests.components import need
from tests.service.world import until
from tests.topology.conftest import Site
from tests.topology.hosts import PATIENCE, REDIS_PASSWORD, hosts
from tests.web import builders

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(600)]

GRADER = str(Path(sys.executable).with_name("grader"))
CUDA = {"filename": "a.cu", "source": "// nothing"}
KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


def solve(a, b, out, n):
    if n:
        add[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
"""


def test_only_settings_connect_the_hosts(site: Site) -> None:
    """Compiled on one host and judged on another, by workers that share no file and no secret with anybody."""
    compiler = site.hosts.start_worker("c", "compile", site.catalogue)
    judge = site.hosts.start_worker("b", "gpu", site.catalogue)
    judge.open_gate()
    sent = [site.submit(device="h200"), site.submit(device="h200", **CUDA)]
    for submission in sent:
        site.ends(submission, Verdict.ACCEPTED)
    assert site.row(sent[1]).artefact is not None
    compiler.says('"event": "compiled"')
    for process in (compiler, judge):
        assert not (process.own_files / "data" / "grader.sqlite3").exists()
        assert REDIS_PASSWORD not in process.said()


def test_workers_of_two_hosts_share_a_queue(site: Site) -> None:
    """Protects against judging twice: each worker holds one at the same time."""
    workers = [site.hosts.start_worker(host, "accepted", site.catalogue) for host in ("b", "c")]
    sent = [site.submit(source=f"x = {n}\n") for n in range(5)]
    until(
        lambda: {site.row(submission).worker for submission in sent} >= {"b-accepted", "c-accepted"},
        "both work",
        PATIENCE,
    )
    for worker in workers:
        worker.open_gate()
    ended = [site.ends(submission, Verdict.ACCEPTED) for submission in sent]
    assert [row.attempt for row in ended] == [1] * len(sent)


def test_a_cut_off_workers_late_result_is_dropped(site: Site) -> None:
    """B judges, is cut off, and goes on judging. C takes over with another verdict, which stays. B comes back."""
    cut_off = site.hosts.start_worker("b", "accepted", site.catalogue)
    sent = site.submit()
    site.held_by(sent, "b-accepted")
    site.hosts.network.cut("b")
    successor = site.hosts.start_worker("c", "wrong_answer", site.catalogue)
    site.held_by(sent, "c-wrong_answer")
    cut_off.says("heartbeat_missed", times=2)
    successor.open_gate()
    ended = site.ends(sent, Verdict.WRONG_ANSWER)
    successor.end()
    site.hosts.network.restore("b")
    cut_off.open_gate()
    cut_off.says("late_result_dropped")
    after = site.row(sent)
    assert (after.verdict, after.attempt, after.finished_at) == (
        Verdict.WRONG_ANSWER,
        ended.attempt,
        ended.finished_at,
    )
    assert site.used() == {"waiting": 0, "challenge:scale": 1}  # no attempt was charged for it
    site.ends(site.submit(), Verdict.ACCEPTED)
    assert cut_off.process.poll() is None


@pytest.mark.matrix  # it waits for connections to time out
def test_a_cut_off_worker_delivers_its_result_on_return(site: Site) -> None:
    """With nobody to take over, B's result still counts, once, as soon as B can deliver it."""
    worker = site.hosts.start_worker("b", "accepted", site.catalogue)
    sent = site.submit()
    site.held_by(sent, "b-accepted")
    site.hosts.network.cut("b")
    worker.open_gate()
    worker.says("write_tried_again", times=2)
    site.hosts.network.restore("b")
    site.ends(sent, Verdict.ACCEPTED)
    assert worker.process.poll() is None


@pytest.mark.matrix  # it waits for connections to time out
def test_an_idle_cut_off_worker_does_not_hang(site: Site) -> None:
    """Waiting for a wake-up, it notices, tries again, and serves once the cable is back; it can be ended
    while cut off.
    """
    worker = site.hosts.start_worker("b", "accepted", site.catalogue)
    worker.open_gate()
    site.ends(site.submit(), Verdict.ACCEPTED)
    site.hosts.network.cut("b")
    sent = site.submit()
    worker.says("redis_away", times=2)
    worker.says("heartbeat_missed", times=2)
    assert site.row(sent).state is State.QUEUED
    site.hosts.network.restore("b")
    site.ends(sent, Verdict.ACCEPTED)
    site.hosts.network.cut("b")
    worker.end()


@pytest.mark.matrix  # it waits for connections to time out
def test_the_web_answers_without_its_database_and_recovers(site: Site) -> None:
    """Protects against a web that hangs, or stays broken, after losing its database."""
    hosts = site.hosts
    assert hosts.ask("GET", "/leaderboards/scale", token=site.token)[0] == 200
    hosts.network.cut("web")
    for _ in range(3):
        status, answer = hosts.ask("GET", "/leaderboards/scale", token=site.token)
        assert (status, answer["error"]["code"]) == (503, "unreachable")
    body = {"challenge": "scale", "source": "x = 1\n", "filename": "a.py"}
    assert hosts.ask("POST", "/submissions", body, site.token)[0] == 503
    status, health = hosts.ask("GET", "/health")
    assert (status, health["parts"]["database"]["ok"]) == (503, False)
    hosts.network.restore("web")
    until(
        lambda: hosts.ask("GET", "/leaderboards/scale", token=site.token)[0] == 200,
        "the web has come back",
        PATIENCE,
    )
    site.submit()


@pytest.mark.matrix  # it waits for connections to time out
def test_submissions_without_a_queue_are_judged_later(site: Site) -> None:
    """Protects against a submission refused or forgotten because Redis was out of reach when it came in."""
    worker = site.hosts.start_worker("b", "accepted", site.catalogue)
    worker.open_gate()
    site.hosts.network.cut("queue")
    sent = [site.submit(source=f"x = {n}\n") for n in range(2)]
    worker.says("redis_away")
    site.hosts.network.restore("queue")
    for submission in sent:
        site.ends(submission, Verdict.ACCEPTED)


def test_a_real_worker_on_another_host_judges(tmp_path: Path) -> None:
    """`grader worker` judges a real kernel of the included catalogue; it gets only two settings."""
    need("netns")
    need("postgres")
    with hosts("b") as found:
        mine = builders.make_settings(tmp_path, database_url=found.sql_url)
        platform = open_platform(mine)
        ada = create_user(platform, "ada", builders.PASSWORD)
        sent = builders.hand_in(platform, ada, source=KERNEL).id
        worker = found.start("b", [GRADER, "worker", "--burst", "--name", "real"], **found.settings())
        until(
            lambda: get_submission(platform, ada, sent).state.final or worker.process.poll() is not None,
            "a verdict",
            PATIENCE * 2,
        )
        seen = get_submission(platform, ada, sent)
        assert seen.verdict is Verdict.ACCEPTED, worker.said()
        platform.close()
