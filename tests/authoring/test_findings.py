"""Spoils a passing challenge in one way at a time; one check finds it."""

from __future__ import annotations

import re

import pytest

from grader.authoring.candidates import subjects
from grader.authoring.specs import text_checks
from grader.authoring.trial import Trial, no_answer
from grader.authoring.verdicts import suite_checks
from grader.judge import pieces
from grader.judge.host_device import HostDevice
from grader.languages import Language
from grader.schemas.proof import CandidateOutcome, CandidateRole, Status
from grader.schemas.report import CaseReport, CaseVerdict
from tests.authoring.conftest import Made, Write


@pytest.fixture
def made(write: Write) -> Made:
    return write()


def _fails(made: Made, name: str, status: Status, text: str) -> None:
    check = made.examined()[name]
    assert check.status is status
    assert text in "\n".join([check.summary, *check.details])


def test_a_wrong_example_is_found(made: Made) -> None:
    made.edit("spec.md", "out = [2.0, 4.0]", "out = [2.0, 4.5]")
    _fails(made, "examples", Status.ERROR, "element 1 is printed as 4.5, the reference gives 4")


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("n = 2", "", "missing: ['n']"),
        ("n = 2", "n = 2\nm = 3", "not in the signature: ['m']"),
        ("n = 2", "n = 3", "has shape [2], the sizes make it [3]"),
        ("out = [2.0, 4.0]", "out = [2.0]", "has 1 elements, the reference gives 2"),
        ("out = [2.0, 4.0]", "out = [2.0, nan]", "printed as NaN"),
        ("n = 2", "n = [", "not TOML"),
        ("```example", "```", "has no ```example block"),
    ],
)
def test_an_unreadable_example_is_found(made: Made, old: str, new: str, text: str) -> None:
    made.edit("spec.md", old, new)
    _fails(made, "examples", Status.ERROR, text)


@pytest.mark.parametrize(("printed", "holds"), [("3.3", True), ("3.33", True), ("3.34", False), ("3", False)])
def test_an_example_may_differ_by_its_printed_digits(made: Made, printed: str, holds: bool) -> None:
    """Half a unit of the last one: 2 * 1.6667 is 3.3334."""
    made.edit("spec.md", "x = [1.0, 2.0]", "x = [1.6667, 2.0]")
    made.edit("spec.md", "out = [2.0, 4.0]", f"out = [{printed}, 4.0]")
    assert (made.examined()["examples"].status is Status.OK) is holds


def test_an_example_may_hold_special_values(made: Made) -> None:
    made.edit("spec.md", "x = [1.0, 2.0]", "x = [nan, -inf]")
    made.edit("spec.md", "out = [2.0, 4.0]", "out = [nan, -inf]")
    assert made.examined()["examples"].status is Status.OK


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("# Fresh", "Fresh", "'# Title'"),
        ("## Contract", "## Promises", "no section '## Contract'"),
        ("| --- | --- |", "", "no table"),
        ("<details><summary>Where do I start?</summary>", "", "2 hints"),
        ("https://", "", "no link to background reading"),
    ],
)
def test_a_missing_part_of_the_spec_is_found(made: Made, old: str, new: str, text: str) -> None:
    made.edit("spec.md", old, new)
    _fails(made, "spec", Status.WEAK, text)


def test_a_starter_with_another_signature_is_found(made: Made) -> None:
    made.edit("starter.py", "def solve(x, out, n)", "def solve(out, x, n)")
    _fails(made, "starters", Status.ERROR, "starter.py")


def test_too_few_mutants_and_a_mutant_without_a_mistake_are_found(made: Made) -> None:
    made.edit("staff/mutants/no_mask.py", "Mistake: ", "Oops: ")
    _fails(made, "mutant_files", Status.WEAK, "no_mask.py does not begin")
    (made.staff / "mutants" / "no_mask.py").unlink()
    _fails(made, "mutant_files", Status.WEAK, "there are 4 mutants")


