"""The conformance suite on the emulated GPU against a card's results, see ``benchmarks/conformance``.

Only families that no other test covers, or in which a card revealed an error. ``benchmarks/gpu/conformance.py
--compare`` compares the others: integers, floats, compare, fp8, mathematics, fast_math, warps, blocks,
hopper, host, libraries, faults.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.conformance import suite
from grader.sandbox.toolkit import cuda_home
from tests.components import need

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
HELD = {
    "bits",
    "flush",
    "conversions",
    "approximations",
    "halves",
    "atomics",
    "memory",
    "control",
    "matrices",
}
FAMILIES = [family for family in suite.FAMILIES if family.name in HELD]
COMPILERS = 2
Libraries = dict[str, Path]


@pytest.fixture(scope="module")
def card() -> suite.CardResults:
    kept = suite.kept_of_card(RESULTS)
    assert kept is not None
    return kept


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    """Libraries by family; all programs are one library, ``programs``."""
    need("emulator")
    need("nvcc")
    home, folder = cuda_home(), tmp_path_factory.mktemp("conformance")
    assert home is not None
    nvcc = home / "bin" / "nvcc"

    def compiled(family: suite.Family | None) -> Path:
        if family is None:
            source = suite.with_entries(suite.programs(), folder)
            return suite.compile_for_emulator(nvcc, source, folder, architecture=80)
        return suite.compile_for_emulator(
            nvcc, family.source, folder, architecture=family.architecture, flags=family.flags
        )

    wanted = [None, *FAMILIES]
    made = suite.in_threads(compiled, wanted, COMPILERS)
    return {program.name if program else "programs": path for program, path in zip(wanted, made, strict=True)}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_kernels_match_a_cards_results(
    family: suite.Family, libraries: Libraries, card: suite.CardResults
) -> None:
    ran = suite.run_on_emulator(libraries[family.name])
    assert ran.found == []
    here = {result.name: result for result in suite.results_in(ran.output, family.name)}
    there = {kernel.name: kernel for kernel in card.kernels if kernel.family == family.name}
    assert here.keys() == there.keys()
    compared = [suite.compare(there[name], result) for name, result in here.items()]
    wrong = {result.name: result.detail for result in compared if result.verdict == "differs"}
    assert wrong.keys() == suite.EXPECTED.keys() & here.keys(), wrong


def test_programs_match_a_cards_output(libraries: Libraries, card: suite.CardResults) -> None:
    programs = suite.programs()
    assert card.programs.keys() == {program.stem for program in programs}
    for number, program in enumerate(programs):
        ran = suite.run_on_emulator(libraries["programs"], program=number)
        assert (ran.code, ran.found, ran.refused) == (0, [], ""), program.stem
        compared = suite.compare_programs(program.stem, card.programs[program.stem], ran)
        assert compared.verdict == "equal", f"{program.stem}: {compared.detail}"
