"""The page of operations: workers and GPUs, its buttons, and the log."""

from __future__ import annotations

from grader.records import workers
from grader.records.engine import clock, writing
from grader.schemas.hardware import ClockEvent, GpuReading
from grader.service.accounts.accounts import User
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