def test_a_bad_commentary_is_found(made: Made) -> None:
    """Students read it, and the solutions with it."""

    def found() -> str:
        checks = {check.name: check for check in text_checks(made.challenge)}
        check = checks.get("commentary")
        return "" if check is None else " ".join([check.status, check.summary, *check.details])

    assert found() == ""
    commentary = made.staff / "commentary.md"
    commentary.write_text("Fast.\n")
    assert "fewer than 30 words" in found()
    commentary.write_text("Each thread takes four elements. " * 8)
    assert found().startswith("ok")
    name = made.challenge.hidden_cases[0].name
    with (made.staff / "solution.py").open("a") as file:
        file.write(f"# for {name}: one more\n")
    assert f"weak staff/solution.py names the hidden case '{name}'" in found()
    for solution in made.staff.glob("solution.*"):
        solution.unlink()
    assert "comments on no solution" in found()


def test_a_missing_category_is_found_unless_waived(made: Made) -> None:
    made.edit("cases.py", '"denormal", "denormal"', '"denormal", "basic"')
    _fails(made, "categories", Status.WEAK, "no case is 'denormal'")
    made.edit("challenge.toml", "[cost]", '[waives]\ndenormal = "There are none."\n\n[cost]')
    assert made.examined()["categories"].status is Status.OK


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('"basic", "basic"', '"basic", "empty"', "basic: is 'empty', but no size and no buffer is 0"),
        ('"odd", "odd"', '"odd", "prime"', "odd: is 'prime', but no size is prime"),
        ('"basic", "basic"', '"basic", "block_edge"', "basic: is 'block_edge'"),
        ('"ones", "ones"', '"ones", "nan"', "ones: is 'nan', but no input holds NaN"),
        ('"ones", "ones"', '"ones", "denormal"', "ones: is 'denormal'"),
        ('"ones", "ones"', '"ones", "neg_inf"', "ones: is 'neg_inf'"),
    ],
)
def test_a_case_that_lacks_what_its_category_claims_is_found(
    made: Made, old: str, new: str, text: str
) -> None:
    made.edit("cases.py", old, new)
    _fails(made, "claims", Status.WEAK, text)


@pytest.mark.parametrize("text", ["4 * n", "40 * n"])
def test_an_impossible_byte_count_is_found(made: Made, text: str) -> None:
    made.edit("challenge.toml", 'bytes = "4 * n + 4 * n"', f'bytes = "{text}"')
    _fails(made, "cost_bytes", Status.WEAK, "inputs and results have")


def test_a_flop_count_that_differs_from_torchs_is_found(write: Write) -> None:
    made = write("a:input:float32:m,k", "b:input:float32:k,n", "out:output:float32:m,n")
    reference = made.staff.parent / "reference.py"
    reference.write_text("def reference(a, b, m, k, n):\n    return a @ b\n")
    _fails(made, "cost_flops", Status.WEAK, "torch counts")
    made.edit("challenge.toml", 'flops = "m * n"', 'flops = "2 * m * n * k"')
    assert made.examined()["cost_flops"].status is Status.OK


def test_too_short_and_too_large_workloads_are_found(made: Made) -> None:
    path = made.challenge.folder / "challenge.toml"
    text = path.read_text()
    path.write_text(re.sub(r"n = \d{6,}", "n = 1000", text))
    _fails(made, "workloads", Status.WEAK, "none is long enough to be ranked")
    path.write_text(re.sub(r"n = \d{6,}", "n = 230000000", text))
    _fails(made, "workloads", Status.WEAK, "takes 403 us at an H200's speed, too close to the 400 us")
    path.write_text(re.sub(r"n = \d{6,}", "n = 999999999", text))
    _fails(made, "workloads", Status.WEAK, "none fits a GPU of 16 GB")
    path.write_text(text.replace('on = "cpu"', 'on = "gpu"'))
    _fails(made, "workloads", Status.WEAK, "no workload is for the interpreter")


