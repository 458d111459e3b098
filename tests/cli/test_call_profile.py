"""A profile on a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from grader.cli.call_profile import put_profile
from grader.sandbox.emulator.profile import profile_of
from grader.schemas.call_profile import CallProfile
from grader.schemas.report import WorkloadReport
from tests.schemas.profiles import launch, row

SOURCE = "\n".join(f"line {number} \x1b[31mof the source" for number in range(1, 31))


def shown(width: int, *, ptx: bool = False) -> list[str]:
    rows = [
        row(0),
        row(
            10,
            "load",
            200_000,
            requests=200_000,
            sectors=6_400_000,
            ideal_sectors=800_000,
            l2=6_400_000,
            dram=64_000,
            steps=128,
            lines=6_400_000,
            delayed=400_000,
            bytes=25_600_000,
            array="x",
            array_bytes=12_800_000,
            ptx="ld.global.f32 %f1, [%rd2]",
        ),
        row(20, "store", 1000, shared_requests=1000, passes=4000, ideal_passes=1000),
    ]
    profile = CallProfile.model_validate(profile_of([launch("_Z4copyPf", grid=2000, rows=rows)]))
    workload = WorkloadReport(
        name="small",
        sizes={"n": 4096},
        ranked=True,
        time_us=profile.time_us,
        ci_us=(profile.time_us, profile.time_us),
        rounds=1,
        profile=profile,
    )
    printed = StringIO()
    console = Console(file=printed, width=width)
    put_profile(workload, SOURCE, console, ptx=ptx)
    text = printed.getvalue()
    assert "\x1b" not in text
    return [line.rstrip() for line in text.splitlines()]


def test_a_profile_shows_kernels_lines_and_hints() -> None:
    lines = shown(80)
    whole = "\n".join(lines)
    assert "small  n=4,096" in lines
    assert "Kernel copy  1 launch" in whole
    assert "limited by threads" in whole
    assert "200,000 requests, 32.0 sectors each" in whole
    assert (
        "  1. Line 10: 32 sectors per request, ideally 4: neighbouring threads read 128 bytes apart." in lines
    )
    assert "About 33.2 µs less" in whole
    assert "  warps wait for global memory 100%" in lines
    assert "  2 MiB through memory; every array once is 12.2 MiB (0.16 times)" in lines
    assert "    x, 12.2 MiB: read 2 times" in lines
    head = next(line for line in lines if line.startswith("line  "))
    ten = next(line for line in lines if line.startswith("  10 "))
    for name, value in (
        ("instr", "200,000"),
        ("active", "32.0"),
        ("sect/req", "32.0"),
        ("DRAM", "2,048,000"),
    ):
        end = head.index(name) + len(name)
        assert ten[:end].endswith(value), "below its name"
    assert "line 10" in ten
    assert "100 instructions have no source line." in whole
    numbers = [int(line.split()[0]) for line in lines[lines.index(head) + 1 :] if line.split()[0].isdigit()]
    assert numbers[:-1] == [*range(8, 13), *range(18, 23)], "with two lines around each"


def test_ptx_on_request() -> None:
    ptx = "ld.global.f32 %f1, [%rd2]"
    assert not any(ptx in line for line in shown(80))
    lines = shown(80, ptx=True)
    at = next(number for number, line in enumerate(lines) if ptx in line)
    assert lines[at - 1].startswith("  10 ")
    assert lines[at].split()[0] == "200,000"
