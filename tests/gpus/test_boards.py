"""Where submissions to a challenge on several GPUs go."""

from __future__ import annotations

import pytest

from grader.challenge.catalogue import Catalogue
from grader.errors import UnknownDevice
from grader.languages import Language
from grader.service.submissions import submit
from tests.gpus.judged import CATALOGUE


def test_a_challenge_for_two_gpus_goes_to_a_board_that_has_them() -> None:
    two = Catalogue(CATALOGUE).load("all_reduce")
    assert submit._device(["h200", "h200-x2"], None, Language.CUDA, two) == "h200-x2"
    assert submit._device(["h200", "emulated"], None, Language.CUDA, two) == "emulated"
    for devices, chosen, told in (
        (["h200"], None, "all_reduce runs on 2 GPUs, and this platform has no board with 2 GPUs."),
        (
            ["h200", "emulated"],
            "h200",
            "all_reduce runs on 2 GPUs, and the board 'h200' has fewer than 2 GPUs.",
        ),
    ):
        with pytest.raises(UnknownDevice) as caught:
            submit._device(devices, chosen, Language.CUDA, two)
        assert caught.value.message == told
        assert ("emulated" if chosen else "no attempt is counted") in caught.value.hint