def test_a_tolerance_that_native_pytorch_exceeds_is_found(made: Made) -> None:
    made.edit("reference.py", "return x + x", "return torch.exp(torch.sin(x))")
    _fails(made, "tolerance", Status.ERROR, "too tight")
    made.edit("challenge.toml", "rtol = 0.0", "rtol = 1e-6")
    assert made.examined()["tolerance"].status is Status.OK
    made.edit("challenge.toml", "rtol = 1e-6", "rtol = 1e-3")
    _fails(made, "tolerance", Status.WEAK, "too loose")
    made.edit("challenge.toml", "[cost]", '[waives]\ntolerance = "Hardware differs."\n\n[cost]')
    assert made.examined()["tolerance"].status is Status.OK


def test_an_atol_that_accepts_everything_is_found(made: Made) -> None:
    made.edit("reference.py", "return x + x", "return torch.exp(torch.sin(x))")
    made.edit("challenge.toml", "atol = 0.0\nrtol = 0.0", "atol = 1e-3\nrtol = 1e-6")
    _fails(made, "tolerance", Status.WEAK, "native uses")


@pytest.mark.parametrize("operation", ["torch.exp(torch.sin(x))", "(x + 3) - 3"])
def test_the_proposed_tolerance_passes(operation: str, made: Made) -> None:
    """The second loses small numbers: their errors are no share of their size."""
    made.edit("reference.py", "return x + x", f"return {operation}")
    (proposed,) = re.findall(
        r"proposed: atol = (\S+), rtol = (\S+)$", made.examined()["tolerance"].details[0]
    )
    assert float(proposed[1]) < 1e-4
    made.edit("challenge.toml", "atol = 0.0\nrtol = 0.0", f"atol = {proposed[0]}\nrtol = {proposed[1]}")
    assert made.examined()["tolerance"].status is Status.OK


def test_a_case_whose_finiteness_depends_on_precision_is_found(made: Made) -> None:
    made.edit("cases.py", "Uniform(-1.6e38, 1.6e38)", "Uniform(3e38, 3.1e38)")
    made.edit("reference.py", "return x + x", "return (x + x) - x")
    _fails(made, "reference", Status.ERROR, "huge: out: native and float64 disagree on NaN or infinity in")


def test_a_reference_that_fails_is_reported(made: Made) -> None:
    made.edit("reference.py", "return x + x", "return x.nothing")
    assert {"reference", "examples"} <= {
        check.name for check in made.examined().values() if check.status is Status.ERROR
    }


def test_a_wrong_solution_is_found(made: Made) -> None:
    made.edit("staff/solution.py", "values + values", "values")
    (tried,) = made.tried(lambda candidate: candidate.role is CandidateRole.SOLUTION)
    assert tried.ending is CandidateOutcome.FAILED
    assert "basic" in tried.failed
    assert tried.ran == len(made.challenge.cases) + len(made.challenge.hidden_cases)


def test_a_mutant_that_does_not_load_proves_nothing(made: Made) -> None:
    (made.staff / "mutants" / "no_mask.py").write_text(
        '"""Mistake: it is no Python."""\nimport nothing_of_the_kind\n'
    )
    checks = made.proven()
    assert checks["mutants"].status is Status.ERROR
    assert "no_mask.py does not load" in checks["mutants"].summary


