"""A challenge's own baseline computes the reference's result and is timed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import ChallengeInvalid
from grader.schemas.proof import Status
from tests.authoring.conftest import Made, Write

RUNNER = Path(__file__).resolve().parents[2] / "sandbox" / "runner"
LOADED = """
import sys
sys.path.insert(0, sys.argv[1])
from trusted import load_reference
print(load_reference(sys.argv[2], "eager")())
"""


@pytest.fixture
def made(write: Write) -> Made:
    return write()


def add_baseline(made: Made, result: str, parameters: str = "**given") -> None:
    path = made.catalogue.root / "reference" / made.slug / "reference.py"
    path.write_text(f"{path.read_text()}\n\ndef baseline({parameters}):\n    return {result}\n")


def test_a_challenge_without_a_baseline_has_no_such_finding(made: Made) -> None:
    assert "baseline" not in made.examined()


def test_a_reference_that_only_views_its_input_is_weak_as_a_baseline(made: Made) -> None:
    add_baseline(made, "given['x'][:]")
    found = made.examined()["baseline"]
    assert found.status is Status.ERROR, "its result is another"
    path = made.catalogue.root / "reference" / made.slug / "reference.py"
    path.write_text("def reference(x, n):\n    return x[:]\n")
    found = made.examined()["baseline"]
    assert found.status is Status.WEAK
    assert "reference returns 'out' as a view of 'x'" in found.summary


def test_a_baseline_may_differ_from_the_reference_at_nan(made: Made) -> None:
    add_baseline(made, "reference(**given) + 0 * given['x']")
    found = made.examined()["baseline"]
    assert found.status is Status.OK, found
    assert "on all" in found.summary


def test_a_baseline_with_other_results_is_an_error(made: Made) -> None:
    add_baseline(made, "reference(**given) + 1")
    found = made.examined()["baseline"]
    assert found.status is Status.ERROR
    assert "of the allowed error" in " ".join([found.summary, *found.details])


def test_a_baseline_with_other_arguments_is_refused(made: Made) -> None:
    add_baseline(made, "0", "only_this")
    with pytest.raises(ChallengeInvalid, match="baseline: "):
        _ = made.challenge.reference


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("def reference(): return 'reference'", "reference"),
        ("def reference(): return 'reference'\ndef baseline(): return 'baseline'", "baseline"),
    ],
)
def test_the_runner_times_the_baseline_if_there_is_one(source: str, result: str) -> None:
    command = [sys.executable, "-c", LOADED, str(RUNNER), source]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == result
