"""Compiled libraries in the record, and the GPUs that they are compiled for, on both databases."""

from __future__ import annotations

import hashlib
import threading
from datetime import datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from grader import limits
from grader.records import artefacts, gpus
from grader.records.engine import Sessions, writing
from grader.records.gpus import GpuRecord
from grader.records.models import ArtefactRow, utcnow
from grader.schemas.artefact import Artefact
from grader.schemas.hardware import KernelUsage

NOW = utcnow()
LIBRARY = b"\x7fELF\x00\xff library"


def artefact(key: str = "k", library: bytes = LIBRARY, **values: str) -> Artefact:
    given = {"arch": "sm_90a", "toolkit": "13.0.88", "log": "a warning\n", **values}
    sha256 = hashlib.sha256(library).hexdigest()
    usage = KernelUsage(name="add<8>", registers=24, shared_bytes=256, spill_loads=4)
    return Artefact(key=key, library=library, sha256=sha256, kernels=[usage], **given)  # type: ignore[arg-type]


def _store(sessions: Sessions, *stored: Artefact, at: datetime = NOW) -> None:
    for one in stored:
        with writing(sessions) as session:
            artefacts.store(session, one, at)


def _read(sessions: Sessions, key: str) -> Artefact | None:
    with sessions() as session:
        return artefacts.read(session, key)


def _use(sessions: Sessions, key: str, at: datetime = NOW, toolkit: str | None = None) -> bool:
    with writing(sessions) as session:
        return artefacts.use(session, key, at, toolkit)


def test_an_artefact_is_read_back_with_log_and_kernels(sessions: Sessions) -> None:
    _store(sessions, artefact())
    assert _read(sessions, "k") == artefact()
    assert _read(sessions, "other") is None


def test_an_artefact_survives_json() -> None:
    assert Artefact.model_validate(artefact().model_dump(mode="json")) == artefact()
    assert Artefact.model_validate_json(artefact().model_dump_json()) == artefact()


def test_the_first_artefact_of_a_key_stays(sessions: Sessions) -> None:
    _store(sessions, artefact(), artefact(log="another run"))
    found = _read(sessions, "k")
    assert found is not None
    assert found.log == "a warning\n"


def test_simultaneous_compilations_of_a_key_are_no_error(sessions: Sessions) -> None:
    failures: list[Exception] = []

    def work() -> None:
        try:
            _store(sessions, *[artefact(str(number)) for number in range(10)])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with sessions() as session:
        assert session.scalar(select(func.count()).select_from(ArtefactRow)) == 10


def test_a_damaged_artefact_is_ignored(sessions: Sessions) -> None:
    _store(sessions, artefact())
    with writing(sessions) as session:
        session.execute(update(ArtefactRow).values(library=LIBRARY + b"!"))
    assert _read(sessions, "k") is None


def test_a_named_compiler_version_must_match(sessions: Sessions) -> None:
    _store(sessions, artefact(toolkit="13.0.88"))
    assert _use(sessions, "k")
    assert _use(sessions, "k", toolkit="13.0.88")
    assert not _use(sessions, "k", toolkit="12.4.0")
    assert not _use(sessions, "other")


def test_the_least_recently_used_artefacts_are_removed(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ARTEFACT_STORE_BYTES", 250)
    for number in range(2):
        _store(sessions, artefact(str(number), b"x" * 100), at=NOW + timedelta(seconds=number))
    assert _use(sessions, "0", NOW + timedelta(seconds=5))
    _store(sessions, artefact("2", b"x" * 100), at=NOW + timedelta(seconds=6))
    assert [_read(sessions, key) is not None for key in "012"] == [True, False, True]
    _store(sessions, artefact("3", b"x" * 250), at=NOW + timedelta(seconds=7))
    assert [_read(sessions, key) is not None for key in "0123"] == [False, False, False, True]


def test_a_boards_architecture_is_of_its_last_seen_gpu(sessions: Sessions) -> None:
    def register(uuid: str, device: str, architecture: str, later: int) -> None:
        with writing(sessions) as session:
            found = GpuRecord(uuid, device, f"NVIDIA {device}", architecture)
            gpus.register(session, found, NOW + timedelta(seconds=later))

    register("a", "h200", "sm_90", 0)
    register("b", "t4", "sm_75", 1)
    register("a", "h200", "sm_90a", 2)
    with sessions() as session:
        assert gpus.architectures(session) == {"h200": "sm_90a", "t4": "sm_75"}
