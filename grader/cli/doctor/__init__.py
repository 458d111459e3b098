"""The checks of `grader doctor`: each says in one line what it found, and how to mend what is missing."""

from __future__ import annotations

from collections.abc import Callable

from grader.cli.doctor import boxes, machine, server, store
from grader.cli.doctor.finding import Finding, Mark

__all__ = ["Finding", "Mark", "examine"]


def examine() -> list[Finding]:
    """Every check, in the order of what is needed first. None of them raises."""
    checks: list[Callable[[], Finding]] = [
        machine.python,
        machine.system,
        lambda: machine.package("torch", "judging here"),
        lambda: machine.package("triton", "judging Triton here"),
        machine.gpu,
        machine.nvcc,
        boxes.docker,
        boxes.bubblewrap,
        store.redis,
        store.database,
        store.data_folder,
    ]
    return [*(check() for check in checks), *store.course(), *store.leftovers(), *server.server()]
