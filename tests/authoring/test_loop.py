"""The authoring loop: a case for a hole, mutants of a solution, and checks that redo only the parts that a
change affects.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.authoring.candidates import Candidate, mutant_files
from grader.authoring.holes import append_cases, close, tries
from grader.authoring.mutants import add_mutants
from grader.authoring.proof import Options
from grader.authoring.proof_page import proof_page
from grader.authoring.scaffold.draft import Draft
from grader.authoring.scaffold.suite import MOST_ELEMENTS, hidden_cases, public_cases
from grader.authoring.trial import Trial
from grader.authoring.watch import Watch
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.cli.authoring import fixed
from grader.errors import BadRequest
from grader.judge.host_device import HostDevice
from grader.languages import Language
from grader.schemas.proof import (
    CandidateOutcome,
    CandidateResult,
    CandidateRole,
    Check,
    Proof,
    Proofs,
    Status,
)
from tests.authoring.conftest import Write

# Right up to 2000 elements, and wrong for NaN alone beyond.
HOLE = '''"""Mistake: beyond 2000 elements NaN is 0."""

import torch


def solve(x, out, n):
    out.copy_(x + x)
    if n > 2000:
        out.copy_(torch.nan_to_num(x + x, nan=0.0, posinf=float("inf"), neginf=-float("inf")))
'''


def test_a_hole_is_closed_by_a_case_that_is_pasted(write: Write) -> None:
    made = write()
    trial = Trial(made.challenge, HostDevice(), made.boxes)
    candidate = Candidate(CandidateRole.MUTANT, "hole.py", Language.TRITON, HOLE)
    assert trial.try_out(candidate, every_case=False).ending is CandidateOutcome.ACCEPTED
    found = close(trial, candidate)
    assert found is not None
    assert found.draws == 3
    append_cases(made.challenge.folder / "cases.py", [found.text])
    again = Trial(made.challenge, HostDevice(), made.boxes)
    assert again.try_out(candidate, every_case=False).failed == [found.planned.name]
    assert "NAN" in found.text
    assert found.planned.sizes["n"] > 2000


def test_labels_stay_below_the_classes() -> None:
    tried = [each for each in tries(find_catalogue().load("cross_entropy"), "") if "labels" in each.inputs]
    assert {each.inputs["labels"] for each in tried} == {"Constant(0)", "Constant(1)", "Choice((0, 1))"}
    assert all(each.sizes["cols"] > 1 for each in tried if "1" in each.inputs["labels"])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "from grader.challenge.cases import Case, case\n\n\ndef cases():\n    return [\n"
            "        case('a', 'basic')\n    ]\n",
            "from grader.challenge.cases import NAN, Case, Constant, case\n\n\ndef cases():\n    return [\n"
            "        case('a', 'basic'),\n        case('b', inputs={'x': Constant(NAN)}),\n    ]\n",
        ),
        (
            "from grader.challenge.cases import case\n\n\ndef cases():\n    return []\n\n\n"
            "def inputs():\n    return {}\n",
            "from grader.challenge.cases import NAN, Constant, case\n\n\ndef cases():\n    return [\n"
            "        case('b', inputs={'x': Constant(NAN)}),\n    ]\n\n\ndef inputs():\n    return {}\n",
        ),
    ],
)
def test_cases_are_appended_with_their_imports(text: str, wanted: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.py"
    path.write_text(text)
    append_cases(path, ["case('b', inputs={'x': Constant(NAN)}),"])
    assert path.read_text() == wanted


def test_a_suite_that_is_computed_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cases.py"
    path.write_text("def cases():\n    return list(made())\n")
    with pytest.raises(BadRequest, match="no list"):
        append_cases(path, ["case('b'),"])


@pytest.mark.in_turn
def test_mutants_follow_their_solution(write: Write) -> None:
    made = write()
    files = {path.name: path for path in mutant_files(made.challenge)}
    mine = files.pop("no_mask.py")
    mine.write_text('"""Mistake: mine."""\n\n\ndef solve(x, out, n):\n    pass\n')
    made.edit("staff/solution.py", "BLOCK = 1024", "BLOCK = 512")
    added = add_mutants(Trial(made.challenge, HostDevice(), made.boxes), wanted=4)
    assert sorted(added.removed) == sorted(files)
    assert mine.exists()
    assert len(added.written) == 3
    assert "BLOCK = 512" in (mine.parent / next(iter(added.written))).read_text()


def test_a_change_redoes_what_it_touches(write: Write) -> None:
    made = write()
    watch = Watch(made.catalogue.root, made.slug, HostDevice(), made.boxes, (Language.TRITON,))
    first = watch.round()
    assert [check.name for check in first.checks if check.status.fails] == ["spec"]
    assert len(first.judged) > 10
    assert watch.round().judged == {}

    made.edit("spec.md", "## Contract", "Words.\n\n## Contract")
    of_text = watch.round()
    assert (of_text.judged, set(of_text.redone)) == ({}, {"spec", "contract", "examples"})

    made.edit("staff/mutants/no_mask.py", "BLOCK = 1024", "BLOCK = 2048")
    assert list(watch.round().judged) == ["mutant no_mask.py"]

    made.edit("cases.py", 'case("odd", "odd", n=777)', 'case("odd", "odd", n=779)')
    of_case = watch.round()
    assert set(of_case.judged.values()) == {1}
    assert {"solution solution.py", "native reference"} <= set(of_case.judged)
    assert of_case.seconds < 5

    made.edit("reference.py", "x + x", "x + x + 0")
    assert set(watch.round().judged) == set(first.judged)
    watch.close()


def test_a_size_of_two_dimensions_makes_no_huge_case() -> None:
    args = ("x:input:float32:n,n,n", "out:output:float32:n,n")
    manifest = Draft("cube", "Cube", "any", args=args).manifest()
    cases = [*public_cases(manifest), *hidden_cases(manifest)]
    counts = {case.name: sum(case.sizes["n"] ** dims for dims in (2, 3)) for case in cases}
    assert max(count for name, count in counts.items() if name != "aligned") <= MOST_ELEMENTS
    assert {case.category for case in cases} >= {"basic", "odd", "prime", "aligned", "large", "block_edge"}


def test_a_failing_solution_gets_no_mutants(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Any fault of the solution would fail each of them."""
    failed = CandidateResult(
        slug="fresh",
        role=CandidateRole.SOLUTION,
        name="solution.cu",
        language=Language.CUDA,
        ending=CandidateOutcome.FAILED,
        ran=1,
        failed=["odd"],
        detail="odd: wrong_answer: out[0] is 1, expected 2.",
    )
    proof = Proof(slug="fresh", seconds=0.0, checks=[], tried=[failed])
    monkeypatch.setattr("grader.cli.authoring.add_to", lambda *_: pytest.fail("mutants were made"))
    fixed(Catalogue(tmp_path), Proofs(strong=False, device="cpu", seconds=0.0, challenges=[proof]), Options())
    assert "No mutants yet: solution.cu fails odd: wrong_answer" in capsys.readouterr().err


def test_the_page_shows_which_case_refuses_which_kernel() -> None:
    def result(name: str, ending: CandidateOutcome, **more: object) -> CandidateResult:
        return CandidateResult(
            slug="a", role=CandidateRole.MUTANT, name=name, language=Language.TRITON, ending=ending, **more
        )

    tried = [
        result("dead<.py", CandidateOutcome.FAILED, failed=["odd"], ran=2),
        result("alive.py", CandidateOutcome.ACCEPTED, proposed='case("nan"),'),
    ]
    checks = [Check(name="mutants", status=Status.WEAK, summary="alive.py survives")]
    proof = Proof(slug="a", checks=checks, tried=tried, cases=["basic", "odd"], seconds=1)
    text = proof_page(Proofs(strong=False, device="cpu", seconds=1, challenges=[proof]))
    assert '<th scope="row"><code>dead&lt;.py</code></th><td class="hit">fails</td>' in text
    assert "Refuse none: basic." in text
    assert "case(&quot;nan&quot;)," in text
    assert "<script" not in text
