"""What the devices of this platform can run."""

from __future__ import annotations

from grader.schemas.report import Language

# The device without a GPU: Triton runs in its interpreter there, CUDA cannot run.
CPU = "cpu"


def serves(device: str, language: Language) -> bool:
    return device != CPU or language is Language.TRITON


def languages_of(device: str) -> list[Language]:
    return [language for language in Language if serves(device, language)]


def representative(device: str) -> bool:
    """False where times are real but say nothing of a GPU."""
    return device != CPU
