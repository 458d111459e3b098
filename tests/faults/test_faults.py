"""A short campaign of faults, on one database at each commit; `make faults` runs hundreds of faults. A seed repeats its
plan: `python scripts/faults.py --seed N`.
"""

from __future__ import annotations

import pytest

from tests.components import need
from tests.faults import campaign
from tests.faults.campaign import Outcome, Wanted
from tests.faults.harness import Layout, can_use
from tests.faults.kinds import KINDS

# Faults without any effect on the database that need no engine run with SQLite alone.
_ON_SQLITE = frozenset(
    {
        *("judge killed", "box killed", "worker frozen", "web worker killed", "web killed"),
        *("Redis killed", "Redis wiped", "Redis frozen", "temp full"),
    }
)


def _explain(outcome: Outcome) -> str:
    logs = "".join(f"\n== {name}\n{log[-3000:]}" for name, log in outcome.logs.items())
    return f"seed {outcome.seed}, {outcome.struck}\n" + "\n".join(outcome.wrong) + logs


# A busy machine starts processes slowly.
@pytest.mark.matrix
@pytest.mark.in_turn(share=(0, 2))
@pytest.mark.timeout(900)
def test_every_submission_ends_once_with_its_true_verdict_on_sqlite() -> None:
    """Protects against a submission lost, judged twice or misjudged when a process, Redis or the disk fails."""
    outcome = campaign.run(Layout("sqlite"), seed=1, faults=15)
    assert outcome.wrong == [], _explain(outcome)
    assert len(outcome.struck) == 15
    assert _ON_SQLITE - {"temp full"} <= outcome.table().keys()


@pytest.mark.matrix
@pytest.mark.in_turn(share=(1, 2))
@pytest.mark.postgres
@pytest.mark.timeout(900)
def test_every_submission_ends_once_with_its_true_verdict_on_postgres() -> None:
    """Protects against a submission lost, judged twice or misjudged when PostgreSQL or Docker is killed,
    frozen or cut off. Campaigns take a minute each: neither runs in `make test`.
    """
    need("postgres")
    layout = Layout("postgres", docker=True)
    layout = layout if can_use(layout) else Layout("postgres")
    outcome = campaign.run(layout, seed=2, faults=13, wanted=Wanted(but=_ON_SQLITE))
    assert outcome.wrong == [], _explain(outcome)
    assert len(outcome.struck) == 13


# What those two campaigns do to the platform's own parts is not repeated.
_ON_HTTPS = frozenset(
    {
        *("worker killed", "worker frozen", "web killed", "web worker killed", "Redis wiped", "answers lost"),
        *("calls repeated", "calls refused", "server errors", "token revoked"),
    }
)


@pytest.mark.matrix
@pytest.mark.in_turn(share=(1, 2))
@pytest.mark.timeout(900)
def test_every_submission_ends_once_with_its_true_verdict_over_https() -> None:
    """Protects against a submission lost, judged twice or misjudged when a worker's request or its answer is lost,
    repeated or refused, the web ends, or a worker's token is revoked.
    """
    but = frozenset(kind.name for kind in KINDS) - _ON_HTTPS
    outcome = campaign.run(Layout("sqlite", https=True), seed=3, faults=15, wanted=Wanted(but=but))
    assert outcome.wrong == [], _explain(outcome)
    assert len(outcome.struck) == 15
    assert outcome.table().keys() == _ON_HTTPS


def test_a_seed_repeats_its_plan_and_includes_each_kind_of_fault() -> None:
    class Anything:
        postgres = docker = proxy = True
        members: dict[str, object] = {}  # noqa: RUF012
        disks: dict[str, object] = {}  # noqa: RUF012

    first, second, other = (campaign.plan(seed, 40, Anything(), campaign.ANYTHING) for seed in (7, 7, 8))  # type: ignore[arg-type]
    assert first == second
    assert first != other
    # "database locked" of SQLite fits no PostgreSQL.
    assert {fault.kind.name for fault in first} == {kind.name for kind in KINDS}
    assert all(fault.state in fault.kind.states for fault in first)
