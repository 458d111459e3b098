"""Which devices this platform has, and what they can run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.languages import ON_GPU, ON_HOST, Language
from grader.records import workers
from grader.records.engine import moment
from grader.records.models import WorkerRow
from grader.service.platform import Platform

# The device without a GPU: what has an interpreter runs there.
CPU = "cpu"


def serves(device: str, language: Language) -> bool:
    return language.runs_on(ON_HOST if device == CPU else ON_GPU)


def languages_of(device: str) -> list[Language]:
    return [language for language in Language if serves(device, language)]


def representative(device: str) -> bool:
    """False where times are real but say nothing of a GPU."""
    return device != CPU


def served_devices(platform: Platform) -> list[str]:
    """What submissions may ask for, the default first: see ``in_order``."""
    with platform.sessions() as session:
        alive = workers.alive(session, moment(session), platform.settings.lease_s)
    return in_order(platform.settings.device_list, alive)


def in_order(named: Sequence[str], alive: Iterable[WorkerRow]) -> list[str]:
    """The devices that the settings name, in their order, and those that a worker serves right now: ahead of
    ``cpu``, since the interpreter's times say nothing of a GPU.
    """
    others = [it for it in dict.fromkeys(worker.device for worker in alive) if it not in named]
    place = named.index(CPU) if CPU in named else len(named)
    return [*named[:place], *others, *named[place:]]
