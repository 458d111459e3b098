"""Two profiles side by side."""

from __future__ import annotations

from typing import Any

from grader.sandbox.emulator.model import Launch
from grader.sandbox.emulator.profile import profile_of
from grader.schemas.call_profile import CallProfile
from grader.schemas.side_by_side import Counter, comparable, side_by_side
from tests.schemas.profiles import launch, row

NAMES = ("your kernel", "staff's solution")


def made(*launches: Launch, copies: int = 0) -> CallProfile:
    return CallProfile.model_validate(profile_of(list(launches), copies, 1_000_000 * copies))


def loading(sectors: int, requests: int = 200_000, **values: Any) -> Launch:
    ideal = 4 * requests
    counts = {
        "requests": requests,
        "sectors": sectors,
        "ideal_sectors": ideal,
        "l2": sectors,
        "lines": sectors,
    }
    return launch(grid=2000, rows=[row(4, "load", requests, **counts, **values)])


def counters(*profiles: CallProfile) -> dict[str, Counter]:
    one, other = profiles
    return {counter.name: counter for counter in side_by_side((one, other), NAMES).counters}


def test_the_largest_difference_is_marked_on_the_side_that_it_costs() -> None:
    scattered, contiguous = made(loading(6_400_000)), made(loading(800_000))
    found = counters(scattered, contiguous)
    sectors = found["Sectors a request"]
    assert (sectors.texts, sectors.worse, sectors.largest) == (("32, ideally 4", "4, ideally 4"), 0, True)
    assert sectors.times == "8 times"
    assert counters(contiguous, scattered)["Sectors a request"].worse == 1
    assert [name for name, counter in found.items() if counter.largest] == [sectors.name]
    assert found["Active lanes of 32"].worse is None


def test_more_sectors_are_no_worse_if_each_is_needed() -> None:
    """Sixteen bytes a thread: four times the sectors, a quarter of the requests."""
    wide = launch(
        grid=2000,
        rows=[row(4, "load", 50_000, requests=50_000, sectors=800_000, ideal_sectors=800_000, l2=800_000)],
    )
    sectors = counters(made(loading(800_000)), made(wide))["Sectors a request"]
    assert (sectors.texts, sectors.worse) == (("4, ideally 4", "16, ideally 16"), None)


def test_fewer_active_lanes_and_less_occupancy_are_worse() -> None:
    idle = made(launch(rows=[row(1, issued=90_000, lanes=90_000 * 10)]))
    busy = made(launch(rows=[row(1, issued=90_000)]))
    lanes = counters(idle, busy)["Active lanes of 32"]
    assert (lanes.texts, lanes.worse, lanes.times) == (("10.0", "32.0"), 0, "3.2 times")
    small = made(launch(shared=200_000, rows=[row(1)]))
    assert counters(busy, small)["Occupancy"].worse == 1


def test_a_counter_that_one_of_them_lacks_is_shown_and_not_compared() -> None:
    shared = made(
        launch(rows=[row(1, "load", 100, shared_requests=100, passes=3_200, ideal_passes=100), row(2)])
    )
    passes = counters(shared, made(launch()))["Bank passes a request"]
    assert (passes.texts, passes.worse) == (("32, ideally 1", "–"), None)
    assert "Turns of atomics" not in counters(shared, shared)


def test_the_sentence_names_whichever_takes_longer() -> None:
    slow, fast = made(loading(6_400_000)), made(loading(800_000))
    for profiles, slower in (((slow, fast), 0), ((fast, slow), 1)):
        found = side_by_side(profiles, NAMES)
        name, other = NAMES[slower], NAMES[1 - slower]
        assert found.sentence.startswith(f"{name[0].upper()}{name[1:]} takes ")
        assert f" as long as {other} because of line 4 (32 sectors per request, ideally 4" in found.sentence
        assert (found.slower, found.line) == (slower, 4)


def test_without_an_advice_the_bound_explains_the_times() -> None:
    found = side_by_side((made(loading(800_000)), made(loading(800_000), copies=40)), NAMES).sentence
    assert found.endswith("µs of its time are copies and memsets (bytes copied: 38.1 MiB against none).")


def test_equal_kernels_take_about_as_long() -> None:
    found = side_by_side((made(launch()), made(launch())), NAMES)
    assert found.sentence.startswith("Both take about as long: ")
    assert not any(counter.largest for counter in found.counters)


def test_a_call_that_launches_nothing_is_compared() -> None:
    empty = made()
    assert side_by_side((empty, made(loading(800_000))), NAMES).sentence
    assert side_by_side((empty, empty), NAMES).counters


def test_counts_of_two_models_are_not_compared() -> None:
    one = made(launch())
    assert comparable(one, one) == ""
    assert "two versions" in comparable(one, one.model_copy(update={"model": one.model + 1}))
    assert "emulated" in comparable(one, None)
