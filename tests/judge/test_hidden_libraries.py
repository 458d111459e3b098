"""Whose box shows libraries of ready-made kernels, and whose does not."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.host_device import EmulatedDevice, HostDevice
from grader.judge.launch import Launcher
from grader.judge.request import Request
from grader.languages import ON_GPU, Language
from grader.sandbox.box import BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.gpu import Gpu


class WithGpu(HostDevice):
    """Gives every box a GPU, as a device with one does."""

    on = ON_GPU

    def box_spec(self, purpose: BoxPurpose, language: Language, memory_bytes: int) -> BoxSpec:
        return replace(super().box_spec(purpose, language, memory_bytes), gpu=Gpu(0, "GPU-1", ()))


@pytest.mark.parametrize(
    ("language", "allow", "purpose", "shown"),
    [
        (Language.CUDA, [], BoxPurpose.RUN, False),
        (Language.CUDA, ["cublas"], BoxPurpose.RUN, True),
        (Language.CUDA, ["nccl"], BoxPurpose.RUN, False),
        (Language.CUDA, ["cublas", "nccl"], BoxPurpose.RUN, True),
        (Language.CUDA, [], BoxPurpose.CONTROL, True),
        (Language.CUDA, [], BoxPurpose.BASELINE, True),
        (Language.TRITON, [], BoxPurpose.RUN, True),
    ],
)
def test_libraries_are_hidden_from_cuda_unless_the_challenge_allows_them(
    catalogue: Catalogue, language: Language, allow: list[str], purpose: BoxPurpose, shown: bool
) -> None:
    loaded = catalogue.load("twice")
    challenge = replace(loaded, manifest=loaded.manifest.model_copy(update={"allow": allow}))
    request = Request(challenge, language, "", "cpu", bytes(32), challenge.cases)
    launcher = Launcher(request, WithGpu(), cast("BoxMaker", None), lambda: None)
    assert launcher._spec(purpose).compute_libraries is shown
    assert launcher._spec(purpose).shown_libraries == (("nccl",) if "nccl" in allow else ())
    launcher.device = EmulatedDevice()
    assert launcher._spec(purpose).compute_libraries, "every runner there has torch"
