"""Submissions in every state, and complete reports, for tests of pages and API."""

from __future__ import annotations

import hashlib
import struct
from datetime import timedelta
from pathlib import Path
from typing import Any

from grader.challenge.catalogue import find_catalogue
from grader.languages import Language
from grader.records import artefacts, claims, leases
from grader.records.claims import Claim
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.sandbox.emulator.profile import profile_of
from grader.schemas.artefact import Artefact
from grader.schemas.call_profile import CallProfile
from grader.schemas.error_map import Blocks, By, ErrorMap, ErrorWindow, Writer
from grader.schemas.hardware import ClockEvent, GpuState, KernelUsage, Spread
from grader.schemas.report import (
    CaseReport,
    CaseVerdict,
    Flag,
    Mismatch,
    Report,
    Score,
    Verdict,
    WorkloadReport,
)
from grader.schemas.submission import ProgressView, State, SubmissionView, SubmitBody
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.schemas.profiles import launch, row

SLUG = "vector_add"
VERSION = find_catalogue().load(SLUG).manifest.version
PASSWORD = "correct horse"
SOURCE = "import triton\n\n\ndef solve(a, b, out, n):\n    out.copy_(a + b)  # <b>not bold</b>\n"


def make_settings(folder: Path, **values: Any) -> Settings:
    given: dict[str, Any] = {
        "data_dir": folder / "data",
        "redis_url": f"unix://{folder}/nobody.sock",
        "challenges": None,
        "box": "local",
        "devices": "cpu",
        "device": "cpu",
    }
    return Settings(**(given | values))


def hand_in(platform: Platform, user: User, **values: Any) -> SubmissionView:
    given = {"challenge": SLUG, "source": SOURCE, "filename": "add.py"}
    return submit(platform, user, SubmitBody(**(given | values)))


def take(platform: Platform) -> Claim:
    """A worker's claim of the next submission: now ``compiling``, or ``testing`` if it was compiled before."""
    with writing(platform.sessions) as session:
        held = claims.claim(
            session, claims.ClaimRequest("cpu", [Language.TRITON], "builder", utcnow(), 600.0)
        ).held
    assert held is not None
    return held


def move(
    platform: Platform, held: Claim, state: State, done: int = 0, total: int = 0, label: str = ""
) -> None:
    with writing(platform.sessions) as session:
        assert leases.progress(session, held, state, ProgressView(done=done, total=total, label=label))


def hand_on(platform: Platform, held: Claim) -> None:
    """A compile worker hands it on: now ``waiting``, and no worker's."""
    library = b"a library"
    sha256 = hashlib.sha256(library).hexdigest()
    artefact = Artefact(key="key", arch="sm_90a", toolkit="13.0.88", library=library, sha256=sha256)
    with writing(platform.sessions) as session:
        artefacts.store(session, artefact, utcnow())
        assert leases.hand_on(session, held, artefact.key, utcnow())


def finish(platform: Platform, held: Claim, report: Report) -> None:
    with writing(platform.sessions) as session:
        assert leases.finish(session, held, report, utcnow())


def fail(platform: Platform, held: Claim, error: str = "the worker died") -> None:
    """The last allowed failure of the platform."""
    with writing(platform.sessions) as session:
        now = utcnow() + timedelta(seconds=1)
        assert leases.give_back(session, held.id, held.attempt, now, error=error, cap=1) is State.FAILED


def judged(platform: Platform, user: User, report: Report, **values: Any) -> SubmissionView:
    """A submission that ended with ``report``; nothing else may be waiting."""
    view = hand_in(platform, user, **values)
    finish(platform, take(platform), report)
    return view


def accepted(time_us: float = 812.5, speedup: float | None = 1.31, **values: Any) -> Report:
    workloads = [
        WorkloadReport(
            name=name,
            sizes={"n": size},
            ranked=ranked,
            time_us=time_us * scale,
            ci_us=(time_us * scale * 0.97, time_us * scale * 1.04),
            rounds=41,
            baselines_us={"eager": time_us * scale * 1.31, "compile": time_us * scale * 0.9},
            speedup=1.31,
            sol=0.62,
        )
        for name, size, ranked, scale in [("2^16", 65536, True, 1.0), ("2^12", 4096, False, 0.08)]
    ]
    given: dict[str, Any] = {
        "verdict": Verdict.ACCEPTED,
        "flags": [Flag.SIMILAR],
        "cases": [
            CaseReport(
                name="basic",
                category="basic",
                verdict=CaseVerdict.ACCEPTED,
                seed=7,
                sizes={"n": 1024},
                seconds=0.012,
            ),
            CaseReport(
                name="nan",
                category="nan",
                verdict=CaseVerdict.ACCEPTED,
                seed=8,
                sizes={"n": 500},
                output="hello",
            ),
            CaseReport(
                name="secret",
                category="prime",
                verdict=CaseVerdict.ACCEPTED,
                seed=99,
                sizes={"n": 31},
                hidden=True,
            ),
        ],
        "workloads": workloads,
        "score": Score(
            time_us=time_us, speedup=speedup, ci=(time_us * 0.97, time_us * 1.04), passed=3, total=3
        ),
        "representative": False,
        "environment": {"torch": "2.13", "cpu": "a small one"},
        "breakdown_s": {"box": 0.31, "cases": 1.2},
    }
    return _report(**(given | values))


