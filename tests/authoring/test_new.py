"""The output of `challenge new` passes its own checks for any signature, and overwrites nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.authoring.candidates import subjects
from grader.authoring.costs import least_bytes
from grader.authoring.mutants import remove_old
from grader.authoring.mutations import marked
from grader.authoring.scaffold.answers import less_huge
from grader.authoring.scaffold.draft import Draft, read_arg
from grader.authoring.scaffold.folder import write_challenge
from grader.authoring.scaffold.operation import Example
from grader.authoring.scaffold.signature_line import read_signature
from grader.authoring.scaffold.suite import Planned, public_cases
from grader.authoring.scaffold.texts import manifest_text
from grader.authoring.trial import Trial
from grader.challenge.catalogue import Catalogue
from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.challenge.model import Kind, Manifest
from grader.challenge.signature import cuda_footer
from grader.errors import BadRequest, Conflict
from grader.judge.device import make_device
from grader.languages import Language
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
from grader.schemas.proof import CandidateOutcome, CandidateRole, Status
from tests.authoring.conftest import Write
from tests.cli.conftest import Cli, cli, home  # noqa: F401 - fixtures

ALONE = {DType.FLOAT8_E8M0, DType.COMPLEX64, DType.FLOAT4_E2M1, DType.INT4}
SIGNATURES = {
    "elementwise": ("x:input:float32:n", "out:output:float32:n"),
    "product": ("a:input:float32:m,k", "b:input:float32:k,n", "out:output:float32:m,n"),
    "to_one": ("a:input:float32:n", "out:output:float32:1"),
    "in_place": ("x:input:float16:n", "y:inout:float16:n", "alpha:scalar:float32:2.0"),
    "integers": ("x:input:int32:n", "out:output:int32:bins"),
    "bytes": ("x:input:uint8:n", "out:output:uint8:n"),
    "two_results": (
        "x:input:bfloat16:rows,cols",
        "out:output:bfloat16:rows,cols",
        "most:output:float32:rows",
    ),
    "valid_length": ("x:input:float32:n", "w:input:float32:k", "out:output:float32:max(n-k+1, 0)"),
    "other_types": ("x:input:float64:a,b,c", "m:input:int64:b", "out:output:bfloat16:c", "at:output:int64:a"),
}


@pytest.mark.parametrize("args", SIGNATURES.values(), ids=SIGNATURES)
def test_a_new_challenge_passes_its_own_checks(args: tuple[str, ...], write: Write) -> None:
    """Except `spec`: nobody has written its text yet."""
    made = write(*args)
    checks = made.proven()
    assert [check.name for check in checks.values() if check.status is not Status.OK] == ["spec"]
    assert checks["spec"].details == [
        f"{part} is still the text of `grader challenge new`: write your own"
        for part in ("its introduction", "'## Hints'")
    ]
    assert checks["mutants"].summary == "5 of 5 killed"


# Of the other types, the example makes nothing else, and of nothing else them.
PAIRED = [dtype for dtype in DType if dtype not in ALONE]
# Three of the new ones represent all as sources: each pair takes a kernel and a second.
USUAL = list(DType)[:8]
FEW = (DType.FLOAT32, DType.BFLOAT16, DType.INT32, DType.BOOL)


@pytest.mark.parametrize("source", [*USUAL, DType.BOOL, DType.UINT16, DType.FLOAT8_E4M3])
def test_the_generated_example_is_right_for_every_pair_of_types(source: DType, write: Write) -> None:
    results = PAIRED if source is DType.FLOAT32 else USUAL if source in USUAL else FEW
    made = write(f"x:input:{source}:n", *(f"to_{other}:output:{other}:n" for other in results))
    examples = made.examined()["examples"]
    assert examples.status is Status.OK, examples.details
    (tried,) = made.tried(lambda candidate: candidate.role is CandidateRole.SOLUTION)
    assert (tried.ending, tried.detail) == (CandidateOutcome.ACCEPTED, "")


@pytest.mark.needs("nvcc", "emulator")
def test_the_cuda_solution_inverts_narrow_integers_in_their_type(write: Write) -> None:
    """C++ widens them to int first, so their inverse would be negative."""
    made = write("x:input:uint8:n", *(f"to_{other}:output:{other}:n" for other in USUAL))
    (solution,) = [
        candidate
        for candidate in subjects(made.challenge, (Language.CUDA,))
        if candidate.role is CandidateRole.SOLUTION
    ]
    tried = Trial(made.challenge, make_device("emulated", 0), made.boxes).try_out(solution, every_case=False)
    assert (tried.ending, tried.detail) == (CandidateOutcome.ACCEPTED, "")


def test_integers_are_drawn_from_their_types_whole_range(write: Write) -> None:
    """So do timed rounds, which show a kernel that drops the high byte."""
    made = write("x:input:uint8:n", "y:input:int64:n", "out:output:int32:n")
    values = {arg.name: (arg.values.low, arg.values.high) for arg in made.challenge.manifest.buffers}
    assert (values["x"], values["y"]) == ((0, 256), (-(2**53), 2**53))


@pytest.mark.needs("nvcc")
@pytest.mark.parametrize("name", ["valid_length", "other_types"])
def test_the_generated_cuda_solution_compiles(name: str, write: Write) -> None:
    made = write(*SIGNATURES[name])
    source = (made.staff / "solution.cu").read_text()
    result = compile_cuda(made.boxes, CompileRequest(source, cuda_footer(made.challenge.manifest)))
    assert result.ok, result.log


def test_the_ladder_is_completed(write: Write) -> None:
    manifest = write("x:input:float32:n", "out:output:float32:n", workloads=("n=1000",)).challenge.manifest
    assert [workload.on for workload in manifest.workloads] == ["cpu", "emulated", "gpu", "gpu"]
    assert manifest.workloads[2].sizes == {"n": 1000}
    assert manifest.workloads[3].sizes["n"] >= 2**27


def test_sizes_are_inferred_from_shapes_and_the_order_is_kept(write: Write) -> None:
    manifest = write("out:output:float32:rows,cols", "x:input:float32:rows,cols").challenge.manifest
    assert [(arg.name, arg.kind) for arg in manifest.args] == [
        ("out", Kind.OUTPUT),
        ("x", Kind.INPUT),
        ("rows", Kind.SIZE),
        ("cols", Kind.SIZE),
    ]


@pytest.mark.parametrize(
    "text", ["x", "x:foo", "x:input:float31:n", "x:input:float32:n:2:3", "x:input:float32", "if:size"]
)
def test_a_bad_argument_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match=r"argument|parts"):
        read_arg(text)


@pytest.mark.parametrize("workload", ["n", "n=many", "m=3", "n=3,m=4"])
def test_a_bad_workload_is_refused(workload: str, write: Write) -> None:
    with pytest.raises(BadRequest):
        write("x:input:float32:n", "out:output:float32:n", workloads=(workload,))


def test_a_challenge_without_inputs_is_refused(write: Write) -> None:
    with pytest.raises(BadRequest, match="nothing to read"):
        write("out:output:float32:n")


def test_another_operation_can_write_the_files(tmp_path: Path) -> None:
    class Imported(Example):
        def reference(self, manifest: Manifest) -> str:
            return "# imported\n"

        def mutants(self, manifest: Manifest) -> dict[str, str]:
            return {"late.cu": "// Mistake: late.\n"}

    _, reference = write_challenge(Catalogue(tmp_path), Draft("mine", "Mine", "any"), Imported())
    assert (reference / "reference.py").read_text() == "# imported\n"
    assert [path.name for path in (reference / "staff" / "mutants").iterdir()] == ["late.cu"]
    assert (reference / "staff" / "solution.cu").exists()


def test_cases_and_workloads_keep_to_the_constraints() -> None:
    args = ("a:input:float32:batch,n,n", "w:output:float32:batch,n")
    manifest = Draft("eig", "Eig", "any", args=args, constraints=["n <= 16"]).manifest()
    made = public_cases(manifest)
    assert {case.category for case in made} >= {"odd", "prime", "aligned", "large", "denormal"}
    assert {"n_15", "n_16"} <= {case.name for case in made}
    sizes = [*(case.sizes for case in made), *(workload.sizes for workload in manifest.workloads)]
    assert max(each["n"] for each in sizes) == 16
    assert max(each["batch"] for each in sizes) > 1 << 16


def test_a_short_type_is_said_as_compilers_do() -> None:
    args = read_signature("f(a: f8e4m3[n], b: f4e2m1[2 * n], c: f8e5m2[n]) -> y: bool[n]")
    assert [arg.dtype.value for arg in args[:4]] == ["float8_e4m3fn", "float4_e2m1fn", "float8_e5m2", "bool"]
    with pytest.raises(BadRequest, match="'f31' is no type") as caught:
        read_signature("f(x: f31[n]) -> y: f31[n]")
    assert "f8e4m3, f8e5m2, f8e8m0, f4e2m1" in (caught.value.hint or "")


def test_a_draft_for_two_gpus_counts_the_bytes_of_one() -> None:
    draft = Draft("sum", "Sum", "any", args=("x:input:float32:n", "out:output:float32:n"), gpus=2)
    manifest = draft.manifest()
    assert "gpus = 2\n" in manifest_text(manifest, {"atol": 0.0, "rtol": 0.0})
    sizes = manifest.workloads[-1].sizes
    assert least_bytes(manifest, sizes) == parse(manifest.cost.bytes)(sizes) == 8 * sizes["n"]
    alone = [arg.model_copy(update={"on": 1}) if arg.name == "x" else arg for arg in manifest.args]
    assert least_bytes(manifest.model_copy(update={"args": alone}), sizes) == 8 * sizes["n"]


def test_huge_values_become_smaller_for_a_reference_that_sums_them() -> None:
    case = Planned("huge", "huge", {"n": 8}, {"x": "Uniform(-1.6e38, 1.6e38)"})
    assert [dict(less.inputs) for less in less_huge(case)] == [{"x": "Uniform(-1.6e35, 1.6e35)"}]


def test_stand_ins_in_another_language_give_way_to_a_kernels_mutants(tmp_path: Path) -> None:
    (tmp_path / "challenges").mkdir()
    catalogue = Catalogue(tmp_path)
    write_challenge(catalogue, Draft("fresh", "Fresh", "any", languages=[Language.CUDA]))
    folder = tmp_path / "reference" / "fresh" / "staff" / "mutants"
    for path in folder.iterdir():
        path.unlink()
    (folder / "half.py").write_text(marked('"""Mistake: half."""\n', Language.TRITON, "a stand-in"))
    (folder / "own.py").write_text('"""Mistake: the author wrote it."""\n')
    assert remove_old(catalogue.load("fresh"), {Language.CUDA: "a kernel"}) == ["half.py"]


@pytest.mark.parametrize("part", ["challenges", "reference"])
def test_an_existing_folder_is_not_overwritten(part: str, tmp_path: Path) -> None:
    kept = tmp_path / part / "mine" / "notes.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    with pytest.raises(Conflict):
        write_challenge(Catalogue(tmp_path), Draft("mine", "Mine", "any"))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [kept]


@pytest.mark.matrix
def test_the_command_creates_a_challenge(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Protects authors against a check that passes a weak suite: `new`, then `check` with processes, then
    again with cases removed.
    """
    (tmp_path / "challenges").mkdir()
    monkeypatch.setenv("GRADER_CHALLENGES", str(tmp_path))
    assert cli("challenge", "new", "fresh").code == 2  # no track, and nobody to ask
    made = cli(
        "challenge", "new", "fresh", "--track", "any", "--difficulty", "hard", "--title", "Quite fresh"
    )
    assert made.code == 0
    assert made.out.split() == [str(tmp_path / part / "fresh") for part in ("challenges", "reference")]
    assert cli("challenge", "new", "fresh", "--track", "any").code == 2

    checked = cli("challenge", "check", "fresh", "--jobs", "1", "--language", "triton", "--json")
    assert checked.code == 1
    proofs = json.loads(checked.out)
    assert [check["name"] for check in proofs["challenges"][0]["checks"] if check["status"] != "ok"] == [
        "spec"
    ]
    assert {result["role"] for result in proofs["challenges"][0]["tried"]} == {
        "solution",
        "native",
        "mutant",
        "generic",
    }

    cases = tmp_path / "challenges" / "fresh" / "cases.py"
    cases.write_text(
        cases.read_text().replace("Sprinkle(NAN)", "Constant(1)").replace("Constant(NAN)", "Constant(1)")
    )
    hidden = tmp_path / "reference" / "fresh" / "staff" / "hidden_cases.py"
    hidden.write_text(
        hidden.read_text().replace("Sprinkle(NAN, 0.1)", "Constant(1)").replace("NAN, ", "Constant, ")
    )
    weak = cli("challenge", "check", "fresh", "--jobs", "1", "--language", "triton")
    assert weak.code == 1
    assert "nan_swallowed:out survives" in weak.out
    done, total = re.findall(r"(\d+) of (\d+) done", weak.err)[-1]
    assert done == total
    assert "0 of 1 proven" in weak.out