def test_a_mutant_that_raises_proves_nothing(made: Made) -> None:
    (made.staff / "mutants" / "no_mask.py").write_text(
        '"""Mistake: a name."""\ndef solve(x, out, n):\n    nowhere\n'
    )
    check = made.proven()["mutants"]
    assert check.status is Status.ERROR
    assert "no_mask.py raises an exception: " in check.summary
    assert "NameError" in check.summary


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import os; os._exit(0)", "no_mask.py ends its process: "),
        ("import os; os.kill(os.getpid(), 9)", "no_mask.py ends its process: "),
        ("while True: pass", "no_mask.py ends with time_limit: "),
    ],
)
def test_a_mutant_that_ends_or_hangs_proves_nothing(made: Made, body: str, told: str) -> None:
    made.edit("challenge.toml", "case_seconds = 10", "cpu_seconds = 1")
    (made.staff / "mutants" / "no_mask.py").write_text(
        f'"""Mistake: it does not come back."""\ndef solve(x, out, n):\n    {body}\n'
    )
    check = suite_checks(made.tried(lambda candidate: candidate.name == "no_mask.py"), matrix=False)[0]
    assert check.status is Status.ERROR
    assert told in check.summary
    assert check.summary.endswith("delete it, and --fix writes another)")


def test_an_instruction_that_the_emulated_gpu_lacks_is_no_answer() -> None:
    detail = "solution.cu(4): error: the emulated GPU does not know the instruction 'stacksave.u64'"
    report = CaseReport(name="basic", category="basic", verdict=CaseVerdict.RUNTIME_ERROR, detail=detail)
    assert no_answer(report) == "needs what the emulated GPU lacks"


def test_an_uncatchable_generic_kernel_can_be_waived_with_a_reason(made: Made) -> None:
    tried = [
        result.model_copy(update={"ending": CandidateOutcome.ACCEPTED, "failed": []})
        for result in made.tried(lambda candidate: candidate.name == "low_precision:out")
    ]
    (weak,) = suite_checks(tried, matrix=False)
    assert weak.status is Status.WEAK
    (waived,) = suite_checks(tried, matrix=False, waives={"low_precision:out": "Half hides it."})
    assert waived.status is Status.OK
    assert "low_precision:out survives, and the challenge waives it: Half hides it." in waived.remarks
    (unknown,) = suite_checks(tried, matrix=False, waives={"low_precison:out": "Half hides it."})
    assert unknown.status is Status.ERROR
    assert "[waives] names 'low_precison:out'; the generic kernels are low_precision:out" in unknown.details


def test_a_surviving_mutant_is_found(made: Made) -> None:
    solution = (made.staff / "solution.py").read_text()
    (made.staff / "mutants" / "no_mask.py").write_text(solution)
    check = made.proven()["mutants"]
    assert check.status is Status.WEAK
    assert "no_mask.py survives all" in check.summary
    assert "Add a case that it fails" in check.summary


def test_a_scalar_with_one_value_in_every_case_is_found(write: Write) -> None:
    made = write("x:input:float32:n", "out:output:float32:n", "alpha:scalar:float32:2.0")
    assert made.examined()["categories"].status is Status.OK
    made.edit("cases.py", 'scalars={"alpha": 1.0}', 'scalars={"alpha": 2.0}')
    _fails(made, "categories", Status.WEAK, "every case gives 'alpha' the value 2, so a kernel may ignore it")


def test_the_matrix_lists_cases_that_kill_no_mutant(made: Made) -> None:
    tried = made.tried(
        lambda candidate: candidate.name in ("nan_swallowed:out", "low_precision:out"), every_case=True
    )
    names = [case.name for case in [*made.challenge.cases, *made.challenge.hidden_cases]]
    (check,) = [check for check in suite_checks(tried, True, names) if check.name == "kills"]
    idle = check.summary.partition("killed by: ")[2].split(", ")
    assert {"zeros", "ones", "n_0", "pos_inf"} >= set(idle) - {"neg_inf", "all_nan"}
    assert "all_nan" not in idle
    assert "nan kills 2 of 2" in check.remarks


def test_a_suite_of_round_sizes_misses_a_dropped_tail(made: Made) -> None:
    for path in (made.challenge.folder / "cases.py", made.staff / "hidden_cases.py"):
        path.write_text(re.sub(r"n=(\d+)", lambda found: f"n={int(found[1]) // 4 * 4}", path.read_text()))
    survivors = {
        result.name
        for result in made.tried(lambda candidate: candidate.role.wrong)
        if result.ending is CandidateOutcome.ACCEPTED
    }
    assert survivors == {"tail_dropped:out"}


