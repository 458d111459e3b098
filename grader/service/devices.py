from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.device_kinds import representative
from grader.records import workers
from grader.records.engine import moment
from grader.records.models import WorkerRow
from grader.service.platform import Platform


def served_devices(platform: Platform) -> list[str]:
    """Devices that submissions may ask for, the default first."""
    with platform.sessions() as session:
        alive = workers.alive(session, moment(session), platform.settings.lease_s)
    return in_order(platform.settings.device_list, alive)


def in_order(named: Sequence[str], alive: Iterable[WorkerRow]) -> list[str]:
    """Configured devices; those of live workers come before the first one that is not representative, such as
    ``cpu``."""
    others = [device for device in dict.fromkeys(worker.device for worker in alive) if device not in named]
    place = next((number for number, device in enumerate(named) if not representative(device)), len(named))
    return [*named[:place], *others, *named[place:]]
