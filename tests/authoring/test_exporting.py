"""An exported challenge judges as ours does, and comes back by `import` with the same signature and tolerance."""

from __future__ import annotations

import runpy
import subprocess
import sys
import types
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import yaml

from grader.authoring.exporting.export import export
from grader.authoring.exporting.exported import Exported, write
from grader.authoring.importing.challenge import write_imported
from grader.authoring.importing.source import Licence, read
from grader.challenge.catalogue import Catalogue
from grader.challenge.model import Kind
from grader.errors import BadRequest
from grader.judge.compare import wrong_elements

ROOT = Path(__file__).parents[2]
# Changes of the last element of the first result.
CHANGES = (0.0, 1e-9, 1e-2, float("nan"))


@pytest.fixture(scope="module")
def ours() -> Catalogue:
    return Catalogue(ROOT)


def test_a_gpumode_task_judges_as_ours_and_comes_back(
    ours: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = "argmax_rows"
    challenge = ours.load(slug)
    write(_small(export(challenge, "gpumode")), tmp_path / slug)
    monkeypatch.setitem(sys.modules, "task", types.SimpleNamespace(input_t=object, output_t=object))
    monkeypatch.setattr(torch.Tensor, "cuda", lambda self: self)
    theirs = runpy.run_path(str(tmp_path / slug / "reference.py"))
    verdicts = []
    for test in yaml.safe_load((tmp_path / slug / "task.yml").read_text())["tests"]:
        data = theirs["generate_input"](**test)
        out = theirs["ref_kernel"](tuple(part.clone() for part in data))
        for change in CHANGES if out.is_floating_point() else (0, 1):
            got = out.clone()
            got.reshape(-1)[-1] += change
            good, why = theirs["check_implementation"](data, got)
            allowance = challenge.manifest.allowance(challenge.manifest.results[0], {}, {})
            wrong = wrong_elements(got.reshape(-1), out.reshape(-1), allowance, None)
            assert good == (not wrong.any()), why
            verdicts.append(good)
    assert set(verdicts) == {True, False}

    (tmp_path / "catalogue" / "challenges").mkdir(parents=True)
    catalogue = Catalogue(tmp_path / "catalogue")
    problem = replace(read(slug, tmp_path / slug), licence=Licence("MIT", ""))
    write_imported(catalogue, problem, slug, "any", "easy")
    back = catalogue.load(slug)
    kept = {Kind.INPUT, Kind.OUTPUT, Kind.SIZE}
    assert [(arg.name, arg.kind, arg.dtype, arg.shape) for arg in back.manifest.args if arg.kind in kept] == [
        (arg.name, arg.kind, arg.dtype, arg.shape) for arg in challenge.manifest.args if arg.kind in kept
    ]
    assert back.manifest.tolerance == challenge.manifest.tolerance


def _small(exported: Exported) -> Exported:
    lines = exported.files["task.yml"].splitlines()
    first, end = lines.index("tests:") + 1, lines.index("benchmarks:")
    text = "\n".join([*lines[:first], *sorted(lines[first:end], key=len)[:6], *lines[end:]])
    return Exported({**exported.files, "task.yml": text})


@pytest.mark.in_turn
def test_a_kattis_package_accepts_its_solution_and_refuses_others(ours: Catalogue, tmp_path: Path) -> None:
    exported = export(ours.load("argmax_rows"), "kattis")
    write(exported, tmp_path / "package")
    package = tmp_path / "package"
    (case, *_) = sorted(package.glob("data/sample/*.in"))
    validator = [sys.executable, str(package / "output_validators/validate/validate.py")]
    asked = subprocess.run(
        [sys.executable, str(package / "input_validators/validate.py")], input=case.read_bytes(), check=False
    )
    assert asked.returncode == 42
    ran = subprocess.run(
        [sys.executable, str(package / "submissions/accepted/reference.py")],
        input=case.read_bytes(),
        capture_output=True,
        check=True,
    )
    words = [*validator, str(case), str(case.with_suffix(".ans")), str(tmp_path)]
    assert subprocess.run(words, input=ran.stdout, check=False).returncode == 42
    assert subprocess.run(words, input=ran.stdout.replace(b"0", b"7"), check=False).returncode == 43
    assert (tmp_path / "judgemessage.txt").read_text().startswith("line 1, number 1: 7")


def test_nothing_hidden_is_exported(ours: Catalogue) -> None:
    challenge = ours.load("softmax")
    for form in ("gpumode", "kernelbench", "kattis"):
        text = "\n".join([*export(challenge, form).files, *export(challenge, form).files.values()])
        assert not [case.name for case in challenge.hidden_cases if case.name in text]


def test_an_unknown_form_is_refused(ours: Catalogue) -> None:
    with pytest.raises(BadRequest, match="There is no form 'word'"):
        export(ours.load("softmax"), "word")
