"""The conformance suite on the emulated GPU, held to what a card computed: see ``benchmarks/conformance``.

Families that take the compiler long are left to ``benchmarks/gpu/conformance.py --compare``, which runs all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.conformance import suite
from grader.sandbox.toolkit import cuda_home
from tests.components import need

ROOT = Path(__file__).resolve().parents[2]
CARD = suite.kept_of_card(ROOT / "benchmarks" / "results")
SLOW_TO_COMPILE = {
    "blocks", "warps", "mathematics", "fast_math", "flush", "fp8", "hopper", "halves", "libraries", "conversions",
    "faults", "host",
}  # fmt: skip
FAMILIES = [it for it in suite.FAMILIES if it.name not in SLOW_TO_COMPILE]
COMPILERS = 2
Libraries = dict[str, Path]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    """By family; all programs are one library, ``programs``."""
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
    return {it.name if it else "programs": path for it, path in zip(wanted, made, strict=True)}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda it: it.name)
def test_kernels_compute_what_a_card_computes(family: suite.Family, libraries: Libraries) -> None:
    here: dict[str, suite.Result] = {}
    for only in suite.kernel_names(family) if family.alone else [None]:
        ran = suite.run_on_emulator(libraries[family.name], only)
        assert ran.found == []
        here |= {it.name: it for it in suite.results_in(ran.output, family.name)}
    assert here
    refused = {name for name, it in here.items() if it.error == "cudaErrorInvalidPtx"}
    assert refused <= suite.EXPECTED.keys()
    if CARD is None:
        return
    there = {it.name: it for it in CARD.kernels if it.family == family.name}
    assert here.keys() == there.keys()
    compared = [suite.compare(there[name], it) for name, it in here.items()]
    wrong = {it.name: it.detail for it in compared if it.verdict == "differs"}
    assert wrong.keys() == suite.EXPECTED.keys() & here.keys(), wrong


def test_whole_programs_print_what_they_print_on_a_card(libraries: Libraries) -> None:
    programs = suite.programs()
    for number, program in enumerate(programs):
        ran = suite.run_on_emulator(libraries["programs"], program=number)
        assert (ran.code, ran.found, ran.refused) == (0, [], ""), program.stem
        if CARD is not None:
            compared = suite.compare_programs(program.stem, CARD.programs[program.stem], ran)
            assert compared.verdict == "equal", f"{program.stem}: {compared.detail}"
