"""Axes, bars with intervals, roofline and earlier times: the place of each mark, and the same in words."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from grader.languages import Language
from grader.records.models import utcnow
from grader.schemas.report import WorkloadCost, WorkloadReport
from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import PastTime, past_times
from grader.service.platform import Platform
from grader.web.pages.formats import duration, exactly, quantity
from grader.web.pages.plots import Roofline, history, linear, logarithmic, roofline, workload_bars
from tests.web import builders
from tests.web.conftest import Visit

COST = WorkloadCost(bytes=4e9, flops=1e9, bandwidth=4e12, rate=50e12)


def timed(time_us: float = 2000.0, cost: WorkloadCost | None = COST, name: str = "w") -> WorkloadReport:
    return WorkloadReport(
        name=name, sizes={"n": 9}, ranked=True, time_us=time_us, ci_us=(time_us, time_us), rounds=9, cost=cost
    )


@pytest.mark.parametrize(
    ("highest", "labels"),
    [
        (812.0, ["0.00 µs", "200 µs", "400 µs", "600 µs", "800 µs", "1.00 ms"]),
        (1.0, ["0.00 µs", "0.20 µs", "0.40 µs", "0.60 µs", "0.80 µs", "1.00 µs"]),
    ],
)
def test_a_linear_axis_ends_at_a_round_number(highest: float, labels: list[str]) -> None:
    axis = linear(highest, duration)
    assert [tick.label for tick in axis.ticks] == labels
    assert axis.ticks[0].place == 0
    assert axis.ticks[-1].place == 100
    assert axis.at(axis.high / 2) == 50
    assert axis.up(0) == 100


@pytest.mark.parametrize("highest", [1e-9, 3e-3, 0.99, 7, 1e3, 4.2e12])
def test_every_linear_axis_holds_its_values(highest: float) -> None:
    axis = linear(highest, str)
    assert axis.high >= highest * (1 - 1e-9)
    assert 2 <= len(axis.ticks) <= 7


@pytest.mark.parametrize("values", [[1.0], [5.0, 5.1], [1e-3, 1e9], [10.0, 100.0]])
def test_every_logarithmic_axis_holds_its_values(values: list[float]) -> None:
    axis = logarithmic(values, quantity)
    assert axis.low <= min(values)
    assert axis.high >= max(values)
    assert 2 <= len(axis.ticks) <= 6
    assert axis.at((axis.low * axis.high) ** 0.5) == pytest.approx(50, abs=0.1)


def test_bars_share_one_axis() -> None:
    workload = timed(500.0).model_copy(
        update={"ci_us": (450.0, 600.0), "baselines_us": {"eager": 1000.0}, "roofline_us": 250.0}
    )
    (found,) = workload_bars([workload])
    assert [(bar.label, bar.kind, bar.percent) for bar in found.bars] == [
        ("yours", "own", 50.0),
        ("eager", "base", 100.0),
        ("speed of light", "light", 25.0),
    ]
    assert (found.bars[0].low, found.bars[0].high) == (45.0, 60.0)


def test_an_unknown_time_has_no_bar() -> None:
    unknown = timed(500.0).model_copy(update={"time_us": None, "baselines_us": {}, "roofline_us": None})
    (found,) = workload_bars([unknown])
    assert found.bars == []


def test_a_point_is_drawn_under_the_slope() -> None:
    plot = roofline(builders.accepted(workloads=[timed()]))
    assert isinstance(plot, Roofline)
    (point,) = plot.points
    assert (point.intensity, point.rate, point.limit, point.by_memory) == (0.25, 5e11, 1e12, True)
    assert point.share == 0.5
    foot, ridge, end = plot.roof
    assert foot[0] < ridge[0] < end[0] == 100
    assert foot[1] > ridge[1] == end[1]
    # On the slope above the point, and half a factor below it.
    along = (point.x - foot[0]) / (ridge[0] - foot[0])
    assert point.y > foot[1] + along * (ridge[1] - foot[1])


@pytest.mark.parametrize(
    ("workloads", "why"),
    [
        ([], "no times"),
        ([timed(cost=None)], "is older than the roofline"),
        ([timed(cost=WorkloadCost(bytes=4.0, flops=1.0))], "were not measured"),
        ([timed(cost=COST.model_copy(update={"flops": 0.0}))], "does no arithmetic"),
    ],
)
def test_a_missing_roofline_is_explained(workloads: list[WorkloadReport], why: str) -> None:
    plot = roofline(builders.accepted(workloads=workloads))
    assert isinstance(plot, str)
    assert why in plot


def test_the_page_shows_the_roofline_as_marks_and_as_a_table(
    visit: Visit, platform: Platform, ada: User
) -> None:
    view = builders.judged(platform, ada, builders.accepted(workloads=[timed(name="<b>big</b>")]))
    page = visit(ada).get(f"/submissions/{view.id}").text
    assert page.count('class="point own"') == 1
    for part in ("&lt;b&gt;big&lt;/b&gt;", "500 GFLOP/s", "1 TFLOP/s", "50 %", "4 TB/s", "50 TFLOP/s"):
        assert part in page, part


def past(number: int, time_us: float) -> PastTime:
    at = utcnow() + timedelta(minutes=number)
    return PastTime(f"id{number}", Language.TRITON, time_us, (time_us * 0.9, time_us * 1.1), at)


def test_earlier_times_are_ordered_left_to_right() -> None:
    plot = history([past(1, 900.0), past(2, 300.0), past(3, 600.0)], "id3")
    assert plot is not None
    assert [(each.own, each.best) for each in plot.points] == [(False, False), (False, True), (True, False)]
    assert [point.x for point in plot.points] == [3.0, 50.0, 97.0]
    assert plot.points[1].y > plot.points[2].y > plot.points[0].y  # percent from the top
    assert len(plot.lines) == 2
    assert not plot.y.log


def test_widely_spread_times_use_a_logarithmic_axis() -> None:
    plot = history([past(1, 90_000.0), past(2, 30.0)], "id2")
    assert plot is not None
    assert plot.y.log
    assert history([past(1, 9.0)], "id1") is None


def test_the_history_shows_the_authors_comparable_times(
    visit: Visit, platform: Platform, seen: SubmissionView, ada: User, bob: User
) -> None:
    builders.judged(platform, bob, builders.accepted(100.0))
    builders.judged(platform, ada, builders.wrong())
    assert [time.id for time in past_times(platform, ada, seen.id)] == [seen.id]
    assert 'id="history"' not in visit(ada).get(f"/submissions/{seen.id}").text
    second = builders.judged(platform, ada, builders.accepted(400.0))
    assert [each.id for each in past_times(platform, ada, seen.id)] == [seen.id, second.id]
    page = visit(ada).get(f"/submissions/{second.id}").text
    points = re.findall(r'<a href="/submissions/(\w+)" aria-label="([^,]+),', page)
    assert points == [(seen.id, "812 µs"), (second.id, "400 µs")]


def test_numbers_have_sensible_digits() -> None:
    told = [quantity(value, "B/s") for value in (0.0, 0.25, 999.0, 999.6, 4.79e12, 3.2e15)]
    assert told == ["0 B/s", "0.25 B/s", "999 B/s", "1 kB/s", "4.79 TB/s", "3.2 PB/s"]
    assert [exactly(value) for value in (0.0, 2.25, 1e30, 0.00012345)] == ["0", "2.25", "1e+30", "0.0001234"]
