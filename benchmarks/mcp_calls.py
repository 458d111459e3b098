"""Does an agent get through with `grader mcp` alone? Counts failed tool calls.

One `grader mcp` process, driven by the package's own client, which also checks each answer against the tool's schema.
For each of COUNT challenges, in the order of the list: show_challenge; run of the starter, which does nothing, by its
text; run, submit and profile of the staff's solution, by its file; submit of it once more, changed by a comment, and
compare of the two. `status` is asked as often as a call did not end in time. A call fails if it is an error, breaks its
schema or raises. An outcome that is not the expected one (a starter that is accepted, a solution that is not) is
counted apart. Then calls that must be refused, each with the code of its reason.

Everything else is real: `grader up` with HTTP, queue, database, worker and boxes.

Target: no failed call, no unexpected outcome.

Usage: python benchmarks/mcp_calls.py [--json] [--count N] [--device emulated|cpu] [--language triton|cuda]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from results import keep
from running import ROOT, boxes, environment, platform, sign_in

from grader.languages import Language

COUNT = 24
# The server answers before it, so only a hanging call runs into it.
CALL_SECONDS = 120.0
WAIT_SECONDS = 50.0
# Of one result, by `status`.
MOST_WAITS = 12
REFUSED = {
    "unknown_challenge": ("show_challenge", {"challenge": "vecor_add"}),
    "bad_source": ("run", {"challenge": "vector_add", "source": "#" * 300_000, "language": "triton"}),
    "not_allowed": ("run", {"challenge": "vector_add", "file": "../vector_add.py"}),
    "unknown_device": (
        "run",
        {"challenge": "vector_add", "source": "pass", "language": "triton", "device": "h900"},
    ),
    "not_found": ("status", {"submission": "nothing"}),
    "bad_request": ("run", {"chalenge": "vector_add"}),
}


@dataclass
class Agent:
    client: Client
    seconds: dict[str, list[float]] = field(default_factory=dict)
    failed: list[dict[str, str]] = field(default_factory=list)
    unexpected: list[dict[str, str]] = field(default_factory=list)
    notifications: int = 0

    async def call(self, tool: str, about: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer; empty if the call failed."""
        began = time.perf_counter()
        try:
            result = await self.client.call_tool(tool, arguments, CALL_SECONDS, self._notified)
            text = result.content[0].text if result.content else ""
            wrong = text if result.is_error else "" if text and result.structured_content else "no answer"
        except Exception as error:  # a broken schema, a timeout or a protocol error
            result, wrong = None, f"{type(error).__name__}: {error}"
        self.seconds.setdefault(tool, []).append(time.perf_counter() - began)
        if wrong or result is None:
            self.failed.append({"tool": tool, "about": about, "error": wrong[:500]})
            print(f"  FAILED {tool} of {about}: {wrong[:200]}", flush=True)
            return {}
        return dict(result.structured_content or {})

    async def judged(self, tool: str, about: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.call(tool, about, **arguments, wait_s=WAIT_SECONDS)
        for _ in range(MOST_WAITS):
            if not answer or answer["done"]:
                break
            answer = await self.call("status", about, submission=answer["submission"], wait_s=WAIT_SECONDS)
        return answer

    def expect(self, about: str, true: bool, found: object) -> None:
        if not true:
            self.unexpected.append({"about": about, "found": str(found)[:500]})
            print(f"  UNEXPECTED {about}: {found}", flush=True)

    async def _notified(self, progress: float, total: float | None, message: str | None) -> None:
        self.notifications += 1


async def challenge(agent: Agent, slug: str, language: Language, folder: Path, counted: bool) -> None:
    shown = await agent.call("show_challenge", slug, challenge=slug, language=language.value)
    starter = shown.get("starters", {}).get(language.value, "")
    ran = await agent.judged("run", slug, challenge=slug, source=starter, language=language.value)
    agent.expect(f"starter of {slug}", ran.get("verdict") not in (None, "accepted"), ran.get("verdict"))
    agent.expect(f"failed cases of {slug}", bool(ran.get("failed")), ran.get("sentence"))
    file = folder / f"{slug}{language.suffix}"
    file.write_text((ROOT / "reference" / slug / "staff" / f"solution{language.suffix}").read_text())
    ran = await agent.judged("run", slug, challenge=slug, file=file.name)
    agent.expect(f"run of {slug}", ran.get("verdict") == "accepted", ran.get("sentence"))
    submitted = await agent.judged("submit", slug, challenge=slug, file=file.name)
    agent.expect(f"submission of {slug}", submitted.get("verdict") == "accepted", submitted.get("sentence"))
    if submitted.get("verdict") != "accepted":
        return
    if counted:
        profiled = await agent.call("profile", slug, submission=submitted["submission"])
        agent.expect(f"profile of {slug}", bool(profiled.get("workloads")), profiled.get("problem"))
    file.write_text(f"{file.read_text()}\n{language.comment} once more\n")
    again = await agent.judged("submit", slug, challenge=slug, file=file.name)
    agent.expect(f"second submission of {slug}", again.get("verdict") == "accepted", again.get("sentence"))
    if again.get("verdict") == "accepted":
        compared = await agent.call(
            "compare", slug, submission=again["submission"], against=submitted["submission"]
        )
        agent.expect(f"comparison of {slug}", bool(compared.get("workloads")), compared)


async def refusals(client: Client) -> dict[str, bool]:
    found = {}
    for code, (tool, arguments) in REFUSED.items():
        result = await client.call_tool(tool, arguments, CALL_SECONDS)
        found[code] = bool(result.is_error) and result.content[0].text.endswith(f"({code})")
        if not found[code]:
            print(f"  not refused with {code}: {result.content[0].text[:300]}")
    return found


async def drive(env: Mapping[str, str], folder: Path, count: int, language: Language) -> dict[str, Any]:
    began = time.perf_counter()
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "grader.cli.main", "mcp"], env=dict(env), cwd=folder
    )
    async with Client(server) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        started = time.perf_counter() - began
        agent = Agent(client)
        listed = await agent.call("list_challenges", "all", language=language.value)
        slugs = [each["slug"] for each in listed.get("challenges", [])][:count]
        for number, slug in enumerate(slugs, 1):
            before = time.perf_counter()
            await challenge(agent, slug, language, folder, env["GRADER_DEVICE"] == "emulated")
            seconds = time.perf_counter() - before
            print(f"{number:3} {slug:<24} {seconds:6.1f} s, load {os.getloadavg()[0]:.1f}", flush=True)
        refused = await refusals(client)
    calls = Counter({tool: len(each) for tool, each in agent.seconds.items()})
    return {
        "challenges": slugs,
        "tools": tools,
        "start_s": round(started, 3),
        "seconds": round(time.perf_counter() - began, 1),
        "calls": calls.total(),
        "calls_by_tool": dict(calls),
        "median_s": {tool: round(statistics.median(each), 3) for tool, each in agent.seconds.items()},
        "slowest_s": {tool: round(max(each), 3) for tool, each in agent.seconds.items()},
        "notifications": agent.notifications,
        "failed": agent.failed,
        "unexpected": agent.unexpected,
        "refused": refused,
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--device", default="emulated", choices=["emulated", "cpu"])
    parser.add_argument("--language", default="triton", choices=[each.value for each in Language])
    options = parser.parse_args()
    language = Language.named(options.language)
    load = round(os.getloadavg()[0], 2)
    with (
        tempfile.TemporaryDirectory(prefix="grader-bench-") as folder,
        environment(Path(folder) / "run") as env,
    ):
        env |= {"GRADER_DEVICE": options.device, "GRADER_DEVICES": options.device, "GRADER_GPU": "none"}
        kind, _ = boxes(env)
        work = Path(folder) / "work"
        work.mkdir()
        with platform(env, Path(folder) / "run") as url:
            sign_in(env, url, "ada")
            found = anyio.run(drive, env, work, options.count, language)
    failed, unexpected = len(found["failed"]), len(found["unexpected"])
    refused = sum(found["refused"].values())
    print(f"{found['calls']} calls for {len(found['challenges'])} challenges in {found['seconds']:.0f} s")
    print(f"failed calls: {failed}; unexpected outcomes: {unexpected}; target: none")
    print(
        f"refused as they must be: {refused} of {len(REFUSED)}; `grader mcp` listed tools after {found['start_s']} s"
    )
    if options.json:
        setup = {"device": options.device, "language": language.value, "boxes": kind, "load_before": load}
        keep("mcp_calls", {**setup, **found})
    met = (
        not failed
        and not unexpected
        and refused == len(REFUSED)
        and len(found["challenges"]) == options.count
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