def on_gpu(**values: Any) -> Report:
    """Two workloads, one with every oddity; kernels; and torch's own kernels."""
    ranked, shown = accepted().workloads
    gpu = GpuState(
        samples=61,
        sm_mhz=Spread(low=1740, median=1755, high=1980),
        memory_mhz=Spread(low=3201, median=3201, high=3201),
        power_w=Spread(low=612, median=612, high=612),
        temperature_c=61,
        events=[ClockEvent.POWER_CAP, ClockEvent.THERMAL_SLOWDOWN],
        repeated=1,
    )
    odd = {"gated": False, "roofline_us": 38.25, "charged_us": 12.34, "gpu": gpu}
    given: dict[str, Any] = {
        "flags": [Flag.LIBRARY_KERNEL, Flag.WORK_OUTSIDE_GATE],
        "library_ops": ["aten.mm", "aten._softmax"],
        "kernels": [
            KernelUsage(name="scan<8>", registers=128, shared_bytes=4096, constant_bytes=380),
            KernelUsage(name="wide", registers=255, stack_bytes=3328, spill_stores=5904, spill_loads=7488),
        ],
        "workloads": [
            ranked.model_copy(update={"roofline_us": 503.0, "fixed_us": 148.0, "host_us": 9.87}),
            shown.model_copy(update=odd),
        ],
    }
    return accepted(**(given | values))


def profiled(**values: Any) -> Report:
    """Accepted on the emulated GPU: a kernel with every mark of a profile in lines 1 to 5, and a copy."""
    rows = [
        row(0),
        row(1, issued=90_000, lanes=90_000 * 10),
        row(
            4,
            "load",
            200_000,
            requests=200_000,
            sectors=6_400_000,
            ideal_sectors=800_000,
            l2=6_400_000,
            dram=64_000,
            steps=128,
            lines=6_400_000,
            delayed=4_000_000,
            bytes=25_600_000,
            array="x",
            array_bytes=3_200_000,
            ptx="ld.global.f32 %f1, [%rd2]",
        ),
        row(4, "store", 100_000, shared_requests=100_000, passes=3_200_000, ideal_passes=100_000, steps=128),
        row(5, "atomic", 10_000, requests=10_000, sectors=10_000, same=320_000, waited=4_000_000),
    ]
    launches = [launch("_Z4copyPf", grid=2000, rows=rows), launch("_Z5clearPf", grid=3, registers=None)]
    profile = CallProfile.model_validate(profile_of(launches, copies=1, copied=4096))
    time_us = profile.time_us
    timed = {"time_us": time_us, "ci_us": (time_us, time_us), "profile": profile, "fixed_us": None}
    workloads = [workload.model_copy(update=timed) for workload in accepted().workloads]
    return accepted(**({"workloads": workloads} | values))


def wrong(**values: Any) -> Report:
    mismatch = Mismatch(
        argument="out",
        kind="value",
        index=[1023],
        expected="1.5",
        got="0.0",
        wrong=33,
        total=1024,
        max_error=2.25,
        map=ErrorMap(
            shape=[1024],
            width=128,
            tile=(1, 1),
            rows=8,
            columns=128,
            lowest=0,
            cells=ErrorMap.packed(bytes(991) + bytes([1]) * 33),
            window=ErrorWindow(first=[[896]], values={"got": [["1.5", "0"]], "expected": [["1.5", "1.5"]]}),
            writer=Writer(by=By.PROGRAM, kernel="add", block=(3, 0, 0), lines=[3]),
            blocks=Blocks.packed(
                struct.pack("<1024H", *(2 + place // 256 for place in range(1024))),
                b"".join(struct.pack("<4I", 0, block, 0, 0) for block in range(4)),
                ["add"],
            ),
        ),
    )
    cases = [
        CaseReport(
            name="basic",
            category="basic",
            verdict=CaseVerdict.ACCEPTED,
            seed=1,
            sizes={"n": 64},
            seconds=0.01,
        ),
        CaseReport(
            name="tail of block",
            category="block_edge",
            verdict=CaseVerdict.WRONG_ANSWER,
            seed=1234567,
            sizes={"n": 1024},
            detail="out[1023] is 0.0, expected 1.5; 33 of 1024 differ.",
            hint="The last block is not full: mask its loads and stores.",
            mismatch=mismatch,
            output="block 3 <script>alert(1)</script>\n",
            seconds=0.02,
        ),
        CaseReport(
            name="secret",
            category="prime",
            verdict=CaseVerdict.RUNTIME_ERROR,
            seed=99,
            sizes={"n": 31},
            detail="n was 31",
            hidden=True,
        ),
        CaseReport(
            name="late",
            category="huge",
            verdict=CaseVerdict.NOT_RUN,
            detail="Not run: three boxes were lost.",
        ),
    ]
    given = {"verdict": Verdict.WRONG_ANSWER, "cases": cases, "score": Score(passed=1, total=4)}
    return _report(**(given | values))


def not_compiled(log: str = "solution.cu(3): error: <img src=x onerror=alert(1)>") -> Report:
    return _report(
        verdict=Verdict.COMPILE_ERROR,
        compiler_log=log,
        detail="Line 3 does not compile.",
        hint="Close the bracket.",
    )


def _report(**values: Any) -> Report:
    given = {"challenge": SLUG, "language": Language.TRITON, "device": "cpu"} | values
    # Challenges that tests make begin with version 1.
    return Report(**({"version": VERSION if given["challenge"] == SLUG else 1} | given))