def test_a_wrong_kernel_stops_at_its_first_failure_unless_all_cases_are_wanted(made: Made) -> None:
    (first,) = made.tried(lambda candidate: candidate.name == "zeros:out")
    assert len(first.failed) == 1
    assert first.ran < 5
    (whole,) = made.tried(lambda candidate: candidate.name == "zeros:out", every_case=True)
    assert whole.ran == len(made.challenge.cases) + len(made.challenge.hidden_cases)
    assert {"basic", "large"} <= set(whole.failed)
    assert "zeros" not in whole.failed


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            "`n_0` |",
            "|",
            "row '`n = 0`': no case tests it. Name the public cases in the column 'cases'",
        ),
        ("`n_0` |", "`n_zero` |", "row '`n = 0`': there is no public case 'n_zero'"),
        ("`n_0` |", "`basic` |", "row '`n = 0`': none of its cases has n = 0"),
        ("`n_0` |", "every case |", "row '`n = 0`': not every case has this"),
        ("`nan`, `pos_inf`", "`pos_inf`", "none of its cases holds NaN"),
        ("`n = 0` |", "`n` is beyond 2^31 |", "none of its cases has n beyond 2^31"),
        ("| when | then | cases |", "| when | then | so |", "4 problems"),
    ],
)
def test_a_contract_row_without_a_case_is_found(made: Made, old: str, new: str, text: str) -> None:
    assert made.examined()["contract"].status is Status.OK
    made.edit("spec.md", old, new)
    _fails(made, "contract", Status.WEAK, text)


def test_a_large_case_covers_a_contract_row_without_being_drawn(made: Made) -> None:
    large = 'case("huge_n", "nan", n=2**31 + 9, inputs={"x": Sprinkle(NAN)}, on="gpu"),\n        case("basic"'
    made.edit("cases.py", 'case("basic"', large)
    made.edit(
        "spec.md", "| `n = 0` |", "| `n` is beyond 2^31 and one is NaN | it works | `huge_n` |\n| `n = 0` |"
    )
    found = made.examined()
    assert (found["contract"].status, found["claims"].status) == (Status.OK, Status.OK)


def test_a_mutant_that_only_large_cases_catch_is_not_run_here(made: Made) -> None:
    made.edit("staff/mutants/no_mask.py", "Mistake: ", "Mistake on a GPU: ")
    (tried,) = made.tried(lambda candidate: candidate.name == "no_mask.py")
    assert (tried.ending, tried.detail) == (
        CandidateOutcome.NOT_RUN,
        "its mistake shows only in cases for a GPU",
    )
    assert made.examined()["mutant_files"].status is Status.OK


def test_a_large_case_is_proven_in_pieces(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU except for the memory: a right kernel passes, one with a wrong tail fails."""
    monkeypatch.setattr(pieces, "PIECE_ELEMENTS", 512)
    monkeypatch.setattr("grader.judge.compare._LARGE_PIECE_BYTES", 4096)
    made.edit("cases.py", 'case("basic"', 'case("most", "large", n=5003, on="gpu"),\n        case("basic"')
    made.edit("challenge.toml", "[cost]", '[pieces]\nalong = "n"\n\n[cost]')
    (large,) = [case for case in made.challenge.cases if case.on]
    bench = Trial(made.challenge, HostDevice(), made.boxes)
    endings = {}
    for candidate in subjects(made.challenge, (Language.TRITON,)):
        if candidate.name in ("solution.py", "last_left_out.py"):
            endings[candidate.name] = bench.try_cases(candidate, [large], every_case=True)
    assert endings["solution.py"].ending is CandidateOutcome.ACCEPTED
    assert endings["last_left_out.py"].failed == ["most"]
    assert "out[5002]" in endings["last_left_out.py"].detail
