"""Repeats a run's case under Nsight Compute or compute-sanitizer."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from grader import limits
from grader.challenge.draw import draw_inputs
from grader.errors import BoxUnavailable
from grader.judge.arena import Arena
from grader.judge.channel import BoxSilent, ChannelError
from grader.judge.device import ArrayDevice
from grader.judge.launch import Launcher, LoadFailed
from grader.judge.oracle import scalar_values
from grader.judge.request import Request
from grader.judge.runner_client import RunnerClient
from grader.sandbox.toolkit import find_toolkit
from grader.schemas.card_tool import METRICS, CardCounter, CardFinding, CardKernel, CardTool, CardToolRun

_MARGIN = re.compile(r"^=========( +)?(.*)$")
_PLACE = re.compile(r"\b[\w.-]+\.(?:cu|py):(\d+)\b")
# No line end follows a call's mark, see ``RunnerClient.printed``.
_MARK = re.compile(r"<[0-9a-f]{16}:\d{1,9}>")
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")


def command(tool: CardTool) -> list[str] | None:
    """None if the host lacks it."""
    program = _find(tool.program)
    if program is None:
        return None
    if tool is CardTool.COUNTERS:
        # Clocks stay as they are: others use this card.
        options = "--target-processes all --clock-control none --csv --page raw --print-units base".split()
        return [
            program,
            *options,
            "--launch-count",
            str(limits.CARD_LAUNCHES),
            "--metrics",
            ",".join(METRICS),
        ]
    options = ["--tool", tool.value, "--target-processes", "all", "--show-backtrace", "no"]
    return [program, *options, "--print-limit", str(limits.CARD_FINDINGS)]


def _find(name: str) -> str | None:
    toolkit = find_toolkit()
    folders = [str(toolkit.home / "bin")] if toolkit else []
    for path in [*folders, None]:
        if found := shutil.which(name, path=path):
            return str(Path(found).resolve())
    return None


def run_under(tool: CardTool, request: Request, launcher: Launcher, device: ArrayDevice) -> CardToolRun:
    """Any failure is in ``CardToolRun.problem``."""
    words = command(tool)
    if words is None:
        return _without(
            tool, f"This worker has no {tool.program}: staff can install it with the CUDA toolkit."
        )
    if request.challenge.manifest.gpus > 1:
        return _without(tool, f"{tool.program} runs calls on one GPU only; this challenge has several.")
    try:
        client = launcher.submission(under=words)
    except (BoxUnavailable, LoadFailed) as error:
        return _without(tool, f"The runner did not start under {tool.program}: {error}")
    try:
        failure = _call(client, request, device)
    except BoxSilent as error:
        client.close()
        return _without(tool, f"The call did not return under {tool.program}: {error}.")
    said = client.finish(limits.CARD_TOOL_SECONDS).decode(errors="replace")
    said = _MARK.sub("\n", said)
    found = of_counters(said) if tool is CardTool.COUNTERS else of_sanitizer(tool, said)
    if found.problem and failure:
        return _without(tool, f"{failure} {found.problem}")
    return found


def _call(client: RunnerClient, request: Request, device: ArrayDevice) -> str:
    """Why the call failed; empty if it returned. The tool reports faults. Raises BoxSilent."""
    manifest, case = request.challenge.manifest, request.cases[0]
    inputs = draw_inputs(manifest, case, request.seed_of(case), device.torch_device)
    scalars = scalar_values(manifest, case)
    arena = Arena(manifest, case.sizes, scalars, device.memories, without=case.without)
    try:
        client.bind(arena)
        client.warm_up(arena, inputs, limits.CARD_TOOL_SECONDS)
    except BoxSilent:
        raise
    except ChannelError as error:
        return f"The call did not return: {error}."
    finally:
        arena.close()
    return ""


def of_counters(said: str) -> CardToolRun:
    """The CSV has a line of names, one of units, and one per launch."""
    lines = said.splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith('"ID",')), None)
    if start is None:
        return _without(CardTool.COUNTERS, f"Nsight Compute counted nothing. {_last(lines)}")
    rows = list(csv.reader(io.StringIO("\n".join(line for line in lines[start:] if line.startswith('"')))))
    names, units = rows[0], rows[1] if len(rows) > 1 else []
    kernels = []
    for row in rows[2 : 2 + limits.CARD_LAUNCHES]:
        if len(row) != len(names):
            continue
        cells = dict(zip(names, row, strict=True))
        unit_of = dict(zip(names, units, strict=False))
        counters = [
            CardCounter(metric=metric, value=value, unit=unit_of.get(metric, "")[:40])
            for metric in METRICS
            if (value := _number(cells.get(metric, ""))) is not None
        ]
        name = cells.get("Kernel Name", "?")[:200]
        kernels.append(
            CardKernel(
                name=name,
                grid=cells.get("Grid Size", "")[:60],
                block=cells.get("Block Size", "")[:60],
                counters=counters,
            )
        )
    if not kernels:
        return _without(CardTool.COUNTERS, f"Nsight Compute saw no kernel. {_last(lines)}")
    return CardToolRun(tool=CardTool.COUNTERS, kernels=kernels)


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def of_sanitizer(tool: CardTool, said: str) -> CardToolRun:
    """The report has a sentence per error, and indented lines under it."""
    found: dict[tuple[str, int | None], CardFinding] = {}
    errors = None
    for text, details in _paragraphs(said):
        if summary := _SUMMARY.match(text):
            errors = int(summary[1])
            continue
        if text.startswith("COMPUTE-SANITIZER") or not details:
            continue
        place = next((match for line in (text, *details) if (match := _PLACE.search(line))), None)
        line = int(place[1]) if place else None
        key = (text, line)
        if key in found:
            found[key] = found[key].model_copy(update={"times": found[key].times + 1})
        else:
            found[key] = CardFinding(text=text[:400], details=[each[:400] for each in details[:8]], line=line)
    if errors is None:
        return _without(tool, f"compute-sanitizer gave no summary. {_last(said.splitlines())}")
    return CardToolRun(tool=tool, findings=list(found.values())[: limits.CARD_FINDINGS], errors=errors)


def _paragraphs(said: str) -> Iterator[tuple[str, list[str]]]:
    text, details = "", list[str]()
    for line in said.splitlines():
        margin = _MARGIN.match(line)
        if margin is None:
            continue
        if margin[1] is not None and len(margin[1]) > 1:
            details.append(margin[2].strip())
            continue
        if text:
            yield text, details
        text, details = margin[2].strip(), []
    if text:
        yield text, details


def _last(lines: list[str]) -> str:
    said = " ".join(line.strip() for line in lines[-6:] if line.strip())
    return f"It said: {said[-600:]}" if said else "It said nothing."


def _without(tool: CardTool, problem: str) -> CardToolRun:
    return CardToolRun(tool=tool, problem=problem[:2000])
