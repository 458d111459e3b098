"""The page of operations: workers and GPUs, its buttons, and the log."""

from __future__ import annotations

from datetime import timedelta

from grader.records import pilots, workers
from grader.records.engine import clock, writing
from grader.records.models import PilotRow, PilotState, PoolRow
from grader.schemas.hardware import ClockEvent, GpuReading
from grader.service.accounts.accounts import User
from grader.service.operation.figures import exposition
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import Visit, csrf


def test_the_operations_page_and_its_buttons_work(
    platform: Platform, visit: Visit, teacher: User, ada: User
) -> None:
    failed = builders.hand_in(platform, ada).id
    builders.fail(platform, builders.take(platform), "<i>the engine is away</i>")
    hot = GpuReading(
        use=97,
        memory_used=20 << 30,
        memory_total=80 << 30,
        temperature_c=84,
        events=[ClockEvent.THERMAL_SLOWDOWN],
        slowed=True,
    )
    with writing(platform.sessions) as session:
        now = clock(session)
        workers.register(session, "w1", "h100", [], now, "GPU-1", False)
        session.flush()
        workers.beat(session, "w1", now, hot.model_dump(mode="json"))
    client = visit(teacher)
    page = client.get("/operations").text
    for told in ("97 %", "20.0 of 80 GiB", "84 °C", "slowed", failed, "&lt;i&gt;the engine"):
        assert told in page, told
    token = csrf(client, "/operations")

    def press(path: str, **form: str) -> int:
        return client.post(f"/operations{path}", data={"csrf_token": token, **form}).status_code

    assert press("/queues/h100/pause", reason="new driver") == 303
    assert "new driver" in client.get("/operations/panel").text
    assert press("/queues/h100/resume") == 303
    assert press("/workers/w1/drain") == 303
    assert press("/workers/nobody/drain") == 404
    assert press("/retry", submission=failed) == 303
    assert press("/retry", submission=failed) == 409
    log = client.get("/audit?action=worker.").text
    assert "/workers/w1" in log
    assert "/queues/h100" not in log
    assert visit(ada).get("/audit").status_code == 403


def test_pools_of_pilots_are_on_the_page_and_in_the_metrics(
    platform: Platform, visit: Visit, teacher: User
) -> None:
    assert "Pilots" not in visit(teacher).get("/operations/panel").text
    with writing(platform.sessions) as session:
        now = clock(session)
        pilots.lead(session, "teach", "h200", "login1:7", now, now + timedelta(minutes=1))
        row = session.get_one(PoolRow, "teach")
        row.wanted, row.spent, row.note = 3, 7.5, "sbatch ended with 1: <QOS>"
        session.add(PilotRow(name="grader-teach-1", pool="teach", state=PilotState.RUNNING, launched_at=now))
    page = visit(teacher).get("/operations/panel").text
    for told in ("Pilots", "login1:7", "7.50", "&lt;QOS&gt;"):
        assert told in page, told
    found = exposition(platform).decode()
    assert 'grader_pilots_wanted{pool="teach"} 3.0' in found
    assert 'grader_pilots{pool="teach",state="running"} 1.0' in found
