from __future__ import annotations

import fcntl
import hmac
import os
import shutil
import time
from collections.abc import Iterator
from datetime import datetime
from ipaddress import ip_address, ip_network
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import RedisError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from grader import __version__
from grader.errors import BadRequest, NotFound, NotSignedIn
from grader.metrics import folder_of
from grader.metrics.host import exposition as counted
from grader.records import figures, schema, workers
from grader.records.engine import clock
from grader.records.states import UNFINISHED
from grader.service.devices import in_order
from grader.service.operation import fleets
from grader.service.platform import Platform
from grader.settings import Settings
from grader.wakeups import COMPILE, run_queue

# Prometheus asks about every 15 s.
CACHE_SECONDS = 5.0


def exposition(platform: Platform) -> bytes:
    """For Prometheus. Does not raise: ``up`` is 0 for parts that are down."""
    folder = folder_of(platform.settings)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return _facts(platform, folder) + counted(folder)


def _facts(platform: Platform, folder: Path) -> bytes:
    """For all processes: a total that falls looks like a restart."""
    kept = folder / "facts.txt"
    with (folder / "facts.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (found := _read(kept)) is not None:
            return found
        registry = CollectorRegistry()
        registry.register(_Facts(platform))
        page = generate_latest(registry)
        partial = folder / f"facts.{os.getpid()}"
        partial.write_bytes(page)
        partial.replace(kept)
        return page


def _read(path: Path) -> bytes | None:
    try:
        age = time.time() - path.stat().st_mtime
        return path.read_bytes() if 0 <= age < CACHE_SECONDS else None
    except FileNotFoundError:
        return None


class _Facts(Collector):
    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def describe(self) -> list[Metric]:
        return []  # or registering would collect

    def collect(self) -> Iterator[Metric]:
        platform = self._platform
        build = GaugeMetricFamily("grader_build_info", "Version and platform.", labels=["version", "schema"])
        build.add_metric([__version__, schema.head()], 1)
        free = GaugeMetricFamily("grader_data_free_bytes", "Free bytes of the data folder's file system.")
        free.add_metric([], shutil.disk_usage(platform.settings.data_dir).free)
        broken = GaugeMetricFamily("grader_broken_challenges", "Challenges whose folder does not load.")
        broken.add_metric([], len(platform.catalogue.broken()))
        yield from (build, free, broken)
        found: list[Metric] = []
        devices = platform.settings.device_list
        try:
            with platform.sessions() as session:
                alive = workers.alive(session, clock(session), platform.settings.lease_s)
                devices = in_order(devices, alive)
                found = list(_of_record(session, devices, platform.settings.lease_s))
        except SQLAlchemyError:
            found = []
        yield _up("grader_database_up", "1 if the database answers.", bool(found))
        yield from found
        yield from _of_queue(platform, devices)


def _of_record(session: Session, devices: list[str], silent_s: float) -> Iterator[Metric]:
    now = clock(session)
    yield _submissions(figures.unfinished(session), devices)
    waits = figures.oldest_waits(session, now)
    oldest = GaugeMetricFamily(
        "grader_oldest_wait_seconds", "Age of the longest waiting submission.", labels=["device"]
    )
    for device in [*devices, *sorted(set(waits) - set(devices))]:
        oldest.add_metric([device], waits.get(device, 0.0))
    yield oldest
    verdicts = CounterMetricFamily(
        "grader_verdicts",
        "Verdicts in the database; internal_error: failures of the platform that it gave up on.",
        labels=["challenge", "language", "device", "verdict"],
    )
    runs = CounterMetricFamily(
        "grader_runs",
        "Finished runs (public cases only) in the database.",
        labels=["challenge", "language", "device", "verdict"],
    )
    for tally in figures.verdicts(session):
        family = runs if tally.run else verdicts
        family.add_metric([tally.challenge, tally.language, tally.device, tally.verdict], tally.count)
    yield verdicts
    yield runs
    serving = figures.serving(session, now, silent_s)
    alive = GaugeMetricFamily(
        "grader_workers", "Live workers; device=compile: those that only compile.", labels=["device"]
    )
    for device in [*devices, *sorted(set(serving) - set(devices))]:
        alive.add_metric([device], serving.get(device, 0))
    yield alive
    yield from _of_fleets(session, now)
    gpus = GaugeMetricFamily(
        "grader_gpu_in_service",
        "1 if a worker serves this GPU, 0 if it is out of service.",
        labels=["gpu", "device", "host"],
    )
    for gpu in figures.gpus(session, now, silent_s):
        gpus.add_metric([gpu.uuid, gpu.device, gpu.host], gpu.in_service)
    yield gpus


def _of_fleets(session: Session, now: datetime) -> Iterator[Metric]:
    wanted = GaugeMetricFamily("grader_pilots_wanted", "Pilots that a pool wants.", labels=["pool"])
    there = GaugeMetricFamily("grader_pilots", "Pilots that wait for a GPU or run.", labels=["pool", "state"])
    for pool in fleets.pools(session, now):
        wanted.add_metric([pool.name], pool.wanted)
        there.add_metric([pool.name, "pending"], pool.pending)
        there.add_metric([pool.name, "running"], pool.running)
    yield from (wanted, there)


def _submissions(counts: dict[tuple[str, str], int], devices: list[str]) -> Metric:
    family = GaugeMetricFamily(
        "grader_submissions", "Submissions that are waiting or running.", labels=["device", "state"]
    )
    states = [state.value for state in UNFINISHED]
    wanted = {(device, state) for device in devices for state in states} | set(counts)
    for device, state in sorted(wanted):
        family.add_metric([device, state], counts.get((device, state), 0))
    return family


def _of_queue(platform: Platform, devices: list[str]) -> Iterator[Metric]:
    wakeups = GaugeMetricFamily(
        "grader_queue_wakeups", "Wake-ups that no worker has taken.", labels=["queue"]
    )
    try:
        for queue in [COMPILE, *(run_queue(device) for device in devices)]:
            wakeups.add_metric([queue], platform.wakeups.waiting(queue))
    except (RedisError, OSError):
        yield _up("grader_redis_up", "1 if Redis answers.", False)
        return
    yield _up("grader_redis_up", "1 if Redis answers.", True)
    yield wakeups


def _up(name: str, about: str, there: bool) -> Metric:
    family = GaugeMetricFamily(name, about)
    family.add_metric([], there)
    return family


def check_scraper(settings: Settings, address: str | None, token: str | None) -> None:
    """Raises NotFound (not for this address), NotSignedIn (wrong token), BadRequest (bad network in the settings)."""
    if address is not None and _is_named(settings.metrics_allow, address):
        return
    if not settings.metrics_token or token is None:
        raise NotFound("There is nothing at this address.")
    if not hmac.compare_digest(settings.metrics_token.encode(), token.encode("utf-8", "replace")):
        raise NotSignedIn("This token may not read the metrics.", "Use the token in GRADER_METRICS_TOKEN.")


def _is_named(networks: str, address: str) -> bool:
    """Raises BadRequest."""
    named = [name.strip() for name in networks.split(",") if name.strip()]
    try:
        return any(ip_address(address) in ip_network(name, strict=False) for name in named)
    except ValueError as error:
        raise BadRequest(
            f"GRADER_METRICS_ALLOW is not valid: {error}.", "Such as 127.0.0.1,10.0.0.0/8."
        ) from error
